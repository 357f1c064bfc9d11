/* SPDX-License-Identifier: Apache-2.0 */
/* Every call of a function of the mock Vulkan driver: logs it, does what it does, logs its return. */
#include "implementation.h"

#include <stdio.h>
#include <string.h>

/* The implementation of a function, or NULL. */
static implementation *implementation_of(enum vulkan_function function)
{
    static const struct implemented *const tables[] = {instance_implemented,   physical_devices_implemented,
                                                       devices_implemented,    surfaces_implemented,
                                                       messengers_implemented, displays_implemented};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        for (const struct implemented *row = tables[i]; row->run; row++) {
            if (row->function == function) {
                return row->run;
            }
        }
    }
    return NULL;
}

/* --- what pointers point to --- */

static void log_names(struct calllog_line *line, const char *key, const char *const *names, uint32_t count)
{
    char text[512] = "";
    for (uint32_t i = 0; i < count; i++) {
        size_t length = strlen(text);
        snprintf(text + length, sizeof text - length, "%s%s", i ? " " : "", names[i]);
    }
    calllog_string(line, key, text, strlen(text));
}

static void log_chain(struct calllog_line *line, const void *next)
{
    enum { MOST = 16 };
    uint64_t types[MOST];
    size_t count = 0;
    for (const VkBaseInStructure *part = next; part && count < MOST; part = part->pNext) {
        types[count++] = (uint64_t)part->sType;
    }
    calllog_words(line, "chain", types, count);
}

static void log_text(struct calllog_line *line, const char *key, const char *text)
{
    calllog_string(line, key, text ? text : "", text ? strnlen(text, 512) : 0);
}

static void log_instance_info(struct calllog_line *line, const VkInstanceCreateInfo *info)
{
    const VkApplicationInfo *application = info->pApplicationInfo;
    if (application) {
        calllog_hex(line, "apiVersion", application->apiVersion);
        calllog_hex(line, "applicationVersion", application->applicationVersion);
        calllog_hex(line, "engineVersion", application->engineVersion);
        log_text(line, "pApplicationName", application->pApplicationName);
        log_text(line, "pEngineName", application->pEngineName);
    }
    calllog_hex(line, "flags", info->flags);
    log_names(line, "extensions", info->ppEnabledExtensionNames, info->enabledExtensionCount);
    log_names(line, "layers", info->ppEnabledLayerNames, info->enabledLayerCount);
    log_chain(line, info->pNext);
}

/* The features that are wanted, by their bits. */
static uint64_t features_of(const VkPhysicalDeviceFeatures *features)
{
    enum { COUNT = sizeof *features / sizeof(VkBool32) };
    VkBool32 wanted[COUNT] = {0};
    uint64_t bits = 0;
    if (features) {
        memcpy(wanted, features, sizeof wanted);
    }
    for (int i = 0; i < COUNT; i++) {
        bits |= (uint64_t)(wanted[i] != 0) << i;
    }
    return bits;
}

static void log_device_info(struct calllog_line *line, const VkDeviceCreateInfo *info)
{
    log_names(line, "extensions", info->ppEnabledExtensionNames, info->enabledExtensionCount);
    log_names(line, "layers", info->ppEnabledLayerNames, info->enabledLayerCount);
    calllog_hex(line, "features", (uint64_t)(uintptr_t)info->pEnabledFeatures);
    calllog_hex(line, "enabledFeatures", features_of(info->pEnabledFeatures));
    calllog_hex(line, "queues", info->queueCreateInfoCount);
    log_chain(line, info->pNext);
    for (const VkBaseInStructure *part = info->pNext; part; part = part->pNext) {
        if (part->sType == VK_STRUCTURE_TYPE_DEVICE_GROUP_DEVICE_CREATE_INFO) {
            const VkDeviceGroupDeviceCreateInfo *group = (const void *)part;
            uint64_t devices[MAX_DEVICES];
            uint32_t count = group->physicalDeviceCount < MAX_DEVICES ? group->physicalDeviceCount : MAX_DEVICES;
            for (uint32_t i = 0; i < count; i++) {
                devices[i] = (uint64_t)(uintptr_t)group->pPhysicalDevices[i];
            }
            calllog_words(line, "physicalDevices", devices, count);
        }
    }
}

static void log_layer_name(struct calllog_line *line, const char *name)
{
    if (name) {
        calllog_string(line, "pLayerName", name, strnlen(name, 512));
    }
}

