/* SPDX-License-Identifier: Apache-2.0 */
/* Which platforms and devices there are, and every way to answer that wrongly. */
#define _GNU_SOURCE
#include "core/enumeration.h"

#include "base/config.h"
#include "base/errors.h"
#include "base/loader.h"
#include "base/platforms.h"
#include "core/load_faults.h"
#include "core/process_faults.h"

#include <stdlib.h>
#include <unistd.h>

static pid_t loading_process;
static bool loaded_before; /* in this process */

void enumeration_note_load(void)
{
    loading_process = getpid();
    if (fault(FAULT_enumeration_fails_after_reload, ANY_PLATFORM)) {
        loaded_before = getenv("CLHARNESS_LOADED_BEFORE") != NULL;
        setenv("CLHARNESS_LOADED_BEFORE", "1", 1);
    }
}

static cl_int count_platforms(cl_uint *num_platforms)
{
    process_faults_at_count();
    if (fault(FAULT_enumeration_sleeps, ANY_PLATFORM)) {
        process_faults_sleep(fault_value(FAULT_enumeration_sleeps, ANY_PLATFORM, 0));
    }
    if (fault(FAULT_count_call_fails, ANY_PLATFORM)) {
        return (cl_int)fault_value(FAULT_count_call_fails, ANY_PLATFORM, CL_OUT_OF_HOST_MEMORY);
    }
    if (!fault(FAULT_count_call_leaves_count, ANY_PLATFORM)) {
        *num_platforms = (cl_uint)fault_value(FAULT_count_call_says, ANY_PLATFORM, config.platforms);
    }
    if (fault(FAULT_count_call_fails_after_writing, ANY_PLATFORM)) {
        return (cl_int)fault_value(FAULT_count_call_fails_after_writing, ANY_PLATFORM, CL_OUT_OF_HOST_MEMORY);
    }
    return CL_SUCCESS;
}

static cl_int list_platforms(cl_uint num_entries, cl_platform_id *platforms, cl_uint *num_platforms)
{
    cl_uint count = (cl_uint)fault_value(FAULT_list_call_writes, ANY_PLATFORM, config.platforms);
    if (fault(FAULT_list_call_fails, ANY_PLATFORM)) {
        return (cl_int)fault_value(FAULT_list_call_fails, ANY_PLATFORM, CL_OUT_OF_HOST_MEMORY);
    }
    bool all = fault(FAULT_list_call_ignores_room, ANY_PLATFORM);
    for (cl_uint i = count; i < num_entries && fault(FAULT_list_call_fills_room, ANY_PLATFORM); i++) {
        platforms[i] = NULL;
    }
    for (cl_uint i = 0; i < count && (i < num_entries || all); i++) {
        bool null = fault(FAULT_platform_is_null, (int)i);
        bool again = fault(FAULT_list_call_repeats, (int)i);
        platforms[i] = null ? NULL : (cl_platform_id)object_handle(platform_object(again ? 0 : (int)i));
    }
    if (num_platforms) {
        *num_platforms = (cl_uint)fault_value(FAULT_list_call_says, ANY_PLATFORM, config.platforms);
    }
    if (fault(FAULT_list_call_fails_after_writing, ANY_PLATFORM)) {
        return (cl_int)fault_value(FAULT_list_call_fails_after_writing, ANY_PLATFORM, CL_OUT_OF_HOST_MEMORY);
    }
    return CL_SUCCESS;
}

/* Whether there is something about the process or its other threads that a faulty vendor stumbles over. */
static bool stumbles(void)
{
    if (fault(FAULT_enumeration_fails_in_parallel, ANY_PLATFORM)) {
        static _Atomic int inside;
        bool alone = ++inside == 1;
        process_faults_sleep(5);
        inside--;
        return !alone;
    }
    return load_faults_no_platforms();
}

