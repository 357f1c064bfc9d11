/* SPDX-License-Identifier: Apache-2.0 */
/* A platform that the layer supplies by itself, after those of its target. */
#define _GNU_SOURCE
#include "layer.h"

#include <stdio.h>
#include <string.h>

/* Its handle; nobody but the layer may look into it. */
static struct {
    void *dispatch;
} platform;

static cl_int list(entry *next, const uint64_t *arguments)
{
    cl_uint count = 0;
    cl_uint room = (cl_uint)arguments[0];
    cl_platform_id *platforms = (cl_platform_id *)(uintptr_t)arguments[1];
    cl_uint *count_ret = (cl_uint *)(uintptr_t)arguments[2];
    if ((!platforms && !count_ret) || (platforms && room == 0)) {
        return CL_INVALID_VALUE;
    }
    const uint64_t inner[] = {room, arguments[1], (uint64_t)(uintptr_t)&count};
    invoke(FUNCTION_clGetPlatformIDs, next, inner);
    if (platforms && count < room) {
        platforms[count] = (cl_platform_id)(void *)&platform;
    }
    if (count_ret) {
        *count_ret = count + 1;
    }
    return CL_SUCCESS;
}

static cl_int info(const uint64_t *arguments)
{
    switch ((cl_platform_info)arguments[1]) {
    case CL_PLATFORM_NAME:
        return answer_info(arguments + 2, mock_name, strlen(mock_name) + 1);
    case CL_PLATFORM_VERSION:
        return answer_info(arguments + 2, "OpenCL 3.0 clharness", sizeof "OpenCL 3.0 clharness");
    case CL_PLATFORM_PROFILE:
        return answer_info(arguments + 2, "FULL_PROFILE", sizeof "FULL_PROFILE");
    case CL_PLATFORM_VENDOR:
        return answer_info(arguments + 2, "clharness", sizeof "clharness");
    case CL_PLATFORM_EXTENSIONS:
        return answer_info(arguments + 2, "cl_khr_icd", sizeof "cl_khr_icd");
    default:
        return CL_INVALID_VALUE;
    }
}

bool platform_answer(enum function function, entry *next, const uint64_t *arguments, uint64_t *result)
{
    bool ours = arguments[0] == (uint64_t)(uintptr_t)&platform;
    if (function == FUNCTION_clGetPlatformIDs) {
        *result = (uint64_t)(int64_t)list(next, arguments);
    } else if (function == FUNCTION_clGetPlatformInfo && ours) {
        *result = (uint64_t)(int64_t)info(arguments);
    } else if (function == FUNCTION_clGetDeviceIDs && ours) {
        *result = (uint64_t)(int64_t)CL_DEVICE_NOT_FOUND;
    } else {
        return false;
    }
    return true;
}
