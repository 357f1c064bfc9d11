/* SPDX-License-Identifier: Apache-2.0 */
/* What can be asked of surfaces: each driver is asked with its own one, and the loader answers for those that cannot.
 */
#include "vulkan_loader.h"

#include <stdlib.h>

#define FUNCTION(device, name) ((PFN_##name)(device)->driver->functions[VULKAN_##name])

/* --- what a surface is good for: nothing in drivers that know none --- */

VkResult loader_vkGetPhysicalDeviceSurfaceSupportKHR(struct physical_device *device, uint32_t family,
                                                     VkSurfaceKHR surface, VkBool32 *to);
VkResult loader_vkGetPhysicalDeviceSurfaceSupportKHR(struct physical_device *device, uint32_t family,
                                                     VkSurfaceKHR surface, VkBool32 *to)
{
    if (FUNCTION(device, vkGetPhysicalDeviceSurfaceSupportKHR)) {
        return FUNCTION(device, vkGetPhysicalDeviceSurfaceSupportKHR)(device->handle, family,
                                                                      surfaces_for(device->driver, surface), to);
    }
    *to = VK_FALSE;
    return VK_SUCCESS;
}

VkResult loader_vkGetPhysicalDeviceSurfaceCapabilitiesKHR(struct physical_device *device, VkSurfaceKHR surface,
                                                          VkSurfaceCapabilitiesKHR *to);
VkResult loader_vkGetPhysicalDeviceSurfaceCapabilitiesKHR(struct physical_device *device, VkSurfaceKHR surface,
                                                          VkSurfaceCapabilitiesKHR *to)
{
    if (FUNCTION(device, vkGetPhysicalDeviceSurfaceCapabilitiesKHR)) {
        return FUNCTION(device, vkGetPhysicalDeviceSurfaceCapabilitiesKHR)(device->handle,
                                                                           surfaces_for(device->driver, surface), to);
    }
    *to = (VkSurfaceCapabilitiesKHR){0};
    return VK_SUCCESS;
}

/* NOLINTBEGIN(bugprone-macro-parentheses): types, which no parentheses can stand around */
#define LIST_OF_SURFACE(name, type)                                                                          \
    VkResult loader_##name(struct physical_device *device, VkSurfaceKHR surface, uint32_t *count, type *to); \
    VkResult loader_##name(struct physical_device *device, VkSurfaceKHR surface, uint32_t *count, type *to)  \
    {                                                                                                        \
        if (FUNCTION(device, name)) {                                                                        \
            return FUNCTION(device, name)(device->handle, surfaces_for(device->driver, surface), count, to); \
        }                                                                                                    \
        *count = 0;                                                                                          \
        return VK_SUCCESS;                                                                                   \
    }
LIST_OF_SURFACE(vkGetPhysicalDeviceSurfaceFormatsKHR, VkSurfaceFormatKHR)
LIST_OF_SURFACE(vkGetPhysicalDeviceSurfacePresentModesKHR, VkPresentModeKHR)
LIST_OF_SURFACE(vkGetPhysicalDevicePresentRectanglesKHR, VkRect2D)
/* NOLINTEND(bugprone-macro-parentheses) */

/* --- where a device can present: nowhere in drivers that know no such window system. Its types need not be here. ---
 */

