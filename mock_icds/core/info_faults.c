/* SPDX-License-Identifier: Apache-2.0 */
/* Queries answered wrongly, as a fault says (faults_hygiene.h). */
#include "core/info_faults.h"

#include "base/config.h"

#include <signal.h>
#include <string.h>

cl_int info_faults_answer(cl_int (*ask)(enum function, const uint64_t *), enum function function,
                          const uint64_t *arguments)
{
    uint64_t again[MAX_PARAMETERS];
    unsigned last = function_info[function].parameter_count - 1;
    size_t room = (size_t)arguments[last - 2];
    char *to = (char *)(uintptr_t)arguments[last - 1];
    size_t *size_ret = (size_t *)(uintptr_t)arguments[last];
    size_t size = 0;
    cl_int result = ask(function, arguments);
    if (fault(FAULT_info_writes_size_to_null, ANY_PLATFORM) && !size_ret) {
        raise(SIGSEGV); /* what the write would do */
    }
    if (fault(FAULT_info_wants_an_output, ANY_PLATFORM) && !size_ret && !to) {
        return CL_OUT_OF_RESOURCES;
    }
    memcpy(again, arguments, sizeof(uint64_t) * (last + 1));
    again[last - 2] = again[last - 1] = 0;
    again[last] = (uint64_t)(uintptr_t)&size;
    if (ask(function, again) != CL_SUCCESS) {
        return result;
    }
    if (result != CL_SUCCESS && to && fault(FAULT_info_takes_little_memory, ANY_PLATFORM)) {
        memset(to, 0, room);
        return CL_SUCCESS;
    }
    if (result == CL_SUCCESS && to && room > size && fault(FAULT_info_fills_all_memory, ANY_PLATFORM)) {
        memset(to + size, 0, room - size);
    }
    if (size_ret && size == 4 && fault(FAULT_info_sizes_are_long, ANY_PLATFORM)) {
        *size_ret = 8;
    }
    return result;
}
