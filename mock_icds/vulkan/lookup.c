/* SPDX-License-Identifier: Apache-2.0 */
/* Look-ups, the driver's own functions, and the interface's functions where version 7 has them looked up. */
#define _GNU_SOURCE
#include "lookup.h"

#include "negotiation.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

enum { OWN_PER_LEVEL = 4, FIRST_LOOKUPS = 4 };

static const function_pointer *entries;
static bool instance_was_made;
static int lookups;

void lookup_open(const function_pointer *table)
{
    entries = table;
}

void lookup_note_instance(void)
{
    instance_was_made = true;
}

/* --- the log --- */

static void log_lookup(const char *query, uint64_t handle, const char *name, function_pointer entry)
{
    struct calllog_line line;
    const uint64_t arguments[] = {handle, (uint64_t)(uintptr_t)name};
    calllog_begin(&mock_log, &line, CALLLOG_CALL, mock_name, query, arguments, 2);
    calllog_open_object(&line, "in");
    calllog_string(&line, "pName", name, strnlen(name, 512));
    calllog_close_object(&line);
    calllog_commit(&mock_log, &line);
    calllog_begin(&mock_log, &line, CALLLOG_RETURN, mock_name, query, &(uint64_t){(uint64_t)(uintptr_t)entry}, 1);
    calllog_commit(&mock_log, &line);
}

static function_pointer logged(const char *query, uint64_t handle, const char *name, function_pointer entry)
{
    if (config.log_lookups || lookups++ < FIRST_LOOKUPS || vulkan_function_by_name(name) < 0) {
        log_lookup(query, handle, name, entry);
    }
    return entry;
}

/* --- functions of the driver's own --- */

static int32_t call_own(enum vulkan_level level, int index, const void *object, uint64_t word)
{
    const char *const lists[] = {[VULKAN_instance] = config.instance_functions,
                                 [VULKAN_physical_device] = config.physical_device_functions,
                                 [VULKAN_device] = config.device_functions};
    const char *list = lists[level];
    const char *name = "";
    size_t length = 0;
    for (int i = 0; i <= index; i++) {
        length = config_next_word(&list, &name);
    }
    char text[128];
    snprintf(text, sizeof text, "%.*s", (int)length, name);
    struct calllog_line line;
    const uint64_t arguments[] = {(uint64_t)(uintptr_t)object, word};
    calllog_begin(&mock_log, &line, CALLLOG_CALL, mock_name, text, arguments, 2);
    calllog_commit(&mock_log, &line);
    calllog_begin(&mock_log, &line, CALLLOG_RETURN, mock_name, text, &(uint64_t){2000 + (uint64_t)index}, 1);
    calllog_commit(&mock_log, &line);
    return 2000 + index;
}

