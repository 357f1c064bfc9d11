/* SPDX-License-Identifier: Apache-2.0 */
/* Surfaces: what a driver that handles them itself does, and what every driver logs of the surface that it is given. */
#include "extensions.h"
#include "implementation.h"
#include "objects.h"

#include <string.h>
#include <vulkan/vk_icd.h>

/* What a surface of the loader's is for: a plane of a display, or a window. Those of other platforms say no more. */
static void log_platform(struct calllog_line *line, const VkIcdSurfaceBase *base)
{
    const struct window {
        VkIcdSurfaceBase base;
        const void *connection;
        uint64_t window;
    } *window = (const void *)base;
    const VkIcdSurfaceDisplay *display = (const void *)base;
    uint32_t alpha;
    calllog_hex(line, "platform", (uint64_t)base->platform);
    switch (base->platform) {
    case VK_ICD_WSI_PLATFORM_DISPLAY:
        calllog_hex(line, "displayMode", (uint64_t)(uintptr_t)display->displayMode);
        calllog_hex(line, "planeIndex", display->planeIndex);
        calllog_hex(line, "planeStackIndex", display->planeStackIndex);
        calllog_hex(line, "transform", (uint64_t)display->transform);
        calllog_hex(line, "alphaMode", (uint64_t)display->alphaMode);
        memcpy(&alpha, &display->globalAlpha, sizeof alpha);
        calllog_hex(line, "globalAlpha", alpha);
        calllog_hex(line, "width", display->imageExtent.width);
        calllog_hex(line, "height", display->imageExtent.height);
        break;
    case VK_ICD_WSI_PLATFORM_XCB:
    case VK_ICD_WSI_PLATFORM_XLIB:
    case VK_ICD_WSI_PLATFORM_WAYLAND:
        calllog_hex(line, "connection", (uint64_t)(uintptr_t)window->connection);
        /* xcb_window_t has 32 bits. */
        calllog_hex(line, "window",
                    base->platform == VK_ICD_WSI_PLATFORM_XCB ? (uint32_t)window->window : window->window);
        break;
    default:
        break;
    }
}

/* The log says whether a surface is one of the driver's own, or one of the loader's for a platform. */
static void log_surface(uint64_t surface)
{
    struct calllog_line line;
    bool is_own = config.surfaces && object_of(surface, KIND_surface) != NULL;
    calllog_begin(&mock_log, &line, CALLLOG_EVENT, mock_name, is_own ? "own surface" : "surface of the loader", NULL,
                  0);
    calllog_hex(&line, "handle", surface);
    if (!is_own && surface && !config.surfaces) {
        log_platform(&line, pointer(surface));
    }
    calllog_commit(&mock_log, &line);
}

/* What the driver is to make a surface of, where that is a window. */
static void log_window(const VkBaseInStructure *info)
{
    enum { XLIB = 1000004000, XCB = 1000005000, WAYLAND = 1000006000 };
    const struct {
        VkBaseInStructure base;
        uint64_t flags, connection, window;
    } *window = (const void *)info;
    const int type = (int)info->sType;
    if (type == XLIB || type == XCB || type == WAYLAND) {
        struct calllog_line line;
        calllog_begin(&mock_log, &line, CALLLOG_EVENT, mock_name, "window", NULL, 0);
        calllog_hex(&line, "connection", window->connection);
        calllog_hex(&line, "window", type == XCB ? (uint32_t)window->window : window->window);
        calllog_commit(&mock_log, &line);
    }
}

static uint64_t create_surface(const uint64_t *a)
{
    static _Atomic int count;
    log_window(pointer(a[1]));
    if (fails(FAULT_create_surface_fails)) {
        return failure(FAULT_create_surface_fails);
    }
    struct object *instance = object_of(a[0], KIND_instance);
    *(uint64_t *)pointer(a[3]) = (uint64_t)(uintptr_t)object_make(KIND_surface, instance, count++, FAULT_COUNT);
    return VK_SUCCESS;
}

static uint64_t destroy_surface(const uint64_t *a)
{
    object_drop(object_of(a[1], KIND_surface));
    return 0;
}

bool surfaces_were_asked;

