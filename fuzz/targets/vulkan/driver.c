/* SPDX-License-Identifier: Apache-2.0 */
/* The drivers: how their functions are found, and what these answer. */
#include "driver.h"

#include <stdio.h>
#include <string.h>

enum kind { INSTANCE, PHYSICAL_DEVICE, DEVICE, QUEUE, COMMAND_BUFFER };

struct driver drivers[DRIVERS];
const char *const driver_extensions[OWN_EXTENSIONS] = {
    "VK_KHR_surface",     "VK_KHR_get_physical_device_properties2", "VK_EXT_headless_surface",
    "VK_EXT_debug_utils", "VK_KHR_device_group_creation",           "VK_CLHARNESS_of_no_registry",
};

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
    VULKAN_vkCreateInstance,
    VULKAN_vkEnumerateInstanceExtensionProperties,
};

/* The tables of clharness_vulkan_entries.c, compiled once for each driver. */
typedef void (*const entry_table[VULKAN_FUNCTION_COUNT])(void);
extern entry_table driver0_entries, driver1_entries, driver2_entries;
uint64_t driver0_call(enum vulkan_function function, const uint64_t *a);
uint64_t driver1_call(enum vulkan_function function, const uint64_t *a);
uint64_t driver2_call(enum vulkan_function function, const uint64_t *a);

static address entry(int number, enum vulkan_function function)
{
    return number == 0   ? driver0_entries[function]
           : number == 1 ? driver1_entries[function]
                         : driver2_entries[function];
}

static void *at(uint64_t word)
{
    return (void *)(uintptr_t)word;
}

/* --- objects --- */

static struct driver_object *make(struct driver *driver, enum kind kind, int index)
{
    struct driver_object *object = keep(sizeof *object);
    *object = (struct driver_object){ICD_LOADER_MAGIC, driver->number, kind, index, true};
    return object;
}

/* The driver's object of a handle; a finding where it is another's, of another class, or gone. */
static struct driver_object *own(const struct driver *driver, uint64_t handle, enum kind kind, const char *function)
{
    struct driver_object *object = at(handle);
    bool is_own = object && object->driver == driver->number && object->kind == (int)kind && object->is_live;
    if (!is_own) {
        finding("wrong", keep_text("foreign-handle-%s", function),
                "%s of driver %d got %#llx, which is not an object of its own", function, driver->number,
                (unsigned long long)handle);
    }
    return is_own ? object : NULL;
}

/* --- answers --- */

static uint64_t negotiate(struct driver *driver, uint32_t *version)
{
    driver->was_negotiated = true;
    driver->offered = *version;
    if (driver->negotiate_result != VK_SUCCESS || *version < driver->least_interface) {
        driver->refused |=
            driver->negotiate_result == VK_ERROR_INCOMPATIBLE_DRIVER || driver->negotiate_result == VK_SUCCESS;
        return (uint64_t)(driver->negotiate_result ? driver->negotiate_result : VK_ERROR_INCOMPATIBLE_DRIVER);
    }
    *version = *version < driver->interface ? *version : driver->interface;
    *version = driver->negotiates ? driver->negotiates - 1 : *version;
    return VK_SUCCESS;
}

static uint64_t list_extensions(const struct driver *driver, uint32_t *count, VkExtensionProperties *to)
{
    uint32_t room = to ? *count : UINT32_MAX;
    uint32_t number = 0;
    for (int i = 0; i < OWN_EXTENSIONS; i++) {
        if (!(driver->extensions & 1U << i)) {
            continue;
        }
        if (to && number < room) {
            to[number] = (VkExtensionProperties){.specVersion = 1};
            snprintf(to[number].extensionName, sizeof to->extensionName, "%s", driver_extensions[i]);
        }
        number += number < room;
    }
    *count = number;
    return (uint64_t)(to ? driver->extension_list_result : driver->extension_count_result);
}