/* Whether it was loaded by the parent, or before, and a faulty vendor has no platforms any more. */
static bool finds_nothing_again(void)
{
    return (fault(FAULT_enumeration_fails_in_child, ANY_PLATFORM) && getpid() != loading_process) ||
           (fault(FAULT_enumeration_fails_after_reload, ANY_PLATFORM) && loaded_before);
}

static cl_int get_platform_ids(cl_uint num_entries, cl_platform_id *platforms, cl_uint *num_platforms)
{
    if (fault(FAULT_enumeration_calls_opencl, ANY_PLATFORM)) {
        loader_list_platforms("clIcdGetPlatformIDsKHR");
    }
    process_faults_at_enumeration();
    if (stumbles()) {
        return CL_OUT_OF_HOST_MEMORY;
    }
    if (finds_nothing_again()) {
        return CL_PLATFORM_NOT_FOUND_KHR;
    }
    if ((!platforms && !num_platforms) || (platforms && num_entries == 0)) {
        return fault(FAULT_enumeration_takes_anything, ANY_PLATFORM) ? CL_SUCCESS : CL_INVALID_VALUE;
    }
    if (fault(FAULT_platform_not_found, ANY_PLATFORM) || config.platforms == 0) {
        if (num_platforms) {
            *num_platforms = 0;
        }
        return fault(FAULT_platform_not_found, ANY_PLATFORM) ? CL_PLATFORM_NOT_FOUND_KHR : CL_SUCCESS;
    }
    return platforms ? list_platforms(num_entries, platforms, num_platforms) : count_platforms(num_platforms);
}

uint64_t enumeration_platforms(const uint64_t *arguments)
{
    return error_result(get_platform_ids((cl_uint)arguments[0], (cl_platform_id *)(uintptr_t)arguments[1],
                                         (cl_uint *)(uintptr_t)arguments[2]));
}

static cl_int get_device_ids(const uint64_t *arguments)
{
    cl_device_type type = (cl_device_type)arguments[1];
    cl_uint room = (cl_uint)arguments[2];
    cl_device_id *to = (cl_device_id *)(uintptr_t)arguments[3];
    cl_uint *count_ret = (cl_uint *)(uintptr_t)arguments[4];
    cl_uint count = 0;
    struct object *device;
    struct object *owner = object_find(arguments[0]);
    if (!owner) {
        return CL_INVALID_PLATFORM;
    }
    int platform = owner->platform;
    if (fault(FAULT_device_list_fails, platform)) {
        return (cl_int)fault_value(FAULT_device_list_fails, platform, CL_OUT_OF_HOST_MEMORY);
    }
    if ((room == 0 && to) || (!to && !count_ret)) {
        return CL_INVALID_VALUE;
    }
    if (type != CL_DEVICE_TYPE_ALL && (type & (type - 1)) && fault(FAULT_mixed_types_find_nothing, ANY_PLATFORM)) {
        return CL_DEVICE_NOT_FOUND;
    }
    for (int i = 0; (device = platform_device(platform, i)) != NULL; i++) {
        if (!platform_device_matches(device, type, i)) {
            continue;
        }
        if (to && count < room) {
            to[count] = (cl_device_id)object_handle(device);
        }
        count++;
    }
    if (count && fault(FAULT_first_device_is_listed_again, ANY_PLATFORM)) {
        if (to && count < room) {
            to[count] = to[0];
        }
        count++;
    }
    if (to && type == CL_DEVICE_TYPE_DEFAULT && fault(FAULT_default_device_is_counted_twice, ANY_PLATFORM)) {
        count++;
    }
    if (to && count < room && fault(FAULT_device_lists_end_with_null, ANY_PLATFORM)) {
        to[count] = NULL;
    }
    if (count_ret) {
        *count_ret = count;
    }
    return count || fault(FAULT_absent_types_are_counted, ANY_PLATFORM) ? CL_SUCCESS : CL_DEVICE_NOT_FOUND;
}

uint64_t enumeration_devices(const uint64_t *arguments)
{
    return error_result(get_device_ids(arguments));
}
