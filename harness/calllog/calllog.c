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

/* Whether so many pieces of a size fit, so that they can be written without asking again. */
static inline bool has_room(const struct calllog_line *line, size_t count, size_t size)
{
    return !line->cut && count < CALLLOG_LINE && line->length + count * size <= CALLLOG_LINE - TAIL;
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

#define ONES UINT64_C(0x0101010101010101) /* 1 in each of eight bytes */

/* Eight bytes, of which the first in memory is the lowest of the number. */
static void store(char *to, uint64_t bytes)
{
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
    bytes = __builtin_bswap64(bytes);
#endif
    memcpy(to, &bytes, sizeof bytes);
}

/* The eight decimal digits of a number below 10^8 as bytes, the first of them the lowest: all are divided at once, by
 * products that are exact for numbers this small, into four, two and one digits. */
static uint64_t decimal_digits(uint32_t value)
{
    uint64_t fours = value / 10000 | (uint64_t)(value % 10000) << 32;
    uint64_t hundreds = (fours * 10486) >> 20 & 0x0000007F0000007FU;
    uint64_t twos = hundreds | (fours - 100 * hundreds) << 16;
    uint64_t tens = (twos * 103) >> 10 & 0x000F000F000F000FU;
    return tens | (twos - 10 * tens) << 8;
}

/* Nanoseconds as one number, without the division of a number that long. Gives where it ends, 20 bytes on at most. */
static char *time_at(char *to, const struct timespec *time)
{
    uint64_t seconds = (uint64_t)time->tv_sec;
    uint32_t rest = (uint32_t)time->tv_nsec;
    if (seconds == 0 || seconds >= 100000000) {
        char digits[20];
        size_t at = sizeof digits;
        for (uint64_t value = seconds * 1000000000 + rest; value || at == sizeof digits; value /= 10) {
            digits[--at] = (char)('0' + value % 10);
        }
        memcpy(to, digits + at, sizeof digits - at);
        return to + sizeof digits - at;
    }
    uint64_t digits = decimal_digits((uint32_t)seconds);
    int zeros = __builtin_ctzll(digits) / 8;
    store(to, (digits + '0' * ONES) >> 8 * zeros);
    to += 8 - zeros;
    *to++ = (char)('0' + rest / 100000000);
    store(to, decimal_digits(rest % 100000000) + '0' * ONES);
    return to + 8;
}

/* The eight hexadecimal digits of a number, in the order of text: each of its nibbles becomes a byte, all at once. */
static void hex_digits(char *to, uint32_t value)
{
    const uint64_t ones = ONES;
    uint64_t x = value;
    x = (x << 16 | x) & 0x0000FFFF0000FFFFU;
    x = (x << 8 | x) & 0x00FF00FF00FF00FFU;
    x = (x << 4 | x) & 0x0F0F0F0F0F0F0F0FU;
    uint64_t letters = (x + 6 * ones) >> 4 & ones;
    x += '0' * ones + letters * ('a' - '0' - 10);
    store(to, __builtin_bswap64(x));
}

/* Gives where the copy of a literal ends. */
#define COPY(to, literal) (memcpy(to, literal, sizeof(literal) - 1), (to) + sizeof(literal) - 1)

enum { HEX_ROOM = 20 }; /* bytes of a word: "0x…" */

/* A word, where there is room for it. Gives where it ends. */
static inline char *hex_at(char *to, uint64_t value)
{
    size_t count = value ? (67 - (size_t)__builtin_clzll(value)) / 4 : 1;
    to = COPY(to, "\"0x");
    value <<= 64 - 4 * count; /* the first digit in front */
    hex_digits(to, (uint32_t)(value >> 32));
    if (count > 8) {
        hex_digits(to + 8, (uint32_t)value);
    }
    to[count] = '"';
    return to + count + 1;
}

static void put_hex(struct calllog_line *line, uint64_t value)
{
    char word[HEX_ROOM];
    put(line, word, (size_t)(hex_at(word, value) - word));
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

/* Whether all of eight bytes are plain. No byte below ' ' or above '~' that it is asked of carries into another one
 * without being noticed itself. */
static bool are_plain(uint64_t x)
{
    uint64_t quotes = x ^ '"' * ONES;
    uint64_t slashes = x ^ '\\' * ONES;
    uint64_t bad = x | (x - ' ' * ONES) | (x + ONES) | ((quotes - ONES) & ~quotes) | ((slashes - ONES) & ~slashes);
    return !(bad & 0x80 * ONES);
}

/* Copies plain text where there is room for it. Gives where it ends, or NULL where it is not plain. */
static inline char *plain_at(char *to, const char *text, size_t length)
{
    size_t at = 0;
    uint64_t eight;
    for (; length - at >= sizeof eight; at += sizeof eight) {
        memcpy(&eight, text + at, sizeof eight);
        if (!are_plain(eight)) {
            return NULL;
        }
        memcpy(to + at, &eight, sizeof eight);
    }
    for (; at < length; at++) {
        if (!is_plain((unsigned char)text[at])) {
            return NULL;
        }
        to[at] = text[at];
    }
    return to + length;
}

static void put_string(struct calllog_line *line, const char *text, size_t length, size_t limit)
{
    size_t shown = length < limit ? length : limit;
    PUT(line, "\"");
    char *end = shown == length && has_room(line, length, 1) ? plain_at(line->text + line->length, text, length) : NULL;
    if (end) { /* as nearly all are */
        line->length += length;
        PUT(line, "\"");
        return;
    }
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

/* The usual names, none of which needs escapes or cuts, in a line that has room for them. False: unusual ones. */
static bool begin_plain(struct calllog_line *line, char *to, const char *who, const char *event, const char *name)
{
    size_t lengths[] = {strlen(who), strlen(event), strlen(name)};
    if (lengths[0] > NAME_LIMIT || lengths[1] > NAME_LIMIT || lengths[2] > NAME_LIMIT) {
        return false;
    }
    *to++ = '"';
    to = plain_at(to, who, lengths[0]);
    if (!to) {
        return false;
    }
    to = COPY(to, "\",\"");
    memcpy(to, event, lengths[1]);
    to = COPY(to + lengths[1], "\":\"");
    to = plain_at(to, name, lengths[2]);
    if (!to) {
        return false;
    }
    *to++ = '"';
    line->length = (size_t)(to - line->text);
    return true;
}

void calllog_begin(struct calllog_line *line, const char *who, const char *event, const char *name)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    line->depth = 0;
    line->cut = 0;
    char *to = time_at(COPY(line->text, "{\"t\":"), &now);
    to = hex_at(COPY(to, ",\"th\":"), this_thread());
    to = COPY(to, ",\"who\":");
    line->length = (size_t)(to - line->text);
    if (!begin_plain(line, to, who, event, name)) {
        put_string(line, who, strlen(who), NAME_LIMIT);
        put_key(line, event);
        put_string(line, name, strlen(name), NAME_LIMIT);
    }
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
    if (has_room(line, count, HEX_ROOM + 1)) {
        char *to = line->text + line->length;
        for (size_t i = 0; i < count; i++) {
            to = hex_at(to, values[i]);
            *to++ = ',';
        }
        line->length = (size_t)(to - line->text) - (count > 0);
        PUT(line, "]");
        settle(line, before);
        return;
    }
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
