/* SPDX-License-Identifier: Apache-2.0 */
/* Writer of the call log; formats by hand, because it runs inside every dispatched call (see `clharness bench`). */
#include "calllog.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MAGIC "clharness call log 1\n"

/* At the start of the file. `next` counts bytes of lines reserved; lines start after CALLLOG_HEADER bytes. */
struct header {
    char magic[32];
    _Atomic uint64_t next;
    _Atomic uint64_t dropped;
};

int calllog_open(struct calllog *log, const char *path)
{
    struct stat status;
    int fd = open(path, O_RDWR | O_CLOEXEC);
    log->map = NULL;
    if (fd < 0) {
        return -1;
    }
    if (fstat(fd, &status) != 0 || status.st_size <= CALLLOG_HEADER) {
        close(fd);
        errno = EINVAL;
        return -1;
    }
    log->size = (size_t)status.st_size - CALLLOG_HEADER;
    void *map = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (map == MAP_FAILED) {
        return -1;
    }
    if (memcmp(map, MAGIC, sizeof MAGIC - 1) != 0) {
        munmap(map, (size_t)status.st_size);
        errno = EINVAL;
        return -1;
    }
    log->map = map;
    return 0;
}

void calllog_close(struct calllog *log)
{
    if (log->map) {
        munmap(log->map, log->size + CALLLOG_HEADER);
        log->map = NULL;
    }
}

/* TAIL is the room that every line keeps for its end: closing braces and the mark of a cut. The limits of strings are
 * bytes before escaping, which makes six of one; the start of a line has to fit whatever its names are. */
enum { TAIL = 32, MAX_DEPTH = 16, NAME_LIMIT = 128, STRING_LIMIT = 512 };

/* Room for `length` more bytes, or NULL where they do not fit: then the line is cut. What is written after them, up
 * to TAIL bytes, is overwritten by what comes next. */
static char *reserve(struct calllog_line *line, size_t length)
{
    if (line->cut || line->length + length > CALLLOG_LINE - TAIL) {
        line->cut = 1;
        return NULL;
    }
    char *to = line->text + line->length;
    line->length += length;
    return to;
}

/* Not inlined: what compilers make of a short copy whose longest length they know costs more than the call. */
__attribute__((noinline)) static void put(struct calllog_line *line, const char *text, size_t length)
{
    char *to = reserve(line, length);
    if (to) {
        memcpy(to, text, length);
    }
}

/* Of a length that the compiler knows: a few moves. */
static inline void put_fixed(struct calllog_line *line, const char *text, size_t length)
{
    char *to = reserve(line, length);
    if (to) {
        memcpy(to, text, length);
    }
}

#define PUT(line, literal) put_fixed(line, literal, sizeof(literal) - 1)

