/* SPDX-License-Identifier: Apache-2.0 */
/* Functions by name: those of the registry, and unknown ones, for which generic trampolines stand by. */
#include "vulkan_loader.h"

#include <stdio.h>
#include <string.h>

static char unknown_names[MAX_UNKNOWN][MAX_NAME];
static int unknown_count;

/* --- unknown functions --- */

/* The place of an unknown function, a new one where it is asked for the first time; -1 where there is no room. */
static int slot_of(const char *name)
{
    for (int i = 0; i < unknown_count; i++) {
        if (strcmp(unknown_names[i], name) == 0) {
            return i;
        }
    }
    if (unknown_count == MAX_UNKNOWN || strlen(name) >= MAX_NAME) {
        return -1;
    }
    snprintf(unknown_names[unknown_count], MAX_NAME, "%s", name);
    return unknown_count++;
}

const char *lookup_unknown_name(int slot)
{
    return unknown_names[slot];
}

typedef uint64_t generic(const void *object, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e);

/* Hands on as many arguments as registers hold. */
static uint64_t call_physical_device(int slot, const struct physical_device *device, const uint64_t *a)
{
    generic *target = (generic *)device->driver->unknown[slot];
    return target(device->handle, a[0], a[1], a[2], a[3], a[4]);
}

static uint64_t call_device(int slot, const void *object, const uint64_t *a)
{
    struct device *device = device_of(object);
    PFN_vkGetDeviceProcAddr get = (PFN_vkGetDeviceProcAddr)device->driver->functions[VULKAN_vkGetDeviceProcAddr];
    if (!device->unknown[slot]) {
        device->unknown[slot] = (function)get(device->handle, unknown_names[slot]);
    }
    return ((generic *)device->unknown[slot])(object, a[0], a[1], a[2], a[3], a[4]);
}

#define GENERIC(slot)                                                                                             \
    static uint64_t physical_device_##slot(const void *object, uint64_t a, uint64_t b, uint64_t c, uint64_t d,    \
                                           uint64_t e)                                                            \
    {                                                                                                             \
        const uint64_t arguments[] = {a, b, c, d, e};                                                             \
        return call_physical_device(slot, object, arguments);                                                     \
    }                                                                                                             \
    static uint64_t device_##slot(const void *object, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e) \
    {                                                                                                             \
        const uint64_t arguments[] = {a, b, c, d, e};                                                             \
        return call_device(slot, object, arguments);                                                              \
    }
/* clang-format off */
#define TEN(X, n) X(n##0) X(n##1) X(n##2) X(n##3) X(n##4) X(n##5) X(n##6) X(n##7) X(n##8) X(n##9)
#define EACH_SLOT(X) \
    TEN(X, ) TEN(X, 1) TEN(X, 2) TEN(X, 3) TEN(X, 4) TEN(X, 5) TEN(X, 6) TEN(X, 7) TEN(X, 8) TEN(X, 9) \
    TEN(X, 10) TEN(X, 11) TEN(X, 12) TEN(X, 13) TEN(X, 14) TEN(X, 15) TEN(X, 16) TEN(X, 17) TEN(X, 18) TEN(X, 19)
/* clang-format on */
EACH_SLOT(GENERIC)

#define PHYSICAL_DEVICE_ROW(slot) physical_device_##slot,
#define DEVICE_ROW(slot) device_##slot,
static generic *const for_physical_devices[MAX_UNKNOWN] = {EACH_SLOT(PHYSICAL_DEVICE_ROW)};
static generic *const for_devices[MAX_UNKNOWN] = {EACH_SLOT(DEVICE_ROW)};

/* Asks all drivers for a function of physical devices. */
static function find_for_physical_devices(struct instance *instance, const char *name)
{
    bool any = false;
    int slot = -1;
    for (size_t i = 0; i < instance->driver_count; i++) {
        struct driver *driver = &instance->drivers[i];
        function own = driver->get_physical ? (function)driver->get_physical(driver->instance, name) : NULL;
        slot = own && slot < 0 ? slot_of(name) : slot;
        if (own && slot >= 0) {
            driver->unknown[slot] = own;
            any = true;
        }
    }
    return any ? (function)for_physical_devices[slot] : NULL;
}

/* What a driver finds that is not a function of physical devices takes a device. */
static function find_for_devices(struct instance *instance, const char *name)
{
    for (size_t i = 0; i < instance->driver_count; i++) {
        struct driver *driver = &instance->drivers[i];
        int slot = driver->get(driver->instance, name) ? slot_of(name) : -1;
        if (slot >= 0) {
            return (function)for_devices[slot];
        }
    }
    return NULL;
}

