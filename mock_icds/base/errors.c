/* SPDX-License-Identifier: Apache-2.0 */
/* How errors are answered. */
#include "base/errors.h"

#include "base/arguments.h"

cl_int error_or_fault(enum fault instead, const struct object *object, cl_int error)
{
    return (cl_int)fault_value(instead, object ? object->platform : ANY_PLATFORM, error);
}

cl_int error_unless_fault(enum fault instead, cl_int error)
{
    return error && fault(instead, ANY_PLATFORM) ? (cl_int)fault_value(instead, ANY_PLATFORM, CL_SUCCESS) : error;
}

static void set_errcode(enum function function, const uint64_t *arguments, cl_int error)
{
    cl_int *errcode_ret = (cl_int *)(uintptr_t)argument_named(function, arguments, "errcode_ret");
    if (errcode_ret) {
        *errcode_ret = error;
    }
}

uint64_t error_refuse(enum function function, const uint64_t *arguments, cl_int error)
{
    set_errcode(function, arguments, error);
    return function_info[function].result == RESULT_SIGNED ? error_result(error) : 0;
}

uint64_t error_or_handle(enum function function, const uint64_t *arguments, const struct object *object, cl_int error)
{
    set_errcode(function, arguments, error);
    return object && !error ? (uint64_t)(uintptr_t)object_handle(object) : 0;
}
