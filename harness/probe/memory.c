/* SPDX-License-Identifier: Apache-2.0 */
/* Commands: buffers, and memory at any address. */
#include "guarded.h"
#include "topics.h"

#include <errno.h>
#include <string.h>

static void make_buffer(const struct argument *a, const struct reply *reply)
{
    if (buffer_make(a[0].value, a[1].value, (int)a[2].value)) {
        reply_ok(reply);
    } else {
        reply_error(reply, "no room for buffer %s of %s bytes", a[0].text, a[1].text);
    }
}

static void free_buffer(const struct argument *a, const struct reply *reply)
{
    buffer_free(a[0].value);
    reply_ok(reply);
}

static void protect_buffer(const struct argument *a, const struct reply *reply)
{
    if (buffer_protect(a[0].value)) {
        reply_ok(reply);
    } else {
        reply_error(reply, "there is no buffer %s", a[0].text);
    }
}

static void write_buffer(const struct argument *a, const void *bytes, size_t length, const struct reply *reply)
{
    unsigned char *to = buffer_for_writing(a[0].value, a[1].value, length);
    if (!to) {
        reply_error(reply, "%zu bytes at %s do not fit into buffer %s, or it is protected", length, a[1].text,
                    a[0].text);
        return;
    }
    memcpy(to, bytes, length);
    reply_ok(reply);
}

static void put_bytes(const struct argument *a, const struct reply *reply)
{
    write_buffer(a, a[2].text, a[2].length, reply);
}

static void put_word(const struct argument *a, const struct reply *reply)
{
    uintptr_t word = (uintptr_t)a[2].value;
    write_buffer(a, &word, sizeof word, reply);
}

static void get_bytes(const struct argument *a, const struct reply *reply)
{
    const unsigned char *bytes = buffer_bytes(a[0].value, a[1].value, a[2].value);
    if (bytes) {
        reply_bytes(reply, bytes, a[2].value);
    } else {
        reply_error(reply, "%s bytes at %s are not all inside buffer %s", a[2].text, a[1].text, a[0].text);
    }
}

static void read_memory(const struct argument *a, const struct reply *reply)
{
    unsigned char bytes[4096];
    if (a[1].value > sizeof bytes) {
        reply_error(reply, "more than %zu bytes", sizeof bytes);
        return;
    }
    long length = memory_read(a[0].value, bytes, a[1].value);
    if (length < 0) {
        reply_error(reply, "unreadable: %s", strerror(errno));
    } else {
        reply_bytes(reply, bytes, (size_t)length);
    }
}

static void write_memory(const struct argument *a, const struct reply *reply)
{
    if (memory_write(a[0].value + a[1].value, a[2].text, a[2].length) == (long)a[2].length) {
        reply_ok(reply);
    } else {
        reply_error(reply, "unwritable: %s", strerror(errno));
    }
}

static void show_value(const struct argument *a, const struct reply *reply)
{
    reply_value(reply, a[0].value);
}

static void peek(const struct argument *a, const struct reply *reply)
{
    uintptr_t value = 0;
    if (memory_read(a[1].value + a[2].value, &value, sizeof value) == (long)sizeof value) {
        reply_result(reply, a[0].value, value);
    } else {
        reply_error(reply, "unreadable: %s", strerror(errno));
    }
}

static const struct command rows[] = {
    /* A buffer of so many bytes, each with the value of NUMBER, that ends at an unreadable page. */
    {"buffer", "BUFFER SIZE NUMBER", make_buffer, false},
    {"free", "BUFFER", free_buffer, false},
    /* Makes the buffer unwritable. */
    {"protect", "BUFFER", protect_buffer, false},
    {"put", "BUFFER OFFSET HEX", put_bytes, false},
    /* Puts a value as a word, which is as wide as an address. */
    {"word", "BUFFER OFFSET TOKEN", put_word, false},
    /* ok BYTES */
    {"get", "BUFFER OFFSET LENGTH", get_bytes, false},
    /* ok BYTES at any address, as far as they can be read, or an error; never faults. */
    {"read", "TOKEN LENGTH", read_memory, false},
    /* Writes bytes at any address and an offset, or an error; never faults. */
    {"store", "TOKEN OFFSET HEX", write_memory, false},
    /* ok VALUE */
    {"value", "TOKEN", show_value, false},
    /* ok VALUE of the word there, which is as wide as an address, kept as a result, or an error; never faults. */
    {"peek", "RESULT TOKEN OFFSET", peek, false},
    {0},
};

const struct command_table memory_commands = {.rows = rows, .own = true};