static void check_info(const struct driver *driver, const VkInstanceCreateInfo *info)
{
    for (uint32_t i = 0; i < info->enabledExtensionCount; i++) {
        bool is_own = false;
        for (int e = 0; e < OWN_EXTENSIONS; e++) {
            is_own |=
                driver->extensions & 1U << e && texts_equal(driver_extensions[e], info->ppEnabledExtensionNames[i]);
        }
        if (!is_own) {
            finding("wrong", "extension-of-others", "driver %d gets %s enabled, which it does not have", driver->number,
                    info->ppEnabledExtensionNames[i]);
        }
    }
    const VkApplicationInfo *application = info->pApplicationInfo;
    uint32_t version = driver->told_version ? driver->told_version : driver->api_version;
    if (version < VK_API_VERSION_1_1 && application && application->apiVersion >= VK_API_VERSION_1_1) {
        finding("wrong", "version-above-1.0", "driver %d of Vulkan 1.0 is asked for %#x", driver->number,
                application->apiVersion);
    }
    if (info->enabledLayerCount) {
        finding("wrong", "layers-enabled", "driver %d gets layers enabled", driver->number);
    }
}

static uint64_t create_instance(struct driver *driver, const VkInstanceCreateInfo *info, VkInstance *to)
{
    check_info(driver, info);
    if (driver->refused) {
        finding("wrong", "used-after-refusal", "driver %d refused the interface, and is used", driver->number);
    }
    if (driver->create_result == VK_SUCCESS || driver->leaves_handle) {
        *to = (VkInstance)make(driver, INSTANCE, 0);
    }
    driver->instances_made += driver->create_result == VK_SUCCESS;
    return (uint64_t)driver->create_result;
}

static uint64_t destroy_instance(struct driver *driver, uint64_t handle)
{
    struct driver_object *instance = handle ? own(driver, handle, INSTANCE, "vkDestroyInstance") : NULL;
    if (instance) {
        instance->is_live = false;
        driver->instances_destroyed++;
    }
    return 0;
}

static uint64_t list_devices(struct driver *driver, const uint64_t *a)
{
    uint32_t *count = at(a[1]);
    VkPhysicalDevice *to = at(a[2]);
    VkResult result = to ? driver->device_list_result : driver->device_count_result;
    own(driver, a[0], INSTANCE, "vkEnumeratePhysicalDevices");
    if (result < 0) {
        return (uint64_t)result;
    }
    uint32_t number = to && *count < driver->device_count ? *count : driver->device_count;
    for (uint32_t i = 0; to && i < number; i++) {
        to[i] = (VkPhysicalDevice)&driver->devices[i];
    }
    *count = number;
    return (uint64_t)(number < driver->device_count ? VK_INCOMPLETE : result);
}

static uint64_t list_groups(struct driver *driver, const uint64_t *a)
{
    enum { FOR_EVER = 1000 };
    uint32_t *count = at(a[1]);
    VkPhysicalDeviceGroupProperties *to = at(a[2]);
    own(driver, a[0], INSTANCE, "vkEnumeratePhysicalDeviceGroups");
    if (driver->group_calls++ == FOR_EVER) {
        finding("hang", "groups-for-ever", "driver %d is asked for its groups again and again", driver->number);
    }
    if (driver->group_result < 0 && driver->group_calls < FOR_EVER) {
        return (uint64_t)driver->group_result;
    }
    uint32_t number = to && *count < driver->device_count ? *count : driver->device_count;
    for (uint32_t i = 0; to && i < number; i++) {
        to[i].physicalDeviceCount = 1;
        to[i].physicalDevices[0] = (VkPhysicalDevice)&driver->devices[i];
    }
    *count = number;
    return (uint64_t)(number < driver->device_count ? VK_INCOMPLETE : VK_SUCCESS);
}

static uint64_t get_properties(struct driver *driver, const uint64_t *a)
{
    VkPhysicalDeviceProperties *to = at(a[1]);
    const struct driver_object *device = own(driver, a[0], PHYSICAL_DEVICE, "vkGetPhysicalDeviceProperties");
    *to = (VkPhysicalDeviceProperties){.apiVersion = driver->api_version,
                                       .deviceType = VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU};
    snprintf(to->deviceName, sizeof to->deviceName, "%d.%d", driver->number, device ? device->index : -1);
    return 0;
}

