/* SPDX-License-Identifier: Apache-2.0 */
/* Vulkan drivers whose every answer to a loader is drawn from the input: exports, the negotiation, functions that are
 * missing, versions, extensions, instances, devices and groups. What a loader offers then must be there, and must work.
 */
#include "vulkan/driver.h"
#include "vulkan/loader.h"

#include <string.h>

const char *const target_name = "vulkan_negotiation";
struct target_library target_library = {"libvulkan.so.1", "vkGetInstanceProcAddr", "a Vulkan loader"};

static const VkResult results[] = {VK_SUCCESS,
                                   VK_ERROR_INCOMPATIBLE_DRIVER,
                                   VK_ERROR_INITIALIZATION_FAILED,
                                   VK_ERROR_OUT_OF_HOST_MEMORY,
                                   VK_ERROR_OUT_OF_DEVICE_MEMORY,
                                   VK_ERROR_EXTENSION_NOT_PRESENT,
                                   VK_ERROR_LAYER_NOT_PRESENT,
                                   VK_ERROR_UNKNOWN,
                                   VK_NOT_READY,
                                   VK_INCOMPLETE,
                                   -9999};
static const uint32_t versions[] = {VK_API_VERSION_1_1, VK_API_VERSION_1_0, VK_API_VERSION_1_2, VK_API_VERSION_1_3,
                                    VK_MAKE_API_VERSION(0, 1, 9, 9)};
static unsigned driver_count;

static VkResult some_result(void)
{
    return results[take_below(sizeof results / sizeof *results)];
}

static uint32_t some_version(void)
{
    return versions[take_below(sizeof versions / sizeof *versions)];
}

/* --- drivers --- */

static void some_missing(struct driver *driver)
{
    for (unsigned count = take_below(4); count > 0; count--) {
        unsigned function = take_below(VULKAN_FUNCTION_COUNT);
        driver->missing[function / 8] |= (uint8_t)(1 << (function % 8));
    }
}

/* One of the functions that every driver has, which a number drawn from all would rarely be. */
static void lose_one(struct driver *driver)
{
    static const enum vulkan_function functions[] = {
        VULKAN_vkCreateInstance,
        VULKAN_vkEnumerateInstanceExtensionProperties,
        VULKAN_vkEnumerateInstanceVersion,
        VULKAN_vkDestroyInstance,
        VULKAN_vkEnumeratePhysicalDevices,
        VULKAN_vkGetPhysicalDeviceProperties,
        VULKAN_vkGetDeviceProcAddr,
        VULKAN_vkCreateDevice,
        VULKAN_vkEnumeratePhysicalDeviceGroups,
        VULKAN_vkDestroyDevice,
        VULKAN_vkGetDeviceQueue,
        VULKAN_vkAllocateCommandBuffers,
    };
    enum vulkan_function function = functions[take_below(sizeof functions / sizeof *functions)];
    driver->missing[function / 8] |= (uint8_t)(1 << (function % 8));
}

static void some_interface(struct driver *driver)
{
    uint8_t exports = take_byte();
    driver->hides_negotiate = exports & 1;
    driver->hides_get = exports & 2;
    driver->hides_get_physical = exports & 4;
    driver->exports_official = exports & 8;
    driver->interface_by_query = exports & 16;
    driver->has_own_function = exports & 32;
    driver->interface = exports & 64 ? take_below(10) : driver->interface_by_query ? 7 : 5;
    if (exports & 128) {
        driver->least_interface = take_below(10);
        driver->negotiate_result = some_result();
        driver->negotiates = take_chance(2) ? 1 + take_below(100) : 0;
    }
}

static void some_answers(struct driver *driver)
{
    driver->version_result = some_result();
    driver->extension_count_result = some_result();
    driver->extension_list_result = some_result();
    driver->create_result = some_result();
    driver->leaves_handle = take_chance(2);
    driver->device_count_result = some_result();
    driver->device_list_result = some_result();
    driver->group_result = some_result();
    driver->create_device_result = some_result();
}

