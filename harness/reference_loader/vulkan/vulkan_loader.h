/* SPDX-License-Identifier: Apache-2.0 */
/* The interface between Vulkan loaders and drivers as a small loader, without layers.
 *
 *   discovery.c         finds manifests, by variables and in folders
 *   messages.c          what the loader says of errors
 *   settings.c          the settings file, which adds manifests to them
 *   json.c manifest.c   read one
 *   drivers.c           loads a driver's library and negotiates
 *   instances.c         the functions before there is an instance, and instances of all drivers as one
 *   physical_devices.c  devices and groups of all drivers
 *   sorting.c           the order in which they are listed
 *   choice.c            the devices that the settings file leaves
 *   emulation.c         functions that a driver lacks, by others
 *   displays.c          the same for functions of displays
 *   memory.c            memory, of the application's allocator or not
 *   devices.c           devices and the objects that are made of them
 *   surfaces.c          surfaces for drivers that do not make them
 *   messengers.c        messengers of all drivers as one, and names of objects
 *   lookup.c            functions by name, also unknown ones
 *
 * What only hands a call on is generated (generate.py).
 */
#ifndef CLHARNESS_VULKAN_LOADER_H
#define CLHARNESS_VULKAN_LOADER_H

#include "clharness_vulkan_functions.h"

#include <stdbool.h>
#include <stddef.h>
#include <vulkan/vulkan_core.h>

#define EXPORTED __attribute__((visibility("default")))

enum { INTERFACE_VERSION = 7, MAX_DRIVERS = 64, MAX_UNKNOWN = 200, MAX_NAME = 256 };

typedef void (*function)(void);

/* --- memory --- */

/* Memory that is 0, of an allocator, or of the heap where that is NULL; NULL where there is none. */
void *memory_take(const VkAllocationCallbacks *allocator, VkSystemAllocationScope scope, size_t size);
/* The same from where another piece is. */
void *memory_take_like(const void *other, size_t size);
/* Gives a piece back to where it is from, or nothing. */
void memory_give(void *memory);

/* --- manifests --- */

struct manifest {
    char library[4096]; /* a path that dlopen takes */
    uint32_t api_version;
    bool is_portability_driver;
};

/* Whether VK_LOADER_DEBUG asks for messages of a kind, or for all. */
bool discovery_asks_for(const char *kind);
/* Calls `use` for the path of each manifest, in order. */
void discovery_manifests(void (*use)(const char *path, void *context), void *context);

/* The devices that the settings file leaves, in order. */
struct device_choice {
    uint8_t device[VK_UUID_SIZE];
    uint8_t driver[VK_UUID_SIZE];
    uint32_t version; /* of the driver */
};

struct device_choices {
    struct device_choice list[MAX_DRIVERS];
    size_t count;
    bool is_made;
};

/* What the settings file says to a process. */
struct settings {
    char manifests[MAX_DRIVERS][4096]; /* paths */
    size_t count;
    bool is_exclusive; /* they are the only ones */
    struct device_choices choices;
};

/* Reads the settings file where there is one; `settings` is empty before. */
void settings_read(struct settings *settings);

/* Whoever hears of errors from now on in this thread: messengers in the chain of an instance, or NULL. */
void messages_to(const void *chain);
/* Says that something is wrong with what `about` names. */
void messages_error(const char *about, const char *what);

/* The text of a file, for the caller to free; NULL where it cannot be read, or holds a NUL. */
char *manifest_text(const char *path);
/* Reads a manifest; false where it names no driver for this process. */
bool manifest_read(const char *path, struct manifest *manifest);

/* What a JSON text says: called for each string, for numbers as they are written, for true, and with "{" or "["
 * where an object or an array begins, with the keys that lead there, "/ICD/x". */
typedef void json_sink(const char *path, const char *text, bool is_string, void *context);
/* False where the text is not JSON, or nested too deeply. */
bool json_read(const char *text, json_sink *sink, void *context);

/* --- drivers --- */

/* The extensions that an instance, also that of a driver, or a device was made with. */
struct extension_names {
    char (*names)[VK_MAX_EXTENSION_NAME_SIZE];
    uint32_t count;
};

struct driver {
    void *library; /* NULL for one that the application brought */
    uint32_t interface;
    bool is_of_1_0;
    bool is_portability_driver;
    PFN_vkGetInstanceProcAddr get;
    PFN_vkGetInstanceProcAddr get_physical; /* NULL for none */
    PFN_vkCreateInstance create_instance;
    PFN_vkEnumerateInstanceExtensionProperties enumerate_extensions;

