/* SPDX-License-Identifier: Apache-2.0 */
/* Surfaces: an object of the loader's, whose first field names the platform, and what drivers made for themselves. */
#include "vulkan_loader.h"

#include <stdlib.h>
#include <string.h>
#include <vulkan/vk_icd.h>

/* The part that drivers read is laid out as the structures VkIcdSurface… are. */
struct surface {
    union {
        VkIcdSurfaceBase base;
        VkIcdSurfaceDisplay display;
        struct {
            VkIcdSurfaceBase base;
            void *connection;
            uint64_t window;
        } window;
    } seen;
    VkSurfaceKHR own[MAX_DRIVERS]; /* of drivers that make surfaces, by their place in the instance */
    struct driver *drivers;
    struct surface *next;
};

typedef VkResult create_function(VkInstance instance, const void *info, const VkAllocationCallbacks *allocator,
                                 VkSurfaceKHR *to);

static struct surface *surface_of(VkSurfaceKHR handle)
{
    return (struct surface *)(uintptr_t)handle;
}

VkSurfaceKHR surfaces_for(const struct driver *driver, VkSurfaceKHR handle)
{
    if (!handle) {
        return handle;
    }
    VkSurfaceKHR own = surface_of(handle)->own[driver - surface_of(handle)->drivers];
    return own ? own : handle;
}

/* Whether a driver makes surfaces itself. */
static bool makes_surfaces(const struct driver *driver, enum vulkan_function which)
{
    return driver->interface >= 3 && driver->functions[which] && driver->functions[VULKAN_vkDestroySurfaceKHR];
}

static void destroy(struct instance *instance, struct surface *surface, const VkAllocationCallbacks *allocator)
{
    for (size_t i = 0; i < instance->driver_count; i++) {
        struct driver *driver = &instance->drivers[i];
        if (surface->own[i]) {
            ((PFN_vkDestroySurfaceKHR)driver->functions[VULKAN_vkDestroySurfaceKHR])(driver->instance, surface->own[i],
                                                                                     allocator);
        }
    }
    for (struct surface **link = &instance->surfaces; *link; link = &(*link)->next) {
        if (*link == surface) {
            *link = surface->next;
            break;
        }
    }
    free(surface);
}

void surfaces_end(struct instance *instance)
{
    while (instance->surfaces) {
        destroy(instance, instance->surfaces, NULL);
    }
}

static VkResult create(struct instance *instance, enum vulkan_function which, const void *info,
                       const VkAllocationCallbacks *allocator, const struct surface *seen, VkSurfaceKHR *to)
{
    struct surface *surface = calloc(1, sizeof *surface);
    if (!surface) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    surface->seen = seen->seen;
    surface->drivers = instance->drivers;
    for (size_t i = 0; i < instance->driver_count; i++) {
        struct driver *driver = &instance->drivers[i];
        create_function *make = (create_function *)driver->functions[which];
        if (!makes_surfaces(driver, which)) {
            continue;
        }
        VkResult result = make(driver->instance, info, allocator, &surface->own[i]);
        if (result != VK_SUCCESS) {
            surface->own[i] = VK_NULL_HANDLE;
            destroy(instance, surface, allocator);
            return result;
        }
    }
    surface->next = instance->surfaces;
    instance->surfaces = surface;
    *to = (VkSurfaceKHR)(uintptr_t)surface;
    return VK_SUCCESS;
}

/* The structures of platforms whose headers need not be here begin alike: type, next, flags, connection, window. */
struct window_info {
    VkStructureType type;
    const void *next;
    uint32_t flags;
    void *connection;
    uint64_t window;
};

static VkResult create_for_window(struct instance *instance, enum vulkan_function which, VkIcdWsiPlatform platform,
                                  const struct window_info *info, const VkAllocationCallbacks *allocator,
                                  VkSurfaceKHR *to)
{
    struct surface seen = {.seen.window = {{platform}, info->connection, info->window}};
    return create(instance, which, info, allocator, &seen, to);
}

