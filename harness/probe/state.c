/* SPDX-License-Identifier: Apache-2.0 */
/* Commands: what a library should leave as it is in the process that loads it. Linux only. */
#define _GNU_SOURCE
#include "process_state.h"
#include "topics.h"

#include <malloc.h>
#include <stdlib.h>

static void show_state(const struct argument *a, const struct reply *reply)
{
    size_t length = 0;
    char *text = process_state(&length);
    (void)a;
    if (text) {
        reply_bytes(reply, text, length);
    } else {
        reply_error(reply, "out of memory");
    }
    free(text);
}

static void show_heap(const struct argument *a, const struct reply *reply)
{
    (void)a;
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 33)
    reply_write(reply, "ok %zu", mallinfo2().uordblks);
#else
    reply_error(reply, "not available with this C library");
#endif
}

static const struct command rows[] = {
    /* ok BYTES: lines NAME=VALUE of locale, signals, threads and so on. */
    {"state", "", show_state, false},
    /* ok NUMBER of bytes that are allocated. */
    {"heap", "", show_heap, false},
    {0},
};

const struct command_table state_commands = {.rows = rows};