#define PRESENTATION_SUPPORT(name, parameters, arguments, types)                         \
    VkBool32 loader_##name(struct physical_device *device, uint32_t family, parameters); \
    VkBool32 loader_##name(struct physical_device *device, uint32_t family, parameters)  \
    {                                                                                    \
        function own = device->driver->functions[VULKAN_##name];                         \
        typedef VkBool32 ask(VkPhysicalDevice, uint32_t, types);                         \
        return own ? ((ask *)own)(device->handle, family, arguments) : VK_FALSE;         \
    }
#define BOTH(a, b) a, b
PRESENTATION_SUPPORT(vkGetPhysicalDeviceXcbPresentationSupportKHR, BOTH(void *connection, uint32_t visual),
                     BOTH(connection, visual), BOTH(void *, uint32_t))
PRESENTATION_SUPPORT(vkGetPhysicalDeviceXlibPresentationSupportKHR, BOTH(void *connection, uint64_t visual),
                     BOTH(connection, visual), BOTH(void *, uint64_t))
PRESENTATION_SUPPORT(vkGetPhysicalDeviceWaylandPresentationSupportKHR, void *connection, connection, void *)

/* The query with the driver's surface in the place of the application's. */
static VkPhysicalDeviceSurfaceInfo2KHR info_for(const struct physical_device *device,
                                                const VkPhysicalDeviceSurfaceInfo2KHR *info)
{
    VkPhysicalDeviceSurfaceInfo2KHR own = *info;
    own.surface = surfaces_for(device->driver, info->surface);
    return own;
}

static const VkBaseInStructure *find_structure(const void *part, VkStructureType type)
{
    const VkBaseInStructure *structure = part;
    while (structure && structure->sType != type) {
        structure = structure->pNext;
    }
    return structure;
}

static bool has_extension(const struct driver *driver, const char *name)
{
    VkExtensionProperties *list;
    size_t count = drivers_extensions(driver, &list);
    bool has = drivers_has_extension(list, count, name);
    free(list);
    return has;
}

/* One mode goes with itself alone, and nothing is scaled. */
static void fill_for_mode(VkPresentModeKHR mode, VkSurfaceCapabilities2KHR *to)
{
    const VkBaseInStructure *part = find_structure(to->pNext, VK_STRUCTURE_TYPE_SURFACE_PRESENT_MODE_COMPATIBILITY_EXT);
    VkSurfacePresentModeCompatibilityEXT *modes = (void *)part;
    if (modes && (!modes->pPresentModes || modes->presentModeCount > 0)) {
        modes->presentModeCount = 1;
        if (modes->pPresentModes) {
            modes->pPresentModes[0] = mode;
        }
    }
    part = find_structure(to->pNext, VK_STRUCTURE_TYPE_SURFACE_PRESENT_SCALING_CAPABILITIES_EXT);
    VkSurfacePresentScalingCapabilitiesEXT *scaling = (void *)part;
    if (scaling) {
        scaling->supportedPresentScaling = 0;
        scaling->supportedPresentGravityX = 0;
        scaling->supportedPresentGravityY = 0;
        scaling->minScaledImageExtent = to->surfaceCapabilities.minImageExtent;
        scaling->maxScaledImageExtent = to->surfaceCapabilities.maxImageExtent;
    }
}

/* What follows, of extensions that the driver lacks. */
static void fill_chain(const struct driver *driver, const VkPhysicalDeviceSurfaceInfo2KHR *info,
                       VkSurfaceCapabilities2KHR *to)
{
    const VkBaseInStructure *part = find_structure(to->pNext, VK_STRUCTURE_TYPE_SURFACE_PROTECTED_CAPABILITIES_KHR);
    if (part && !has_extension(driver, VK_KHR_SURFACE_PROTECTED_CAPABILITIES_EXTENSION_NAME)) {
        ((VkSurfaceProtectedCapabilitiesKHR *)part)->supportsProtected = VK_FALSE;
    }
    part = find_structure(info->pNext, VK_STRUCTURE_TYPE_SURFACE_PRESENT_MODE_EXT);
    if (part && !has_extension(driver, VK_EXT_SURFACE_MAINTENANCE_1_EXTENSION_NAME)) {
        fill_for_mode(((const VkSurfacePresentModeEXT *)part)->presentMode, to);
    }
}

VkResult loader_vkGetPhysicalDeviceSurfaceCapabilities2KHR(struct physical_device *device,
                                                           const VkPhysicalDeviceSurfaceInfo2KHR *info,
                                                           VkSurfaceCapabilities2KHR *to);
VkResult loader_vkGetPhysicalDeviceSurfaceCapabilities2KHR(struct physical_device *device,
                                                           const VkPhysicalDeviceSurfaceInfo2KHR *info,
                                                           VkSurfaceCapabilities2KHR *to)
{
    const VkPhysicalDeviceSurfaceInfo2KHR own = info_for(device, info);
    VkResult result;
    if (FUNCTION(device, vkGetPhysicalDeviceSurfaceCapabilities2KHR)) {
        result = FUNCTION(device, vkGetPhysicalDeviceSurfaceCapabilities2KHR)(device->handle, &own, to);
    } else {
        result = FUNCTION(device, vkGetPhysicalDeviceSurfaceCapabilitiesKHR)(device->handle, own.surface,
                                                                             &to->surfaceCapabilities);
    }
    fill_chain(device->driver, info, to);
    return result;
}

VkResult loader_vkGetPhysicalDeviceSurfaceFormats2KHR(struct physical_device *device,
                                                      const VkPhysicalDeviceSurfaceInfo2KHR *info, uint32_t *count,
                                                      VkSurfaceFormat2KHR *to);
VkResult loader_vkGetPhysicalDeviceSurfaceFormats2KHR(struct physical_device *device,
                                                      const VkPhysicalDeviceSurfaceInfo2KHR *info, uint32_t *count,
                                                      VkSurfaceFormat2KHR *to)
{
    const VkPhysicalDeviceSurfaceInfo2KHR own = info_for(device, info);
    if (FUNCTION(device, vkGetPhysicalDeviceSurfaceFormats2KHR)) {
        return FUNCTION(device, vkGetPhysicalDeviceSurfaceFormats2KHR)(device->handle, &own, count, to);
    }
    uint32_t room = to ? *count : 0;
    VkSurfaceFormatKHR *formats = to ? calloc(room + 1, sizeof *formats) : NULL;
    VkResult result =
        FUNCTION(device, vkGetPhysicalDeviceSurfaceFormatsKHR)(device->handle, own.surface, count, formats);
    for (uint32_t i = 0; formats && i < *count && i < room; i++) {
        to[i].surfaceFormat = formats[i];
    }
    free(formats);
    return result;
}

/* --- VK_EXT_display_surface_counter, also for drivers that lack it: they have no counters --- */

VkResult loader_vkGetPhysicalDeviceSurfaceCapabilities2EXT(struct physical_device *device, VkSurfaceKHR surface,
                                                           VkSurfaceCapabilities2EXT *to);
VkResult loader_vkGetPhysicalDeviceSurfaceCapabilities2EXT(struct physical_device *device, VkSurfaceKHR surface,
                                                           VkSurfaceCapabilities2EXT *to)
{
    VkSurfaceKHR own = surfaces_for(device->driver, surface);
    if (FUNCTION(device, vkGetPhysicalDeviceSurfaceCapabilities2EXT)) {
        return FUNCTION(device, vkGetPhysicalDeviceSurfaceCapabilities2EXT)(device->handle, own, to);
    }
    VkSurfaceCapabilitiesKHR plain = {0};
    VkResult result = FUNCTION(device, vkGetPhysicalDeviceSurfaceCapabilitiesKHR)(device->handle, own, &plain);
    to->minImageCount = plain.minImageCount;
    to->maxImageCount = plain.maxImageCount;
    to->currentExtent = plain.currentExtent;
    to->minImageExtent = plain.minImageExtent;
    to->maxImageExtent = plain.maxImageExtent;
    to->maxImageArrayLayers = plain.maxImageArrayLayers;
    to->supportedTransforms = plain.supportedTransforms;
    to->currentTransform = plain.currentTransform;
    to->supportedCompositeAlpha = plain.supportedCompositeAlpha;
    to->supportedUsageFlags = plain.supportedUsageFlags;
    to->supportedSurfaceCounters = 0;
    return result;
}
