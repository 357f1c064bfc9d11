/* SPDX-License-Identifier: Apache-2.0 */
/* A loader whose clGetPlatformIDs does what $DO says. f: a wrong answer, c: a crash, else the right answer. */
#include <CL/cl.h>
#include <stdlib.h>

CL_API_ENTRY cl_int CL_API_CALL clGetPlatformIDs(cl_uint count, cl_platform_id *platforms, cl_uint *number)
{
    const char *what = getenv("DO");
    (void)count;
    (void)platforms;
    if (what && *what == 'c') {
        abort();
    }
    if (number) {
        *number = 0;
    }
    return what && *what == 'f' ? CL_INVALID_VALUE : -1001; /* CL_PLATFORM_NOT_FOUND_KHR */
}