/* --- functions of the registry --- */

static bool some_driver_has(const struct instance *instance, int which)
{
    for (size_t i = 0; i < instance->driver_count; i++) {
        if (instance->drivers[i].functions[which]) {
            return true;
        }
    }
    return false;
}

/* Whether a function needs no extension of instances, or one that is enabled. */
static bool is_enabled(const struct instance *instance, int which)
{
    const struct extension_of_function *extension = &trampolines_extension[which];
    return !extension->is_of_instances || extensions_have(&instance->extensions, extension->name);
}

static function find_known(const struct instance *instance, int which)
{
    if (!is_enabled(instance, which)) {
        return NULL;
    }
    function own = surfaces_creator(which);
    own = own ? own : trampolines[which];
    bool is_query = vulkan_function_info[which].level == VULKAN_physical_device && trampolines_extension[which].name[0];
    bool is_emulated = strstr(vulkan_function_info[which].name, "Properties2") != NULL ||
                       strstr(vulkan_function_info[which].name, "Capabilities2") != NULL ||
                       strstr(vulkan_function_info[which].name, "Features2") != NULL;
    return is_query && !is_emulated && !some_driver_has(instance, which) ? NULL : own;
}

function lookup_instance(struct instance *instance, const char *name)
{
    int known = vulkan_function_by_name(name);
    if (known == VULKAN_vkGetInstanceProcAddr) {
        return trampolines[known];
    }
    if (!instance) {
        return known >= 0 && vulkan_function_info[known].level == VULKAN_global ? trampolines[known] : NULL;
    }
    if (known >= 0 && vulkan_function_info[known].level == VULKAN_global) {
        return instance->api_version < VK_API_VERSION_1_3 ? trampolines[known] : NULL; /* as it was before 1.3 */
    }
    if (known >= 0) {
        return find_known(instance, known);
    }
    function physical = find_for_physical_devices(instance, name);
    return physical ? physical : find_for_devices(instance, name);
}

/* Whether the loader has to see the calls of a function of devices: those that make or end objects, or take surfaces.
 */
static bool is_own(int which)
{
    switch (which) {
    case VULKAN_vkGetDeviceProcAddr:
    case VULKAN_vkDestroyDevice:
    case VULKAN_vkGetDeviceQueue:
    case VULKAN_vkGetDeviceQueue2:
    case VULKAN_vkAllocateCommandBuffers:
    case VULKAN_vkCreateSwapchainKHR:
    case VULKAN_vkCreateSharedSwapchainsKHR:
    case VULKAN_vkGetDeviceGroupSurfacePresentModesKHR:
    case VULKAN_vkSetDebugUtilsObjectNameEXT:
    case VULKAN_vkSetDebugUtilsObjectTagEXT:
    case VULKAN_vkDebugMarkerSetObjectNameEXT:
    case VULKAN_vkDebugMarkerSetObjectTagEXT:
        return true;
    default:
        return false;
    }
}

/* Whether a function of devices, of an extension of theirs, takes what is the loader's own. */
static bool needs_extension(int which)
{
    switch (which) {
    case VULKAN_vkCreateSwapchainKHR:
    case VULKAN_vkCreateSharedSwapchainsKHR:
    case VULKAN_vkDebugMarkerSetObjectNameEXT:
    case VULKAN_vkDebugMarkerSetObjectTagEXT:
        return true;
    default:
        return false;
    }
}

function lookup_device(struct device *device, const char *name)
{
    int known = vulkan_function_by_name(name);
    PFN_vkGetDeviceProcAddr get = (PFN_vkGetDeviceProcAddr)device->driver->functions[VULKAN_vkGetDeviceProcAddr];
    if (known >= 0 && vulkan_function_info[known].level != VULKAN_device) {
        return NULL;
    }
    if (known == VULKAN_vkGetDeviceProcAddr) {
        return trampolines[known];
    }
    if (known >= 0 && !is_enabled(device->instance, known)) {
        return NULL;
    }
    if (known >= 0 && needs_extension(known) &&
        !extensions_have(&device->extensions, trampolines_extension[known].name)) {
        return NULL;
    }
    function own = (function)get(device->handle, name);
    return own && known >= 0 && is_own(known) ? trampolines[known] : own;
}

function loader_vkGetInstanceProcAddr(struct instance *instance, const char *name);
function loader_vkGetInstanceProcAddr(struct instance *instance, const char *name)
{
    return lookup_instance(instance, name);
}

function loader_vkGetDeviceProcAddr(VkDevice device, const char *name);
function loader_vkGetDeviceProcAddr(VkDevice device, const char *name)
{
    return lookup_device(device_of(device), name);
}
