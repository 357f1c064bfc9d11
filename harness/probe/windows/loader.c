/* SPDX-License-Identifier: Apache-2.0 */
/* The library under test, opened by path, with the machine of its case around it. */
#include "loader.h"

#include "machine.h"
#include "problem.h"

struct loader_options loader_options;
const bool loader_is_linked = false;

static HMODULE handle;

const char *loader_open(void)
{
    if (handle) {
        return NULL;
    }
    handle = LoadLibraryExA(loader_options.path, NULL, LOAD_WITH_ALTERED_SEARCH_PATH);
    if (!handle) {
        return problem_text();
    }
    hooks_install(handle);
    return NULL;
}

const char *loader_close(void)
{
    if (!handle) {
        return "the loader is not open";
    }
    BOOL done = FreeLibrary(handle);
    handle = NULL;
    return done ? NULL : problem_text();
}

void *loader_symbol(const char *name, const char *version)
{
    return handle && !version ? (void *)(uintptr_t)GetProcAddress(handle, name) : NULL;
}
