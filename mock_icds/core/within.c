/* SPDX-License-Identifier: Apache-2.0 */
/* Releases within callbacks of the application. */
#include "core/within.h"

#include "base/arguments.h"
#include "base/config.h"
#include "base/errors.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>

/* The callbacks that each thread is within, from the outermost. Not thread-local: for that the dynamic linker takes
 * memory with each library, and checks of a loader's memory would count it. */
enum { MAX_DEPTH = 16, MAX_THREADS = 64 };
static struct within {
    atomic_uintptr_t thread; /* 0: free */
    enum function setters[MAX_DEPTH];
    int depth;
} threads[MAX_THREADS];

/* What no other thread has: the address of its errno. */
static uintptr_t own_thread(void)
{
    return (uintptr_t)&errno;
}

static struct within *find(void)
{
    for (size_t i = 0; i < MAX_THREADS; i++) {
        if (atomic_load(&threads[i].thread) == own_thread()) {
            return &threads[i];
        }
    }
    return NULL;
}

static struct within *take(void)
{
    struct within *within = find();
    for (size_t i = 0; !within && i < MAX_THREADS; i++) {
        uintptr_t nobody = 0;
        if (atomic_compare_exchange_strong(&threads[i].thread, &nobody, own_thread())) {
            within = &threads[i];
        }
    }
    return within;
}

void within_enter(enum function setter)
{
    struct within *within = take();
    if (within && within->depth++ < MAX_DEPTH) {
        within->setters[within->depth - 1] = setter;
    }
}

void within_leave(void)
{
    struct within *within = find();
    if (within && --within->depth == 0) {
        atomic_store(&within->thread, 0);
    }
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
    const struct within *within = argument_function_begins(function, "clRelease") ? find() : NULL;
    if (!within || within->depth > MAX_DEPTH) {
        return false;
    }
    enum function setter = within->setters[within->depth - 1];
    if (setter == FUNCTION_clSetEventCallback && fault(FAULT_releases_in_event_callbacks_crash, ANY_PLATFORM)) {
        raise(SIGSEGV); /* what a look at freed memory may do */
    }
    bool refused = is_refused(setter);
    *result = error_result(refused ? CL_INVALID_OPERATION : CL_SUCCESS);
    return refused || is_forgotten(setter);
}
