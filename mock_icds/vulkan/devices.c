/* SPDX-License-Identifier: Apache-2.0 */
/* Devices, and the dispatchable objects that are made of them. */
#include "implementation.h"
#include "lookup.h"
#include "objects.h"

#include <fcntl.h>

static bool lacks_some(const VkDeviceCreateInfo *info)
{
    for (uint32_t i = 0; i < info->enabledExtensionCount; i++) {
        if (!config_has_word(config.device_extensions, info->ppEnabledExtensionNames[i])) {
            return true;
        }
    }
    return false;
}

/* What a driver answers because of what a device is made with; VK_SUCCESS for nothing. */
static VkResult refusal(const VkDeviceCreateInfo *info, const VkAllocationCallbacks *allocator)
{
    if (!fails(FAULT_create_device_takes_any_extension) && lacks_some(info)) {
        return VK_ERROR_EXTENSION_NOT_PRESENT;
    }
    bool refuses = (fails(FAULT_create_device_refuses_structures) && info->pNext) ||
                   (fails(FAULT_create_device_refuses_allocators) && allocator);
    return refuses ? VK_ERROR_INITIALIZATION_FAILED : VK_SUCCESS;
}

static uint64_t create_device(const uint64_t *a)
{
    struct object *physical_device = object_of(a[0], KIND_physical_device);
    VkDevice *device = pointer(a[3]);
    VkResult refused = refusal(pointer(a[1]), pointer(a[2]));
    if (refused != VK_SUCCESS) {
        return (uint64_t)refused;
    }
    if (fails(FAULT_create_device_fails)) {
        return failure(FAULT_create_device_fails);
    }
    if (fails(FAULT_create_device_opens_inherited_file)) {
        open("/dev/null", O_RDONLY);
    }
    int index = physical_device ? physical_device->index : -1;
    bool second = object_find(KIND_device, physical_device, index) != NULL;
    bool bare = second && fails(FAULT_second_device_without_magic);
    *device = (VkDevice)object_make(KIND_device, physical_device, index,
                                    bare ? FAULT_second_device_without_magic : FAULT_device_without_magic);
    return VK_SUCCESS;
}

static uint64_t destroy_device(const uint64_t *a)
{
    if (!a[0]) {
        object_drop_null();
    }
    object_drop(object_of(a[0], KIND_device));
    return 0;
}

static VkQueue queue_of(uint64_t device, uint32_t index, enum fault without_magic)
{
    struct object *parent = object_of(device, KIND_device);
    index = fails(FAULT_queues_are_one) ? 0 : index;
    if (index > 0 && fails(FAULT_later_queue_without_magic)) {
        without_magic = FAULT_later_queue_without_magic;
    }
    struct object *queue = fails(FAULT_queues_have_new_handles) ? NULL : object_find(KIND_queue, parent, (int)index);
    return (VkQueue)(queue ? queue : object_make(KIND_queue, parent, (int)index, without_magic));
}

static uint64_t get_queue(const uint64_t *a)
{
    *(VkQueue *)pointer(a[3]) = queue_of(a[0], (uint32_t)a[2], FAULT_queue_without_magic);
    return 0;
}

static uint64_t get_queue2(const uint64_t *a)
{
    const VkDeviceQueueInfo2 *info = pointer(a[1]);
    *(VkQueue *)pointer(a[2]) =
        queue_of(a[0], info->queueIndex,
                 fails(FAULT_queue2_without_magic) ? FAULT_queue2_without_magic : FAULT_queue_without_magic);
    return 0;
}

static uint64_t allocate_command_buffers(const uint64_t *a)
{
    struct object *device = object_of(a[0], KIND_device);
    const VkCommandBufferAllocateInfo *info = pointer(a[1]);
    VkCommandBuffer *buffers = pointer(a[2]);
    if (fails(FAULT_command_buffers_fail)) {
        return failure(FAULT_command_buffers_fail);
    }
    bool bare = info->level == VK_COMMAND_BUFFER_LEVEL_SECONDARY && fails(FAULT_secondary_without_magic);
    enum fault without_magic = bare ? FAULT_secondary_without_magic : FAULT_command_buffer_without_magic;
    for (uint32_t i = 0; i < info->commandBufferCount; i++) {
        bool again = i > 0 && fails(FAULT_command_buffers_are_one);
        buffers[i] =
            again ? buffers[0] : (VkCommandBuffer)object_make(KIND_command_buffer, device, (int)i, without_magic);
    }
    return VK_SUCCESS;
}

static uint64_t get_device_proc_addr(const uint64_t *a)
{
    return (uint64_t)(uintptr_t)lookup_device(a[0], pointer(a[1]));
}

const struct implemented devices_implemented[] = {
    {VULKAN_vkCreateDevice, create_device},
    {VULKAN_vkDestroyDevice, destroy_device},
    {VULKAN_vkGetDeviceQueue, get_queue},
    {VULKAN_vkGetDeviceQueue2, get_queue2},
    {VULKAN_vkAllocateCommandBuffers, allocate_command_buffers},
    {VULKAN_vkGetDeviceProcAddr, get_device_proc_addr},
    {VULKAN_FUNCTION_COUNT, NULL},
};
