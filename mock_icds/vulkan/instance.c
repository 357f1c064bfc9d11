/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of a driver before it has an instance, and those of instances. */
#include "extensions.h"
#include "implementation.h"
#include "lookup.h"
#include "objects.h"

#include <stdlib.h>

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
    return (uint64_t)extensions_answer(config.extensions, more, pointer(a[1]), pointer(a[2]));
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

static uint64_t create_instance(const uint64_t *a)
{
    const VkInstanceCreateInfo *info = pointer(a[0]);
    VkInstance *instance = pointer(a[2]);
    uint32_t version = info->pApplicationInfo ? info->pApplicationInfo->apiVersion : 0;
    if (fails(FAULT_create_instance_crashes)) {
        abort();
    }
    if (fails(FAULT_create_instance_fails)) {
        return failure(FAULT_create_instance_fails);
    }
    if (fails(FAULT_create_instance_refuses_versions) && version >= VK_API_VERSION_1_1) {
        return (uint64_t)VK_ERROR_INCOMPATIBLE_DRIVER;
    }
    if (fails(FAULT_create_instance_refuses_extensions) && lacks_some(info)) {
        return (uint64_t)VK_ERROR_EXTENSION_NOT_PRESENT;
    }
    if (fails(FAULT_create_instance_answers_null)) {
        *instance = VK_NULL_HANDLE;
        return VK_SUCCESS;
    }
    lookup_note_instance();
    *instance = (VkInstance)object_make(KIND_instance, NULL, 0, FAULT_instance_without_magic);
    return VK_SUCCESS;
}

static uint64_t destroy_instance(const uint64_t *a)
{
    struct object *instance = object_of(a[0], KIND_instance);
    for (int i = 0; instance && i < MAX_DEVICES; i++) {
        object_drop(object_find(KIND_physical_device, instance, i));
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
