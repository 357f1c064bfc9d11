/* SPDX-License-Identifier: Apache-2.0 */
/* What the mock Vulkan driver does in the functions that loaders need it for. */
#ifndef CLHARNESS_MOCK_VULKAN_IMPLEMENTATION_H
#define CLHARNESS_MOCK_VULKAN_IMPLEMENTATION_H

#include "config.h"

/* Does what a function does, with its arguments as words; gives its result, widened. */
typedef uint64_t implementation(const uint64_t *arguments);

struct implemented {
    enum vulkan_function function;
    implementation *run;
};

/* Tables that end with an entry without function. */
extern const struct implemented instance_implemented[];         /* instance.c */
extern const struct implemented physical_devices_implemented[]; /* physical_devices.c */
extern const struct implemented devices_implemented[];          /* devices.c */
extern const struct implemented surfaces_implemented[];         /* surfaces.c */
extern const struct implemented messengers_implemented[];       /* messengers.c */
extern const struct implemented displays_implemented[];         /* displays.c */

/* Whether a device was asked what it supports of a surface (surfaces.c). */
extern bool surfaces_were_asked;

/* The argument as a pointer. */
static inline void *pointer(uint64_t word)
{
    return (void *)(uintptr_t)word;
}

/* Whether a fault with a VkResult for value is on. */
static inline bool fails(enum fault which)
{
    return fault(which, ANY_PLATFORM);
}

/* The VkResult of a fault that is on. */
static inline uint64_t failure(enum fault which)
{
    return (uint64_t)fault_value(which, ANY_PLATFORM, VK_ERROR_INITIALIZATION_FAILED);
}

/* Where a fault is on, makes the number of a list that was asked for larger than there was room for. */
static inline void claim_more(enum fault which, uint32_t *count, const void *list)
{
    *count += list && fails(which) ? (uint32_t)failure(which) : 0;
}

#endif