static uint64_t create_device(struct driver *driver, const uint64_t *a)
{
    own(driver, a[0], PHYSICAL_DEVICE, "vkCreateDevice");
    if (driver->create_device_result == VK_SUCCESS) {
        *(VkDevice *)at(a[3]) = (VkDevice)make(driver, DEVICE, 0);
    }
    return (uint64_t)driver->create_device_result;
}

static uint64_t allocate_command_buffers(struct driver *driver, const uint64_t *a)
{
    const VkCommandBufferAllocateInfo *info = at(a[1]);
    own(driver, a[0], DEVICE, "vkAllocateCommandBuffers");
    for (uint32_t i = 0; i < info->commandBufferCount; i++) {
        ((VkCommandBuffer *)at(a[2]))[i] = (VkCommandBuffer)make(driver, COMMAND_BUFFER, 0);
    }
    return VK_SUCCESS;
}

static address find_of_device(const struct driver *driver, const char *name)
{
    int function = vulkan_function_by_name(name);
    bool is_there = function >= 0 && vulkan_function_info[function].level == VULKAN_device;
    return is_there && !driver_lacks(driver, (enum vulkan_function)function) ? entry(driver->number, function) : NULL;
}

static address find(struct driver *driver, uint64_t instance, const char *name);

static uint64_t answer(struct driver *driver, enum vulkan_function function, const uint64_t *a)
{
    static const enum kind kinds[] = {[VULKAN_instance] = INSTANCE, [VULKAN_physical_device] = PHYSICAL_DEVICE};
    const struct vulkan_function_info *info = &vulkan_function_info[function];
    switch (function) {
    case VULKAN_vkEnumerateInstanceVersion:
        *(uint32_t *)at(a[0]) = driver->api_version;
        return (uint64_t)driver->version_result;
    case VULKAN_vkEnumerateInstanceExtensionProperties:
        return list_extensions(driver, at(a[1]), at(a[2]));
    case VULKAN_vkCreateInstance:
        return create_instance(driver, at(a[0]), at(a[2]));
    case VULKAN_vkDestroyInstance:
        return destroy_instance(driver, a[0]);
    case VULKAN_vkEnumeratePhysicalDevices:
        return list_devices(driver, a);
    case VULKAN_vkEnumeratePhysicalDeviceGroups:
    case VULKAN_vkEnumeratePhysicalDeviceGroupsKHR:
        return list_groups(driver, a);
    case VULKAN_vkGetPhysicalDeviceProperties:
        return get_properties(driver, a);
    case VULKAN_vkEnumerateDeviceExtensionProperties:
        own(driver, a[0], PHYSICAL_DEVICE, info->name);
        *(uint32_t *)at(a[2]) = 0;
        return VK_SUCCESS;
    case VULKAN_vkCreateDevice:
        return create_device(driver, a);
    case VULKAN_vkGetDeviceQueue:
        own(driver, a[0], DEVICE, info->name);
        *(VkQueue *)at(a[3]) = (VkQueue)make(driver, QUEUE, 0);
        return 0;
    case VULKAN_vkAllocateCommandBuffers:
        return allocate_command_buffers(driver, a);
    case VULKAN_vkGetInstanceProcAddr:
        return (uint64_t)(uintptr_t)find(driver, a[0], at(a[1]));
    case VULKAN_vkGetDeviceProcAddr:
        return (uint64_t)(uintptr_t)find_of_device(driver, at(a[1]));
    case VULKAN_vkQueueWaitIdle:
        own(driver, a[0], QUEUE, info->name);
        return VK_SUCCESS;
    case VULKAN_vkEndCommandBuffer:
        own(driver, a[0], COMMAND_BUFFER, info->name);
        return VK_SUCCESS;
    default:
        if (info->level == VULKAN_instance || info->level == VULKAN_physical_device) {
            own(driver, a[0], kinds[info->level], info->name);
        }
        return 0;
    }
}

/* --- functions of each driver --- */

static uint64_t own_function(struct driver *driver, void *device)
{
    own(driver, (uint64_t)(uintptr_t)device, PHYSICAL_DEVICE, OWN_FUNCTION);
    return 2000 + (uint64_t)driver->number;
}

