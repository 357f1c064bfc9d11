/* SPDX-License-Identifier: Apache-2.0 */
/* Messengers and callbacks for reports: one object for the application, and one in each driver that has the extension.
 * What the application submits, the loader says to each itself: the drivers' ones would say it again.
 * Names of objects: those that the loader made stand for the driver's own. */
#include "vulkan_loader.h"

struct messenger {
    uint64_t own[MAX_DRIVERS]; /* the drivers', by their place in the instance */
    union {
        VkStructureType type; /* tells which */
        VkDebugUtilsMessengerCreateInfoEXT messages;
        VkDebugReportCallbackCreateInfoEXT reports;
    } hears;
    struct messenger *next;
};

typedef VkResult create_function(VkInstance instance, const void *info, const VkAllocationCallbacks *allocator,
                                 uint64_t *to);
typedef void destroy_function(VkInstance instance, uint64_t messenger, const VkAllocationCallbacks *allocator);

static void destroy(struct instance *instance, enum vulkan_function which, struct messenger *messenger,
                    const VkAllocationCallbacks *allocator)
{
    for (size_t i = 0; messenger && i < instance->driver_count; i++) {
        struct driver *driver = &instance->drivers[i];
        if (messenger->own[i] && driver->functions[which]) {
            ((destroy_function *)driver->functions[which])(driver->instance, messenger->own[i], allocator);
        }
    }
    for (struct messenger **link = &instance->messengers; *link; link = &(*link)->next) {
        if (*link == messenger) {
            *link = messenger->next;
            break;
        }
    }
    memory_give(messenger);
}

static VkResult create(struct instance *instance, enum vulkan_function which, enum vulkan_function end,
                       const void *info, const VkAllocationCallbacks *allocator, uint64_t *to)
{
    struct messenger *messenger = memory_take(allocator, VK_SYSTEM_ALLOCATION_SCOPE_OBJECT, sizeof *messenger);
    if (!messenger) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    for (size_t i = 0; i < instance->driver_count; i++) {
        struct driver *driver = &instance->drivers[i];
        create_function *make = (create_function *)driver->functions[which];
        VkResult result = make ? make(driver->instance, info, allocator, &messenger->own[i]) : VK_SUCCESS;
        if (result != VK_SUCCESS) {
            messenger->own[i] = 0;
            destroy(instance, end, messenger, allocator);
            return result;
        }
    }
    if (end == VULKAN_vkDestroyDebugUtilsMessengerEXT) {
        messenger->hears.messages = *(const VkDebugUtilsMessengerCreateInfoEXT *)info;
    } else {
        messenger->hears.reports = *(const VkDebugReportCallbackCreateInfoEXT *)info;
    }
    messenger->next = instance->messengers;
    instance->messengers = messenger;
    *to = (uint64_t)(uintptr_t)messenger;
    return VK_SUCCESS;
}

void messengers_end(struct instance *instance)
{
    while (instance->messengers) {
        bool reports = instance->messengers->hears.type == VK_STRUCTURE_TYPE_DEBUG_REPORT_CALLBACK_CREATE_INFO_EXT;
        destroy(instance, reports ? VULKAN_vkDestroyDebugReportCallbackEXT : VULKAN_vkDestroyDebugUtilsMessengerEXT,
                instance->messengers, NULL);
    }
}

