/* SPDX-License-Identifier: Apache-2.0 */
/* A heap that makes its misuse visible, to be preloaded into a probe (LD_PRELOAD).
 *
 * Every block ends at an unreadable page, is filled with 0xA5, is never given out twice, and is unreadable once it is
 * freed: a read or write past its end, a use after free and a second free are crashes. The few bytes between a block's
 * end and that page, which alignment may leave, are not zero (a string without terminator does not end there) and
 * must be unchanged when the block is freed. `mallinfo2` counts the bytes in use exactly.
 *
 * CLHARNESS_GUARD=front has every block begin just past an unreadable page in place of ending at one: a read or write
 * before its first byte is a crash. Blocks of whole pages have both.
 *
 * CLHARNESS_FAIL_ALLOCATION=N makes the N-th allocation (from 1) fail that the library CLHARNESS_FAIL_IN asks for.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "torture.h"

enum { FILL = 0xA5, ALIGNMENT = 16 };

static const uint64_t MAGIC = 0x636c6861726e6573;

/* What is known of a block: just before it, or, where it begins at a page, before the unreadable page before it. */
struct block {
    uint64_t magic;
    size_t size;
    size_t slack; /* bytes past its end that must stay as they are */
    char *mapping;
    size_t mapped;
};

static size_t bytes_in_use;
static size_t blocks_in_use;
static long failing; /* allocations of the library until one fails; 0: none fails */
static const char *fail_in;
static bool guards_front;

__attribute__((constructor)) static void configure(void)
{
    const char *number = getenv("CLHARNESS_FAIL_ALLOCATION");
    fail_in = getenv("CLHARNESS_FAIL_IN");
    failing = number && fail_in ? strtol(number, NULL, 10) : 0;
    const char *guard = getenv("CLHARNESS_GUARD");
    guards_front = guard && strcmp(guard, "front") == 0;
}

static void stop(const char *what)
{
    static const char head[] = "clharness heap: ";
    if (write(STDERR_FILENO, head, sizeof head - 1) > 0 && write(STDERR_FILENO, what, strlen(what)) > 0) {
        abort();
    }
    abort(); /* the same without a reader */
}

static size_t rounded(size_t size, size_t to)
{
    return (size + to - 1) / to * to;
}

/* By the system call itself: the function of the C library may be one that counts (torture_system.c). */
static void *map(void *at, size_t length, int protection, int flags)
{
#ifdef SYS_mmap2
    const long call = SYS_mmap2; /* where both exist, SYS_mmap takes its arguments in memory */
#else
    const long call = SYS_mmap;
#endif
    return (void *)syscall(call, at, length, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);
}

static size_t page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static struct block *head_of(char *memory)
{
    size_t page = page_size();
    return (uintptr_t)memory % page == 0 ? (struct block *)(void *)(memory - 2 * page)
                                         : (struct block *)(void *)memory - 1;
}

/* A block that ends where an unreadable page begins; its head is just before it. NULL: no room. */
static char *place_before_guard(size_t size, size_t alignment, struct block *head)
{
    size_t page = page_size();
    size_t readable = rounded(rounded(size, alignment) + alignment + sizeof(struct block), page);
    char *mapping = map(NULL, readable + page, PROT_READ | PROT_WRITE, 0);
    if (mapping == MAP_FAILED) {
        return NULL;
    }
    mprotect(mapping + readable, page, PROT_NONE);
    char *memory = mapping + readable - rounded(size, alignment);
    memory -= (uintptr_t)memory % alignment;
    *head = (struct block){.slack = rounded(size, ALIGNMENT) - size, .mapping = mapping, .mapped = readable + page};
    return memory;
}

/* A block that begins where an unreadable page ends: a page with its head, that page, its own pages, one more. */
static char *place_after_guard(size_t size, size_t alignment, struct block *head)
{
    size_t page = page_size();
    size_t readable = rounded(size, page);
    size_t spare = alignment > page ? alignment : 0;
    size_t mapped = 3 * page + spare + readable;
    char *mapping = map(NULL, mapped, PROT_READ | PROT_WRITE, 0);
    if (mapping == MAP_FAILED) {
        return NULL;
    }
    char *memory = mapping + 2 * page;
    memory += spare ? rounded((uintptr_t)memory, alignment) - (uintptr_t)memory : 0;
    mprotect(memory - page, page, PROT_NONE);
    mprotect(memory + readable, page, PROT_NONE);
    *head = (struct block){.slack = readable - size, .mapping = mapping, .mapped = mapped};
    return memory;
}

