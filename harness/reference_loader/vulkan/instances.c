/* SPDX-License-Identifier: Apache-2.0 */
/* The functions before there is an instance, and instances of all drivers as one. */
#include "vulkan_loader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PORTABILITY "VK_KHR_portability_enumeration"
#define DIRECT "VK_LUNARG_direct_driver_loading"
enum { DIRECT_LIST_TYPE = 1000459001, EXCLUSIVE = 0, MAX_EXTENSIONS = 256 };

/* As VK_LUNARG_direct_driver_loading has them, which is younger than some headers. */
struct direct_driver {
    VkStructureType type;
    void *next;
    uint32_t flags;
    PFN_vkGetInstanceProcAddr get;
};

struct direct_list {
    VkStructureType type;
    void *next;
    uint32_t mode;
    uint32_t count;
    const struct direct_driver *drivers;
};

/* So that it can be told from others. */
EXPORTED extern const char clharness_reference_vulkan_loader[];
const char clharness_reference_vulkan_loader[] = "clharness reference Vulkan loader";

/* Extensions of instances that this loader has itself. */
static const char *const own_extensions[] = {PORTABILITY, DIRECT, VK_EXT_DEBUG_UTILS_EXTENSION_NAME,
                                             VK_EXT_DEBUG_REPORT_EXTENSION_NAME};

static bool is_among(const char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(names[i], name) == 0) {
            return true;
        }
    }
    return false;
}

/* --- extensions --- */

struct extension_list {
    VkExtensionProperties entries[MAX_EXTENSIONS];
    size_t count;
};

static void add_extension(struct extension_list *list, const VkExtensionProperties *extension)
{
    bool is_there = drivers_has_extension(list->entries, list->count, extension->extensionName);
    if (!is_there && list->count < MAX_EXTENSIONS) {
        list->entries[list->count++] = *extension;
    }
}

static bool is_number_but_0(const char *text)
{
    return text && strtol(text, NULL, 10) != 0;
}

static void list_extensions(struct extension_list *list, const struct driver *drivers, size_t count)
{
    bool all = is_number_but_0(getenv("VK_LOADER_DISABLE_INST_EXT_FILTER"));
    for (size_t i = 0; i < count; i++) {
        VkExtensionProperties *extensions;
        size_t number = drivers_extensions(&drivers[i], &extensions);
        for (size_t j = 0; j < number; j++) {
            if (all || is_among(trampolines_known_extensions, trampolines_known_count, extensions[j].extensionName)) {
                add_extension(list, &extensions[j]);
            }
        }
        free(extensions);
    }
    for (size_t i = 0; i < sizeof own_extensions / sizeof *own_extensions; i++) {
        VkExtensionProperties own = {.specVersion = 1};
        snprintf(own.extensionName, sizeof own.extensionName, "%s", own_extensions[i]);
        add_extension(list, &own);
    }
}