static uint64_t get_support(const uint64_t *a)
{
    surfaces_were_asked = true;
    log_surface(a[2]);
    *(VkBool32 *)pointer(a[3]) = VK_TRUE;
    return VK_SUCCESS;
}

/* No two members are alike. */
static uint64_t get_capabilities(const uint64_t *a)
{
    log_surface(a[1]);
    *(VkSurfaceCapabilitiesKHR *)pointer(a[2]) = (VkSurfaceCapabilitiesKHR){
        .minImageCount = 2,
        .maxImageCount = 3,
        .currentExtent = {640, 480},
        .minImageExtent = {16, 17},
        .maxImageExtent = {4096, 2048},
        .maxImageArrayLayers = 5,
        .supportedTransforms = VK_SURFACE_TRANSFORM_IDENTITY_BIT_KHR | VK_SURFACE_TRANSFORM_ROTATE_90_BIT_KHR,
        .currentTransform = VK_SURFACE_TRANSFORM_IDENTITY_BIT_KHR,
        .supportedCompositeAlpha = VK_COMPOSITE_ALPHA_INHERIT_BIT_KHR,
        .supportedUsageFlags = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT,
    };
    return VK_SUCCESS;
}

enum { FORMAT_COUNT = 3, MODE_COUNT = 2 };

static uint64_t list_formats(uint64_t surface, uint32_t *count, void *to, size_t stride)
{
    static const VkSurfaceFormatKHR formats[FORMAT_COUNT] = {
        {VK_FORMAT_B8G8R8A8_UNORM, VK_COLOR_SPACE_SRGB_NONLINEAR_KHR},
        {VK_FORMAT_R8G8B8A8_SRGB, VK_COLOR_SPACE_SRGB_NONLINEAR_KHR},
        {VK_FORMAT_R16G16B16A16_SFLOAT, VK_COLOR_SPACE_HDR10_ST2084_EXT},
    };
    log_surface(surface);
    return extensions_write(count, to, stride, formats, sizeof *formats, FORMAT_COUNT);
}

static uint64_t get_formats(const uint64_t *a)
{
    return list_formats(a[1], pointer(a[2]), pointer(a[3]), sizeof(VkSurfaceFormatKHR));
}

static const VkPresentModeKHR present_modes[MODE_COUNT] = {VK_PRESENT_MODE_FIFO_KHR, VK_PRESENT_MODE_MAILBOX_KHR};

static uint64_t get_present_modes(const uint64_t *a)
{
    log_surface(a[1]);
    return extensions_write(pointer(a[2]), pointer(a[3]), sizeof *present_modes, present_modes, sizeof *present_modes,
                            MODE_COUNT);
}

/* --- the same queries with structures, and those of groups --- */

static uint64_t surface_of_info(uint64_t info)
{
    return (uint64_t)(uintptr_t)((const VkPhysicalDeviceSurfaceInfo2KHR *)pointer(info))->surface;
}

/* What follows the capabilities, of extensions that the driver has: both modes go together, and none is scaled. */
static void fill_following(VkBaseOutStructure *part)
{
    if (part->sType == VK_STRUCTURE_TYPE_SURFACE_PROTECTED_CAPABILITIES_KHR &&
        config_has_word(config.extensions, "VK_KHR_surface_protected_capabilities")) {
        ((VkSurfaceProtectedCapabilitiesKHR *)part)->supportsProtected = VK_TRUE;
    }
    if (part->sType == VK_STRUCTURE_TYPE_SURFACE_PRESENT_MODE_COMPATIBILITY_EXT &&
        config_has_word(config.extensions, "VK_EXT_surface_maintenance1")) {
        VkSurfacePresentModeCompatibilityEXT *modes = (void *)part;
        extensions_write(&modes->presentModeCount, modes->pPresentModes, sizeof *present_modes, present_modes,
                         sizeof *present_modes, MODE_COUNT);
    }
    if (part->sType == VK_STRUCTURE_TYPE_SURFACE_PRESENT_SCALING_CAPABILITIES_EXT &&
        config_has_word(config.extensions, "VK_EXT_surface_maintenance1")) {
        VkSurfacePresentScalingCapabilitiesEXT *scaling = (void *)part;
        scaling->supportedPresentScaling = VK_PRESENT_SCALING_STRETCH_BIT_EXT;
        scaling->minScaledImageExtent = (VkExtent2D){1, 2};
        scaling->maxScaledImageExtent = (VkExtent2D){3, 4};
    }
}