#define WINDOW_SURFACE(name, platform)                                                    \
    static VkResult name(struct instance *instance, const struct window_info *info,       \
                         const VkAllocationCallbacks *allocator, VkSurfaceKHR *to)        \
    {                                                                                     \
        return create_for_window(instance, VULKAN_##name, platform, info, allocator, to); \
    }
WINDOW_SURFACE(vkCreateXcbSurfaceKHR, VK_ICD_WSI_PLATFORM_XCB)
WINDOW_SURFACE(vkCreateXlibSurfaceKHR, VK_ICD_WSI_PLATFORM_XLIB)
WINDOW_SURFACE(vkCreateWaylandSurfaceKHR, VK_ICD_WSI_PLATFORM_WAYLAND)

static VkResult create_headless(struct instance *instance, const VkHeadlessSurfaceCreateInfoEXT *info,
                                const VkAllocationCallbacks *allocator, VkSurfaceKHR *to)
{
    const struct surface seen = {.seen.base = {VK_ICD_WSI_PLATFORM_HEADLESS}};
    return create(instance, VULKAN_vkCreateHeadlessSurfaceEXT, info, allocator, &seen, to);
}

static VkResult create_display(struct instance *instance, const VkDisplaySurfaceCreateInfoKHR *info,
                               const VkAllocationCallbacks *allocator, VkSurfaceKHR *to)
{
    const struct surface seen = {.seen.display = {{VK_ICD_WSI_PLATFORM_DISPLAY},
                                                  info->displayMode,
                                                  info->planeIndex,
                                                  info->planeStackIndex,
                                                  info->transform,
                                                  info->globalAlpha,
                                                  info->alphaMode,
                                                  info->imageExtent}};
    return create(instance, VULKAN_vkCreateDisplayPlaneSurfaceKHR, info, allocator, &seen, to);
}

function surfaces_creator(int which)
{
    switch (which) {
    case VULKAN_vkCreateXcbSurfaceKHR:
        return (function)vkCreateXcbSurfaceKHR;
    case VULKAN_vkCreateXlibSurfaceKHR:
        return (function)vkCreateXlibSurfaceKHR;
    case VULKAN_vkCreateWaylandSurfaceKHR:
        return (function)vkCreateWaylandSurfaceKHR;
    case VULKAN_vkCreateHeadlessSurfaceEXT:
        return (function)create_headless;
    case VULKAN_vkCreateDisplayPlaneSurfaceKHR:
        return (function)create_display;
    default:
        return NULL;
    }
}

void loader_vkDestroySurfaceKHR(struct instance *instance, VkSurfaceKHR handle, const VkAllocationCallbacks *allocator);
void loader_vkDestroySurfaceKHR(struct instance *instance, VkSurfaceKHR handle, const VkAllocationCallbacks *allocator)
{
    if (handle) {
        destroy(instance, surface_of(handle), allocator);
    }
}

VkResult loader_vkCreateSwapchainKHR(VkDevice handle, const VkSwapchainCreateInfoKHR *info,
                                     const VkAllocationCallbacks *allocator, VkSwapchainKHR *to);
VkResult loader_vkCreateSwapchainKHR(VkDevice handle, const VkSwapchainCreateInfoKHR *info,
                                     const VkAllocationCallbacks *allocator, VkSwapchainKHR *to)
{
    struct device *device = device_of(handle);
    VkSwapchainCreateInfoKHR own = *info;
    own.surface = surfaces_for(device->driver, info->surface);
    return ((PFN_vkCreateSwapchainKHR)device->functions[VULKAN_vkCreateSwapchainKHR])(handle, &own, allocator, to);
}

/* --- VK_KHR_get_surface_capabilities2, also for drivers that lack it --- */

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
/* NOLINTEND(bugprone-macro-parentheses) */

/* The query with the driver's surface in the place of the application's. */
static VkPhysicalDeviceSurfaceInfo2KHR info_for(const struct physical_device *device,
                                                const VkPhysicalDeviceSurfaceInfo2KHR *info)
{
    VkPhysicalDeviceSurfaceInfo2KHR own = *info;
    own.surface = surfaces_for(device->driver, info->surface);
    return own;
}

VkResult loader_vkGetPhysicalDeviceSurfaceCapabilities2KHR(struct physical_device *device,
                                                           const VkPhysicalDeviceSurfaceInfo2KHR *info,
                                                           VkSurfaceCapabilities2KHR *to);
VkResult loader_vkGetPhysicalDeviceSurfaceCapabilities2KHR(struct physical_device *device,
                                                           const VkPhysicalDeviceSurfaceInfo2KHR *info,
                                                           VkSurfaceCapabilities2KHR *to)
{
    const VkPhysicalDeviceSurfaceInfo2KHR own = info_for(device, info);
    if (FUNCTION(device, vkGetPhysicalDeviceSurfaceCapabilities2KHR)) {
        return FUNCTION(device, vkGetPhysicalDeviceSurfaceCapabilities2KHR)(device->handle, &own, to);
    }
    return FUNCTION(device, vkGetPhysicalDeviceSurfaceCapabilitiesKHR)(device->handle, own.surface,
                                                                       &to->surfaceCapabilities);
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
    VkSurfaceFormatKHR *formats = to ? calloc(*count + 1, sizeof *formats) : NULL;
    VkResult result =
        FUNCTION(device, vkGetPhysicalDeviceSurfaceFormatsKHR)(device->handle, own.surface, count, formats);
    for (uint32_t i = 0; formats && i < *count; i++) {
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
