/* SPDX-License-Identifier: Apache-2.0 */
/* VK_KHR_get_display_properties2, also for drivers that lack it: the same by functions of VK_KHR_display, and nothing
 * where a driver knows no displays. */
#include "vulkan_loader.h"

#include <stdlib.h>
#include <string.h>

#define FUNCTION(device, name) ((PFN_##name)(device)->driver->functions[VULKAN_##name])

/* The older function's list, its elements within those of the newer one. */
/* NOLINTBEGIN(bugprone-macro-parentheses): types and lists, which no parentheses can stand around */
#define EMULATED_LIST(name, old, element, type, member, parameters, ...)                          \
    VkResult loader_##name(struct physical_device *device, parameters uint32_t *count, type *to); \
    VkResult loader_##name(struct physical_device *device, parameters uint32_t *count, type *to)  \
    {                                                                                             \
        if (FUNCTION(device, name)) {                                                             \
            return FUNCTION(device, name)(device->handle, __VA_ARGS__ count, to);                 \
        }                                                                                         \
        if (!FUNCTION(device, old)) {                                                             \
            *count = 0;                                                                           \
            return VK_SUCCESS;                                                                    \
        }                                                                                         \
        uint32_t room = to ? *count : 0;                                                          \
        element *list = to ? calloc(room + 1, sizeof *list) : NULL;                               \
        VkResult result = FUNCTION(device, old)(device->handle, __VA_ARGS__ count, list);         \
        for (uint32_t i = 0; list && result >= 0 && i < *count && i < room; i++) {                \
            to[i].member = list[i];                                                               \
        }                                                                                         \
        free(list);                                                                               \
        return result;                                                                            \
    }
#define OF_DISPLAY VkDisplayKHR display,
#define OF_PLANE uint32_t plane,
EMULATED_LIST(vkGetPhysicalDeviceDisplayProperties2KHR, vkGetPhysicalDeviceDisplayPropertiesKHR, VkDisplayPropertiesKHR,
              VkDisplayProperties2KHR, displayProperties, , )
EMULATED_LIST(vkGetPhysicalDeviceDisplayPlaneProperties2KHR, vkGetPhysicalDeviceDisplayPlanePropertiesKHR,
              VkDisplayPlanePropertiesKHR, VkDisplayPlaneProperties2KHR, displayPlaneProperties, , )
EMULATED_LIST(vkGetDisplayModeProperties2KHR, vkGetDisplayModePropertiesKHR, VkDisplayModePropertiesKHR,
              VkDisplayModeProperties2KHR, displayModeProperties, OF_DISPLAY, display, )
/* NOLINTEND(bugprone-macro-parentheses) */

/* The older lists themselves: a driver without VK_KHR_display has no displays. */
/* NOLINTBEGIN(bugprone-macro-parentheses): types and lists, as above */
#define OLDER_LIST(name, type, parameters, ...)                                                   \
    VkResult loader_##name(struct physical_device *device, parameters uint32_t *count, type *to); \
    VkResult loader_##name(struct physical_device *device, parameters uint32_t *count, type *to)  \
    {                                                                                             \
        if (FUNCTION(device, name)) {                                                             \
            return FUNCTION(device, name)(device->handle, __VA_ARGS__ count, to);                 \
        }                                                                                         \
        *count = NONE;                                                                            \
        return VK_SUCCESS;                                                                        \
    }
enum { NONE = 0 };
OLDER_LIST(vkGetPhysicalDeviceDisplayPropertiesKHR, VkDisplayPropertiesKHR, , )
OLDER_LIST(vkGetPhysicalDeviceDisplayPlanePropertiesKHR, VkDisplayPlanePropertiesKHR, , )
OLDER_LIST(vkGetDisplayModePropertiesKHR, VkDisplayModePropertiesKHR, OF_DISPLAY, display, )
OLDER_LIST(vkGetDisplayPlaneSupportedDisplaysKHR, VkDisplayKHR, OF_PLANE, plane, )
/* NOLINTEND(bugprone-macro-parentheses) */

/* --- modes: a driver without displays can be given none --- */

