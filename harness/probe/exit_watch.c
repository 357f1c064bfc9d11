/* SPDX-License-Identifier: Apache-2.0 */
/* Preloaded: counts the exit handlers that are registered, for harness/probe/process.c.
 *
 * atexit(f) is __cxa_atexit(f, NULL, library) in every C library that knows the latter. Destructors of C++ objects are
 * registered there, too, with the object in the place of NULL: nobody's exit handlers.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

__attribute__((visibility("default"))) long clharness_exit_handlers;

typedef int register_function(void (*)(void *), void *, void *);
typedef int on_exit_function(void (*)(int, void *), void *);

int __cxa_atexit(void (*handler)(void *), void *argument, void *library);
int on_exit(void (*handler)(int, void *), void *argument);

__attribute__((visibility("default"))) int __cxa_atexit(void (*handler)(void *), void *argument, void *library)
{
    register_function *next = (register_function *)(uintptr_t)dlsym(RTLD_NEXT, "__cxa_atexit");
    clharness_exit_handlers += argument == NULL;
    return next(handler, argument, library);
}

__attribute__((visibility("default"))) int on_exit(void (*handler)(int, void *), void *argument)
{
    on_exit_function *next = (on_exit_function *)(uintptr_t)dlsym(RTLD_NEXT, "on_exit");
    clharness_exit_handlers++;
    return next(handler, argument);
}
