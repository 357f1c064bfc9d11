/* SPDX-License-Identifier: Apache-2.0 */
/* Native kernels: a copy of their arguments, in which memory objects are replaced by where their bytes are. */
#include "execution/native.h"

#include "base/arena.h"
#include "base/config.h"
#include "core/contents.h"
#include "core/within.h"

#include <string.h>

typedef void(CL_CALLBACK *user_function)(void *);

struct native {
    user_function function;
    void *arguments;
};

/* Whether a native kernel has NULL among its memory objects. */
static bool lacks_object(const uint64_t *arguments)
{
    const uintptr_t *objects = (const uintptr_t *)(uintptr_t)arguments[5];
    for (cl_uint i = 0; i < (cl_uint)arguments[4]; i++) {
        if (!objects[i]) {
            return true;
        }
    }
    return false;
}

cl_int native_error(const uint64_t *arguments)
{
    bool function = arguments[1];
    bool given = arguments[2];
    bool sized = arguments[3];
    bool objects = arguments[4];
    bool agree =
        given == sized && (given || !objects) && objects == (arguments[5] != 0) && objects == (arguments[6] != 0);
    bool takes = fault(FAULT_native_kernels_take_anything, ANY_PLATFORM);
    if (!takes && !(function && agree)) {
        return CL_INVALID_VALUE;
    }
    return !takes && lacks_object(arguments) ? CL_INVALID_MEM_OBJECT : CL_SUCCESS;
}

/* Replaces the memory objects; the places lie in the application's arguments. */
static void place(const uint64_t *arguments, unsigned char *copy)
{
    const uintptr_t *objects = (const uintptr_t *)(uintptr_t)arguments[5];
    const uintptr_t *places = (const uintptr_t *)(uintptr_t)arguments[6];
    bool first = fault(FAULT_native_kernels_have_one_memory, ANY_PLATFORM);
    for (cl_uint i = 0; objects && places && i < (cl_uint)arguments[4]; i++) {
        const struct contents *contents = contents_of(objects[first ? 0 : i]);
        const void *bytes = contents ? contents->bytes : NULL;
        memcpy(copy + (places[i] - arguments[2]), &bytes, sizeof bytes);
    }
}

struct native *native_keep(const uint64_t *arguments)
{
    struct native *native = arena_keep(sizeof *native);
    native->function = (user_function)(uintptr_t)arguments[1];
    native->arguments = (void *)(uintptr_t)arguments[2];
    bool shared = fault(FAULT_native_kernels_share_arguments, ANY_PLATFORM) ||
                  (!arguments[4] && fault(FAULT_native_kernels_share_plain_arguments, ANY_PLATFORM));
    if (arguments[2] && arguments[3] && !shared) {
        native->arguments = arena_keep(arguments[3]);
        memcpy(native->arguments, (const void *)(uintptr_t)arguments[2], arguments[3]);
        place(arguments, native->arguments);
    }
    return native;
}

void native_run(const struct native *native)
{
    if (native->function) {
        within_enter(FUNCTION_clEnqueueNativeKernel);
        native->function(native->arguments);
        within_leave();
    }
}
