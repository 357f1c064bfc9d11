/* SPDX-License-Identifier: Apache-2.0 */
/* Drivers: how a library is loaded, what is agreed on with it, and how its functions are found. */
#include "vulkan_loader.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <vulkan/vk_icd.h>

typedef VkResult negotiate_function(uint32_t *version);

/* Functions that every driver has. */
static const enum vulkan_function mandatory[] = {
    VULKAN_vkDestroyInstance,
    VULKAN_vkEnumeratePhysicalDevices,
    VULKAN_vkGetPhysicalDeviceFeatures,
    VULKAN_vkGetPhysicalDeviceFormatProperties,
    VULKAN_vkGetPhysicalDeviceImageFormatProperties,
    VULKAN_vkGetPhysicalDeviceProperties,
    VULKAN_vkGetPhysicalDeviceQueueFamilyProperties,
    VULKAN_vkGetPhysicalDeviceMemoryProperties,
    VULKAN_vkGetDeviceProcAddr,
    VULKAN_vkCreateDevice,
    VULKAN_vkEnumerateDeviceExtensionProperties,
    VULKAN_vkGetPhysicalDeviceSparseImageFormatProperties,
};

static function symbol(const struct driver *driver, const char *name)
{
    return driver->library ? (function)(uintptr_t)dlsym(driver->library, name) : NULL;
}

/* Finds a function of the interface itself: exported, else, from version 7 on, by query. */
static function interface_function(const struct driver *driver, const char *name, bool may_query)
{
    function direct = symbol(driver, name);
    return direct || !may_query || !driver->get ? direct : (function)driver->get(NULL, name);
}

/* Agrees on a version; without a negotiation it is 1 or 0, as the driver has vk_icdGetInstanceProcAddr or not. */
static bool negotiate(struct driver *driver)
{
    negotiate_function *ask =
        (negotiate_function *)interface_function(driver, "vk_icdNegotiateLoaderICDInterfaceVersion", true);
    if (!ask) {
        driver->interface = driver->get ? 1 : 0;
        return true;
    }
    driver->interface = INTERFACE_VERSION;
    return ask(&driver->interface) == VK_SUCCESS && driver->interface <= INTERFACE_VERSION && driver->get;
}

/* Finds what is needed before there is an instance. */
static bool find_global_functions(struct driver *driver)
{
    if (driver->interface == 0) {
        driver->get = (PFN_vkGetInstanceProcAddr)symbol(driver, "vkGetInstanceProcAddr");
        driver->create_instance = (PFN_vkCreateInstance)symbol(driver, "vkCreateInstance");
        driver->enumerate_extensions =
            (PFN_vkEnumerateInstanceExtensionProperties)symbol(driver, "vkEnumerateInstanceExtensionProperties");
    } else {
        driver->create_instance = (PFN_vkCreateInstance)driver->get(NULL, "vkCreateInstance");
        driver->enumerate_extensions =
            (PFN_vkEnumerateInstanceExtensionProperties)driver->get(NULL, "vkEnumerateInstanceExtensionProperties");
        driver->get_physical = (PFN_vkGetInstanceProcAddr)interface_function(driver, "vk_icdGetPhysicalDeviceProcAddr",
                                                                             driver->interface >= 7);
    }
    return driver->get && driver->create_instance && driver->enumerate_extensions;
}

/* Whether a driver is one of Vulkan 1.0, by its manifest and by what it says. */
static bool is_of_1_0(const struct driver *driver, uint32_t manifest_version)
{
    uint32_t version = 0;
    if (manifest_version < VK_API_VERSION_1_1) {
        return true;
    }
    PFN_vkEnumerateInstanceVersion ask =
        (PFN_vkEnumerateInstanceVersion)driver->get(NULL, "vkEnumerateInstanceVersion");
    return !ask || ask(&version) != VK_SUCCESS || version < VK_API_VERSION_1_1;
}

static bool open_driver(struct driver *driver, uint32_t manifest_version)
{
    if (!negotiate(driver) || !find_global_functions(driver)) {
        return false;
    }
    driver->is_of_1_0 = is_of_1_0(driver, manifest_version);
    return true;
}

struct list {
    struct driver *drivers;
    size_t count;
    size_t room;
};

static void tell_of_missing(const struct driver *driver, const char *path)
{
    if (!driver->library) {
        messages_error(path, "cannot be opened");
    }
}

static void load(const char *path, void *context)
{
    struct list *list = context;
    struct manifest manifest = {0};
    if (list->count == list->room || !manifest_read(path, &manifest)) {
        return;
    }
    struct driver *driver = &list->drivers[list->count];
    *driver = (struct driver){.library = dlopen(manifest.library, RTLD_LAZY | RTLD_LOCAL)};
    tell_of_missing(driver, manifest.library);
    if (!driver->library) {
        return;
    }
    driver->is_portability_driver = manifest.is_portability_driver;
    driver->get = (PFN_vkGetInstanceProcAddr)symbol(driver, "vk_icdGetInstanceProcAddr");
    if (open_driver(driver, manifest.api_version)) {
        list->count++;
    } else {
        drivers_unload(driver);
    }
}

size_t drivers_load(struct driver *drivers, size_t room)
{
    struct list list = {drivers, 0, room};
    discovery_manifests(load, &list);
    return list.count;
}

bool drivers_take(struct driver *driver, PFN_vkGetInstanceProcAddr get)
{
    *driver = (struct driver){.get = get};
    return open_driver(driver, VK_API_VERSION_1_1) && driver->interface >= 7;
}

void drivers_unload(struct driver *driver)
{
    const char *keep = getenv("VK_LOADER_DISABLE_DYNAMIC_LIBRARY_UNLOADING");
    if (driver->library && !(keep && strcmp(keep, "1") == 0)) {
        dlclose(driver->library);
    }
    driver->library = NULL;
    memory_give(driver->extensions.names);
    driver->extensions.names = NULL;
}

size_t drivers_extensions(const struct driver *driver, VkExtensionProperties **extensions)
{
    uint32_t count = 0;
    *extensions = NULL;
    if (driver->enumerate_extensions(NULL, &count, NULL) != VK_SUCCESS || count == 0) {
        return 0;
    }
    *extensions = calloc(count, sizeof **extensions);
    uint32_t room = count;
    if (!*extensions || driver->enumerate_extensions(NULL, &count, *extensions) < VK_SUCCESS) {
        return 0;
    }
    return count < room ? count : room;
}

bool drivers_has_extension(const VkExtensionProperties *list, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(list[i].extensionName, name) == 0) {
            return true;
        }
    }
    return false;
}

bool drivers_find_functions(struct driver *driver, bool is_of_1_0)
{
    for (int i = 0; i < VULKAN_FUNCTION_COUNT; i++) {
        enum vulkan_level level = vulkan_function_info[i].level;
        bool wanted = level == VULKAN_instance || level == VULKAN_physical_device || i == VULKAN_vkGetDeviceProcAddr;
        driver->functions[i] = wanted ? (function)driver->get(driver->instance, vulkan_function_info[i].name) : NULL;
    }
    for (int i = 0; i < VULKAN_FUNCTION_COUNT; i++) { /* one of several names is enough */
        int same = trampolines_same[i];
        function either = driver->functions[same] ? driver->functions[same] : driver->functions[i];
        driver->functions[i] = driver->functions[i] ? driver->functions[i] : either;
        driver->functions[same] = is_of_1_0 ? driver->functions[i] : either;
    }
    for (size_t i = 0; i < sizeof mandatory / sizeof *mandatory; i++) {
        if (!driver->functions[mandatory[i]]) {
            return false;
        }
    }
    return true;
}
