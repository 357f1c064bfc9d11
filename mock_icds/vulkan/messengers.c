/* SPDX-License-Identifier: Apache-2.0 */
/* Messengers of VK_EXT_debug_utils, callbacks of VK_EXT_debug_report, and names that applications give to objects. */
#include "implementation.h"
#include "objects.h"

static uint64_t create_messenger(const uint64_t *a)
{
    static _Atomic int count;
    if (fails(FAULT_create_messenger_fails)) {
        return failure(FAULT_create_messenger_fails);
    }
    struct object *instance = object_of(a[0], KIND_instance);
    *(uint64_t *)pointer(a[3]) = (uint64_t)(uintptr_t)object_make(KIND_messenger, instance, count++, FAULT_COUNT);
    return VK_SUCCESS;
}

static uint64_t destroy_messenger(const uint64_t *a)
{
    object_drop(object_of(a[1], KIND_messenger));
    return 0;
}

/* The information about names and about tags begins alike, that of VK_EXT_debug_marker, too. */
static uint64_t name_object(const uint64_t *a)
{
    const VkDebugUtilsObjectNameInfoEXT *info = pointer(a[1]);
    struct calllog_line line;
    calllog_begin(&mock_log, &line, CALLLOG_EVENT, mock_name, "named object", NULL, 0);
    calllog_hex(&line, "type", (uint64_t)info->objectType);
    calllog_hex(&line, "handle", info->objectHandle);
    calllog_commit(&mock_log, &line);
    return VK_SUCCESS;
}

const struct implemented messengers_implemented[] = {
    {VULKAN_vkCreateDebugUtilsMessengerEXT, create_messenger},
    {VULKAN_vkDestroyDebugUtilsMessengerEXT, destroy_messenger},
    {VULKAN_vkCreateDebugReportCallbackEXT, create_messenger},
    {VULKAN_vkDestroyDebugReportCallbackEXT, destroy_messenger},
    {VULKAN_vkSetDebugUtilsObjectNameEXT, name_object},
    {VULKAN_vkSetDebugUtilsObjectTagEXT, name_object},
    {VULKAN_vkDebugMarkerSetObjectNameEXT, name_object},
    {VULKAN_vkDebugMarkerSetObjectTagEXT, name_object},
    {VULKAN_FUNCTION_COUNT, NULL},
};
