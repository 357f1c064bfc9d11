/* SPDX-License-Identifier: Apache-2.0 */
/* Devices, queues and command buffers: their first word becomes the loader's. */
#include "vulkan_loader.h"

#include <stdlib.h>
#include <string.h>

/* Makes an object of the driver's one of the loader's. */
static void claim(void *object, struct device *device)
{
    if (object) {
        *(struct device **)object = device;
    }
}

/* Fills in the functions that take the device or an object made of it. */
static void find_functions(struct device *device)
{
    PFN_vkGetDeviceProcAddr get = (PFN_vkGetDeviceProcAddr)device->driver->functions[VULKAN_vkGetDeviceProcAddr];
    for (int i = 0; i < VULKAN_FUNCTION_COUNT; i++) {
        if (vulkan_function_info[i].level == VULKAN_device) {
            device->functions[i] = (function)get(device->handle, vulkan_function_info[i].name);
        }
    }
}

/* The handles of the driver, in the place of the loader's, in what says of which devices a group is made. */
static const VkPhysicalDevice *replace_group(const VkDeviceCreateInfo *info, VkPhysicalDevice *handles,
                                             VkDeviceGroupDeviceCreateInfo **group)
{
    VkBaseOutStructure *part = (VkBaseOutStructure *)info->pNext;
    while (part && part->sType != VK_STRUCTURE_TYPE_DEVICE_GROUP_DEVICE_CREATE_INFO) {
        part = part->pNext;
    }
    *group = (VkDeviceGroupDeviceCreateInfo *)part;
    if (!part || (*group)->physicalDeviceCount > VK_MAX_DEVICE_GROUP_SIZE) {
        *group = NULL;
        return NULL;
    }
    const VkPhysicalDevice *before = (*group)->pPhysicalDevices;
    for (uint32_t i = 0; i < (*group)->physicalDeviceCount; i++) {
        handles[i] = ((const struct physical_device *)before[i])->handle;
    }
    (*group)->pPhysicalDevices = handles;
    return before;
}

/* The features that the application wants, in the place where a driver without VK_KHR_get_physical_device_properties2
 * looks for them. */
static const VkPhysicalDeviceFeatures *features_for(const struct driver *driver, const VkDeviceCreateInfo *info)
{
    const VkBaseInStructure *part = info->pNext;
    while (part && part->sType != VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2) {
        part = part->pNext;
    }
    bool knows = driver->functions[VULKAN_vkGetPhysicalDeviceFeatures2] != NULL;
    return part && !knows ? &((const VkPhysicalDeviceFeatures2 *)part)->features : info->pEnabledFeatures;
}

static bool has_extensions(struct physical_device *from, const VkDeviceCreateInfo *info)
{
    uint32_t count = 0;
    PFN_vkEnumerateDeviceExtensionProperties ask =
        (PFN_vkEnumerateDeviceExtensionProperties)from->driver->functions[VULKAN_vkEnumerateDeviceExtensionProperties];
    if (info->enabledExtensionCount == 0) {
        return true;
    }
    if (ask(from->handle, NULL, &count, NULL) != VK_SUCCESS) {
        return false;
    }
    uint32_t room = count;
    VkExtensionProperties *list = calloc(room + 1, sizeof *list);
    bool all = list && ask(from->handle, NULL, &count, list) >= VK_SUCCESS;
    count = count < room ? count : room;
    for (uint32_t i = 0; all && i < info->enabledExtensionCount; i++) {
        all = drivers_has_extension(list, count, info->ppEnabledExtensionNames[i]);
    }
    free(list);
    return all;
}

VkResult loader_vkCreateDevice(struct physical_device *from, const VkDeviceCreateInfo *info,
                               const VkAllocationCallbacks *allocator, VkDevice *to);
VkResult loader_vkCreateDevice(struct physical_device *from, const VkDeviceCreateInfo *info,
                               const VkAllocationCallbacks *allocator, VkDevice *to)
{
    if (!has_extensions(from, info)) {
        return VK_ERROR_EXTENSION_NOT_PRESENT;
    }
    struct device *device = memory_take(allocator, VK_SYSTEM_ALLOCATION_SCOPE_DEVICE, sizeof *device);
    if (!device) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    VkPhysicalDevice handles[VK_MAX_DEVICE_GROUP_SIZE];
    VkDeviceGroupDeviceCreateInfo *group;
    const VkPhysicalDevice *before = replace_group(info, handles, &group);
    PFN_vkCreateDevice create = (PFN_vkCreateDevice)from->driver->functions[VULKAN_vkCreateDevice];
    VkDeviceCreateInfo own = *info;
    own.pEnabledFeatures = features_for(from->driver, info);
    own.enabledLayerCount = 0;
    own.ppEnabledLayerNames = NULL;
    bool has_memory =
        extensions_keep(&device->extensions, device, info->ppEnabledExtensionNames, info->enabledExtensionCount);
    VkResult result = has_memory ? create(from->handle, &own, allocator, to) : VK_ERROR_OUT_OF_HOST_MEMORY;
    if (group) {
        group->pPhysicalDevices = before;
    }
    if (result != VK_SUCCESS) {
        memory_give(device->extensions.names);
        memory_give(device);
        return result;
    }
    device->instance = from->instance;
    device->driver = from->driver;
    device->handle = *to;
    find_functions(device);
    claim(*to, device);
    return result;
}

void loader_vkDestroyDevice(VkDevice handle, const VkAllocationCallbacks *allocator);
void loader_vkDestroyDevice(VkDevice handle, const VkAllocationCallbacks *allocator)
{
    if (!handle) {
        return;
    }
    struct device *device = device_of(handle);
    ((PFN_vkDestroyDevice)device->functions[VULKAN_vkDestroyDevice])(handle, allocator);
    memory_give(device->extensions.names);
    memory_give(device);
}

void loader_vkGetDeviceQueue(VkDevice handle, uint32_t family, uint32_t index, VkQueue *to);
void loader_vkGetDeviceQueue(VkDevice handle, uint32_t family, uint32_t index, VkQueue *to)
{
    struct device *device = device_of(handle);
    ((PFN_vkGetDeviceQueue)device->functions[VULKAN_vkGetDeviceQueue])(handle, family, index, to);
    claim(*to, device);
}

void loader_vkGetDeviceQueue2(VkDevice handle, const VkDeviceQueueInfo2 *info, VkQueue *to);
void loader_vkGetDeviceQueue2(VkDevice handle, const VkDeviceQueueInfo2 *info, VkQueue *to)
{
    struct device *device = device_of(handle);
    ((PFN_vkGetDeviceQueue2)device->functions[VULKAN_vkGetDeviceQueue2])(handle, info, to);
    claim(*to, device);
}

VkResult loader_vkAllocateCommandBuffers(VkDevice handle, const VkCommandBufferAllocateInfo *info, VkCommandBuffer *to);
VkResult loader_vkAllocateCommandBuffers(VkDevice handle, const VkCommandBufferAllocateInfo *info, VkCommandBuffer *to)
{
    struct device *device = device_of(handle);
    VkResult result =
        ((PFN_vkAllocateCommandBuffers)device->functions[VULKAN_vkAllocateCommandBuffers])(handle, info, to);
    for (uint32_t i = 0; result == VK_SUCCESS && i < info->commandBufferCount; i++) {
        claim(to[i], device);
    }
    return result;
}