#define OWN(level, index)                                             \
    static int32_t own_##level##_##index(void *object, uint64_t word) \
    {                                                                 \
        return call_own(VULKAN_##level, index, object, word);         \
    }
#define OWN_OF_LEVEL(level) OWN(level, 0) OWN(level, 1) OWN(level, 2) OWN(level, 3)
OWN_OF_LEVEL(instance)
OWN_OF_LEVEL(physical_device)
OWN_OF_LEVEL(device)
#define OWN_ROW(level)                                                                                            \
    {                                                                                                             \
        (function_pointer) own_##level##_0, (function_pointer)own_##level##_1, (function_pointer)own_##level##_2, \
            (function_pointer)own_##level##_3                                                                     \
    }

static const function_pointer own[][OWN_PER_LEVEL] = {
    [VULKAN_instance] = OWN_ROW(instance),
    [VULKAN_physical_device] = OWN_ROW(physical_device),
    [VULKAN_device] = OWN_ROW(device),
};

static function_pointer find_own(const char *list, enum vulkan_level level, const char *name)
{
    const char *word;
    size_t length = config_next_word(&list, &word);
    for (int i = 0; length > 0 && i < OWN_PER_LEVEL; i++) {
        if (strlen(name) == length && memcmp(name, word, length) == 0) {
            return own[level][i];
        }
        length = config_next_word(&list, &word);
    }
    return NULL;
}

/* --- functions of the registry --- */

/* Whether a driver that leaves surfaces to the loader has no such function. */
static bool is_left_to_loader(const char *name)
{
    bool makes = strncmp(name, "vkCreate", 8) == 0 && strstr(name, "Surface") != NULL;
    return !config.surfaces && (makes || strcmp(name, "vkDestroySurfaceKHR") == 0);
}

static function_pointer find_known(const char *name)
{
    int function = vulkan_function_by_name(name);
    if (function < 0 && *name && fault(FAULT_finds_longer_names, ANY_PLATFORM)) {
        char shorter[128];
        snprintf(shorter, sizeof shorter, "%.*s", (int)strlen(name) - 1, name);
        function = vulkan_function_by_name(shorter);
    }
    if (function < 0 || is_left_to_loader(name)) {
        return NULL;
    }
    const struct function_config *own_config = &config.function[function];
    bool there =
        !own_config->lacks && (!own_config->late || instance_was_made) && (!own_config->early || !instance_was_made);
    return there ? entries[function] : NULL;
}

static VkResult entry_negotiate(uint32_t *version)
{
    return negotiation(version);
}

static function_pointer entry_physical_device(uint64_t instance, const char *name)
{
    return lookup_physical_device(instance, name);
}

/* The interface's own functions, as version 7 has them looked up. */
static function_pointer find_interface(const char *name)
{
    if (!config.interface_by_query) {
        return NULL;
    }
    if (strcmp(name, "vk_icdNegotiateLoaderICDInterfaceVersion") == 0) {
        return (function_pointer)entry_negotiate;
    }
    return strcmp(name, "vk_icdGetPhysicalDeviceProcAddr") == 0 ? (function_pointer)entry_physical_device : NULL;
}

/* --- the three ways --- */

/* Whether a function that was found is hidden from who asks without an instance. */
static bool is_hidden(uint64_t instance, const char *name)
{
    int function = vulkan_function_by_name(name);
    bool is_global = function >= 0 && vulkan_function_info[function].level == VULKAN_global;
    return instance == 0 && !is_global && strcmp(name, "vkGetInstanceProcAddr") != 0 && !find_interface(name) &&
           !fault(FAULT_finds_all_without_instance, ANY_PLATFORM);
}

static void stub(void)
{
}

/* The answer of a driver that asks the dynamic linker for its own functions. */
static function_pointer or_global(function_pointer entry, const char *name)
{
    bool asks = fault(FAULT_finds_by_global_symbols, ANY_PLATFORM);
    function_pointer global = asks ? (function_pointer)(uintptr_t)dlsym(RTLD_DEFAULT, name) : NULL;
    return global ? global : entry;
}

/* The answer of a driver that has a stub for every name; else what was found. */
static function_pointer or_stub(function_pointer entry)
{
    return !entry && fault(FAULT_finds_any_name, ANY_PLATFORM) ? stub : entry;
}

function_pointer lookup_instance(const char *query, uint64_t instance, const char *name)
{
    function_pointer entry = find_interface(name);
    entry = entry ? entry : find_known(name);
    entry = entry ? entry : find_own(config.instance_functions, VULKAN_instance, name);
    entry = entry ? entry : find_own(config.physical_device_functions, VULKAN_physical_device, name);
    entry = entry ? entry : find_own(config.device_functions, VULKAN_device, name);
    entry = or_stub(is_hidden(instance, name) ? NULL : or_global(entry, name));
    if (fault(FAULT_finds_nothing_unnegotiated, ANY_PLATFORM) && !negotiation_happened()) {
        entry = NULL;
    }
    if (fault(FAULT_finds_nothing, ANY_PLATFORM) ||
        fault(instance ? FAULT_finds_nothing_with_instance : FAULT_finds_nothing_without_instance, ANY_PLATFORM)) {
        entry = NULL;
    }
    return logged(query, instance, name, entry);
}

function_pointer lookup_physical_device(uint64_t instance, const char *name)
{
    int function = vulkan_function_by_name(name);
    function_pointer entry = find_own(config.physical_device_functions, VULKAN_physical_device, name);
    bool takes_it = function >= 0 && vulkan_function_info[function].level == VULKAN_physical_device;
    if (!entry && (takes_it || fault(FAULT_physical_device_query_answers_all, ANY_PLATFORM))) {
        entry = find_known(name);
        entry = entry ? entry : find_own(config.device_functions, VULKAN_device, name);
    }
    entry = or_stub(entry);
    bool lacks = fault(FAULT_physical_device_query_lacks_surfaces, ANY_PLATFORM) && strstr(name, "Surface");
    if (lacks || fault(FAULT_physical_device_query_finds_nothing, ANY_PLATFORM)) {
        entry = NULL;
    }
    return logged("vk_icdGetPhysicalDeviceProcAddr", instance, name, entry);
}

function_pointer lookup_device(uint64_t device, const char *name)
{
    int function = vulkan_function_by_name(name);
    bool takes_it = function >= 0 && vulkan_function_info[function].level == VULKAN_device;
    function_pointer entry = takes_it || fault(FAULT_device_query_answers_all, ANY_PLATFORM) ? find_known(name) : NULL;
    entry = entry ? entry : find_own(config.device_functions, VULKAN_device, name);
    if (fault(FAULT_device_query_finds_nothing, ANY_PLATFORM)) {
        entry = NULL;
    }
    return logged("vkGetDeviceProcAddr", device, name, or_stub(entry));
}
