/* Writer of the call log; formats by hand, because it runs inside every dispatched call (see `clharness bench`). */
#include "calllog.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
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

/* Room that every line keeps for its end: closing braces and the mark of a cut. */
enum { TAIL = 32 };

static void put(struct calllog_line *line, const char *text, size_t length)
{
    if (line->cut || line->length + length > CALLLOG_LINE - TAIL) {
        line->cut = 1;
        return;
    }
    memcpy(line->text + line->length, text, length);
    line->length += length;
}

static void put_text(struct calllog_line *line, const char *text)
{
    put(line, text, strlen(text));
}

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

static void put_hex(struct calllog_line *line, uint64_t value)
{
    char digits[20];
    size_t at = sizeof digits;
    digits[--at] = '"';
    do {
        digits[--at] = "0123456789abcdef"[value & 15];
        value >>= 4;
    } while (value);
    digits[--at] = 'x';
    digits[--at] = '0';
    digits[--at] = '"';
    put(line, digits + at, sizeof digits - at);
}

static void put_key(struct calllog_line *line, const char *key)
{
    if (!line->cut && line->text[line->length - 1] != '{') {
        put(line, ",", 1);
    }
    put(line, "\"", 1);
    put_text(line, key);
    put(line, "\":", 2);
}

static void put_string(struct calllog_line *line, const char *text, size_t length)
{
    enum { LIMIT = 512 };
    put(line, "\"", 1);
    for (size_t i = 0; i < length && i < LIMIT; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c >= ' ' && c < 127 && c != '"' && c != '\\') {
            put(line, text + i, 1);
        } else {
            char escape[6] = {'\\', 'u', '0', '0', "0123456789abcdef"[c >> 4], "0123456789abcdef"[c & 15]};
            put(line, escape, sizeof escape);
        }
    }
    if (length > LIMIT) {
        put(line, "...", 3);
    }
    put(line, "\"", 1);
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
#if defined(__x86_64__)
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
    put(line, "{\"t\":", 5);
    put_decimal(line, (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec);
    put(line, ",\"th\":", 6);
    put_hex(line, this_thread());
    put(line, ",\"who\":", 7);
    put_string(line, who, strlen(who));
    put_key(line, event);
    put_string(line, name, strlen(name));
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
    put_string(line, text, length);
    settle(line, before);
}

void calllog_words(struct calllog_line *line, const char *key, const uint64_t *values, size_t count)
{
    size_t before = line->length;
    put_key(line, key);
    put(line, "[", 1);
    for (size_t i = 0; i < count; i++) {
        if (i) {
            put(line, ",", 1);
        }
        put_hex(line, values[i]);
    }
    put(line, "]", 1);
    settle(line, before);
}

void calllog_open_object(struct calllog_line *line, const char *key)
{
    size_t before = line->length;
    put_key(line, key);
    put(line, "{", 1);
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
