/* SPDX-License-Identifier: Apache-2.0 */
/* Surfaces: what a driver that handles them itself does, and what every driver logs of the surface that it is given. */
#include "implementation.h"
#include "objects.h"

#include <vulkan/vk_icd.h>

/* The log says whether a surface is one of the driver's own, or one of the loader's for a platform. */
static void log_surface(uint64_t surface)
{
    struct calllog_line line;
    bool is_own = config.surfaces && object_of(surface, KIND_surface) != NULL;
    calllog_begin(&line, mock_name, "event", is_own ? "own surface" : "surface of the loader");
    calllog_hex(&line, "handle", surface);
    if (!is_own && surface && !config.surfaces) {
        calllog_hex(&line, "platform", (uint64_t)((const VkIcdSurfaceBase *)pointer(surface))->platform);
    }
    calllog_commit(&mock_log, &line);
}

static uint64_t create_surface(const uint64_t *a)
{
    static int made;
    if (fails(FAULT_create_surface_fails)) {
        return failure(FAULT_create_surface_fails);
    }
    struct object *instance = object_of(a[0], KIND_instance);
    *(uint64_t *)pointer(a[3]) = (uint64_t)(uintptr_t)object_make(KIND_surface, instance, made++, FAULT_COUNT);
    return VK_SUCCESS;
}

static uint64_t destroy_surface(const uint64_t *a)
{
    object_drop(object_of(a[1], KIND_surface));
    return 0;
}

static uint64_t get_support(const uint64_t *a)
{
    log_surface(a[2]);
    *(VkBool32 *)pointer(a[3]) = VK_TRUE;
    return VK_SUCCESS;
}

static uint64_t get_capabilities(const uint64_t *a)
{
    log_surface(a[1]);
    *(VkSurfaceCapabilitiesKHR *)pointer(a[2]) = (VkSurfaceCapabilitiesKHR){.minImageCount = 2, .maxImageCount = 3};
    return VK_SUCCESS;
}

/* Formats and present modes: one of each, the first that there is. */
static uint64_t get_formats(const uint64_t *a)
{
    log_surface(a[1]);
    uint32_t *count = pointer(a[2]);
    VkSurfaceFormatKHR *formats = pointer(a[3]);
    if (formats && *count > 0) {
        formats[0] = (VkSurfaceFormatKHR){VK_FORMAT_UNDEFINED, VK_COLOR_SPACE_SRGB_NONLINEAR_KHR};
    }
    *count = 1;
    return VK_SUCCESS;
}

static uint64_t get_present_modes(const uint64_t *a)
{
    log_surface(a[1]);
    uint32_t *count = pointer(a[2]);
    VkPresentModeKHR *modes = pointer(a[3]);
    if (modes && *count > 0) {
        modes[0] = VK_PRESENT_MODE_FIFO_KHR;
    }
    *count = 1;
    return VK_SUCCESS;
}

static uint64_t create_swapchain(const uint64_t *a)
{
    log_surface((uint64_t)(uintptr_t)((const VkSwapchainCreateInfoKHR *)pointer(a[1]))->surface);
    *(uint64_t *)pointer(a[3]) = 0x5c;
    return VK_SUCCESS;
}

const struct implemented surfaces_implemented[] = {
    {VULKAN_vkCreateXcbSurfaceKHR, create_surface},
    {VULKAN_vkCreateXlibSurfaceKHR, create_surface},
    {VULKAN_vkCreateWaylandSurfaceKHR, create_surface},
    {VULKAN_vkCreateDisplayPlaneSurfaceKHR, create_surface},
    {VULKAN_vkCreateHeadlessSurfaceEXT, create_surface},
    {VULKAN_vkDestroySurfaceKHR, destroy_surface},
    {VULKAN_vkGetPhysicalDeviceSurfaceSupportKHR, get_support},
    {VULKAN_vkGetPhysicalDeviceSurfaceCapabilitiesKHR, get_capabilities},
    {VULKAN_vkGetPhysicalDeviceSurfaceFormatsKHR, get_formats},
    {VULKAN_vkGetPhysicalDeviceSurfacePresentModesKHR, get_present_modes},
    {VULKAN_vkCreateSwapchainKHR, create_swapchain},
    {VULKAN_FUNCTION_COUNT, NULL},
};
