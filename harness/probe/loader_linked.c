/* SPDX-License-Identifier: Apache-2.0 */
/* The library under test, loaded by the dynamic linker because this program is linked to it. Linux only. */
#define _GNU_SOURCE
#include "clharness_functions.h"
#include "loader.h"

#include <dlfcn.h>
#include <stddef.h>

struct loader_options loader_options;
const bool loader_is_linked = true;

extern void (*const linked_function[FUNCTION_COUNT])(void);

const char *loader_open(void)
{
    return linked_function[FUNCTION_clGetPlatformIDs] ? NULL : "the linked loader has no clGetPlatformIDs";
}

const char *loader_close(void)
{
    return "a linked loader cannot be closed";
}

void *loader_symbol(const char *name, const char *version)
{
    int function = function_by_name(name);
    if (version) {
        return dlvsym(RTLD_DEFAULT, name, version);
    }
    if (function >= 0 && linked_function[function]) {
        return (void *)(uintptr_t)linked_function[function];
    }
    return dlsym(RTLD_DEFAULT, name);
}