#define DRIVER(n)                                                                                  \
    uint64_t driver##n##_call(enum vulkan_function function, const uint64_t *a)                    \
    {                                                                                              \
        return answer(&drivers[n], function, a);                                                   \
    }                                                                                              \
    static VkResult negotiate_##n(uint32_t *version)                                               \
    {                                                                                              \
        return (VkResult)negotiate(&drivers[n], version);                                          \
    }                                                                                              \
    static address get_##n(VkInstance instance, const char *name)                                  \
    {                                                                                              \
        return find(&drivers[n], (uint64_t)(uintptr_t)instance, name);                             \
    }                                                                                              \
    static address get_physical_##n(VkInstance instance, const char *name);                        \
    static uint64_t own_function_##n(void *device)                                                 \
    {                                                                                              \
        return own_function(&drivers[n], device);                                                  \
    }                                                                                              \
    static address get_physical_##n(VkInstance instance, const char *name)                         \
    {                                                                                              \
        int known = vulkan_function_by_name(name);                                                 \
        if (drivers[n].has_own_function && texts_equal(name, OWN_FUNCTION)) {                      \
            return (address)own_function_##n;                                                      \
        }                                                                                          \
        bool takes_it = known >= 0 && vulkan_function_info[known].level == VULKAN_physical_device; \
        return takes_it ? find(&drivers[n], (uint64_t)(uintptr_t)instance, name) : NULL;           \
    }
DRIVER(0)
DRIVER(1)
DRIVER(2)

static const struct {
    address negotiate;
    address get;
    address get_physical;
} interfaces[DRIVERS] = {
    {(address)negotiate_0, (address)get_0, (address)get_physical_0},
    {(address)negotiate_1, (address)get_1, (address)get_physical_1},
    {(address)negotiate_2, (address)get_2, (address)get_physical_2},
};

static address find(struct driver *driver, uint64_t instance, const char *name)
{
    bool is_negotiate = texts_equal(name, "vk_icdNegotiateLoaderICDInterfaceVersion");
    if (is_negotiate || texts_equal(name, "vk_icdGetPhysicalDeviceProcAddr")) {
        return !driver->interface_by_query ? NULL
               : is_negotiate              ? interfaces[driver->number].negotiate
                                           : interfaces[driver->number].get_physical;
    }
    if (!driver->was_negotiated && !driver->hides_negotiate) {
        finding("wrong", "call-before-negotiation", "driver %d is asked for %s before the negotiation", driver->number,
                name);
    }
    int function = vulkan_function_by_name(name);
    if (function < 0 || driver_lacks(driver, (enum vulkan_function)function)) {
        return NULL;
    }
    bool is_global = vulkan_function_info[function].level == VULKAN_global;
    return instance || is_global || function == VULKAN_vkGetInstanceProcAddr ? entry(driver->number, function) : NULL;
}

/* What dlsym answers. */
static void *driver_symbol(const struct library *library, const char *name)
{
    const struct driver *driver = &drivers[library->number];
    static const enum vulkan_function official[] = {VULKAN_vkGetInstanceProcAddr, VULKAN_vkCreateInstance,
                                                    VULKAN_vkEnumerateInstanceExtensionProperties};
    address symbol = NULL;
    if (!driver->hides_negotiate && texts_equal(name, "vk_icdNegotiateLoaderICDInterfaceVersion")) {
        symbol = interfaces[driver->number].negotiate;
    } else if (!driver->hides_get && texts_equal(name, "vk_icdGetInstanceProcAddr")) {
        symbol = interfaces[driver->number].get;
    } else if (!driver->hides_get_physical && texts_equal(name, "vk_icdGetPhysicalDeviceProcAddr")) {
        symbol = interfaces[driver->number].get_physical;
    }
    for (size_t i = 0; driver->exports_official && i < sizeof official / sizeof *official; i++) {
        if (texts_equal(name, vulkan_function_info[official[i]].name) && !driver_lacks(driver, official[i])) {
            symbol = entry(driver->number, official[i]);
        }
    }
    return (void *)(uintptr_t)symbol;
}

/* --- for targets --- */

