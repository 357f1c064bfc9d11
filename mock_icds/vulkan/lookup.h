/* SPDX-License-Identifier: Apache-2.0 */
/* How the functions of the mock Vulkan driver are found by name. */
#ifndef CLHARNESS_MOCK_VULKAN_LOOKUP_H
#define CLHARNESS_MOCK_VULKAN_LOOKUP_H

#include "config.h"

typedef void (*function_pointer)(void);

/* The functions of the registry, by `enum vulkan_function`. */
void lookup_open(const function_pointer *table);

/* By vk_icdGetInstanceProcAddr, or vkGetInstanceProcAddr. */
function_pointer lookup_instance(const char *query, uint64_t instance, const char *name);
/* By vk_icdGetPhysicalDeviceProcAddr. */
function_pointer lookup_physical_device(uint64_t instance, const char *name);
/* By vkGetDeviceProcAddr. */
function_pointer lookup_device(uint64_t device, const char *name);

/* Some instance exists, or has been made. */
void lookup_note_instance(void);

#endif
