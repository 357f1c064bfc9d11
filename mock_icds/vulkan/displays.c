/* SPDX-License-Identifier: Apache-2.0 */
/* Displays, their planes and modes: two of each, no two of which are alike. */
#include "extensions.h"
#include "implementation.h"

enum { ALL = 2 };

#define HANDLE(type, number) ((type)(uintptr_t)(number))

static uint64_t list_displays(uint32_t *count, void *to, size_t stride)
{
    static const VkDisplayPropertiesKHR displays[ALL] = {
        {HANDLE(VkDisplayKHR, 0xD1), "one", {340, 190}, {1920, 1080}, 1, VK_TRUE, VK_FALSE},
        {HANDLE(VkDisplayKHR, 0xD2), "two", {600, 340}, {3840, 2160}, 3, VK_FALSE, VK_TRUE},
    };
    return extensions_write(count, to, stride, displays, sizeof *displays, ALL);
}

static uint64_t get_displays(const uint64_t *a)
{
    return list_displays(pointer(a[1]), pointer(a[2]), sizeof(VkDisplayPropertiesKHR));
}

static uint64_t get_displays2(const uint64_t *a)
{
    VkDisplayProperties2KHR *to = pointer(a[2]);
    return list_displays(pointer(a[1]), to ? &to->displayProperties : NULL, sizeof *to);
}

static uint64_t list_planes(uint32_t *count, void *to, size_t stride)
{
    static const VkDisplayPlanePropertiesKHR planes[ALL] = {
        {HANDLE(VkDisplayKHR, 0xD1), 4},
        {HANDLE(VkDisplayKHR, 0xD2), 7},
    };
    return extensions_write(count, to, stride, planes, sizeof *planes, ALL);
}

static uint64_t get_planes(const uint64_t *a)
{
    return list_planes(pointer(a[1]), pointer(a[2]), sizeof(VkDisplayPlanePropertiesKHR));
}

static uint64_t get_planes2(const uint64_t *a)
{
    VkDisplayPlaneProperties2KHR *to = pointer(a[2]);
    return list_planes(pointer(a[1]), to ? &to->displayPlaneProperties : NULL, sizeof *to);
}

/* Which displays a plane is for: both, in an order that the plane's number tells. */
static uint64_t get_displays_of_plane(const uint64_t *a)
{
    const VkDisplayKHR displays[ALL] = {HANDLE(VkDisplayKHR, 0xD1 + a[1] % ALL),
                                        HANDLE(VkDisplayKHR, 0xD2 - a[1] % ALL)};
    return extensions_write(pointer(a[2]), pointer(a[3]), sizeof *displays, displays, sizeof *displays, ALL);
}

/* The modes of a display, which are told apart from those of another. */
static uint64_t list_modes(uint64_t display, uint32_t *count, void *to, size_t stride)
{
    const VkDisplayModePropertiesKHR modes[ALL] = {
        {HANDLE(VkDisplayModeKHR, 0x100 + display), {{1920, 1080}, 60000}},
        {HANDLE(VkDisplayModeKHR, 0x200 + display), {{1280, 720}, 30000}},
    };
    return extensions_write(count, to, stride, modes, sizeof *modes, ALL);
}

static uint64_t get_modes(const uint64_t *a)
{
    return list_modes(a[1], pointer(a[2]), pointer(a[3]), sizeof(VkDisplayModePropertiesKHR));
}

static uint64_t get_modes2(const uint64_t *a)
{
    VkDisplayModeProperties2KHR *to = pointer(a[3]);
    return list_modes(a[1], pointer(a[2]), to ? &to->displayModeProperties : NULL, sizeof *to);
}

/* What a plane can do says for which mode and plane it was asked. */
static void fill_capabilities(uint64_t mode, uint32_t plane, VkDisplayPlaneCapabilitiesKHR *to)
{
    *to = (VkDisplayPlaneCapabilitiesKHR){
        .supportedAlpha = VK_DISPLAY_PLANE_ALPHA_GLOBAL_BIT_KHR,
        .minSrcExtent = {(uint32_t)mode, plane},
        .maxSrcExtent = {4096, 2048},
        .maxDstExtent = {1920, 1080},
    };
}

static uint64_t get_capabilities(const uint64_t *a)
{
    fill_capabilities(a[1], (uint32_t)a[2], pointer(a[3]));
    return VK_SUCCESS;
}

static uint64_t get_capabilities2(const uint64_t *a)
{
    const VkDisplayPlaneInfo2KHR *info = pointer(a[1]);
    fill_capabilities((uint64_t)(uintptr_t)info->mode, info->planeIndex,
                      &((VkDisplayPlaneCapabilities2KHR *)pointer(a[2]))->capabilities);
    return VK_SUCCESS;
}

const struct implemented displays_implemented[] = {
    {VULKAN_vkGetPhysicalDeviceDisplayPropertiesKHR, get_displays},
    {VULKAN_vkGetPhysicalDeviceDisplayProperties2KHR, get_displays2},
    {VULKAN_vkGetPhysicalDeviceDisplayPlanePropertiesKHR, get_planes},
    {VULKAN_vkGetPhysicalDeviceDisplayPlaneProperties2KHR, get_planes2},
    {VULKAN_vkGetDisplayPlaneSupportedDisplaysKHR, get_displays_of_plane},
    {VULKAN_vkGetDisplayModePropertiesKHR, get_modes},
    {VULKAN_vkGetDisplayModeProperties2KHR, get_modes2},
    {VULKAN_vkGetDisplayPlaneCapabilitiesKHR, get_capabilities},
    {VULKAN_vkGetDisplayPlaneCapabilities2KHR, get_capabilities2},
    {VULKAN_FUNCTION_COUNT, NULL},
};
