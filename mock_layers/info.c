/* SPDX-License-Identifier: Apache-2.0 */
/* What the mock layer answers about itself, and every way to answer it wrongly. */
#define _GNU_SOURCE
#include "layer.h"

#include <string.h>

static bool is_on(int which)
{
    return fault(which, ANY_PLATFORM);
}

/* Room, memory and size output of a query. */
struct query {
    size_t room;
    unsigned char *to;
    size_t *size_ret;
};

/* Answers with `size` bytes; every fault of the size rules is here. */
static cl_int answer(const uint64_t *arguments, const void *data, size_t size)
{
    struct query query = {(size_t)arguments[1], (unsigned char *)(uintptr_t)arguments[2],
                          (size_t *)(uintptr_t)arguments[3]};
    bool small = query.to && query.room < size;
    if (!query.to && !query.size_ret && is_on(FAULT_info_fails_without_outputs)) {
        return (cl_int)fault_value(FAULT_info_fails_without_outputs, ANY_PLATFORM, CL_INVALID_VALUE);
    }
    if ((!query.to && is_on(FAULT_info_needs_value)) || (!query.size_ret && is_on(FAULT_info_needs_size)) ||
        (!query.to && query.room && is_on(FAULT_info_refuses_size_without_value))) {
        return CL_INVALID_VALUE;
    }
    if (small && (is_on(FAULT_info_ignores_size) || is_on(FAULT_info_writes_then_fails))) {
        memcpy(query.to, data, query.room);
        return is_on(FAULT_info_ignores_size) ? CL_SUCCESS : CL_INVALID_VALUE;
    }
    if (query.to && query.room > size && is_on(FAULT_info_writes_too_much)) {
        query.to[size] = 0;
    }
    if (query.to && query.room == size && is_on(FAULT_info_refuses_exact_size)) {
        return CL_INVALID_VALUE;
    }
    const uint64_t rest[] = {arguments[1], arguments[2], is_on(FAULT_info_size_is_unset) ? 0 : arguments[3]};
    cl_int result = answer_info(rest, data, size);
    if (result == CL_SUCCESS && query.size_ret && is_on(FAULT_info_size_is_wrong)) {
        *query.size_ret += 1;
    }
    return result;
}

static cl_int version(const uint64_t *arguments)
{
    static _Atomic int queries;
    long reported = fault_value(FAULT_reports_api_version, ANY_PLATFORM, CL_LAYER_API_VERSION_100);
    cl_layer_api_version number = (cl_layer_api_version)reported;
    if (is_on(FAULT_api_version_fails)) {
        return (cl_int)fault_value(FAULT_api_version_fails, ANY_PLATFORM, CL_INVALID_VALUE);
    }
    if (is_on(FAULT_api_version_answered_once) && queries++ > 0) {
        return CL_INVALID_OPERATION;
    }
    if (is_on(FAULT_api_version_unset)) {
        return CL_SUCCESS;
    }
    if (is_on(FAULT_api_version_fails_after_writing)) {
        answer_info(arguments + 1, &number, sizeof number);
        return (cl_int)fault_value(FAULT_api_version_fails_after_writing, ANY_PLATFORM, CL_SUCCESS);
    }
    return answer(arguments, &number, sizeof number);
}

cl_int info_answer(const uint64_t *arguments)
{
    if (is_on(FAULT_get_layer_info_fails)) {
        return (cl_int)fault_value(FAULT_get_layer_info_fails, ANY_PLATFORM, CL_OUT_OF_HOST_MEMORY);
    }
    switch ((cl_layer_info)arguments[0]) {
    case CL_LAYER_API_VERSION:
        return version(arguments);
    case CL_LAYER_NAME:
        if (is_on(FAULT_name_changes_with_init) && target_entries()) {
            return answer(arguments, "another name", sizeof "another name");
        }
        if (is_on(FAULT_layer_name_unknown)) {
            return CL_INVALID_VALUE;
        }
        return answer(arguments, mock_name, strlen(mock_name) + !is_on(FAULT_layer_name_without_end));
    default:
        if (is_on(FAULT_unknown_info_refused_with)) {
            return (cl_int)fault_value(FAULT_unknown_info_refused_with, ANY_PLATFORM, CL_SUCCESS);
        }
        return CL_INVALID_VALUE;
    }
}