static uint64_t get_capabilities2(const uint64_t *a)
{
    VkBaseOutStructure *following = ((VkSurfaceCapabilities2KHR *)pointer(a[2]))->pNext;
    for (; following; following = following->pNext) {
        fill_following(following);
    }
    const uint64_t inner[] = {a[0], surface_of_info(a[1]),
                              (uint64_t)(uintptr_t) &
                                  ((VkSurfaceCapabilities2KHR *)pointer(a[2]))->surfaceCapabilities};
    return get_capabilities(inner);
}

/* The same, but for the two members by which the structures begin. */
static uint64_t get_capabilities_ext(const uint64_t *a)
{
    VkSurfaceCapabilitiesKHR own;
    VkSurfaceCapabilities2EXT *to = pointer(a[2]);
    const uint64_t inner[] = {a[0], a[1], (uint64_t)(uintptr_t)&own};
    get_capabilities(inner);
    to->minImageCount = own.minImageCount;
    to->maxImageCount = own.maxImageCount;
    to->currentExtent = own.currentExtent;
    to->minImageExtent = own.minImageExtent;
    to->maxImageExtent = own.maxImageExtent;
    to->maxImageArrayLayers = own.maxImageArrayLayers;
    to->supportedTransforms = own.supportedTransforms;
    to->currentTransform = own.currentTransform;
    to->supportedCompositeAlpha = own.supportedCompositeAlpha;
    to->supportedUsageFlags = own.supportedUsageFlags;
    to->supportedSurfaceCounters = 0;
    return VK_SUCCESS;
}

static uint64_t get_formats2(const uint64_t *a)
{
    VkSurfaceFormat2KHR *formats = pointer(a[3]);
    return list_formats(surface_of_info(a[1]), pointer(a[2]), formats ? &formats->surfaceFormat : NULL,
                        sizeof *formats);
}

static uint64_t get_rectangles(const uint64_t *a)
{
    log_surface(a[1]);
    *(uint32_t *)pointer(a[2]) = a[3] ? 0 : 1;
    return VK_SUCCESS;
}

static uint64_t get_group_modes(const uint64_t *a)
{
    log_surface(a[1]);
    *(VkDeviceGroupPresentModeFlagsKHR *)pointer(a[2]) = VK_DEVICE_GROUP_PRESENT_MODE_LOCAL_BIT_KHR;
    return VK_SUCCESS;
}

static uint64_t create_swapchain(const uint64_t *a)
{
    log_surface((uint64_t)(uintptr_t)((const VkSwapchainCreateInfoKHR *)pointer(a[1]))->surface);
    *(uint64_t *)pointer(a[3]) = 0x5c;
    return VK_SUCCESS;
}

static uint64_t create_shared_swapchains(const uint64_t *a)
{
    const VkSwapchainCreateInfoKHR *infos = pointer(a[2]);
    for (uint32_t i = 0; i < (uint32_t)a[1]; i++) {
        log_surface((uint64_t)(uintptr_t)infos[i].surface);
        ((uint64_t *)pointer(a[4]))[i] = 0x5c0 + i;
    }
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
    {VULKAN_vkGetPhysicalDeviceSurfaceCapabilities2KHR, get_capabilities2},
    {VULKAN_vkGetPhysicalDeviceSurfaceCapabilities2EXT, get_capabilities_ext},
    {VULKAN_vkGetPhysicalDeviceSurfaceFormats2KHR, get_formats2},
    {VULKAN_vkGetPhysicalDevicePresentRectanglesKHR, get_rectangles},
    {VULKAN_vkGetDeviceGroupSurfacePresentModesKHR, get_group_modes},
    {VULKAN_vkCreateSwapchainKHR, create_swapchain},
    {VULKAN_vkCreateSharedSwapchainsKHR, create_shared_swapchains},
    {VULKAN_FUNCTION_COUNT, NULL},
};
