/* SPDX-License-Identifier: Apache-2.0 */
/* Releases within callbacks of the application. */
#include "core/within.h"

#include "base/arguments.h"
#include "base/config.h"
#include "base/errors.h"

#include <signal.h>

/* The callbacks that this thread is within, from the outermost. */
enum { MAX_DEPTH = 16 };
static _Thread_local struct {
    enum function setters[MAX_DEPTH];
    int depth;
} within;

void within_enter(enum function setter)
{
    if (within.depth < MAX_DEPTH) {
        within.setters[within.depth] = setter;
    }
    within.depth++;
}

void within_leave(void)
{
    within.depth--;
}

static bool is_forgotten(enum function setter)
{
    switch (setter) {
    case FUNCTION_clSetEventCallback:
        return fault(FAULT_releases_in_event_callbacks_are_forgotten, ANY_PLATFORM);
    case FUNCTION_clSetMemObjectDestructorCallback:
        return fault(FAULT_releases_in_destructors_are_forgotten, ANY_PLATFORM);
    case FUNCTION_clBuildProgram:
        return fault(FAULT_releases_in_build_callbacks_are_forgotten, ANY_PLATFORM);
    case FUNCTION_clEnqueueSVMFree:
        return fault(FAULT_releases_while_memory_is_freed_are_forgotten, ANY_PLATFORM);
    case FUNCTION_clEnqueueNativeKernel:
        return fault(FAULT_releases_in_native_kernels_are_forgotten, ANY_PLATFORM);
    default:
        return false;
    }
}

static bool is_refused(enum function setter)
{
    switch (setter) {
    case FUNCTION_clSetEventCallback:
        return fault(FAULT_releases_in_event_callbacks_are_refused, ANY_PLATFORM);
    case FUNCTION_clSetContextDestructorCallback:
        return fault(FAULT_releases_in_context_destructors_are_refused, ANY_PLATFORM);
    case FUNCTION_clSetMemObjectDestructorCallback:
        return fault(FAULT_releases_in_destructors_are_refused, ANY_PLATFORM);
    case FUNCTION_clBuildProgram:
        return fault(FAULT_releases_in_build_callbacks_are_refused, ANY_PLATFORM);
    default:
        return false;
    }
}

bool within_handle(enum function function, uint64_t *result)
{
    if (within.depth == 0 || within.depth > MAX_DEPTH || !argument_function_begins(function, "clRelease")) {
        return false;
    }
    enum function setter = within.setters[within.depth - 1];
    if (setter == FUNCTION_clSetEventCallback && fault(FAULT_releases_in_event_callbacks_crash, ANY_PLATFORM)) {
        raise(SIGSEGV); /* what a look at freed memory may do */
    }
    bool refused = is_refused(setter);
    *result = error_result(refused ? CL_INVALID_OPERATION : CL_SUCCESS);
    return refused || is_forgotten(setter);
}
