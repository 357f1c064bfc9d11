/* One dispatched call: logs it, does what the API says (or what a fault says), and logs what came of it. */
#define _GNU_SOURCE
#include "icd.h"

#include <string.h>

static void log_foreign_handles(const struct function_info *about, const uint64_t *arguments)
{
    for (unsigned i = 0; i < about->parameter_count; i++) {
        if (about->parameters[i].kind == PARAMETER_HANDLE && arguments[i] && !object_is_ours(arguments[i])) {
            log_event("foreign handle", about->parameters[i].name);
        }
    }
}

/* The object that a created one belongs to: the first of our handles among the arguments, else the first platform. */
static struct object *parent_of_new(const struct function_info *about, const uint64_t *arguments)
{
    for (unsigned i = 0; i < about->parameter_count; i++) {
        uint64_t handle = arguments[i];
        if (about->parameters[i].kind == PARAMETER_HANDLES && handle) {
            handle = first_word((const void *)(uintptr_t)handle, sizeof handle);
        } else if (about->parameters[i].kind != PARAMETER_HANDLE) {
            continue;
        }
        if (object_is_ours(handle)) {
            return (struct object *)(uintptr_t)handle;
        }
    }
    for (unsigned i = 0; i < about->parameter_count; i++) {
        const uint64_t *list = (const uint64_t *)(uintptr_t)arguments[i];
        if (about->parameters[i].kind != PARAMETER_PROPERTIES || !list) {
            continue;
        }
        for (; list[0]; list += 2) {
            if (list[0] == CL_CONTEXT_PLATFORM && object_is_ours(list[1])) {
                return (struct object *)(uintptr_t)list[1];
            }
        }
    }
    return platform_object(0);
}

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

static uint64_t change_references(uint64_t handle, int by)
{
    struct object *object = (struct object *)(uintptr_t)handle;
    if (!object_is_ours(handle) || object->references <= 0) {
        log_event("bad reference", by > 0 ? "retain" : "release");
        return (uint64_t)(int64_t)CL_INVALID_VALUE;
    }
    __atomic_add_fetch(&object->references, by, __ATOMIC_RELAXED);
    return CL_SUCCESS;
}

/* Whatever no part of the mock does in its own way: creates what is to be created and answers CL_SUCCESS. */
static uint64_t usual_behaviour(const struct function_info *about, const uint64_t *arguments)
{
    if (starts_with(about->name, "clRetain")) {
        return change_references(arguments[0], 1);
    }
    if (starts_with(about->name, "clRelease")) {
        return change_references(arguments[0], -1);
    }
    struct object *parent = parent_of_new(about, arguments);
    for (unsigned i = 0; i < about->parameter_count; i++) {
        void *out = (void *)(uintptr_t)arguments[i];
        if (out && about->parameters[i].kind == PARAMETER_HANDLE_OUT) {
            *(struct object **)out = object_make(about->parameters[i].handle, parent);
        } else if (out && about->parameters[i].kind == PARAMETER_ERRCODE) {
            *(cl_int *)out = CL_SUCCESS;
        } else if (out && about->parameters[i].kind == PARAMETER_SCALAR_OUT) {
            memset(out, 0, about->parameters[i].pointee);
        }
    }
    if (about->result == RESULT_HANDLE) {
        return (uint64_t)(uintptr_t)object_make(about->result_handle, parent);
    }
    return CL_SUCCESS;
}

static bool is_info_query(const struct function_info *about)
{
    unsigned count = about->parameter_count;
    return count >= 5 && strcmp(about->parameters[count - 1].name, "param_value_size_ret") == 0 &&
           strcmp(about->parameters[count - 4].name, "param_name") == 0 &&
           about->parameters[0].kind == PARAMETER_HANDLE;
}

static uint64_t set_dispatch_data(const uint64_t *arguments)
{
    if (fault(FAULT_icd2_set_dispatch_data_fails, ANY_PLATFORM)) {
        return (uint64_t)fault_value(FAULT_icd2_set_dispatch_data_fails, ANY_PLATFORM, CL_INVALID_PLATFORM);
    }
    if (!object_is_ours(arguments[0])) {
        return (uint64_t)(int64_t)CL_INVALID_PLATFORM;
    }
    struct object *platform = (struct object *)(uintptr_t)arguments[0];
    objects_set_dispatch_data(platform->platform, (void *)(uintptr_t)arguments[1]);
    return CL_SUCCESS;
}

static uint64_t function_address_for_platform(const uint64_t *arguments)
{
    const char *name = (const char *)(uintptr_t)arguments[1];
    int function = name ? function_by_name(name) : -1;
    if (!object_is_ours(arguments[0]) || function < 0) {
        return 0;
    }
    return (uint64_t)(uintptr_t)entry_of_function[function];
}

static uint64_t behave(enum function function, const uint64_t *a)
{
    const struct function_info *about = &function_info[function];
    switch (function) {
    case FUNCTION_clIcdGetPlatformIDsKHR:
    case FUNCTION_clGetPlatformIDs:
        return (uint64_t)(int64_t)get_platform_ids((cl_uint)a[0], (cl_platform_id *)(uintptr_t)a[1],
                                                   (cl_uint *)(uintptr_t)a[2]);
    case FUNCTION_clGetPlatformInfo:
        return (uint64_t)(int64_t)get_platform_info(a, false);
    case FUNCTION_clGetDeviceIDs:
        return (uint64_t)(int64_t)get_device_ids(a);
    case FUNCTION_clGetExtensionFunctionAddress:
        return (uint64_t)(uintptr_t)address_query((const char *)(uintptr_t)a[0]);
    case FUNCTION_clGetExtensionFunctionAddressForPlatform:
        return (uint64_t)(uintptr_t)address_query((const char *)(uintptr_t)a[1]);
    case FUNCTION_clIcdGetFunctionAddressForPlatformKHR:
        return function_address_for_platform(a);
    case FUNCTION_clIcdSetPlatformDispatchDataKHR:
        return set_dispatch_data(a);
    default:
        return is_info_query(about) ? (uint64_t)(int64_t)get_info(function, a) : usual_behaviour(about, a);
    }
}

/* Calls through the table, through returned addresses and through exported symbols. */
uint64_t component_call(enum function function, const uint64_t *arguments)
{
    const struct function_info *about = &function_info[function];
    log_call(about, arguments);
    log_foreign_handles(about, arguments);
    uint64_t result = behave(function, arguments);
    log_return(about, arguments, result);
    return result;
}
