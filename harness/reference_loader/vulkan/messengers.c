/* SPDX-License-Identifier: Apache-2.0 */
/* Messengers and callbacks for reports: one object for the application, and one in each driver that has the extension.
 * Names of objects: those that the loader made stand for the driver's own. */
#include "vulkan_loader.h"

#include <stdlib.h>

struct messenger {
    uint64_t own[MAX_DRIVERS]; /* the drivers', by their place in the instance */
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
