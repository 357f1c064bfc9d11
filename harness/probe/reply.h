/* SPDX-License-Identifier: Apache-2.0 */
/* The reply to a command: one line, "ok …" or "error NAME: …". */
#ifndef CLHARNESS_PROBE_REPLY_H
#define CLHARNESS_PROBE_REPLY_H

#include <stddef.h>
#include <stdint.h>

#ifdef _WIN32 /* as mingw has it with __USE_MINGW_ANSI_STDIO */
#define CLHARNESS_PRINTF gnu_printf
#else
#define CLHARNESS_PRINTF printf
#endif

struct reply {
    const char *command; /* its name */
    char **text;
    size_t *room; /* bytes that `*text` has */
};

/* Writes the whole reply, cut off at the room that there is. */
__attribute__((format(CLHARNESS_PRINTF, 2, 3))) void reply_write(const struct reply *reply, const char *format, ...);
/* "ok" */
void reply_ok(const struct reply *reply);
/* "error NAME: …" */
__attribute__((format(CLHARNESS_PRINTF, 2, 3))) void reply_error(const struct reply *reply, const char *format, ...);
/* "ok" and the bytes in hexadecimal; makes room as needed. */
void reply_bytes(const struct reply *reply, const void *bytes, size_t length);
/* "ok" and a value. */
void reply_value(const struct reply *reply, uint64_t value);
/* The same, and keeps the value as a result (values.h). */
void reply_result(const struct reply *reply, uint64_t index, uint64_t value);

#endif
