/* Buffers, results and the tokens that name values, so that a recorded exchange can be replayed at other addresses. */
#define _GNU_SOURCE
#include "clharness_callbacks.h"
#include "probe.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MAX_VALUES = 1 << 16 };

struct buffer {
    unsigned char *bytes;
    size_t size;
    void *mapping;
    size_t mapping_size;
    bool is_protected;
};

static struct buffer buffers[MAX_VALUES];
static uint64_t results[MAX_VALUES];
static unsigned used; /* no index from here on */

_Thread_local struct callback_arguments callback_arguments;

bool buffer_make(unsigned index, size_t size, int fill)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t readable = (size + page - 1) / page * page;
    if (index >= MAX_VALUES || size > ((size_t)1 << 40)) {
        return false;
    }
    buffer_free(index);
    used = index < used ? used : index + 1;
    struct buffer *buffer = &buffers[index];
    void *mapping = mmap(NULL, readable + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapping == MAP_FAILED) {
        return false;
    }
    mprotect((char *)mapping + readable, page, PROT_NONE);
    *buffer = (struct buffer){(unsigned char *)mapping + readable - size, size, mapping, readable + page, false};
    memset(buffer->bytes, fill, size);
    return true;
}

void buffer_free(unsigned index)
{
    if (index < MAX_VALUES && buffers[index].mapping) {
        munmap(buffers[index].mapping, buffers[index].mapping_size);
        buffers[index] = (struct buffer){0};
    }
}

bool buffer_protect(unsigned index)
{
    struct buffer *buffer = index < MAX_VALUES && buffers[index].mapping ? &buffers[index] : NULL;
    if (buffer && mprotect(buffer->mapping, buffer->mapping_size - (size_t)sysconf(_SC_PAGESIZE), PROT_READ) == 0) {
        buffer->is_protected = true;
        return true;
    }
    return false;
}

unsigned char *buffer_bytes(unsigned index, size_t offset, size_t length)
{
    if (index >= MAX_VALUES || !buffers[index].mapping || offset > buffers[index].size ||
        length > buffers[index].size - offset) {
        return NULL;
    }
    return buffers[index].bytes + offset;
}

unsigned char *buffer_for_writing(unsigned index, size_t offset, size_t length)
{
    unsigned char *bytes = buffer_bytes(index, offset, length);
    return bytes && !buffers[index].is_protected ? bytes : NULL;
}

void result_set(unsigned index, uint64_t value)
{
    if (index < MAX_VALUES) {
        used = index < used ? used : index + 1;
        results[index] = value;
    }
}

void values_forget(void)
{
    for (; used > 0; used--) {
        buffer_free(used - 1);
        results[used - 1] = 0;
    }
}

static bool number(const char *text, uint64_t *value)
{
    char *end;
    errno = 0;
    *value = *text == '-' ? (uint64_t)strtoll(text, &end, 0) : strtoull(text, &end, 0);
    return end != text && *end == '\0' && errno == 0;
}

/* "b3" or "b3+16" */
static unsigned char *place(const char *token, size_t length)
{
    char *end;
    unsigned long index = strtoul(token + 1, &end, 10);
    unsigned long offset = *end == '+' ? strtoul(end + 1, &end, 10) : 0;
    return *end == '\0' ? buffer_bytes((unsigned)index, offset, length) : NULL;
}

static bool callback_address(const char *name, uint64_t *value)
{
    for (const struct callback *callback = callbacks; callback->name; callback++) {
        if (strcmp(callback->name, name) == 0) {
            *value = (uint64_t)(uintptr_t)callback->address;
            return true;
        }
    }
    return false;
}

bool token_value(const char *token, uint64_t *value)
{
    unsigned char *at;
    switch (*token) {
    case 'b':
        at = place(token, 0);
        *value = (uint64_t)(uintptr_t)at;
        return at != NULL;
    case '*':
        at = place(token + 1, sizeof *value);
        if (at) {
            memcpy(value, at, sizeof *value);
        }
        return at != NULL;
    case 'r': {
        uint64_t index;
        bool good = number(token + 1, &index) && index < MAX_VALUES;
        *value = good ? results[index] : 0;
        return good;
    }
    case 'c': {
        uint64_t index;
        bool good = number(token + 1, &index) && index < callback_arguments.count;
        *value = good ? callback_arguments.values[index] : 0;
        return good;
    }
    case '^':
        return callback_address(token + 1, value);
    case '@':
        *value = (uint64_t)(uintptr_t)loader_symbol(token + 1, NULL);
        return *value != 0;
    default:
        return number(token, value);
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
