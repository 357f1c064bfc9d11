/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of one manifest, beside a Vulkan driver that is always there, and the ways in which manifests are found.
 *
 * The first two bytes of the input choose what lies where and which variables there are; all others are the file.
 */
#include "vulkan/driver.h"
#include "vulkan/loader.h"

#include <string.h>

const char *const target_name = "vulkan_manifest";
struct target_library target_library = {"libvulkan.so.1", "vkGetInstanceProcAddr", "a Vulkan loader"};

/* Bits of the first byte: what lies where. */
enum {
    FIRST = 1,    /* the file is found before the good one */
    LINKED = 2,   /* the library is one that the dynamic linker finds */
    PORTABLE = 4, /* the application asks for portability drivers */
    NESTED = 8,   /* the file begins with as many brackets as the next byte says */
};

static const char good[] = "{\"file_format_version\": \"1.0.0\", \"ICD\": {\"library_path\": \"/lib/libgood.so\", "
                           "\"api_version\": \"1.1.0\"}}";
static const char *const ways[] = {
    "XDG_DATA_HOME",   "XDG_DATA_DIRS",    "XDG_CONFIG_HOME",    "XDG_CONFIG_DIRS", "HOME", "",
    "VK_DRIVER_FILES", "VK_ICD_FILENAMES", "VK_ADD_DRIVER_FILES"};

static void make_files(unsigned way, uint8_t where, const uint8_t *bytes, size_t size)
{
    const char *variable = ways[way];
    bool is_file = strncmp(variable, "VK_", 3) == 0;
    bool is_home = texts_equal(variable, "HOME");
    const char *folder = is_file     ? "/files"
                         : is_home   ? "/data/.local/share/vulkan/icd.d"
                         : *variable ? "/data/vulkan/icd.d"
                                     : "/usr/share/vulkan/icd.d";
    const char *own = keep_text("%s/%c.json", folder, where & FIRST ? 'a' : 'n');
    const char *other = keep_text("%s/m.json", folder);
    if (where & FIRST) {
        world_file(own, FILE_REGULAR, bytes, size);
    }
    world_file(other, FILE_REGULAR, good, sizeof good - 1);
    world_file(own, FILE_REGULAR, bytes, size);
    const char *both = where & FIRST ? keep_text("%s:%s", own, other) : keep_text("%s:%s", other, own);
    if (*variable) {
        world_variable(variable, is_file ? both : "/data");
    }
    describe("%s has %zu bytes: \"%s\"; %s finds it", own, size, shown_bytes(bytes, size < 400 ? size : 400),
             *variable ? variable : "the search");
}

/* Filters of the input; the good manifest's name passes all of them. */
static void some_filter(void)
{
    static const char *const filters[] = {"m*", "*.json", "*", "m.json", "*m.js*", "x*,m.json", "m*,x*"};
    if (take_chance(4)) {
        const char *filter = filters[take_below(sizeof filters / sizeof *filters)];
        describe("VK_LOADER_DRIVERS_SELECT=%s", filter);
        world_variable("VK_LOADER_DRIVERS_SELECT", filter);
    }
}

/* The driver of the good manifest must be used, whatever is in the other one. */
static void look(bool portable)
{
    const char *const name = "VK_KHR_portability_enumeration";
    const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                           .apiVersion = VK_API_VERSION_1_1};
    const VkInstanceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
        .flags = portable ? VK_INSTANCE_CREATE_ENUMERATE_PORTABILITY_BIT_KHR : 0,
        .pApplicationInfo = &application,
        .enabledExtensionCount = portable,
        .ppEnabledExtensionNames = &name,
    };
    VkInstance instance = NULL;
    VkResult result = loader_create_instance(&info, &instance);
    if (result != VK_SUCCESS) {
        finding("wrong", "good-driver-lost", "a manifest costs the driver beside it: vkCreateInstance answers %d",
                result);
        return;
    }
    struct offered_devices offered = devices_offered(instance);
    check_offered(&offered, 1);
    loader_destroy_instance(instance);
}

void target_run(void)
{
    uint8_t where = take_byte();
    unsigned way = take_below(sizeof ways / sizeof *ways);
    const uint8_t *bytes;
    unsigned depth = where & NESTED ? take_length(4096) : 0;
    some_filter();
    size_t size = take_bytes(&bytes, SIZE_MAX);
    if (depth) {
        char *whole = keep(depth + size + 1);
        memset(whole, '[', depth);
        memcpy(whole + depth, bytes, size);
        bytes = (const uint8_t *)whole;
        size += depth;
    }
    driver_library(driver_plain(0), "/lib/libgood.so");
    driver_library(driver_plain(1), where & LINKED ? "libown.so" : "/lib/libown.so");
    make_files(way, where, bytes, size);
    grey("texts are silent on most bytes that a manifest can hold");
    look(where & PORTABLE);
}

void target_ended(void)
{
    driver_check_end(&drivers[0]);
    driver_check_end(&drivers[1]);
}
