/* SPDX-License-Identifier: Apache-2.0 */
/* The table of the layer's target, which is watched for changes, and calls of its functions. */
#include "layer.h"

#include <string.h>

enum { MAX_LENGTH = 1024 };

static entry *const *target;
static cl_uint target_length;
static entry *target_copy[MAX_LENGTH];

void target_set(const void *entries, cl_uint count)
{
    target = (entry *const *)entries;
    target_length = count < MAX_LENGTH ? count : MAX_LENGTH;
    memcpy(target_copy, target, target_length * sizeof *target_copy);
    for (cl_uint slot = 0; slot < target_length && slot < TABLE_LENGTH; slot++) {
        if (!target[slot] && function_of_slot[slot] >= 0) {
            log_event("hole in target", function_info[function_of_slot[slot]].name);
        }
    }
}

void target_check(void)
{
    if (target && memcmp(target, target_copy, target_length * sizeof *target_copy) != 0) {
        log_event("target changed", NULL);
    }
}

entry *target_function(int slot)
{
    return target && slot >= 0 && (cl_uint)slot < target_length ? target[slot] : NULL;
}

void target_call_windows_entries(void)
{
    for (cl_uint slot = 0; slot < target_length && slot < TABLE_LENGTH; slot++) {
        if (function_of_slot[slot] < 0 && target[slot]) {
            target[slot]();
        }
    }
}

void target_swap_entries(void)
{
    entry **writable = (entry **)(uintptr_t)target;
    int flush = function_info[FUNCTION_clFlush].slot;
    int finish = function_info[FUNCTION_clFinish].slot;
    entry *first = target[flush];
    writable[flush] = target[finish];
    writable[finish] = first;
}

cl_uint target_entries(void)
{
    return target_length;
}

void target_list_platforms(const char *where)
{
    cl_uint count = 0;
    cl_platform_id platform = NULL;
    char name[64] = "";
    const uint64_t list[] = {1, (uint64_t)(uintptr_t)&platform, (uint64_t)(uintptr_t)&count};
    entry *get_platforms = target_function(function_info[FUNCTION_clGetPlatformIDs].slot);
    entry *get_info = target_function(function_info[FUNCTION_clGetPlatformInfo].slot);
    if (!get_platforms || !get_info) {
        log_event("call of target impossible", where);
        return;
    }
    log_event("call of target", where);
    cl_int result = (cl_int)invoke(FUNCTION_clGetPlatformIDs, get_platforms, list);
    log_event("call of target done", result == CL_SUCCESS ? "success" : "error");
    if (platform) {
        const uint64_t query[] = {(uint64_t)(uintptr_t)platform, CL_PLATFORM_NAME, sizeof name,
                                  (uint64_t)(uintptr_t)name, 0};
        invoke(FUNCTION_clGetPlatformInfo, get_info, query);
        log_event("platform of target", name);
    }
}
