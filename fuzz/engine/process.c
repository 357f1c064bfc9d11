/* SPDX-License-Identifier: Apache-2.0 */
/* What else a loader may leave in the process: functions for its end, keys of threads, output. */
#define _GNU_SOURCE
#include "internal.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

enum { MOST = 32 };

static struct {
    void (*function)(void *);
    void *argument;
} exits[MOST];
static size_t exit_count;
static pthread_key_t keys[MOST];
static size_t key_count;
static FILE *nowhere;

static int my_cxa_atexit(void (*function)(void *), void *argument, void *library)
{
    (void)library;
    if (exit_count == MOST) {
        return -1;
    }
    exits[exit_count].function = function;
    exits[exit_count++].argument = argument;
    return 0;
}

static int my_atexit(void (*function)(void))
{
    return my_cxa_atexit((void (*)(void *))function, NULL, NULL);
}

static int my_register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void), void *library)
{
    (void)prepare;
    (void)parent;
    (void)child;
    (void)library;
    return 0;
}

static int my_key_create(pthread_key_t *key, void (*destructor)(void *))
{
    int error = key_count == MOST ? EAGAIN : pthread_key_create(key, destructor);
    if (!error) {
        keys[key_count++] = *key;
    }
    return error;
}

static int my_key_delete(pthread_key_t key)
{
    for (size_t i = 0; i < key_count; i++) {
        if (keys[i] == key) {
            keys[i] = keys[--key_count];
            break;
        }
    }
    return pthread_key_delete(key);
}

/* --- Locks: an input has one thread, so that whoever waits for a lock waits forever --- */

static const void *begun[MOST]; /* what pthread_once is at */
static size_t begun_count;

static int my_once(pthread_once_t *control, void (*function)(void))
{
    for (size_t i = 0; i < begun_count; i++) {
        if (begun[i] == control) {
            finding("hang", keep_text("once@%s", function_at((uintptr_t)function)),
                    "the loader, while it is initialised by %s, waits for the end of that: it was called from inside",
                    function_at((uintptr_t)function));
            leave_run();
        }
    }
    if (begun_count == MOST) {
        return pthread_once(control, function);
    }
    begun[begun_count++] = control;
    int error = pthread_once(control, function);
    begun_count--;
    return error;
}

static int my_mutex_lock(pthread_mutex_t *mutex)
{
    int error = pthread_mutex_trylock(mutex);
    if (error == EBUSY) {
        finding("hang", keep_text("lock@%s", where((uintptr_t)__builtin_return_address(0))),
                "the loader waits in %s for a lock that it holds itself",
                where((uintptr_t)__builtin_return_address(0)));
        leave_run();
    }
    return error;
}

/* A loader's own log is nobody's business here, and may be long. */
__attribute__((constructor)) static void open_nowhere(void)
{
    nowhere = fopen("/dev/null", "w");
    nowhere = nowhere ? nowhere : stderr; /* where there is no /dev */
}

const struct import process_imports[] = {
    FUNCTION("__cxa_atexit", my_cxa_atexit),
    FUNCTION("atexit", my_atexit),
    FUNCTION("__register_atfork", my_register_atfork),
    FUNCTION("pthread_key_create", my_key_create),
    FUNCTION("pthread_key_delete", my_key_delete),
    FUNCTION("pthread_once", my_once),
    FUNCTION("pthread_mutex_lock", my_mutex_lock),
    {"stderr", NULL, &nowhere},
    {"stdout", NULL, &nowhere},
    {NULL, NULL, NULL},
};

void process_run_exits(void)
{
    while (exit_count > 0) {
        exit_count--;
        exits[exit_count].function(exits[exit_count].argument);
    }
}

void process_reset(void)
{
    exit_count = 0;
    begun_count = 0;
    while (key_count > 0) {
        pthread_key_delete(keys[--key_count]);
    }
}
