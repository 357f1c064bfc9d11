/* SPDX-License-Identifier: Apache-2.0 */
/* Reports of the address sanitizer in an instrumented loader pass through here: they are named by their place, and
 * where that is known already the input ends without a report, so that a campaign goes on after it. */
#define _GNU_SOURCE
#include "internal.h"

#include <string.h>

/* Only where the program has the sanitizer. */
extern void *__asan_region_is_poisoned(void *begin, size_t size) __attribute__((weak));
extern size_t __asan_get_free_stack(void *address, void **trace, size_t size, int *thread) __attribute__((weak));

static bool was_freed(uintptr_t address)
{
    void *frame;
    int thread;
    return __asan_get_free_stack && __asan_get_free_stack((void *)address, &frame, 1, &thread) > 0;
}

static void bad_access(uintptr_t address, const char *what, size_t size, uintptr_t caller)
{
    const char *key = keep_text("memory@%s", where(caller));
    if (is_known(key)) {
        leave_run();
    }
    bool freed = was_freed(address);
    say_finding("crash", key, "%s%s of %zu bytes at %#lx, which %s, in %s", freed ? "use after free: " : "", what, size,
                (unsigned long)address, freed ? "was freed before" : "is not the loader's", where(caller));
}

static void check(uintptr_t address, const char *what, size_t size, uintptr_t caller)
{
    if (size && __asan_region_is_poisoned && __asan_region_is_poisoned((void *)address, size)) {
        bad_access(address, what, size, caller);
    }
}

#define CALLER ((uintptr_t)__builtin_return_address(0))

/* What the compiler calls after a check of its own has failed; the sanitizer's function does not come back. The types
 * are those that gcc knows these functions with. */
#define REPORT(kind, size)                                                       \
    extern void __asan_report_##kind##size(void *address) __attribute__((weak)); \
    static void report_##kind##size(void *address)                               \
    {                                                                            \
        bad_access((uintptr_t)address, #kind, size, CALLER);                     \
        __asan_report_##kind##size(address);                                     \
    }
REPORT(load, 1)
REPORT(load, 2)
REPORT(load, 4)
REPORT(load, 8)
REPORT(load, 16)
REPORT(store, 1)
REPORT(store, 2)
REPORT(store, 4)
REPORT(store, 8)
REPORT(store, 16)

#define REPORT_N(kind)                                                                    \
    extern void __asan_report_##kind##_n(void *address, long size) __attribute__((weak)); \
    static void report_##kind##_n(void *address, long size)                               \
    {                                                                                     \
        bad_access((uintptr_t)address, #kind, (size_t)size, CALLER);                      \
        __asan_report_##kind##_n(address, size);                                          \
    }
REPORT_N(load)
REPORT_N(store)

/* What it calls to copy, and functions of the C library that the sanitizer watches. */
extern void *__asan_memcpy(void *to, const void *from, size_t size) __attribute__((weak));
extern void *__asan_memmove(void *to, const void *from, size_t size) __attribute__((weak));
extern void *__asan_memset(void *to, int value, size_t size) __attribute__((weak));

static void *my_memcpy(void *to, const void *from, size_t size)
{
    check((uintptr_t)from, "load", size, CALLER);
    check((uintptr_t)to, "store", size, CALLER);
    return __asan_memcpy(to, from, size);
}

static void *my_memmove(void *to, const void *from, size_t size)
{
    check((uintptr_t)from, "load", size, CALLER);
    check((uintptr_t)to, "store", size, CALLER);
    return __asan_memmove(to, from, size);
}

static void *my_memset(void *to, int value, size_t size)
{
    check((uintptr_t)to, "store", size, CALLER);
    return __asan_memset(to, value, size);
}

#define REPLACED(kind, size) FUNCTION("__asan_report_" #kind #size, report_##kind##size)

const struct import sanitizer_imports[] = {
    REPLACED(load, 1),
    REPLACED(load, 2),
    REPLACED(load, 4),
    REPLACED(load, 8),
    REPLACED(load, 16),
    REPLACED(load, _n),
    REPLACED(store, 1),
    REPLACED(store, 2),
    REPLACED(store, 4),
    REPLACED(store, 8),
    REPLACED(store, 16),
    REPLACED(store, _n),
    FUNCTION("__asan_memcpy", my_memcpy),
    FUNCTION("__asan_memmove", my_memmove),
    FUNCTION("__asan_memset", my_memset),
    {NULL, NULL, NULL},
};