static void *allocate(size_t size, size_t alignment)
{
    if (alignment < ALIGNMENT) {
        alignment = ALIGNMENT;
    }
    if (size > SIZE_MAX / 4) {
        errno = ENOMEM;
        return NULL;
    }
    struct block head;
    bool whole_pages = rounded(size, alignment) % page_size() == 0; /* also of a block of 0 bytes */
    char *memory = guards_front || whole_pages ? place_after_guard(size, alignment, &head)
                                               : place_before_guard(size, alignment, &head);
    if (!memory) {
        errno = ENOMEM;
        return NULL;
    }
    head.magic = MAGIC;
    head.size = size;
    *head_of(memory) = head;
    /* Fresh pages are zero: a large block's middle is not worth the time. */
    memset(memory, FILL, size < 1 << 20 ? size : 1 << 20);
    memset(memory + size, FILL, head.slack);
    __atomic_fetch_add(&bytes_in_use, size, __ATOMIC_RELAXED);
    __atomic_fetch_add(&blocks_in_use, 1, __ATOMIC_RELAXED);
    return memory;
}

static struct block *block_of(void *memory)
{
    struct block *block = head_of(memory);
    if (block->magic != MAGIC) {
        stop("a pointer that was never allocated, or the memory before a block was overwritten\n");
    }
    const unsigned char *end = (const unsigned char *)memory + block->size;
    for (size_t i = 0; i < block->slack; i++) {
        if (end[i] != FILL) {
            stop("the memory past a block was overwritten\n");
        }
    }
    return block;
}

/* Whether this allocation, asked for from the code at `caller`, is the one to fail. */
static bool fails(const void *caller)
{
    Dl_info about;
    if (failing <= 0 || !dladdr(caller, &about) || !about.dli_fname || strcmp(about.dli_fname, fail_in) != 0) {
        return false;
    }
    return __atomic_sub_fetch(&failing, 1, __ATOMIC_RELAXED) == 0;
}

/* Where torture.c is not in this library, nobody counts. */
#pragma weak torture_call
#pragma weak torture_takes
#pragma weak torture_gives_back

/* Whether a call of `function` from the code at `caller` is to fail; `place` is for `taken`. */
static bool refused(const char *function, const void *caller, int *place)
{
    bool counted_fails = false;
    *place = torture_call ? torture_call(function, caller, &counted_fails) : TORTURE_NOBODY;
    if (!counted_fails && !fails(caller)) {
        return false;
    }
    errno = ENOMEM;
    return true;
}

static void *taken(void *memory, int place)
{
    if (torture_takes) {
        torture_takes(TORTURE_BLOCK, memory, place);
    }
    return memory;
}

void *malloc(size_t size)
{
    int place;
    return refused("malloc", __builtin_return_address(0), &place) ? NULL : taken(allocate(size, ALIGNMENT), place);
}

void *calloc(size_t count, size_t size)
{
    size_t all;
    int place;
    if (refused("calloc", __builtin_return_address(0), &place) || __builtin_mul_overflow(count, size, &all)) {
        return NULL;
    }
    void *memory = allocate(all, ALIGNMENT);
    if (memory) {
        memset(memory, 0, all);
    }
    return taken(memory, place);
}

void free(void *memory)
{
    if (!memory) {
        return;
    }
    int error = errno;
    struct block *block = block_of(memory);
    if (torture_gives_back) {
        torture_gives_back(memory);
    }
    __atomic_fetch_sub(&bytes_in_use, block->size, __ATOMIC_RELAXED);
    __atomic_fetch_sub(&blocks_in_use, 1, __ATOMIC_RELAXED);
    if (map(block->mapping, block->mapped, PROT_NONE, MAP_FIXED) == MAP_FAILED) {
        stop("a freed block cannot be made unreadable");
    }
    errno = error;
}

void *realloc(void *memory, size_t size)
{
    int place;
    if (refused("realloc", __builtin_return_address(0), &place)) {
        return NULL;
    }
    if (memory && size == 0) {
        free(memory);
        return NULL;
    }
    void *bigger = allocate(size, ALIGNMENT);
    if (memory && bigger) {
        size_t before = block_of(memory)->size;
        memcpy(bigger, memory, before < size ? before : size);
        free(memory);
    }
    return taken(bigger, place);
}

static void *aligned(const char *function, size_t alignment, size_t size, const void *caller)
{
    bool counted_fails = false;
    int place = torture_call ? torture_call(function, caller, &counted_fails) : TORTURE_NOBODY;
    return counted_fails ? NULL : taken(allocate(size, alignment), place);
}

void *memalign(size_t alignment, size_t size)
{
    return aligned("memalign", alignment, size, __builtin_return_address(0));
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return aligned("aligned_alloc", alignment, size, __builtin_return_address(0));
}

int posix_memalign(void **memory, size_t alignment, size_t size)
{
    *memory = aligned("posix_memalign", alignment, size, __builtin_return_address(0));
    return *memory ? 0 : ENOMEM;
}

size_t malloc_usable_size(void *memory)
{
    return memory ? block_of(memory)->size : 0;
}

struct mallinfo2 mallinfo2(void)
{
    return (struct mallinfo2){.uordblks = __atomic_load_n(&bytes_in_use, __ATOMIC_RELAXED),
                              .ordblks = __atomic_load_n(&blocks_in_use, __ATOMIC_RELAXED)};
}