VkResult loader_vkEnumerateInstanceExtensionProperties(const char *layer, uint32_t *count, VkExtensionProperties *to);
VkResult loader_vkEnumerateInstanceExtensionProperties(const char *layer, uint32_t *count, VkExtensionProperties *to)
{
    if (layer && *layer) {
        return VK_ERROR_LAYER_NOT_PRESENT;
    }
    struct instance *instance = calloc(1, sizeof *instance);
    struct extension_list *list = calloc(1, sizeof *list);
    if (!instance || !list) {
        free(instance);
        free(list);
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    instance->driver_count = drivers_load(instance->drivers, MAX_DRIVERS);
    list_extensions(list, instance->drivers, instance->driver_count);
    for (size_t i = 0; i < instance->driver_count; i++) {
        drivers_unload(&instance->drivers[i]);
    }
    uint32_t room = to ? *count : 0;
    uint32_t all = (uint32_t)list->count;
    *count = to && room < all ? room : all;
    if (to) {
        memcpy(to, list->entries, *count * sizeof *to);
    }
    free(instance);
    free(list);
    return to && room < all ? VK_INCOMPLETE : VK_SUCCESS;
}

VkResult loader_vkEnumerateInstanceLayerProperties(uint32_t *count, VkLayerProperties *to);
VkResult loader_vkEnumerateInstanceLayerProperties(uint32_t *count, VkLayerProperties *to)
{
    (void)to;
    *count = 0;
    return VK_SUCCESS;
}

VkResult loader_vkEnumerateInstanceVersion(uint32_t *version);
VkResult loader_vkEnumerateInstanceVersion(uint32_t *version)
{
    /* VK_KHR_maintenance5 came with 1.3.260; it is known whatever the headers are. */
    const uint32_t maintenance5 = VK_MAKE_API_VERSION(0, 1, 3, 260);
    *version = VK_HEADER_VERSION_COMPLETE > maintenance5 ? VK_HEADER_VERSION_COMPLETE : maintenance5;
    return VK_SUCCESS;
}

/* --- instances --- */

static bool has_extension(const VkInstanceCreateInfo *info, const char *name)
{
    return is_among(info->ppEnabledExtensionNames, info->enabledExtensionCount, name);
}

static const struct direct_list *direct_list(const VkInstanceCreateInfo *info)
{
    const VkBaseInStructure *part = has_extension(info, DIRECT) ? info->pNext : NULL;
    while (part && (int)part->sType != DIRECT_LIST_TYPE) {
        part = part->pNext;
    }
    return (const struct direct_list *)part;
}

/* Loads the machine's drivers and takes the application's; portability drivers only where they are asked for. */
static void gather_drivers(struct instance *instance, const VkInstanceCreateInfo *info)
{
    const struct direct_list *direct = direct_list(info);
    bool portability =
        has_extension(info, PORTABILITY) && (info->flags & VK_INSTANCE_CREATE_ENUMERATE_PORTABILITY_BIT_KHR);
    size_t count = direct && direct->mode == EXCLUSIVE ? 0 : drivers_load(instance->drivers, MAX_DRIVERS);
    for (size_t i = 0; i < count; i++) {
        struct driver *driver = &instance->drivers[i];
        if (driver->is_portability_driver && !portability) {
            drivers_unload(driver);
        } else {
            instance->drivers[instance->driver_count++] = *driver;
        }
    }
    for (uint32_t i = 0; direct && i < direct->count && instance->driver_count < MAX_DRIVERS; i++) {
        instance->driver_count += drivers_take(&instance->drivers[instance->driver_count], direct->drivers[i].get);
    }
}

/* Makes the instance of one driver: with the extensions that it has, for 1.0 where it is of that version, and else for
 * 1.1 at least where its devices are to say who they are. VK_ERROR_INCOMPATIBLE_DRIVER where it is left out. */
static VkResult make_instance(struct driver *driver, const struct instance *instance, const VkInstanceCreateInfo *info,
                              const VkAllocationCallbacks *allocator)
{
    VkInstanceCreateInfo own = *info;
    VkApplicationInfo application;
    const char *names[MAX_EXTENSIONS];
    const bool identifies = instance->choices.is_made;
    VkExtensionProperties *extensions;
    size_t count = drivers_extensions(driver, &extensions);
    own.enabledExtensionCount = 0;
    own.ppEnabledExtensionNames = names;
    for (uint32_t i = 0; i < info->enabledExtensionCount && own.enabledExtensionCount < MAX_EXTENSIONS; i++) {
        if (drivers_has_extension(extensions, count, info->ppEnabledExtensionNames[i])) {
            names[own.enabledExtensionCount++] = info->ppEnabledExtensionNames[i];
        }
    }
    if (!is_among(names, own.enabledExtensionCount, PORTABILITY)) {
        own.flags &= ~(VkInstanceCreateFlags)VK_INSTANCE_CREATE_ENUMERATE_PORTABILITY_BIT_KHR;
    }
    if (info->pApplicationInfo && driver->is_of_1_0) {
        application = *info->pApplicationInfo;
        application.apiVersion = VK_API_VERSION_1_0;
        own.pApplicationInfo = &application;
    }
    if (identifies && !driver->is_of_1_0 &&
        (!info->pApplicationInfo || info->pApplicationInfo->apiVersion < VK_API_VERSION_1_1)) {
        const VkApplicationInfo none = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO};
        application = info->pApplicationInfo ? *info->pApplicationInfo : none;
        application.apiVersion = VK_API_VERSION_1_1;
        own.pApplicationInfo = &application;
    }
    bool has_memory = extensions_keep(&driver->extensions, instance, names, own.enabledExtensionCount);
    VkResult result = has_memory ? driver->create_instance(&own, allocator, &driver->instance) : VK_SUCCESS;
    free(extensions);
    if (!has_memory) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    if (result != VK_SUCCESS || !driver->instance) {
        return VK_ERROR_INCOMPATIBLE_DRIVER;
    }
    bool is_of_1_0 = !info->pApplicationInfo || info->pApplicationInfo->apiVersion < VK_API_VERSION_1_1;
    if (!drivers_find_functions(driver, is_of_1_0 && !identifies)) {
        PFN_vkDestroyInstance destroy = (PFN_vkDestroyInstance)driver->functions[VULKAN_vkDestroyInstance];
        if (destroy) {
            destroy(driver->instance, allocator);
        }
        return VK_ERROR_INCOMPATIBLE_DRIVER;
    }
    return VK_SUCCESS;
}

