/* SPDX-License-Identifier: Apache-2.0 */
/* Messengers and callbacks for reports: one object for the application, and one in each driver that has the extension.
 * What the application submits, the loader says to each itself: the drivers' ones would say it again.
 * Names of objects: those that the loader made stand for the driver's own. */
#include "vulkan_loader.h"

#include <stdlib.h>

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
    free(messenger);
}

static VkResult create(struct instance *instance, enum vulkan_function which, enum vulkan_function end,
                       const void *info, const VkAllocationCallbacks *allocator, uint64_t *to)
{
    struct messenger *messenger = calloc(1, sizeof *messenger);
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

/* --- what the application says --- */

void loader_vkSubmitDebugUtilsMessageEXT(struct instance *instance, VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                         VkDebugUtilsMessageTypeFlagsEXT types,
                                         const VkDebugUtilsMessengerCallbackDataEXT *data);
void loader_vkSubmitDebugUtilsMessageEXT(struct instance *instance, VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                         VkDebugUtilsMessageTypeFlagsEXT types,
                                         const VkDebugUtilsMessengerCallbackDataEXT *data)
{
    for (const struct messenger *messenger = instance->messengers; messenger; messenger = messenger->next) {
        const VkDebugUtilsMessengerCreateInfoEXT *own = &messenger->hears.messages;
        if (messenger->hears.type == VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT &&
            (own->messageSeverity & severity) && (own->messageType & types)) {
            own->pfnUserCallback(severity, types, data, own->pUserData);
        }
    }
}

void loader_vkDebugReportMessageEXT(struct instance *instance, VkDebugReportFlagsEXT flags,
                                    VkDebugReportObjectTypeEXT type, uint64_t object, size_t location, int32_t code,
                                    const char *prefix, const char *text);
void loader_vkDebugReportMessageEXT(struct instance *instance, VkDebugReportFlagsEXT flags,
                                    VkDebugReportObjectTypeEXT type, uint64_t object, size_t location, int32_t code,
                                    const char *prefix, const char *text)
{
    for (const struct messenger *messenger = instance->messengers; messenger; messenger = messenger->next) {
        const VkDebugReportCallbackCreateInfoEXT *own = &messenger->hears.reports;
        if (messenger->hears.type == VK_STRUCTURE_TYPE_DEBUG_REPORT_CALLBACK_CREATE_INFO_EXT && (own->flags & flags)) {
            own->pfnCallback(flags, type, object, location, code, prefix, text, own->pUserData);
        }
    }
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
