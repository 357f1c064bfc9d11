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

/* Whether a driver makes surfaces of a kind itself. */
static bool makes_surfaces(const struct driver *driver, enum vulkan_function which)
{
    return driver->interface >= 3 && driver->functions[which] && driver->functions[VULKAN_vkDestroySurfaceKHR] &&
           extensions_have(&driver->extensions, trampolines_extension[which].name);
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
    memory_give(surface);
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
    struct surface *surface = memory_take(allocator, VK_SYSTEM_ALLOCATION_SCOPE_OBJECT, sizeof *surface);
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

VkResult loader_vkCreateSharedSwapchainsKHR(VkDevice handle, uint32_t count, const VkSwapchainCreateInfoKHR *infos,
                                            const VkAllocationCallbacks *allocator, VkSwapchainKHR *to);
VkResult loader_vkCreateSharedSwapchainsKHR(VkDevice handle, uint32_t count, const VkSwapchainCreateInfoKHR *infos,
                                            const VkAllocationCallbacks *allocator, VkSwapchainKHR *to)
{
    struct device *device = device_of(handle);
    PFN_vkCreateSharedSwapchainsKHR create =
        (PFN_vkCreateSharedSwapchainsKHR)device->functions[VULKAN_vkCreateSharedSwapchainsKHR];
    VkSwapchainCreateInfoKHR *own = calloc(count + 1, sizeof *own);
    if (!own) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    for (uint32_t i = 0; i < count; i++) {
        own[i] = infos[i];
        own[i].surface = surfaces_for(device->driver, infos[i].surface);
    }
    VkResult result = create(handle, count, own, allocator, to);
    free(own);
    return result;
}