VkResult loader_vkCreateDisplayModeKHR(struct physical_device *device, VkDisplayKHR display,
                                       const VkDisplayModeCreateInfoKHR *info, const VkAllocationCallbacks *allocator,
                                       VkDisplayModeKHR *to);
VkResult loader_vkCreateDisplayModeKHR(struct physical_device *device, VkDisplayKHR display,
                                       const VkDisplayModeCreateInfoKHR *info, const VkAllocationCallbacks *allocator,
                                       VkDisplayModeKHR *to)
{
    if (!FUNCTION(device, vkCreateDisplayModeKHR)) {
        return VK_ERROR_INITIALIZATION_FAILED;
    }
    return FUNCTION(device, vkCreateDisplayModeKHR)(device->handle, display, info, allocator, to);
}

/* --- VK_EXT_acquire_xlib_display: a driver without it has no display that can be had. Its types need not be here. ---
 */

typedef VkResult acquire_function(VkPhysicalDevice device, void *connection, VkDisplayKHR display);
typedef VkResult find_function(VkPhysicalDevice device, void *connection, uint64_t output, VkDisplayKHR *to);

VkResult loader_vkAcquireXlibDisplayEXT(struct physical_device *device, void *connection, VkDisplayKHR display);
VkResult loader_vkAcquireXlibDisplayEXT(struct physical_device *device, void *connection, VkDisplayKHR display)
{
    function own = device->driver->functions[VULKAN_vkAcquireXlibDisplayEXT];
    return own ? ((acquire_function *)own)(device->handle, connection, display) : VK_ERROR_INITIALIZATION_FAILED;
}

VkResult loader_vkGetRandROutputDisplayEXT(struct physical_device *device, void *connection, uint64_t output,
                                           VkDisplayKHR *to);
VkResult loader_vkGetRandROutputDisplayEXT(struct physical_device *device, void *connection, uint64_t output,
                                           VkDisplayKHR *to)
{
    function own = device->driver->functions[VULKAN_vkGetRandROutputDisplayEXT];
    if (own) {
        return ((find_function *)own)(device->handle, connection, output, to);
    }
    *to = VK_NULL_HANDLE;
    return VK_SUCCESS;
}

/* --- planes: one of a driver without displays can do nothing --- */

VkResult loader_vkGetDisplayPlaneCapabilitiesKHR(struct physical_device *device, VkDisplayModeKHR mode, uint32_t plane,
                                                 VkDisplayPlaneCapabilitiesKHR *to);
VkResult loader_vkGetDisplayPlaneCapabilitiesKHR(struct physical_device *device, VkDisplayModeKHR mode, uint32_t plane,
                                                 VkDisplayPlaneCapabilitiesKHR *to)
{
    if (FUNCTION(device, vkGetDisplayPlaneCapabilitiesKHR)) {
        return FUNCTION(device, vkGetDisplayPlaneCapabilitiesKHR)(device->handle, mode, plane, to);
    }
    *to = (VkDisplayPlaneCapabilitiesKHR){0};
    return VK_SUCCESS;
}

VkResult loader_vkGetDisplayPlaneCapabilities2KHR(struct physical_device *device, const VkDisplayPlaneInfo2KHR *info,
                                                  VkDisplayPlaneCapabilities2KHR *to);
VkResult loader_vkGetDisplayPlaneCapabilities2KHR(struct physical_device *device, const VkDisplayPlaneInfo2KHR *info,
                                                  VkDisplayPlaneCapabilities2KHR *to)
{
    if (FUNCTION(device, vkGetDisplayPlaneCapabilities2KHR)) {
        return FUNCTION(device, vkGetDisplayPlaneCapabilities2KHR)(device->handle, info, to);
    }
    if (!FUNCTION(device, vkGetDisplayPlaneCapabilitiesKHR)) {
        memset(&to->capabilities, 0, sizeof to->capabilities);
        return VK_SUCCESS;
    }
    return FUNCTION(device, vkGetDisplayPlaneCapabilitiesKHR)(device->handle, info->mode, info->planeIndex,
                                                              &to->capabilities);
}
