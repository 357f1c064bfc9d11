/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers, results and the tokens that name values, so that a recorded exchange can be replayed at other addresses. */
#include "values.h"

#include "guarded.h"

#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_VALUES = 1 << 16 };

static struct buffer {
    struct guarded memory;
    bool is_protected;
} buffers[MAX_VALUES];
static uint64_t results[MAX_VALUES];
static atomic_uint_fast64_t used; /* no index from here on; threads make values at once */
static token_finder *finders[UCHAR_MAX + 1];

_Thread_local struct callback_arguments callback_arguments;

/* --- buffers and results --- */

static void note_used(uint64_t index)
{
    uint_fast64_t before = atomic_load(&used);
    while (index >= before && !atomic_compare_exchange_weak(&used, &before, index + 1)) {
    }
}

/* Far more than any case asks for, and little enough to add to. */
#define MOST_BYTES (SIZE_MAX >> 2 < (uint64_t)1 << 40 ? SIZE_MAX >> 2 : (size_t)((uint64_t)1 << 40))

bool buffer_make(uint64_t index, size_t size, int fill)
{
    if (index >= MAX_VALUES || size > MOST_BYTES) {
        return false;
    }
    buffer_free(index);
    note_used(index);
    struct buffer *buffer = &buffers[index];
    if (!guarded_share(&buffer->memory, size) && !guarded_make(&buffer->memory, size)) {
        return false;
    }
    buffer->is_protected = false;
    memset(buffer->memory.bytes, fill, size);
    return true;
}

static struct buffer *buffer_at(uint64_t index)
{
    return index < MAX_VALUES && buffers[index].memory.mapping ? &buffers[index] : NULL;
}

void buffer_free(uint64_t index)
{
    struct buffer *buffer = buffer_at(index);
    if (buffer) {
        guarded_free(&buffer->memory);
    }
}

bool buffer_protect(uint64_t index)
{
    struct buffer *buffer = buffer_at(index);
    if (!buffer || !guarded_protect(&buffer->memory)) {
        return false;
    }
    buffer->is_protected = true;
    return true;
}

unsigned char *buffer_bytes(uint64_t index, size_t offset, size_t length)
{
    const struct buffer *buffer = buffer_at(index);
    if (!buffer || offset > buffer->memory.size || length > buffer->memory.size - offset) {
        return NULL;
    }
    return buffer->memory.bytes + offset;
}

unsigned char *buffer_for_writing(uint64_t index, size_t offset, size_t length)
{
    unsigned char *bytes = buffer_bytes(index, offset, length);
    return bytes && !buffers[index].is_protected ? bytes : NULL;
}

void result_set(uint64_t index, uint64_t value)
{
    if (index < MAX_VALUES) {
        note_used(index);
        results[index] = value;
    }
}

void values_forget(void)
{
    for (; used > 0; used--) {
        struct guarded *memory = &buffers[used - 1].memory;
        if (memory->is_shared) {
            *memory = (struct guarded){0};
        } else {
            buffer_free(used - 1);
        }
        results[used - 1] = 0;
    }
    guarded_forget();
}

/* --- tokens --- */

bool number_value(const char *text, uint64_t *value)
{
    char *end;
    const char *digits = *text == '-' ? text + 1 : text;
    if (*digits < '0' || *digits > '9') {
        return false;
    }
    errno = 0;
    *value = *text == '-' ? (uint64_t)strtoll(text, &end, 0) : strtoull(text, &end, 0);
    return *end == '\0' && errno == 0;
}

/* "b3" or "b3+16" */
static unsigned char *place(const char *token, size_t length)
{
    char *end;
    unsigned long index = strtoul(token + 1, &end, 10);
    unsigned long offset = *end == '+' ? strtoul(end + 1, &end, 10) : 0;
    return *end == '\0' ? buffer_bytes(index, offset, length) : NULL;
}

/* "5", or "5+16": the result with that number, and so much more. */
static bool result_of(const char *text, uint64_t *value)
{
    char *end;
    unsigned long index = strtoul(text, &end, 10);
    unsigned long more = *end == '+' ? strtoul(end + 1, &end, 10) : 0;
    bool good = *text >= '0' && *text <= '9' && *end == '\0' && index < MAX_VALUES;
    *value = good ? results[index] + more : 0;
    return good;
}

/* The word with a number among some. */
static bool word_of(const uint64_t *words, size_t count, const char *number, uint64_t *value)
{
    uint64_t index;
    bool good = number_value(number, &index) && index < count;
    *value = good ? words[index] : 0;
    return good;
}

void token_finder_set(char prefix, token_finder *finder)
{
    finders[(unsigned char)prefix] = finder;
}

bool token_value(const char *token, uint64_t *value)
{
    unsigned char *at;
    uintptr_t word;
    token_finder *finder = finders[(unsigned char)*token];
    switch (*token) {
    case 'b':
        at = place(token, 0);
        *value = (uint64_t)(uintptr_t)at;
        return at != NULL;
    case '*':
        at = place(token + 1, sizeof word);
        if (at) {
            memcpy(&word, at, sizeof word);
            *value = word;
        }
        return at != NULL;
    case 'r':
        return result_of(token + 1, value);
    case 'c':
        return word_of(callback_arguments.values, callback_arguments.count, token + 1, value);
    default:
        return finder ? finder(token + 1, value) : number_value(token, value);
    }
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

long hex_bytes(const char *hex, unsigned char *to)
{
    long count = 0;
    for (; hex[0] && hex[1]; hex += 2, count++) {
        int high = hex_digit(hex[0]);
        int low = hex_digit(hex[1]);
        if (high < 0 || low < 0) {
            return -1;
        }
        if (to) {
            to[count] = (unsigned char)(high * 16 + low);
        }
    }
    return *hex ? -1 : count;
}