/* "chain1" is what follows the structure that parameter 1 points to. */
static void log_chains(struct calllog_line *line, const struct vulkan_function_info *info, const uint64_t *a)
{
    enum { MOST = 32 };
    const struct part {
        VkBaseInStructure base;
        uint64_t content;
    } * part;
    for (unsigned i = 0; i < info->parameter_count; i++) {
        uint64_t parts[MOST];
        size_t count = 0;
        char key[sizeof "chain4294967295"];
        if (!(info->chained >> i & 1) || !a[i]) {
            continue;
        }
        part = (const void *)((const VkBaseInStructure *)pointer(a[i]))->pNext;
        for (; part && count < MOST; part = (const void *)part->base.pNext) {
            parts[count++] = (uint64_t)part->base.sType;
            parts[count++] = part->content;
        }
        snprintf(key, sizeof key, "chain%u", i);
        calllog_words(line, key, parts, count);
    }
}

/* Whether a parameter is a list with room for nothing: the number before it, which a pointer leads to, is 0. */
static bool is_empty_list(const struct vulkan_function_info *info, const uint64_t *a, unsigned i)
{
    enum { NO_POINTER = 4096 };
    return i >= 2 && !(info->chained >> (i - 1) & 1) && a[i - 1] >= NO_POINTER &&
           *(const uint32_t *)pointer(a[i - 1]) == 0;
}

/* A structure that is not called what it is, of which only the first of several is looked at. */
static void check_types(const struct vulkan_function_info *info, const uint64_t *a)
{
    for (unsigned i = 0; i < info->parameter_count; i++) {
        const VkBaseInStructure *part = info->chained >> i & 1 ? pointer(a[i]) : NULL;
        if (part && !is_empty_list(info, a, i) && (int32_t)part->sType != info->types[i]) {
            struct calllog_line line;
            calllog_begin(&mock_log, &line, CALLLOG_EVENT, mock_name, "wrong structure", NULL, 0);
            calllog_string(&line, "function", info->name, strlen(info->name));
            calllog_hex(&line, "type", (uint64_t)part->sType);
            calllog_commit(&mock_log, &line);
        }
    }
}

static void log_call(enum vulkan_function function, const uint64_t *a, bool looks)
{
    const struct vulkan_function_info *info = &vulkan_function_info[function];
    struct calllog_line line;
    calllog_begin(&mock_log, &line, CALLLOG_CALL, mock_name, info->name, a, info->parameter_count);
    calllog_open_object(&line, "in");
    if (looks && function == VULKAN_vkCreateInstance) {
        log_instance_info(&line, pointer(a[0]));
    } else if (looks && function == VULKAN_vkCreateDevice) {
        log_device_info(&line, pointer(a[1]));
    } else if (looks && function == VULKAN_vkEnumerateInstanceExtensionProperties) {
        log_layer_name(&line, pointer(a[0]));
    } else if (looks && function == VULKAN_vkEnumerateDeviceExtensionProperties) {
        log_layer_name(&line, pointer(a[1]));
    }
    if (config.function[function].chains) {
        log_chains(&line, info, a);
    }
    calllog_close_object(&line);
    calllog_commit(&mock_log, &line);
}

static void log_return(enum vulkan_function function, uint64_t result)
{
    struct calllog_line line;
    const struct vulkan_function_info *about = &vulkan_function_info[function];
    calllog_begin(&mock_log, &line, CALLLOG_RETURN, mock_name, about->name, &result, about->has_result);
    calllog_commit(&mock_log, &line);
}

/* No two functions answer the same. VkResult and flags are positive numbers. */
static uint64_t distinct(enum vulkan_function function)
{
    return vulkan_function_info[function].has_result ? 1000 + (uint64_t)function : 0;
}

uint64_t vulkan_component_call(enum vulkan_function function, const uint64_t *arguments)
{
    implementation *run = config.function[function].answers ? NULL : implementation_of(function);
    if (function == VULKAN_vkGetInstanceProcAddr || function == VULKAN_vkGetDeviceProcAddr) {
        return run ? run(arguments) : 0; /* look-ups have lines of their own */
    }
    log_call(function, arguments, run != NULL);
    if (run) {
        check_types(&vulkan_function_info[function], arguments);
    }
    uint64_t result = run ? run(arguments) : distinct(function);
    log_return(function, result);
    return result;
}
