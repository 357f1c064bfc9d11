/* SPDX-License-Identifier: Apache-2.0 */
/* The loader's memory: what it did not free is freed after each input, and reported where nothing knows of it. */
#define _GNU_SOURCE
#include "internal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* No machine gives a loader more: a larger wish is refused, as with a limit on memory. */
enum { LARGEST = 64 << 20, ALL = 512 << 20 };

struct block {
    void *memory;
    size_t size;
    uintptr_t caller;              /* or 0: the C library made it */
    const struct library *library; /* this is not memory, but the handle of an open library */
};

static struct block *blocks; /* in no order */
static size_t block_count;
static size_t block_room;
static size_t bytes;
static unsigned fails_at; /* allocations until one fails; 0: none does */

/* Blocks from before the first input, and what was in them. */
static struct block *kept;
static char **kept_content;
static size_t kept_count;
static size_t kept_bytes;

static struct {
    const void *begin;
    size_t size;
} roots[8];
static size_t root_count;

void heap_root(const void *begin, size_t size)
{
    for (size_t i = 0; i < root_count; i++) {
        if (roots[i].begin == begin) {
            roots[i].size = size;
            return;
        }
    }
    if (root_count == sizeof roots / sizeof *roots) {
        stop("too many roots");
    }
    roots[root_count].begin = begin;
    roots[root_count++].size = size;
}

static struct block *find(const void *memory)
{
    for (size_t i = block_count; i-- > 0;) {
        if (blocks[i].memory == memory) {
            return &blocks[i];
        }
    }
    return NULL;
}

static void *note(void *memory, size_t size, uintptr_t caller)
{
    if (!memory) {
        return NULL;
    }
    if (block_count == block_room) {
        block_room = block_room ? 2 * block_room : 256;
        blocks = realloc(blocks, block_room * sizeof *blocks);
        if (!blocks) {
            stop("out of memory");
        }
    }
    blocks[block_count++] = (struct block){memory, size, caller, NULL};
    bytes += size;
    return memory;
}

static void forget(struct block *block)
{
    bytes -= block->size;
    *block = blocks[--block_count];
}

void memory_fails_at(unsigned number)
{
    fails_at = number;
}

static void *allocate(size_t size, size_t alignment, uintptr_t caller)
{
    if (fails_at && --fails_at == 0) {
        errno = ENOMEM;
        return NULL;
    }
    if (size > LARGEST || bytes + size > ALL) {
        errno = ENOMEM;
        return NULL;
    }
    void *memory = subject->instrumented ? NULL : guard_allocate(size, alignment);
    if (!memory) {
        memory =
            alignment <= 16 ? malloc(size) : aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    }
    return note(memory, size, caller);
}

static bool is_kept(const void *memory)
{
    for (size_t i = 0; i < kept_count; i++) {
        if (kept[i].memory == memory) {
            return true;
        }
    }
    return false;
}

static void release(void *memory)
{
    if (is_kept(memory)) {
        return; /* the next input needs it again */
    }
    if (!guard_owns(memory)) {
        free(memory);
    } else if (!guard_release(memory)) {
        finding("crash", "heap-overflow", "the loader wrote past the end of a block of memory");
    }
}

/* Whether an address is that of a block in use; only where the program has a sanitizer. */
extern int __sanitizer_get_ownership(const volatile void *memory) __attribute__((weak));

#define CALLER ((uintptr_t)__builtin_return_address(0))

static void *my_malloc(size_t size)
{
    return allocate(size, 16, CALLER);
}

static void *my_calloc(size_t count, size_t size)
{
    size_t all;
    if (__builtin_mul_overflow(count, size, &all)) {
        errno = ENOMEM;
        return NULL;
    }
    void *memory = allocate(all, 16, CALLER);
    return memory ? memset(memory, 0, all) : NULL;
}

static void my_free(void *memory)
{
    if (!memory) {
        return;
    }
    struct block *block = find(memory);
    if (block) {
        forget(block);
        release(memory);
    } else if (guard_owns(memory)) {
        finding("crash", "double-free", "the loader freed memory a second time, or an address within a block");
    } else if (__sanitizer_get_ownership && !__sanitizer_get_ownership(memory)) {
        finding(
            "crash", keep_text("free@%s", where(CALLER)),
            "the loader freed %p in %s, which is not memory in use: it was freed before, or is part of something else",
            memory, where(CALLER));
    } else {
        free(memory); /* allocated by the C library for the loader */
    }
}

