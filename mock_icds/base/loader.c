/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of the loader under test, which is looked for among the libraries of the process. */
#define _GNU_SOURCE
#include "base/loader.h"

#include "base/objects.h"
#include "clharness_cl.h"
#include "sidefile.h"

#include <dlfcn.h>
#include <stdlib.h>

typedef cl_int CL_API_CALL clGetPlatformIDs_function(cl_uint, cl_platform_id *, cl_uint *);
typedef cl_int CL_API_CALL clReleaseContext_function(cl_context);

static void *open_loader(void)
{
    return mock_loader ? dlopen(mock_loader, RTLD_LAZY | RTLD_NOLOAD) : NULL;
}

static void close_loader(void *loader)
{
    if (loader) {
        dlclose(loader);
    }
}

static void *find_symbol(void *loader, const char *name)
{
    return loader ? dlsym(loader, name) : NULL;
}

void loader_list_platforms(const char *where)
{
    void *loader = open_loader();
    void *symbol = find_symbol(loader, "clGetPlatformIDs");
    cl_uint count = 0;
    if (symbol) {
        log_event("call back", where);
        cl_int result = ((clGetPlatformIDs_function *)(uintptr_t)symbol)(0, NULL, &count);
        log_event("call back done", result == CL_SUCCESS ? "success" : "error");
    } else {
        log_event("call back impossible", where);
    }
    close_loader(loader);
}

bool loader_lists_ours_first(void)
{
    void *loader = open_loader();
    void *symbol = find_symbol(loader, "clGetPlatformIDs");
    cl_platform_id first = NULL;
    bool listed = symbol && ((clGetPlatformIDs_function *)(uintptr_t)symbol)(1, &first, NULL) == CL_SUCCESS;
    close_loader(loader);
    return !listed || object_find((uint64_t)(uintptr_t)first) != NULL;
}

static const char *outcome(cl_int result)
{
    switch (result) {
    case CL_SUCCESS:
        return "success";
    case CL_INVALID_OPERATION:
        return "refused";
    default:
        return "error";
    }
}

void loader_release_context(void)
{
    const char *text = getenv("CLHARNESS_LATE_CONTEXT");
    void *loader = open_loader();
    void *symbol = find_symbol(loader, "clReleaseContext");
    if (text && symbol) {
        cl_context context = (cl_context)(uintptr_t)strtoull(text, NULL, 0);
        log_event("call back", "late release");
        cl_int result = ((clReleaseContext_function *)(uintptr_t)symbol)(context);
        log_event("call back done", outcome(result));
    } else {
        log_event("call back impossible", "late release");
    }
    close_loader(loader);
}
