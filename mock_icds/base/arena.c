/* SPDX-License-Identifier: Apache-2.0 */
/* Pages from the system, and memory that is cut from one large run of them and never given back in parts. */
#define _GNU_SOURCE
#include "base/arena.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SIZE = (sizeof(void *) < 8 ? 12 : 80) << 20, ALIGNMENT = 16 }; /* a hundred mocks fit into 32 bits */

static char *memory;
static size_t used;

size_t arena_page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

void *arena_map(size_t size)
{
    void *pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED) {
        perror("clharness mock ICD: mmap");
        _exit(99);
    }
    madvise(pages, size, MADV_NOHUGEPAGE); /* else the first byte costs clearing 2 MiB */
    return pages;
}

void arena_unmap(void *pages, size_t size)
{
    munmap(pages, size);
}

void arena_forbid(void *pages, size_t size)
{
    madvise(pages, size, MADV_DONTNEED); /* a correct ICD leaves nothing of what is released */
    mprotect(pages, size, PROT_NONE);
}

void arena_forbid_writes(void *pages, size_t size)
{
    mprotect(pages, size, PROT_READ);
}

_Noreturn void arena_is_full(const char *what)
{
    fprintf(stderr, "clharness mock ICD: out of %s\n", what);
    _exit(99);
}

void arena_open(void)
{
    memory = arena_map(SIZE);
}

void arena_close(void)
{
    arena_unmap(memory, SIZE);
}

void *arena_keep(size_t size)
{
    size_t rounded = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    size_t at = __atomic_fetch_add(&used, rounded, __ATOMIC_RELAXED);
    if (rounded > SIZE || at > SIZE - rounded) {
        arena_is_full("memory");
    }
    return memory + at;
}
