/* SPDX-License-Identifier: Apache-2.0 */
/* OpenCL's core: what the mock does with a call that is not a matter of an extension that is asked for. */
#include "core/core.h"

#include "base/arena.h"
#include "base/config.h"
#include "base/errors.h"
#include "base/platforms.h"
#include "calls.h"
#include "core/abilities.h"
#include "core/addresses.h"
#include "core/compute.h"
#include "core/contents.h"
#include "core/device_info.h"
#include "core/enumeration.h"
#include "core/events.h"
#include "core/info.h"
#include "core/partition.h"
#include "core/refusals.h"
#include "core/usual.h"
#include "core/validity.h"
#include "core/within.h"

#include <signal.h>
#include <string.h>

enum { SOME_MEMORY = 64 };

static uint64_t get_platform_info(const uint64_t *arguments)
{
    return error_result(info_platform(arguments, false));
}

/* The device of the GL context is the first one of the platform that the property list names. */
static uint64_t get_gl_context_info(const uint64_t *arguments)
{
    struct object *platform = usual_parent(FUNCTION_clGetGLContextInfoKHR, arguments);
    struct object *device = platform_device(platform->platform, 0);
    void *handle = device ? object_handle(device) : NULL;
    return error_result(answer_info(arguments + 2, &handle, sizeof handle));
}

static uint64_t set_dispatch_data(const uint64_t *arguments)
{
    struct object *platform = object_find(arguments[0]);
    if (!platform) {
        bool success = fault(FAULT_icd2_set_takes_any_platform, ANY_PLATFORM);
        return success ? CL_SUCCESS : error_result(CL_INVALID_PLATFORM);
    }
    if (fault(FAULT_icd2_reads_data, platform->platform)) {
        log_event("dispatch data", *(const char *)(uintptr_t)arguments[1] ? "read" : "read, empty");
    }
    if (fault(FAULT_icd2_set_dispatch_data_fails, platform->platform)) {
        return (uint64_t)fault_value(FAULT_icd2_set_dispatch_data_fails, platform->platform, CL_INVALID_PLATFORM);
    }
    object_set_dispatch_data(platform->platform, (void *)(uintptr_t)arguments[1]);
    return CL_SUCCESS;
}

static uint64_t create_sub_devices(const uint64_t *arguments)
{
    return config.validates ? partition_create(arguments) : usual_call(FUNCTION_clCreateSubDevices, arguments);
}

static uint64_t get_image_formats(const uint64_t *arguments)
{
    return config.refuses ? error_result(device_info_formats(arguments))
                          : usual_call(FUNCTION_clGetSupportedImageFormats, arguments);
}

/* Functions that are all one file's matter. */
static const struct {
    enum function function;
    uint64_t (*call)(const uint64_t *arguments);
} own[] = {
    {FUNCTION_clIcdGetPlatformIDsKHR, enumeration_platforms},
    {FUNCTION_clGetPlatformIDs, enumeration_platforms},
    {FUNCTION_clGetPlatformInfo, get_platform_info},
    {FUNCTION_clGetDeviceIDs, enumeration_devices},
    {FUNCTION_clCreateSubDevices, create_sub_devices},
    {FUNCTION_clGetSupportedImageFormats, get_image_formats},
    {FUNCTION_clGetGLContextInfoKHR, get_gl_context_info},
    {FUNCTION_clGetExtensionFunctionAddress, addresses_of_extension},
    {FUNCTION_clGetExtensionFunctionAddressForPlatform, addresses_of_platform},
    {FUNCTION_clIcdGetFunctionAddressForPlatformKHR, addresses_of_icd2},
    {FUNCTION_clIcdSetPlatformDispatchDataKHR, set_dispatch_data},
};

/* Functions that fail by a fault and do nothing else. */
static bool fails(enum function function, const uint64_t *arguments, uint64_t *result)
{
    const char *options = function == FUNCTION_clBuildProgram ? (const char *)(uintptr_t)arguments[3] : NULL;
    if (function == FUNCTION_clFlush && fault(FAULT_flush_fails, ANY_PLATFORM)) {
        *result = error_result(CL_OUT_OF_RESOURCES);
        return true;
    }
    if (options && strstr(options, "-cl-kernel-arg-info") && fault(FAULT_argument_information_fails, ANY_PLATFORM)) {
        *result = error_result(CL_BUILD_PROGRAM_FAILURE);
        return true;
    }
    return false;
}

uint64_t core_call(enum function function, const uint64_t *arguments)
{
    uint64_t result;
    int error;
    if (config.refuses && !config.function[function].takes_anything &&
        validity_is_improper(function, arguments, &error)) {
        return validity_refuse(function, arguments, error);
    }
    if (config.refuses && (within_handle(function, &result) || refusals_handle(function, arguments, &result))) {
        return result;
    }
    if ((config.refuses && events_handle(function, arguments, &result)) || fails(function, arguments, &result)) {
        return result;
    }
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        if (own[i].function == function) {
            return own[i].call(arguments);
        }
    }
    if (info_handle(function, arguments, &result)) {
        return result;
    }
    if (config.refuses && function_info[function].result == RESULT_POINTER) { /* memory: shared, or what is mapped */
        usual_call(function, arguments);
        bool shared = function == FUNCTION_clSVMAlloc;
        void *memory = shared ? contents_share(object_of_kind(arguments[0], HANDLE_cl_context), arguments) : NULL;
        return (uint64_t)(uintptr_t)(shared ? memory : arena_keep(SOME_MEMORY));
    }
    if (function == FUNCTION_clSVMFree && !arguments[1] && fault(FAULT_null_is_no_shared_memory, ANY_PLATFORM)) {
        raise(SIGSEGV); /* what the look would do */
    }
    if (config.refuses && abilities_handle(function, arguments, &result)) {
        return result;
    }
    if (compute_handle(function, arguments, &result)) {
        return result;
    }
    result = config.validates ? usual_checked_call(function, arguments) : usual_call(function, arguments);
    if (config.refuses) {
        contents_make(function, arguments, result);
    }
    return result;
}

bool core_handle(enum function function, const uint64_t *arguments, uint64_t *result)
{
    *result = core_call(function, arguments);
    return true;
}
