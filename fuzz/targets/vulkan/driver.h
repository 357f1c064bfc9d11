/* SPDX-License-Identifier: Apache-2.0 */
/* Vulkan drivers whose every answer a target can choose. What is zero is the ordinary answer.
 *
 * Each has functions of its own, up to three devices, and notices what a loader must never do to it: a call before the
 * negotiation, an object that is not its own, an extension that it does not have, a version that it cannot take.
 */
#ifndef CLHARNESS_FUZZ_VULKAN_DRIVER_H
#define CLHARNESS_FUZZ_VULKAN_DRIVER_H

#include "clharness_vulkan_functions.h"
#include "engine.h"

#include <vulkan/vk_icd.h>
#include <vulkan/vulkan_core.h>

enum { DRIVERS = 3, DRIVER_DEVICES = 3, OWN_EXTENSIONS = 6 };

/* A function of the registry that physical devices of some drivers have, and its name. */
#define OWN_FUNCTION "vkClharnessOwnEXT"

struct driver_object {
    uintptr_t loader_word; /* the magic number, then what the loader makes of it */
    int driver;
    int kind;
    int index;
    bool is_live;
};

struct driver {
    int number;
    uint32_t api_version;
    uint32_t told_version; /* that of its manifest, where that is lower */
    uint32_t interface;    /* the highest version of the interface that it supports */
    uint32_t least_interface;
    bool hides_negotiate; /* which of the interface's functions it does not export */
    bool hides_get;
    bool hides_get_physical;
    bool exports_official;   /* those of version 0 */
    bool interface_by_query; /* as version 7 has it */
    bool has_own_function;   /* OWN_FUNCTION */
    uint32_t negotiates;     /* plus 1: the version that it answers, whatever it is offered */
    VkResult negotiate_result;
    VkResult version_result;
    VkResult extension_count_result;
    VkResult extension_list_result;
    VkResult create_result;
    bool leaves_handle; /* of an instance that it could not make */
    VkResult device_count_result;
    VkResult device_list_result;
    VkResult group_result;
    VkResult create_device_result;
    unsigned device_count;
    uint32_t extensions;                              /* bits: those of driver_extensions that it has */
    uint8_t missing[(VULKAN_FUNCTION_COUNT + 7) / 8]; /* functions that it does not have */

    /* What has happened. */
    bool was_negotiated;
    bool refused;
    uint32_t offered;
    unsigned instances_made;
    unsigned instances_destroyed;
    unsigned group_calls;
    struct driver_object devices[DRIVER_DEVICES];
};

extern struct driver drivers[DRIVERS];
extern const char *const driver_extensions[OWN_EXTENSIONS];

/* Sets a driver back to an ordinary one of version 5, with one device. */
struct driver *driver_plain(int number);
/* Adds its library to the world. */
void driver_library(struct driver *driver, const char *name);
/* The driver of a physical device by the name that it answers ("1.0"), or NULL. */
struct driver *driver_of_device(const char *name);
/* Whether nothing is wrong with it: a loader must use it. */
bool driver_is_faultless(const struct driver *driver);
/* Whether one of its answers is VK_ERROR_OUT_OF_HOST_MEMORY, which loaders may hand on. */
bool driver_is_out_of_memory(const struct driver *driver);
bool driver_lacks(const struct driver *driver, enum vulkan_function function);
/* What is not ordinary about it, in words. */
void driver_describe(const struct driver *driver);
/* After the loader's end: what it left. */
void driver_check_end(const struct driver *driver);

#endif
