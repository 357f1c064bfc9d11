/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of a driver before it has an instance, and those of instances. */
#include "extensions.h"
#include "implementation.h"
#include "lookup.h"
#include "negotiation.h"
#include "objects.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static uint64_t enumerate_version(const uint64_t *a)
{
    *(uint32_t *)pointer(a[0]) = config_version(config.api_version);
    return fails(FAULT_version_fails) ? failure(FAULT_version_fails) : VK_SUCCESS;
}

static uint64_t enumerate_extensions(const uint64_t *a)
{
    enum fault failing = a[2] ? FAULT_extension_list_fails : FAULT_extension_count_fails;
    if (fails(failing)) {
        return failure(failing);
    }
    uint32_t more = (uint32_t)(fails(FAULT_extension_count_is_higher) ? failure(FAULT_extension_count_is_higher) : 0);
    uint64_t result = (uint64_t)extensions_answer(config.extensions, more, pointer(a[1]), pointer(a[2]));
    claim_more(FAULT_extension_list_claims_more, pointer(a[1]), pointer(a[2]));
    return result;
}

static uint64_t enumerate_layers(const uint64_t *a)
{
    *(uint32_t *)pointer(a[0]) = 0;
    return VK_SUCCESS;
}

static bool lacks_some(const VkInstanceCreateInfo *info)
{
    for (uint32_t i = 0; i < info->enabledExtensionCount; i++) {
        if (!config_has_word(config.extensions, info->ppEnabledExtensionNames[i])) {
            return true;
        }
    }
    return false;
}

/* What a driver answers that refuses what others take; VK_SUCCESS for nothing. */
static VkResult refusal_of_settings(const VkInstanceCreateInfo *info, const VkAllocationCallbacks *allocator)
{
    if (fails(FAULT_create_instance_needs_application) && !info->pApplicationInfo) {
        return VK_ERROR_INITIALIZATION_FAILED;
    }
    if (fails(FAULT_create_instance_refuses_layers) && info->enabledLayerCount > 0) {
        return VK_ERROR_LAYER_NOT_PRESENT;
    }
    if (fails(FAULT_create_instance_refuses_extensions) && lacks_some(info)) {
        return VK_ERROR_EXTENSION_NOT_PRESENT;
    }
    if (fails(FAULT_create_instance_keeps_memory) && allocator) {
        allocator->pfnAllocation(allocator->pUserData, 16, 8, VK_SYSTEM_ALLOCATION_SCOPE_INSTANCE);
    }
    bool refuses = (fails(FAULT_create_instance_refuses_structures) && info->pNext) ||
                   (fails(FAULT_create_instance_refuses_allocators) && allocator);
    return refuses ? VK_ERROR_INITIALIZATION_FAILED : VK_SUCCESS;
}

/* What a driver answers because of a loader's version; VK_SUCCESS for nothing. */
static VkResult refusal_of_loader(uint32_t version)
{
    bool newer = version >= VK_API_VERSION_1_1;
    if (fails(FAULT_create_instance_crashes_for_old_loaders) && newer && negotiation_version() < 5) {
        abort();
    }
    if (fails(FAULT_create_instance_fails_for_old_loaders) && newer && negotiation_version() < 5) {
        return VK_ERROR_INITIALIZATION_FAILED;
    }
    if (fails(FAULT_negotiation_breaks_old_versions) && negotiation_happened() && negotiation_version() < 3) {
        return VK_ERROR_INITIALIZATION_FAILED;
    }
    return fails(FAULT_create_instance_refuses_versions) && newer ? VK_ERROR_INCOMPATIBLE_DRIVER : VK_SUCCESS;
}

static void *go_on(void *nothing)
{
    (void)nothing;
    for (;;) {
        pause();
    }
    return NULL;
}

static void start_thread(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, go_on, NULL) == 0) {
        pthread_detach(thread);
    }
}

static uint64_t create_instance(const uint64_t *a)
{
    const VkInstanceCreateInfo *info = pointer(a[0]);
    VkInstance *instance = pointer(a[2]);
    uint32_t version = info->pApplicationInfo ? info->pApplicationInfo->apiVersion : 0;
    if (fails(FAULT_create_instance_fails)) {
        return failure(FAULT_create_instance_fails);
    }
    VkResult refusal = refusal_of_loader(version);
    if (refusal != VK_SUCCESS) {
        return (uint64_t)refusal;
    }
    refusal = refusal_of_settings(info, pointer(a[1]));
    if (refusal != VK_SUCCESS) {
        return (uint64_t)refusal;
    }
    if (fails(FAULT_create_instance_prints)) {
        puts("the driver's greeting");
    }
    if (fails(FAULT_starts_thread)) {
        start_thread();
    }
    lookup_note_instance();
    bool bare = objects_have_instances() && fails(FAULT_second_instance_without_magic);
    *instance = (VkInstance)object_make(KIND_instance, NULL, 0,
                                        bare ? FAULT_second_instance_without_magic : FAULT_instance_without_magic);
    return fails(FAULT_create_instance_fails_late) ? failure(FAULT_create_instance_fails_late) : VK_SUCCESS;
}

static uint64_t destroy_instance(const uint64_t *a)
{
    if (!a[0]) {
        object_drop_null();
    }
    struct object *instance = object_of(a[0], KIND_instance);
    for (int i = 0; instance && i < MAX_DEVICES; i++) {
        object_drop(object_find(KIND_physical_device, instance, i));
    }
    if (fails(FAULT_destroy_instance_takes_all_devices)) {
        objects_drop_all(KIND_physical_device);
    }
    object_drop(instance);
    return 0;
}

static uint64_t get_instance_proc_addr(const uint64_t *a)
{
    return (uint64_t)(uintptr_t)lookup_instance("vkGetInstanceProcAddr", a[0], pointer(a[1]));
}

const struct implemented instance_implemented[] = {
    {VULKAN_vkEnumerateInstanceVersion, enumerate_version},
    {VULKAN_vkEnumerateInstanceExtensionProperties, enumerate_extensions},
    {VULKAN_vkEnumerateInstanceLayerProperties, enumerate_layers},
    {VULKAN_vkCreateInstance, create_instance},
    {VULKAN_vkDestroyInstance, destroy_instance},
    {VULKAN_vkGetInstanceProcAddr, get_instance_proc_addr},
    {VULKAN_FUNCTION_COUNT, NULL},
};
