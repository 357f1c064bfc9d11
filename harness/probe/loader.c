/* SPDX-License-Identifier: Apache-2.0 */
/* The library under test, opened by path. Linux only. */
#define _GNU_SOURCE
#include "loader.h"

#include <dlfcn.h>
#include <stddef.h>

struct loader_options loader_options;
const bool loader_is_linked = false;

static void *handle;

const char *loader_open(void)
{
    int flags = (loader_options.now ? RTLD_NOW : RTLD_LAZY) | (loader_options.global ? RTLD_GLOBAL : RTLD_LOCAL);
    if (handle) {
        return NULL;
    }
    handle = dlopen(loader_options.path, flags);
    return handle ? NULL : dlerror();
}

const char *loader_close(void)
{
    if (!handle) {
        return "the loader is not open";
    }
    int failed = dlclose(handle);
    handle = NULL;
    return failed ? dlerror() : NULL;
}

void *loader_symbol(const char *name, const char *version)
{
    if (!handle) {
        return NULL;
    }
    return version ? dlvsym(handle, name, version) : dlsym(handle, name);
}