static void put_decimal(struct calllog_line *line, uint64_t value)
{
    char digits[20];
    size_t at = sizeof digits;
    do {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    put(line, digits + at, sizeof digits - at);
}

/* Nanoseconds as one number, without the division of a number that long. */
static void put_time(struct calllog_line *line, const struct timespec *time)
{
    uint32_t rest = (uint32_t)time->tv_nsec;
    if (time->tv_sec == 0) {
        put_decimal(line, rest);
        return;
    }
    put_decimal(line, (uint64_t)time->tv_sec);
    char *to = reserve(line, 9);
    for (int i = 8; to && i >= 0; i--) {
        to[i] = (char)('0' + rest % 10);
        rest /= 10;
    }
}

/* The eight hexadecimal digits of a number, in the order of text: each of its nibbles becomes a byte, all at once. */
static void hex_digits(char *to, uint32_t value)
{
    const uint64_t ones = 0x0101010101010101U;
    uint64_t x = value;
    x = (x << 16 | x) & 0x0000FFFF0000FFFFU;
    x = (x << 8 | x) & 0x00FF00FF00FF00FFU;
    x = (x << 4 | x) & 0x0F0F0F0F0F0F0F0FU;
    uint64_t letters = (x + 6 * ones) >> 4 & ones;
    x += '0' * ones + letters * ('a' - '0' - 10);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    x = __builtin_bswap64(x);
#endif
    memcpy(to, &x, sizeof x);
}

static void put_hex(struct calllog_line *line, uint64_t value)
{
    size_t count = value ? (67 - (size_t)__builtin_clzll(value)) / 4 : 1;
    PUT(line, "\"0x");
    char *to = reserve(line, count + 1);
    if (!to) {
        return;
    }
    value <<= 64 - 4 * count; /* the first digit in front */
    hex_digits(to, (uint32_t)(value >> 32));
    if (count > 8) {
        hex_digits(to + 8, (uint32_t)value);
    }
    to[count] = '"';
}

static void put_key(struct calllog_line *line, const char *key)
{
    if (!line->cut && line->text[line->length - 1] != '{') {
        PUT(line, ",\"");
    } else {
        PUT(line, "\"");
    }
    put(line, key, strlen(key));
    PUT(line, "\":");
}

static bool is_plain(unsigned char c)
{
    return c >= ' ' && c < 127 && c != '"' && c != '\\';
}

static void put_string(struct calllog_line *line, const char *text, size_t length, size_t limit)
{
    size_t shown = length < limit ? length : limit;
    PUT(line, "\"");
    for (size_t i = 0; i < shown;) {
        size_t start = i;
        while (i < shown && is_plain((unsigned char)text[i])) {
            i++;
        }
        put(line, text + start, i - start);
        if (i < shown) {
            unsigned char c = (unsigned char)text[i++];
            char escape[6] = {'\\', 'u', '0', '0', "0123456789abcdef"[c >> 4], "0123456789abcdef"[c & 15]};
            put(line, escape, sizeof escape);
        }
    }
    if (length > limit) {
        PUT(line, "...");
    }
    PUT(line, "\"");
}

/* Cuts back to the last whole member, so that a cut line is still JSON. */
static void settle(struct calllog_line *line, size_t before)
{
    if (line->cut) {
        line->length = before;
    }
}

/* Unique per thread and free: the thread pointer where it can be read, else the thread's own word. */
static uint64_t this_thread(void)
{
#if defined(_WIN64)
    uint64_t thread;
    __asm__("movq %%gs:0x30, %0" : "=r"(thread));
    return thread;
#elif defined(__x86_64__) && !defined(_WIN32)
    uint64_t thread;
    __asm__("movq %%fs:0, %0" : "=r"(thread));
    return thread;
#else
    return (uint64_t)(uintptr_t)pthread_self();
#endif
}

void calllog_begin(struct calllog_line *line, const char *who, const char *event, const char *name)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    line->length = 0;
    line->depth = 0;
    line->cut = 0;
    PUT(line, "{\"t\":");
    put_time(line, &now);
    PUT(line, ",\"th\":");
    put_hex(line, this_thread());
    PUT(line, ",\"who\":");
    put_string(line, who, strlen(who), NAME_LIMIT);
    put_key(line, event);
    put_string(line, name, strlen(name), NAME_LIMIT);
}

void calllog_hex(struct calllog_line *line, const char *key, uint64_t value)
{
    size_t before = line->length;
    put_key(line, key);
    put_hex(line, value);
    settle(line, before);
}

void calllog_string(struct calllog_line *line, const char *key, const char *text, size_t length)
{
    size_t before = line->length;
    put_key(line, key);
    put_string(line, text, length, STRING_LIMIT);
    settle(line, before);
}

void calllog_words(struct calllog_line *line, const char *key, const uint64_t *values, size_t count)
{
    size_t before = line->length;
    put_key(line, key);
    PUT(line, "[");
    for (size_t i = 0; i < count; i++) {
        if (i) {
            PUT(line, ",");
        }
        put_hex(line, values[i]);
    }
    PUT(line, "]");
    settle(line, before);
}

void calllog_open_object(struct calllog_line *line, const char *key)
{
    size_t before = line->length;
    line->cut |= line->depth == MAX_DEPTH;
    put_key(line, key);
    PUT(line, "{");
    settle(line, before);
    line->depth += !line->cut;
}

void calllog_close_object(struct calllog_line *line)
{
    if (line->depth > 0) {
        line->text[line->length++] = '}'; /* TAIL keeps room for it */
        line->depth--;
    }
}

void calllog_commit(struct calllog *log, struct calllog_line *line)
{
    while (line->depth > 0) {
        calllog_close_object(line);
    }
    if (line->cut) {
        memcpy(line->text + line->length, ",\"cut\":1", 8);
        line->length += 8;
    }
    line->text[line->length++] = '}';
    line->text[line->length++] = '\n';
    if (!log->map) {
        return;
    }
    struct header *header = (struct header *)log->map;
    uint64_t at = atomic_fetch_add(&header->next, line->length);
    if (at + line->length > log->size) {
        atomic_fetch_add(&header->dropped, 1);
        return;
    }
    memcpy(log->map + CALLLOG_HEADER + at, line->text, line->length);
}