static void *resized(void *memory, size_t size, uintptr_t caller)
{
    if (!memory) {
        return allocate(size, 16, caller);
    }
    struct block *block = find(memory);
    if (!block) {
        return guard_owns(memory) ? (my_free(memory), NULL) : realloc(memory, size);
    }
    if (size == 0) {
        forget(block);
        release(memory);
        return NULL;
    }
    void *larger = allocate(size, 16, caller);
    if (larger) {
        block = find(memory);
        memcpy(larger, memory, block->size < size ? block->size : size);
        forget(block);
        release(memory);
    }
    return larger;
}

static void *my_realloc(void *memory, size_t size)
{
    return resized(memory, size, CALLER);
}

static void *my_reallocarray(void *memory, size_t count, size_t size)
{
    size_t all;
    if (__builtin_mul_overflow(count, size, &all)) {
        errno = ENOMEM;
        return NULL;
    }
    return resized(memory, all, CALLER);
}

static void *my_aligned_alloc(size_t alignment, size_t size)
{
    return allocate(size, alignment, CALLER);
}

static int my_posix_memalign(void **memory, size_t alignment, size_t size)
{
    *memory = allocate(size, alignment, CALLER);
    return *memory ? 0 : ENOMEM;
}

static char *copied(const char *text, size_t length, uintptr_t caller)
{
    char *copy = allocate(length + 1, 16, caller);
    if (copy) {
        memcpy(copy, text, length);
        copy[length] = '\0';
    }
    return copy;
}

static char *my_strdup(const char *text)
{
    return copied(text, strlen(text), CALLER);
}

static char *my_strndup(const char *text, size_t most)
{
    return copied(text, strnlen(text, most), CALLER);
}

/* Text that the C library made for the loader: the same in a block that is watched. */
static int handed_over(char **to, int length, char *text, uintptr_t caller)
{
    if (length >= 0) {
        *to = copied(text, (size_t)length, caller);
        free(text);
    }
    return length < 0 || !*to ? -1 : length;
}

static int my_vasprintf(char **to, const char *format, va_list arguments)
{
    char *text = NULL;
    int length = vasprintf(&text, format, arguments);
    return handed_over(to, length, text, CALLER);
}

static int my_asprintf(char **to, const char *format, ...)
{
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    return handed_over(to, length, text, CALLER);
}

static int my_asprintf_chk(char **to, int flag, const char *format, ...)
{
    char *text = NULL;
    va_list arguments;
    (void)flag;
    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    return handed_over(to, length, text, CALLER);
}

static ssize_t my_getdelim(char **line, size_t *room, int delimiter, FILE *file)
{
    char *own = NULL;
    size_t own_room = 0;
    ssize_t length = getdelim(&own, &own_room, delimiter, file);
    if (length >= 0 && (!*line || *room < (size_t)length + 1)) {
        *line = resized(*line, (size_t)length + 1, CALLER);
        *room = *line ? (size_t)length + 1 : 0;
    }
    if (length >= 0 && *line) {
        memcpy(*line, own, (size_t)length + 1);
    }
    free(own);
    return *line ? length : -1;
}

static ssize_t my_getline(char **line, size_t *room, FILE *file)
{
    return my_getdelim(line, room, '\n', file);
}

void *heap_adopt(void *memory)
{
    return note(memory, 1, 0);
}

const struct import heap_imports[] = {
    FUNCTION("malloc", my_malloc),
    FUNCTION("calloc", my_calloc),
    FUNCTION("free", my_free),
    FUNCTION("realloc", my_realloc),
    FUNCTION("reallocarray", my_reallocarray),
    FUNCTION("aligned_alloc", my_aligned_alloc),
    FUNCTION("memalign", my_aligned_alloc),
    FUNCTION("posix_memalign", my_posix_memalign),
    FUNCTION("strdup", my_strdup),
    FUNCTION("__strdup", my_strdup),
    FUNCTION("strndup", my_strndup),
    FUNCTION("__strndup", my_strndup),
    FUNCTION("asprintf", my_asprintf),
    FUNCTION("__asprintf_chk", my_asprintf_chk),
    FUNCTION("vasprintf", my_vasprintf),
    FUNCTION("getline", my_getline),
    FUNCTION("getdelim", my_getdelim),
    FUNCTION("__getdelim", my_getdelim),
    {NULL, NULL, NULL},
};

/* --- What nobody knows of any more --- */