#define MESSENGER(in_create, in_destroy)                                                                             \
    VkResult loader_##in_create(struct instance *instance, const void *info, const VkAllocationCallbacks *allocator, \
                                uint64_t *to);                                                                       \
    VkResult loader_##in_create(struct instance *instance, const void *info, const VkAllocationCallbacks *allocator, \
                                uint64_t *to)                                                                        \
    {                                                                                                                \
        return create(instance, VULKAN_##in_create, VULKAN_##in_destroy, info, allocator, to);                       \
    }                                                                                                                \
    void loader_##in_destroy(struct instance *instance, struct messenger *messenger,                                 \
                             const VkAllocationCallbacks *allocator);                                                \
    void loader_##in_destroy(struct instance *instance, struct messenger *messenger,                                 \
                             const VkAllocationCallbacks *allocator)                                                 \
    {                                                                                                                \
        destroy(instance, VULKAN_##in_destroy, messenger, allocator);                                                \
    }
MESSENGER(vkCreateDebugUtilsMessengerEXT, vkDestroyDebugUtilsMessengerEXT)
MESSENGER(vkCreateDebugReportCallbackEXT, vkDestroyDebugReportCallbackEXT)

/* --- what the application says: each extension's hearers are told in the words of their own --- */

static void tell_messengers(const struct instance *instance, VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                            VkDebugUtilsMessageTypeFlagsEXT types, const VkDebugUtilsMessengerCallbackDataEXT *data)
{
    for (const struct messenger *messenger = instance->messengers; messenger; messenger = messenger->next) {
        const VkDebugUtilsMessengerCreateInfoEXT *own = &messenger->hears.messages;
        if (messenger->hears.type == VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT &&
            (own->messageSeverity & severity) && (own->messageType & types)) {
            own->pfnUserCallback(severity, types, data, own->pUserData);
        }
    }
}

struct report {
    VkDebugReportFlagsEXT flags;
    VkDebugReportObjectTypeEXT type;
    uint64_t object;
    size_t location;
    int32_t code;
    const char *prefix;
    const char *text;
};

static void tell_callbacks(const struct instance *instance, const struct report *report)
{
    for (const struct messenger *messenger = instance->messengers; messenger; messenger = messenger->next) {
        const VkDebugReportCallbackCreateInfoEXT *own = &messenger->hears.reports;
        if (messenger->hears.type == VK_STRUCTURE_TYPE_DEBUG_REPORT_CALLBACK_CREATE_INFO_EXT &&
            (own->flags & report->flags)) {
            own->pfnCallback(report->flags, report->type, report->object, report->location, report->code,
                             report->prefix, report->text, own->pUserData);
        }
    }
}

static VkDebugReportFlagsEXT flags_of(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                      VkDebugUtilsMessageTypeFlagsEXT types)
{
    switch (severity) {
    case VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT:
        return VK_DEBUG_REPORT_ERROR_BIT_EXT;
    case VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT:
        return types & VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT ? VK_DEBUG_REPORT_PERFORMANCE_WARNING_BIT_EXT
                                                                       : VK_DEBUG_REPORT_WARNING_BIT_EXT;
    case VK_DEBUG_UTILS_MESSAGE_SEVERITY_INFO_BIT_EXT:
        return VK_DEBUG_REPORT_INFORMATION_BIT_EXT;
    default:
        return VK_DEBUG_REPORT_DEBUG_BIT_EXT;
    }
}

static VkDebugUtilsMessageSeverityFlagBitsEXT severity_of(VkDebugReportFlagsEXT flags)
{
    if (flags & VK_DEBUG_REPORT_ERROR_BIT_EXT) {
        return VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
    }
    if (flags & (VK_DEBUG_REPORT_WARNING_BIT_EXT | VK_DEBUG_REPORT_PERFORMANCE_WARNING_BIT_EXT)) {
        return VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT;
    }
    return flags & VK_DEBUG_REPORT_INFORMATION_BIT_EXT ? VK_DEBUG_UTILS_MESSAGE_SEVERITY_INFO_BIT_EXT
                                                       : VK_DEBUG_UTILS_MESSAGE_SEVERITY_VERBOSE_BIT_EXT;
}

void loader_vkSubmitDebugUtilsMessageEXT(struct instance *instance, VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                         VkDebugUtilsMessageTypeFlagsEXT types,
                                         const VkDebugUtilsMessengerCallbackDataEXT *data);
void loader_vkSubmitDebugUtilsMessageEXT(struct instance *instance, VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                         VkDebugUtilsMessageTypeFlagsEXT types,
                                         const VkDebugUtilsMessengerCallbackDataEXT *data)
{
    const VkDebugUtilsObjectNameInfoEXT *object = data->objectCount > 0 ? data->pObjects : NULL;
    const struct report report = {
        .flags = flags_of(severity, types),
        .type = object ? (VkDebugReportObjectTypeEXT)object->objectType : VK_DEBUG_REPORT_OBJECT_TYPE_UNKNOWN_EXT,
        .object = object ? object->objectHandle : 0,
        .code = data->messageIdNumber,
        .prefix = data->pMessageIdName,
        .text = data->pMessage,
    };
    tell_messengers(instance, severity, types, data);
    tell_callbacks(instance, &report);
}

void loader_vkDebugReportMessageEXT(struct instance *instance, VkDebugReportFlagsEXT flags,
                                    VkDebugReportObjectTypeEXT type, uint64_t object, size_t location, int32_t code,
                                    const char *prefix, const char *text);
void loader_vkDebugReportMessageEXT(struct instance *instance, VkDebugReportFlagsEXT flags,
                                    VkDebugReportObjectTypeEXT type, uint64_t object, size_t location, int32_t code,
                                    const char *prefix, const char *text)
{
    const struct report report = {flags, type, object, location, code, prefix, text};
    const VkDebugUtilsObjectNameInfoEXT about = {
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_NAME_INFO_EXT,
        .objectType = (VkObjectType)type,
        .objectHandle = object,
    };
    const VkDebugUtilsMessengerCallbackDataEXT data = {
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CALLBACK_DATA_EXT,
        .pMessageIdName = prefix,
        .messageIdNumber = report.code,
        .pMessage = text,
        .objectCount = 1,
        .pObjects = &about,
    };
    tell_callbacks(instance, &report);
    bool is_of_performance = (flags & VK_DEBUG_REPORT_PERFORMANCE_WARNING_BIT_EXT) != 0;
    tell_messengers(instance, severity_of(flags),
                    is_of_performance ? VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT
                                      : VK_DEBUG_UTILS_MESSAGE_TYPE_GENERAL_BIT_EXT,
                    &data);
}

/* --- names --- */

/* What a driver calls an object that the application names. */
static uint64_t own_handle(struct device *device, VkObjectType type, uint64_t handle)
{
    switch (type) {
    case VK_OBJECT_TYPE_INSTANCE:
        return (uint64_t)(uintptr_t)device->driver->instance;
    case VK_OBJECT_TYPE_PHYSICAL_DEVICE:
        return (uint64_t)(uintptr_t)((const struct physical_device *)(uintptr_t)handle)->handle;
    case VK_OBJECT_TYPE_SURFACE_KHR:
        return (uint64_t)surfaces_for(device->driver, (VkSurfaceKHR)handle);
    default:
        return handle;
    }
}

VkResult loader_vkSetDebugUtilsObjectNameEXT(VkDevice handle, const VkDebugUtilsObjectNameInfoEXT *info);
VkResult loader_vkSetDebugUtilsObjectNameEXT(VkDevice handle, const VkDebugUtilsObjectNameInfoEXT *info)
{
    struct device *device = device_of(handle);
    VkDebugUtilsObjectNameInfoEXT own = *info;
    own.objectHandle = own_handle(device, info->objectType, info->objectHandle);
    return ((PFN_vkSetDebugUtilsObjectNameEXT)device->functions[VULKAN_vkSetDebugUtilsObjectNameEXT])(handle, &own);
}

VkResult loader_vkSetDebugUtilsObjectTagEXT(VkDevice handle, const VkDebugUtilsObjectTagInfoEXT *info);
VkResult loader_vkSetDebugUtilsObjectTagEXT(VkDevice handle, const VkDebugUtilsObjectTagInfoEXT *info)
{
    struct device *device = device_of(handle);
    VkDebugUtilsObjectTagInfoEXT own = *info;
    own.objectHandle = own_handle(device, info->objectType, info->objectHandle);
    return ((PFN_vkSetDebugUtilsObjectTagEXT)device->functions[VULKAN_vkSetDebugUtilsObjectTagEXT])(handle, &own);
}

/* What VK_EXT_debug_marker calls a type of objects, as the extension after it does: that of surfaces has a number of
 * its own. */
static VkObjectType type_of(VkDebugReportObjectTypeEXT type)
{
    return type == VK_DEBUG_REPORT_OBJECT_TYPE_SURFACE_KHR_EXT ? VK_OBJECT_TYPE_SURFACE_KHR : (VkObjectType)type;
}

VkResult loader_vkDebugMarkerSetObjectNameEXT(VkDevice handle, const VkDebugMarkerObjectNameInfoEXT *info);
VkResult loader_vkDebugMarkerSetObjectNameEXT(VkDevice handle, const VkDebugMarkerObjectNameInfoEXT *info)
{
    struct device *device = device_of(handle);
    VkDebugMarkerObjectNameInfoEXT own = *info;
    own.object = own_handle(device, type_of(info->objectType), info->object);
    return ((PFN_vkDebugMarkerSetObjectNameEXT)device->functions[VULKAN_vkDebugMarkerSetObjectNameEXT])(handle, &own);
}

VkResult loader_vkDebugMarkerSetObjectTagEXT(VkDevice handle, const VkDebugMarkerObjectTagInfoEXT *info);
VkResult loader_vkDebugMarkerSetObjectTagEXT(VkDevice handle, const VkDebugMarkerObjectTagInfoEXT *info)
{
    struct device *device = device_of(handle);
    VkDebugMarkerObjectTagInfoEXT own = *info;
    own.object = own_handle(device, type_of(info->objectType), info->object);
    return ((PFN_vkDebugMarkerSetObjectTagEXT)device->functions[VULKAN_vkDebugMarkerSetObjectTagEXT])(handle, &own);
}
