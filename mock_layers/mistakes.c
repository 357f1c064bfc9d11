/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that the mock layer gets wrong for some values only: long lists, failures, special numbers, many objects. */
#define _GNU_SOURCE
#include "layer.h"

#include <stdatomic.h>
#include <string.h>

static bool is_on(int which)
{
    return fault(which, ANY_PLATFORM);
}

static const struct parameter_info *parameter_named(const struct function_info *about, const char *name, unsigned *at)
{
    for (*at = 0; *at < about->parameter_count; *at += 1) {
        if (strcmp(parameter_name(&about->parameters[*at]), name) == 0) {
            return &about->parameters[*at];
        }
    }
    return NULL;
}

static void cut_list(const struct function_info *about, const char *count, uint64_t *arguments)
{
    unsigned at;
    uint64_t most = (uint64_t)fault_value(FAULT_cuts_lists_of_events, ANY_PLATFORM, 0);
    if (parameter_named(about, count, &at) && arguments[at] > most) {
        arguments[at] = most;
    }
}

static void drop_empty_lists(const struct function_info *about, uint64_t *arguments)
{
    for (unsigned at = 1; at < about->parameter_count; at++) {
        if (about->parameters[at].kind == PARAMETER_HANDLES && (cl_uint)arguments[at - 1] == 0) {
            arguments[at] = 0;
        }
    }
}

/* Whether a call is one that a fault has the layer refuse; the error is CL_INVALID_VALUE. */
static bool refuses_pattern(enum function function, const uint64_t *arguments)
{
    return is_on(FAULT_refuses_proper_patterns) && function == FUNCTION_clEnqueueFillBuffer && arguments[3] == 4;
}

bool mistakes_answer(enum function function, uint64_t *arguments, cl_int *error)
{
    static _Atomic long buffers;
    if (is_on(FAULT_cuts_lists_of_events)) {
        cut_list(&function_info[function], "num_events", arguments);
        cut_list(&function_info[function], "num_events_in_wait_list", arguments);
    }
    if (is_on(FAULT_drops_empty_lists)) {
        drop_empty_lists(&function_info[function], arguments);
    }
    if (is_on(FAULT_lists_all_devices_as_default) && function == FUNCTION_clGetDeviceIDs &&
        arguments[1] == CL_DEVICE_TYPE_DEFAULT) {
        arguments[1] = CL_DEVICE_TYPE_ALL;
    }
    *error = CL_INVALID_VALUE;
    if (refuses_pattern(function, arguments)) {
        return true;
    }
    *error = CL_INVALID_BUFFER_SIZE;
    if (is_on(FAULT_refuses_empty_buffers_itself) && function == FUNCTION_clCreateBuffer && !arguments[2]) {
        return true;
    }
    *error = CL_OUT_OF_HOST_MEMORY;
    long more = function == FUNCTION_clCreateBuffer;
    long count = atomic_fetch_add(&buffers, more) + more;
    return is_on(FAULT_has_room_for_buffers) && function == FUNCTION_clCreateBuffer &&
           count > fault_value(FAULT_has_room_for_buffers, ANY_PLATFORM, 0);
}

static void spoil_answer(enum function function, const uint64_t *arguments)
{
    void *value = (void *)(uintptr_t)arguments[3];
    cl_int status;
    if (is_on(FAULT_hides_failed_events) && function == FUNCTION_clGetEventInfo && value &&
        arguments[1] == CL_EVENT_COMMAND_EXECUTION_STATUS) {
        memcpy(&status, value, sizeof status);
        status = status < 0 ? CL_COMPLETE : status;
        memcpy(value, &status, sizeof status);
    }
    if (is_on(FAULT_hides_an_extension) && function == FUNCTION_clGetPlatformInfo && value &&
        arguments[1] == CL_PLATFORM_EXTENSIONS && arguments[2]) {
        memset(value, ' ', strnlen(value, arguments[2]) ? 1 : 0);
    }
}

uint64_t mistakes_call(enum function function, const struct function_config *settings, entry *next,
                       const uint64_t *arguments)
{
    const struct function_info *about = &function_info[function];
    unsigned at = about->parameter_count - 1;
    cl_int *errcode = NULL;
    cl_int before = 0;
    if (is_on(FAULT_loses_errors) && about->parameter_count && about->parameters[at].kind == PARAMETER_ERRCODE) {
        errcode = (cl_int *)(uintptr_t)arguments[at];
        before = errcode ? *errcode : 0;
    }
    uint64_t result = changes_call(function, settings, next, arguments);
    if (errcode && !result) {
        *errcode = before;
    }
    if (result == CL_SUCCESS && about->parameter_count > 3) {
        spoil_answer(function, arguments);
    }
    return result;
}
