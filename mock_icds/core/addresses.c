/* SPDX-License-Identifier: Apache-2.0 */
/* The addresses of functions that a loader and an application ask for, and every way to answer wrongly. */
#include "core/addresses.h"

#include "base/config.h"
#include "base/objects.h"
#include "base/tables.h"
#include "clharness_cl.h"

#include <stdlib.h>
#include <string.h>

/* A library's own extension function: answers the name of the component that it belongs to. */
static const char *CL_API_CALL vendor_function(void)
{
    log_event("vendor function", NULL);
    return mock_name;
}

static bool ends_with_a_suffix(const char *name)
{
    for (int i = 0; i < config.platforms && i < MAX_PLATFORMS; i++) {
        size_t length = strlen(name);
        size_t suffix = strlen(config.platform[i].suffix);
        if (suffix > 0 && length > suffix && strcmp(name + length - suffix, config.platform[i].suffix) == 0) {
            return true;
        }
    }
    return false;
}

/* What clGetExtensionFunctionAddress answers: every function of the API, and any name that ends in our suffix. */
static void *find_address(const char *name)
{
    int function = name ? function_by_name(name) : -1;
    if (name && strncmp(name, "clFinish", strlen("clFinish")) == 0 &&
        fault(FAULT_address_query_reads_the_beginning, ANY_PLATFORM)) {
        function = FUNCTION_clFinish;
    }
    if (name && strpbrk(name, "\xfe\xff") && fault(FAULT_address_query_wants_text, ANY_PLATFORM)) {
        abort();
    }
    if (name && function < 0 && fault(FAULT_address_query_answers_anything, ANY_PLATFORM)) {
        return (void *)(uintptr_t)vendor_function;
    }
    if (!name || fault(FAULT_address_query_returns_null, ANY_PLATFORM) ||
        (function == FUNCTION_clIcdGetPlatformIDsKHR && fault(FAULT_get_platform_ids_not_returned, ANY_PLATFORM)) ||
        (function == FUNCTION_clGetPlatformInfo && fault(FAULT_get_platform_info_not_returned, ANY_PLATFORM)) ||
        (function == FUNCTION_clIcdGetFunctionAddressForPlatformKHR &&
         (!config.icd2 || fault(FAULT_icd2_without_get_function_address, ANY_PLATFORM))) ||
        (function == FUNCTION_clIcdSetPlatformDispatchDataKHR &&
         (!config.icd2 || fault(FAULT_icd2_without_set_dispatch_data, ANY_PLATFORM)))) {
        return NULL;
    }
    if (function >= 0) {
        return config.function[function].lacks.all ? NULL : tables_function((enum function)function);
    }
    return ends_with_a_suffix(name) ? (void *)(uintptr_t)vendor_function : NULL;
}

uint64_t addresses_of_extension(const uint64_t *arguments)
{
    return (uint64_t)(uintptr_t)find_address((const char *)(uintptr_t)arguments[0]);
}

uint64_t addresses_of_platform(const uint64_t *arguments)
{
    bool known = object_find(arguments[0]) || fault(FAULT_address_query_takes_any_platform, ANY_PLATFORM);
    return known ? (uint64_t)(uintptr_t)find_address((const char *)(uintptr_t)arguments[1]) : 0;
}

static cl_int CL_API_CALL no_devices(cl_platform_id platform, cl_device_type type, cl_uint room, cl_device_id *devices,
                                     cl_uint *count)
{
    (void)platform, (void)type, (void)room, (void)devices;
    if (count) {
        *count = 0;
    }
    return CL_DEVICE_NOT_FOUND;
}

uint64_t addresses_of_icd2(const uint64_t *arguments)
{
    const char *name = (const char *)(uintptr_t)arguments[1];
    int function = name ? function_by_name(name) : -1;
    struct object *platform = object_find(arguments[0]);
    if (platform && name && function < 0 && fault(FAULT_icd2_get_answers_anything, platform->platform)) {
        return (uint64_t)(uintptr_t)tables_entry(FUNCTION_clGetPlatformInfo);
    }
    if (!platform && function >= 0 && fault(FAULT_icd2_get_takes_any_platform, ANY_PLATFORM)) {
        return (uint64_t)(uintptr_t)tables_entry((enum function)function);
    }
    if (!platform || function < 0 || config.function[function].lacks.all ||
        config.function[function].lacks.some >> platform->platform & 1) {
        return 0;
    }
    if (function == FUNCTION_clGetDeviceIDs && fault(FAULT_icd2_get_answers_other_functions, platform->platform)) {
        return (uint64_t)(uintptr_t)no_devices;
    }
    return (uint64_t)(uintptr_t)tables_entry((enum function)function);
}
