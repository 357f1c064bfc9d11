/* SPDX-License-Identifier: Apache-2.0 */
/* The reply to a command. */
#include "reply.h"

#include "values.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Texts of the system may have lines. */
static void make_one_line(char *text)
{
    while ((text = strchr(text, '\n')) != NULL) {
        *text = ' ';
    }
}

void reply_write(const struct reply *reply, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(*reply->text, *reply->room, format, list);
    va_end(list);
    make_one_line(*reply->text);
}

void reply_ok(const struct reply *reply)
{
    reply_write(reply, "ok");
}

void reply_error(const struct reply *reply, const char *format, ...)
{
    va_list list;
    int length = snprintf(*reply->text, *reply->room, "error %s: ", reply->command);
    if (length > 0 && (size_t)length < *reply->room) {
        va_start(list, format);
        vsnprintf(*reply->text + length, *reply->room - (size_t)length, format, list);
        va_end(list);
    }
    make_one_line(*reply->text);
}

void reply_bytes(const struct reply *reply, const void *bytes, size_t length)
{
    const unsigned char *from = bytes;
    size_t needed = 4 + 2 * length;
    if (needed > *reply->room) {
        char *bigger = realloc(*reply->text, needed);
        if (!bigger) {
            reply_error(reply, "out of memory");
            return;
        }
        *reply->text = bigger;
        *reply->room = needed;
    }
    char *to = *reply->text;
    memcpy(to, "ok ", 3);
    to += 3;
    for (size_t i = 0; i < length; i++) {
        *to++ = "0123456789abcdef"[from[i] >> 4];
        *to++ = "0123456789abcdef"[from[i] & 15];
    }
    *to = '\0';
}

void reply_value(const struct reply *reply, uint64_t value)
{
    reply_write(reply, "ok 0x%llx", (unsigned long long)value);
}

void reply_result(const struct reply *reply, uint64_t index, uint64_t value)
{
    result_set(index, value);
    reply_value(reply, value);
}