static int by_address(const void *a, const void *b)
{
    const struct block *x = a;
    const struct block *y = b;
    return x->memory < y->memory ? -1 : x->memory > y->memory;
}

/* Puts all blocks that the words of a span point to to the front part of `blocks`, which holds the known ones. */
/* NOLINTNEXTLINE(misc-no-recursion): each block is entered once */
__attribute__((no_sanitize("address"))) static void mark(const void *begin, size_t size, bool *known)
{
    const uintptr_t *words = (const uintptr_t *)(((uintptr_t)begin + 7) & ~(uintptr_t)7);
    size_t count = ((uintptr_t)begin + size - (uintptr_t)words) / sizeof *words;
    uintptr_t lowest = (uintptr_t)blocks[0].memory;
    uintptr_t highest = (uintptr_t)blocks[block_count - 1].memory + blocks[block_count - 1].size;
    for (size_t i = 0; size >= sizeof *words && i < count; i++) {
        uintptr_t word = words[i];
        if (word < lowest || word > highest) {
            continue;
        }
        size_t low = 0;
        size_t high = block_count;
        while (high - low > 1) {
            size_t middle = (low + high) / 2;
            if ((uintptr_t)blocks[middle].memory <= word) {
                low = middle;
            } else {
                high = middle;
            }
        }
        struct block *block = &blocks[low];
        if (!known[low] && word <= (uintptr_t)block->memory + block->size) {
            known[low] = true;
            if (!block->library) {
                mark(block->memory, block->size, known);
            }
        }
    }
}

static void report(const struct block *block, const char *when)
{
    if (block->library) {
        finding("leak", keep_text("library@%s", where(block->library->opener)),
                "the handle of %s is lost: the loader opened it, did not close it, and keeps no pointer to "
                "it %s",
                block->library->name, when);
    } else if (block->caller) {
        finding(
            "leak", keep_text("lost@%s", where(block->caller)),
            "%zu bytes that the loader asked for in %s are lost: it did not free them, and keeps no pointer to them %s",
            block->size, where(block->caller), when);
    }
}

void heap_report_leaks(const char *when, bool libraries)
{
    size_t memory_count = block_count;
    for (size_t i = 0; libraries && i < world_library_count; i++) {
        struct library *library = &world_libraries[i];
        if (library->opened > library->closed) {
            note(library, 1, 0);
            blocks[block_count - 1].library = library;
        }
    }
    if (block_count == 0) {
        return;
    }
    struct block *unsorted = keep(memory_count * sizeof *blocks);
    memcpy(unsorted, blocks, memory_count * sizeof *blocks);
    qsort(blocks, block_count, sizeof *blocks, by_address);
    bool *known = keep(block_count);
    for (size_t i = 0; i < subject->writable_count; i++) {
        mark((void *)subject->writable[i].begin, subject->writable[i].end - subject->writable[i].begin, known);
    }
    if (subject->thread_data) {
        mark(subject->thread_data, subject->thread_data_size, known);
    }
    for (size_t i = 0; i < root_count; i++) {
        mark(roots[i].begin, roots[i].size, known);
    }
    for (size_t i = 0; i < block_count; i++) {
        if (!known[i]) {
            report(&blocks[i], when);
        }
    }
    bytes -= block_count - memory_count;
    block_count = memory_count;
    memcpy(blocks, unsorted, memory_count * sizeof *blocks);
}

void heap_reset(void)
{
    for (size_t i = 0; i < block_count; i++) {
        if (!blocks[i].library && !guard_owns(blocks[i].memory) && !is_kept(blocks[i].memory)) {
            free(blocks[i].memory);
        }
    }
    for (size_t i = 0; i < kept_count; i++) {
        blocks[i] = kept[i];
        memcpy(kept[i].memory, kept_content[i], kept[i].size);
    }
    fails_at = 0;
    block_count = kept_count;
    bytes = kept_bytes;
    guard_reset();
}

void heap_checkpoint(void)
{
    kept = malloc(block_count * sizeof *kept + 1);
    kept_content = malloc(block_count * sizeof *kept_content + 1);
    for (size_t i = 0; kept && kept_content && i < block_count; i++) {
        kept[i] = blocks[i];
        kept_content[i] = malloc(blocks[i].size + 1);
        if (!kept_content[i]) {
            stop("out of memory");
        }
        memcpy(kept_content[i], blocks[i].memory, blocks[i].size);
    }
    kept_count = block_count;
    kept_bytes = bytes;
    guard_checkpoint();
}
