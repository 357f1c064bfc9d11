/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of the loader itself. */
#define _GNU_SOURCE
#include "layer.h"

#include <dlfcn.h>

void loader_list_platforms(void)
{
    static _Thread_local bool inside;
    cl_uint count = 0;
    void *loader = mock_loader && !inside ? dlopen(mock_loader, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    void *symbol = loader ? dlsym(loader, "clGetPlatformIDs") : NULL;
    const uint64_t arguments[] = {0, 0, (uint64_t)(uintptr_t)&count};
    if (symbol) {
        inside = true;
        log_event("call of loader", NULL);
        cl_int result = (cl_int)invoke(FUNCTION_clGetPlatformIDs, (entry *)(uintptr_t)symbol, arguments);
        const char *failure = result == CL_INVALID_OPERATION ? "refused" : "error";
        log_event("call of loader done", result == CL_SUCCESS ? "success" : failure);
        inside = false;
        dlclose(loader);
    }
}