    /* Of an instance. */
    VkInstance instance;
    struct extension_names extensions;
    function functions[VULKAN_FUNCTION_COUNT];
    function unknown[MAX_UNKNOWN];
};

/* Loads the drivers of all manifests; gives their number. */
size_t drivers_load(struct driver *drivers, size_t room);
/* Takes a driver that the application brought, by its vk_icdGetInstanceProcAddr. */
bool drivers_take(struct driver *driver, PFN_vkGetInstanceProcAddr get);
void drivers_unload(struct driver *driver);
/* The driver's extensions of instances, in memory for the caller to free; their number, 0 where they cannot be had. */
size_t drivers_extensions(const struct driver *driver, VkExtensionProperties **extensions);
/* Whether the list has an extension. */
bool drivers_has_extension(const VkExtensionProperties *list, size_t count, const char *name);
/* Looks up the functions of the driver's instance, in one of 1.0 by the names of extensions where there are two; false
 * where one is missing that every driver has. */
bool drivers_find_functions(struct driver *driver, bool is_of_1_0);

/* --- objects --- */

struct physical_device {
    struct instance *instance;
    struct driver *driver;
    VkPhysicalDevice handle; /* the driver's */
    struct physical_device *next;
};

struct instance {
    struct driver drivers[MAX_DRIVERS];
    size_t driver_count;
    struct physical_device *devices; /* all that were ever listed */
    struct messenger *messengers;
    struct surface *surfaces;
    struct extension_names extensions;
    struct device_choices choices;
    uint32_t api_version; /* that the application asks for; 0 for none */
};

/* What the first word of a device, a queue and a command buffer points to. */
struct device {
    const struct instance *instance;
    struct driver *driver;
    VkDevice handle;
    function functions[VULKAN_FUNCTION_COUNT];
    function unknown[MAX_UNKNOWN];
    struct extension_names extensions;
};

/* The loader's object for a driver's physical device; NULL where there is no memory. */
struct physical_device *physical_devices_wrap(struct instance *instance, struct driver *driver,
                                              VkPhysicalDevice handle);
void physical_devices_forget(struct instance *instance);

/* A device, or a group by its first device, as it is put in order. */
enum { PLACE_PARTS = 8 };
struct listed {
    struct driver *driver;
    VkPhysicalDevice handle; /* the driver's */
    VkPhysicalDeviceGroupProperties group;
    uint32_t place[PLACE_PARTS];
};

/* Puts devices in order, unless the user wants that of the drivers; equal ones stay as they are. */
void sorting_sort(struct listed *listed, size_t count);

/* Leaves of devices, or of groups, those that the settings file chose, devices in its order. */
void choice_apply(const struct device_choices *choices, struct listed *listed, size_t *count);

/* Copies names to memory from where an object is, for the caller to give back; false where there is none. */
bool extensions_keep(struct extension_names *to, const void *object, const char *const *names, uint32_t count);
bool extensions_have(const struct extension_names *extensions, const char *name);

/* The device of an object whose first word is the loader's. */
static inline struct device *device_of(const void *object)
{
    return *(struct device *const *)object;
}

/* --- surfaces --- */

/* What a driver is to be given in the place of an application's surface. */
VkSurfaceKHR surfaces_for(const struct driver *driver, VkSurfaceKHR surface);
/* The function that makes surfaces for a platform, by `enum vulkan_function`; NULL for others. */
function surfaces_creator(int which);
/* Ends what the application left. */
void surfaces_end(struct instance *instance);
void messengers_end(struct instance *instance);

/* --- functions by name --- */

/* The loader's own function, by `enum vulkan_function`; NULL where it has none (generated). */
extern const function trampolines[VULKAN_FUNCTION_COUNT];
/* The same function under the name that the newest version has for it (generated). */
extern const int trampolines_same[VULKAN_FUNCTION_COUNT];
/* Extensions of instances that this loader supports where a driver has them (generated). */
extern const size_t trampolines_known_count;
extern const char *const trampolines_known_extensions[];
/* The extension that a function is of; "" for functions of Vulkan itself (generated). */
extern const struct extension_of_function {
    const char *name;
    bool is_of_instances;
} trampolines_extension[VULKAN_FUNCTION_COUNT];
/* The n-th unknown function's name. */
const char *lookup_unknown_name(int slot);
function lookup_instance(struct instance *instance, const char *name);
function lookup_device(struct device *device, const char *name);

#endif
