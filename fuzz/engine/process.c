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
    while (key_count > 0) {
        pthread_key_delete(keys[--key_count]);
    }
}
