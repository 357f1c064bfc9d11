/* The library under test: opened by path, or loaded by the dynamic linker because this program is linked to it. */
#define _GNU_SOURCE
#include "clharness_functions.h"
#include "probe.h"

#include <dlfcn.h>
#include <stddef.h>

struct loader_options loader_options;

static void *handle;

#ifdef PROBE_LINKED

extern void (*const linked_function[FUNCTION_COUNT])(void);

const char *loader_open(void)
{
    handle = NULL;
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

#else

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

#endif