struct driver *driver_plain(int number)
{
    struct driver *driver = &drivers[number];
    *driver = (struct driver){.number = number, .api_version = VK_API_VERSION_1_1, .interface = 5, .device_count = 1};
    for (int i = 0; i < DRIVER_DEVICES; i++) {
        driver->devices[i] = (struct driver_object){ICD_LOADER_MAGIC, number, PHYSICAL_DEVICE, i, true};
    }
    return driver;
}

void driver_library(struct driver *driver, const char *name)
{
    world_library(name, driver_symbol, driver->number);
}

bool driver_lacks(const struct driver *driver, enum vulkan_function function)
{
    return driver->missing[function / 8] & 1 << (function % 8);
}

static bool has_mandatory(const struct driver *driver)
{
    for (size_t i = 0; i < sizeof mandatory / sizeof *mandatory; i++) {
        if (driver_lacks(driver, mandatory[i])) {
            return false;
        }
    }
    return true;
}

bool driver_is_faultless(const struct driver *driver)
{
    return !driver->hides_get && (!driver->hides_negotiate || driver->interface_by_query) && !driver->negotiates &&
           !driver->negotiate_result && driver->least_interface <= 5 && driver->interface >= 2 &&
           !driver->extension_count_result && !driver->extension_list_result && !driver->create_result &&
           !driver->device_count_result && !driver->device_list_result && driver->device_count > 0 &&
           (!driver->interface_by_query || driver->interface >= 7) && has_mandatory(driver);
}

bool driver_is_out_of_memory(const struct driver *driver)
{
    const VkResult results[] = {driver->extension_count_result, driver->extension_list_result, driver->create_result,
                                driver->device_count_result,    driver->device_list_result,    driver->group_result};
    for (size_t i = 0; i < sizeof results / sizeof *results; i++) {
        if (results[i] == VK_ERROR_OUT_OF_HOST_MEMORY) {
            return true;
        }
    }
    return false;
}

struct driver *driver_of_device(const char *name)
{
    int number = *name - '0';
    return number >= 0 && number < DRIVERS && name[1] == '.' && name[2] >= '0' && name[2] < '0' + DRIVER_DEVICES
               ? &drivers[number]
               : NULL;
}

void driver_describe(const struct driver *driver)
{
    if (!describing_inputs()) {
        return;
    }
    describe("driver %d: Vulkan %#x, interface %u to %u, answers %d to the negotiation%s", driver->number,
             driver->api_version, driver->least_interface, driver->interface, driver->negotiate_result,
             driver->negotiates ? keep_text(" and version %u", driver->negotiates - 1) : "");
    describe("driver %d: %s%s%s%s%s%s%u devices, extensions %#x", driver->number,
             driver->hides_negotiate ? "no negotiation exported; " : "",
             driver->hides_get ? "no vk_icdGetInstanceProcAddr; " : "",
             driver->hides_get_physical ? "no vk_icdGetPhysicalDeviceProcAddr; " : "",
             driver->exports_official ? "official names exported; " : "",
             driver->interface_by_query ? "interface by query; " : "",
             driver->has_own_function ? "a function of its own; " : "", driver->device_count, driver->extensions);
    describe(
        "driver %d answers: version %d, extensions %d and %d, instance %d%s, devices %d and %d, groups %d, device %d",
        driver->number, driver->version_result, driver->extension_count_result, driver->extension_list_result,
        driver->create_result, driver->leaves_handle ? " with a handle" : "", driver->device_count_result,
        driver->device_list_result, driver->group_result, driver->create_device_result);
    for (int f = 0; f < VULKAN_FUNCTION_COUNT; f++) {
        if (driver_lacks(driver, (enum vulkan_function)f)) {
            describe("driver %d lacks %s", driver->number, vulkan_function_info[f].name);
        }
    }
}

void driver_check_end(const struct driver *driver)
{
    bool can_end = !driver_lacks(driver, VULKAN_vkDestroyInstance);
    if (can_end && driver->instances_made != driver->instances_destroyed) {
        finding("leak", "instance-of-driver", "driver %d made %u instances, and %u were destroyed", driver->number,
                driver->instances_made, driver->instances_destroyed);
    }
}
