/* SPDX-License-Identifier: Apache-2.0 */
/* Queries answered wrongly, as a fault says (faults_hygiene.h). */
#include "core/info_faults.h"

#include "base/config.h"
#include "base/objects.h"
#include "core/creation.h"

#include <signal.h>
#include <string.h>

static bool misreports_anything(void)
{
    for (int function = 0; function < FUNCTION_COUNT; function++) {
        if (config.function[function].misreported) {
            return true;
        }
    }
    return false;
}

/* Whether answer_is_off is about this query of this object. */
static bool is_off(uint64_t handle, cl_uint query)
{
    if (!fault(FAULT_answer_is_off, ANY_PLATFORM) ||
        query != (cl_uint)fault_value(FAULT_answer_is_off, ANY_PLATFORM, 0)) {
        return false;
    }
    const struct object *object = object_find(handle);
    const struct creation *creation = object ? object->creation : NULL;
    return creation ? config.function[creation->function].misreported || !misreports_anything()
                    : object && !misreports_anything();
}

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
    if (result == CL_SUCCESS && to && size > 0 && is_off(arguments[0], (cl_uint)arguments[last - 3])) {
        to[0] ^= 1;
    }
    if (result == CL_SUCCESS && to && fault(FAULT_answer_is_zero, ANY_PLATFORM) &&
        (cl_uint)arguments[last - 3] == (cl_uint)fault_value(FAULT_answer_is_zero, ANY_PLATFORM, 0)) {
        memset(to, 0, size);
    }
    if (size_ret && size == 4 && fault(FAULT_info_sizes_are_long, ANY_PLATFORM)) {
        *size_ret = 8;
    }
    return result;
}