static bool has_all_extensions(const struct instance *instance, const VkInstanceCreateInfo *info)
{
    struct extension_list *list = calloc(1, sizeof *list);
    bool all = list != NULL;
    if (list) {
        list_extensions(list, instance->drivers, instance->driver_count);
    }
    for (uint32_t i = 0; all && i < info->enabledExtensionCount; i++) {
        all = drivers_has_extension(list->entries, list->count, info->ppEnabledExtensionNames[i]);
    }
    free(list);
    return all;
}

/* Makes the instances of the drivers; those that fail are left out. */
static VkResult make_instances(struct instance *instance, const VkInstanceCreateInfo *info,
                               const VkAllocationCallbacks *allocator)
{
    size_t count = instance->driver_count;
    if (info->enabledLayerCount > 0) {
        return VK_ERROR_LAYER_NOT_PRESENT;
    }
    if (count > 0 && !has_all_extensions(instance, info)) {
        return VK_ERROR_EXTENSION_NOT_PRESENT;
    }
    instance->driver_count = 0;
    VkResult result = VK_SUCCESS;
    for (size_t i = 0; i < count; i++) {
        VkResult own = result ? result : make_instance(&instance->drivers[i], instance, info, allocator);
        if (own == VK_SUCCESS) {
            instance->drivers[instance->driver_count++] = instance->drivers[i];
        } else {
            drivers_unload(&instance->drivers[i]);
        }
        if (own == VK_ERROR_OUT_OF_HOST_MEMORY) {
            result = own;
        }
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    return instance->driver_count > 0 ? VK_SUCCESS : VK_ERROR_INCOMPATIBLE_DRIVER;
}

/* Ends what there is of drivers' instances, and lets go of the drivers. */
static void end_drivers(struct instance *instance, const VkAllocationCallbacks *allocator)
{
    for (size_t i = 0; i < instance->driver_count; i++) {
        struct driver *driver = &instance->drivers[i];
        if (driver->instance) {
            ((PFN_vkDestroyInstance)driver->functions[VULKAN_vkDestroyInstance])(driver->instance, allocator);
        }
        drivers_unload(driver);
    }
}

VkResult loader_vkCreateInstance(const VkInstanceCreateInfo *info, const VkAllocationCallbacks *allocator,
                                 struct instance **to);
VkResult loader_vkCreateInstance(const VkInstanceCreateInfo *info, const VkAllocationCallbacks *allocator,
                                 struct instance **to)
{
    struct instance *instance = memory_take(allocator, VK_SYSTEM_ALLOCATION_SCOPE_INSTANCE, sizeof *instance);
    if (!instance) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    struct settings *settings = calloc(1, sizeof *settings);
    if (settings) {
        settings_read(settings);
        instance->choices = settings->choices;
        free(settings);
    }
    instance->api_version = info->pApplicationInfo ? info->pApplicationInfo->apiVersion : 0;
    messages_to(info->pNext);
    gather_drivers(instance, info);
    messages_to(NULL);
    bool has_memory =
        extensions_keep(&instance->extensions, instance, info->ppEnabledExtensionNames, info->enabledExtensionCount);
    VkResult result = has_memory ? make_instances(instance, info, allocator) : VK_ERROR_OUT_OF_HOST_MEMORY;
    if (result == VK_SUCCESS) {
        *to = instance;
        return result;
    }
    end_drivers(instance, allocator);
    memory_give(instance->extensions.names);
    memory_give(instance);
    return result;
}

void loader_vkDestroyInstance(struct instance *instance, const VkAllocationCallbacks *allocator);
void loader_vkDestroyInstance(struct instance *instance, const VkAllocationCallbacks *allocator)
{
    if (!instance) {
        return;
    }
    surfaces_end(instance);
    messengers_end(instance);
    end_drivers(instance, allocator);
    physical_devices_forget(instance);
    memory_give(instance->extensions.names);
    memory_give(instance);
}