static void make_driver(int number)
{
    struct driver *driver = driver_plain(number);
    uint8_t shape = take_byte();
    driver->api_version = shape & 1 ? some_version() : VK_API_VERSION_1_1;
    if (shape & 2) {
        some_interface(driver);
    }
    if (shape & 4) {
        some_answers(driver);
    }
    if (shape & 8) {
        lose_one(driver);
    }
    if (shape & 16) {
        some_missing(driver);
    }
    driver->extensions = shape & 32 ? take_byte() & ((1U << OWN_EXTENSIONS) - 1) : 3;
    driver->device_count = shape & 64 ? take_below(DRIVER_DEVICES + 1) : 1;
    driver_describe(driver);
    driver_library(driver, keep_text("/lib/libvk%d.so", number));
    uint32_t told = shape & 128 ? some_version() : driver->api_version;
    const char *manifest = keep_text("{\"file_format_version\": \"1.0.0\", \"ICD\": {\"library_path\": "
                                     "\"/lib/libvk%d.so\", \"api_version\": \"%u.%u.0\"}}",
                                     number, VK_API_VERSION_MAJOR(told), VK_API_VERSION_MINOR(told));
    world_file(keep_text("/usr/share/vulkan/icd.d/%d.json", number), FILE_REGULAR, manifest, strlen(manifest));
    if (told < driver->api_version) {
        driver->told_version = told;
    }
}

/* --- the application --- */

static VkInstance make_instance(void)
{
    const char *names[2];
    VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO};
    VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .ppEnabledExtensionNames = names};
    uint8_t shape = take_byte();
    application.apiVersion = shape & 1 ? some_version() : VK_API_VERSION_1_1;
    info.pApplicationInfo = shape & 2 ? NULL : &application;
    for (unsigned count = shape >> 2 & 1; info.enabledExtensionCount < count; info.enabledExtensionCount++) {
        names[info.enabledExtensionCount] = driver_extensions[take_below(OWN_EXTENSIONS)];
    }
    VkInstance instance = NULL;
    VkResult result = loader_create_instance(&info, &instance);
    saw("vkCreateInstance", result == VK_SUCCESS);
    if (result != VK_SUCCESS && info.enabledExtensionCount == 0) {
        check_no_instance(result, driver_count);
    }
    return result == VK_SUCCESS ? instance : NULL;
}

static void use_devices(VkInstance instance)
{
    struct offered_devices offered = devices_offered(instance);
    check_offered(&offered, driver_count);
    for (uint32_t i = 0; i < offered.count; i++) {
        use_device(instance, offered.device[i], offered.owner[i]);
    }
}

static void look_up(VkInstance instance)
{
    for (unsigned count = take_below(8); count > 0; count--) {
        const char *name = vulkan_function_info[take_below(VULKAN_FUNCTION_COUNT)].name;
        loader_find(take_chance(4) ? NULL : instance, name);
    }
    if (loader_find(instance, "vkNobodyHasThisEXT")) {
        finding("wrong", "address-of-nothing", "a function that no driver has is answered an address");
    }
}

void target_run(void)
{
    driver_count = 1 + take_below(DRIVERS);
    for (unsigned d = 0; d < driver_count; d++) {
        make_driver((int)d);
    }
    check_extensions();
    VkInstance instance = make_instance();
    if (instance) {
        look_up(instance);
        use_devices(instance);
        if (take_chance(2)) {
            list_groups_of(instance);
        }
        loader_destroy_instance(instance);
    }
    if (take_chance(2)) {
        instance = make_instance();
        loader_destroy_instance(instance);
    }
    if (!texts_are_clear(driver_count)) {
        grey("loaders may differ in what such drivers cost");
    }
}

void target_ended(void)
{
    for (unsigned d = 0; d < driver_count; d++) {
        driver_check_end(&drivers[d]);
    }
}
