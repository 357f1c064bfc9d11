/* SPDX-License-Identifier: Apache-2.0 */
/* A heap for the subject that makes its misuse visible, as harness/probe/guarded_heap.c does on Linux: every block ends
 * at an unreadable page (or begins just past one), is filled with 0xA5, is never given out twice, and is unreadable
 * once it is freed. It takes the place of the functions that the subject imports, of the C library, of the process's
 * heap and of COM; what it gets from elsewhere to be freed, such as the result of _fullpath, goes back there. */
#include "machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILL = 0xA5, ALIGNMENT = 16, PAGE = 4096 };

static const uint64_t MAGIC = 0x636c6861726e6573;

/* At the start of each block's own pages, which is where VirtualQuery leads from any address in them. */
struct block {
    uint64_t magic;
    char *memory;
    size_t size;
    size_t slack; /* bytes past its end that must stay as they are */
};

static long blocks; /* that were given out and not freed */

static FARPROC system_free;
static FARPROC system_realloc;
static FARPROC system_heap_free;
static FARPROC system_heap_realloc;
static FARPROC system_heap_size;
static FARPROC system_size;
static FARPROC system_task_free;
static FARPROC system_task_realloc;

static void stop(const char *what)
{
    fprintf(stderr, "clharness heap: %s\n", what);
    fflush(stderr);
    abort();
}

static size_t rounded(size_t size, size_t to)
{
    return (size + to - 1) / to * to;
}

/* A page with the head; one that is unreadable where blocks begin past it; those of the block; an unreadable one. */
static void *allocate(size_t size, bool zero)
{
    size_t before = machine.heap == HEAP_GUARDS_FRONT ? PAGE : 0;
    size_t readable = rounded(size, PAGE);
    if (size > SIZE_MAX / 4) {
        return NULL;
    }
    char *pages = VirtualAlloc(NULL, PAGE + before + readable + PAGE, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
    if (!pages) {
        return NULL;
    }
    DWORD old;
    char *start = pages + PAGE + before;
    VirtualProtect(pages + PAGE, before ? before : PAGE, before || !readable ? PAGE_NOACCESS : PAGE_READWRITE, &old);
    VirtualProtect(start + readable, PAGE, PAGE_NOACCESS, &old);
    char *memory = before ? start : start + readable - rounded(size, ALIGNMENT);
    struct block *block = (struct block *)(void *)pages;
    *block = (struct block){MAGIC, memory, size, (size_t)(start + readable - memory) - size};
    memset(memory, zero ? 0 : FILL, size);
    memset(memory + size, FILL, block->slack);
    InterlockedIncrement(&blocks);
    return memory;
}

/* The block at this address; NULL: it is not one of these. Ends the program where it was freed, or begins elsewhere. */
static struct block *block_at(const void *memory)
{
    MEMORY_BASIC_INFORMATION about;
    if (!VirtualQuery(memory, &about, sizeof about)) {
        return NULL;
    }
    struct block *block = about.AllocationBase;
    if (!VirtualQuery(block, &about, sizeof about) || about.State != MEM_COMMIT || !(about.Protect & PAGE_READWRITE) ||
        block->magic != MAGIC) {
        return NULL;
    }
    if (block->memory != memory) {
        stop("an address that is freed is not the beginning of a block");
    }
    if (block->size == SIZE_MAX) {
        stop("a block is freed twice");
    }
    return block;
}

/* The head stays, so that a second time is noticed; everything else becomes unreadable. */
static void release(struct block *block)
{
    for (size_t i = 0; i < block->slack; i++) {
        if ((unsigned char)block->memory[block->size + i] != FILL) {
            stop("bytes past the end of a block were written to");
        }
    }
    char *pages = (char *)block + PAGE;
    size_t length = (size_t)(block->memory - pages) + block->size + block->slack;
    block->size = SIZE_MAX;
    InterlockedDecrement(&blocks);
    if (length > 0) {
        VirtualFree(pages, length, MEM_DECOMMIT);
    }
}

long blocks_held(void)
{
    return blocks;
}

/* --- the C library --- */

static void *hook_malloc(size_t size)
{
    return allocate(size, false);
}

static void *hook_calloc(size_t count, size_t size)
{
    return size && count > SIZE_MAX / size ? NULL : allocate(count * size, true);
}

static void hook_free(void *memory)
{
    struct block *block = memory ? block_at(memory) : NULL;
    if (block) {
        release(block);
    } else if (memory) {
        ((void (*)(void *))(uintptr_t)system_free)(memory);
    }
}

static void *resize(struct block *block, size_t size, bool zero)
{
    void *memory = allocate(size, zero);
    if (memory) {
        memcpy(memory, block->memory, size < block->size ? size : block->size);
        release(block);
    }
    return memory;
}

static void *hook_realloc(void *memory, size_t size)
{
    struct block *block = memory ? block_at(memory) : NULL;
    if (memory && !block) {
        return ((void *(*)(void *, size_t))(uintptr_t)system_realloc)(memory, size);
    }
    if (memory && size == 0) {
        release(block);
        return NULL;
    }
    return memory ? resize(block, size, false) : allocate(size, false);
}

static void *hook__recalloc(void *memory, size_t count, size_t size)
{
    struct block *block = memory ? block_at(memory) : NULL;
    if (size && count > SIZE_MAX / size) {
        return NULL;
    }
    return block ? resize(block, count * size, true) : allocate(count * size, true);
}

static size_t hook__msize(void *memory)
{
    struct block *block = block_at(memory);
    return block ? block->size : ((size_t(*)(void *))(uintptr_t)system_size)(memory);
}

static char *hook__strdup(const char *text)
{
    size_t size = text ? strlen(text) + 1 : 0;
    char *copy = text ? allocate(size, false) : NULL;
    return copy ? memcpy(copy, text, size) : NULL;
}

static wchar_t *hook__wcsdup(const wchar_t *text)
{
    size_t size = text ? (wcslen(text) + 1) * sizeof *text : 0;
    wchar_t *copy = text ? allocate(size, false) : NULL;
    return copy ? memcpy(copy, text, size) : NULL;
}

/* --- the process's heap, which C libraries that a subject has within itself take theirs from --- */

static LPVOID WINAPI hook_HeapAlloc(HANDLE heap, DWORD flags, SIZE_T size)
{
    return heap == GetProcessHeap() ? allocate(size, flags & HEAP_ZERO_MEMORY) : HeapAlloc(heap, flags, size);
}

static LPVOID WINAPI hook_HeapReAlloc(HANDLE heap, DWORD flags, LPVOID memory, SIZE_T size)
{
    struct block *block = memory ? block_at(memory) : NULL;
    if (!block) {
        return ((LPVOID(WINAPI *)(HANDLE, DWORD, LPVOID, SIZE_T))(uintptr_t)system_heap_realloc)(heap, flags, memory,
                                                                                                 size);
    }
    return flags & HEAP_REALLOC_IN_PLACE_ONLY ? NULL : resize(block, size, flags & HEAP_ZERO_MEMORY);
}

static BOOL WINAPI hook_HeapFree(HANDLE heap, DWORD flags, LPVOID memory)
{
    struct block *block = memory ? block_at(memory) : NULL;
    if (!block) {
        return ((BOOL(WINAPI *)(HANDLE, DWORD, LPVOID))(uintptr_t)system_heap_free)(heap, flags, memory);
    }
    release(block);
    return TRUE;
}

static SIZE_T WINAPI hook_HeapSize(HANDLE heap, DWORD flags, LPCVOID memory)
{
    struct block *block = block_at(memory);
    return block ? block->size
                 : ((SIZE_T(WINAPI *)(HANDLE, DWORD, LPCVOID))(uintptr_t)system_heap_size)(heap, flags, memory);
}

/* --- the heap of COM --- */

static LPVOID WINAPI hook_CoTaskMemAlloc(SIZE_T size)
{
    return allocate(size, false);
}

static void WINAPI hook_CoTaskMemFree(LPVOID memory)
{
    struct block *block = memory ? block_at(memory) : NULL;
    if (block) {
        release(block);
    } else if (memory) {
        ((void(WINAPI *)(LPVOID))(uintptr_t)system_task_free)(memory);
    }
}

static LPVOID WINAPI hook_CoTaskMemRealloc(LPVOID memory, SIZE_T size)
{
    struct block *block = memory ? block_at(memory) : NULL;
    if (memory && !block) {
        return ((LPVOID(WINAPI *)(LPVOID, SIZE_T))(uintptr_t)system_task_realloc)(memory, size);
    }
    return memory ? resize(block, size, false) : allocate(size, false);
}

#define REPLACE_AS(name, function, before)                 \
    {                                                      \
#name, (FARPROC)(uintptr_t)hook_##function, before \
    }

/* What the C library of today (ucrtbase) has under several names, which compilers choose among. */
#define OF_C_LIBRARY(prefix, suffix)                                                                    \
    REPLACE_AS(prefix##malloc##suffix, malloc, NULL), REPLACE_AS(prefix##calloc##suffix, calloc, NULL), \
        REPLACE_AS(prefix##free##suffix, free, &system_free),                                           \
        REPLACE_AS(prefix##realloc##suffix, realloc, &system_realloc)

const struct hook heap_hooks[] = {
    OF_C_LIBRARY(, ),
    OF_C_LIBRARY(_o_, ),
    OF_C_LIBRARY(_, _base),
    OF_C_LIBRARY(_o__, _base),
    HOOK(_strdup),
    REPLACE_AS(_o__strdup, _strdup, NULL),
    REPLACE_AS(strdup, _strdup, NULL),
    REPLACE_AS(_mbsdup, _strdup, NULL),
    REPLACE_AS(_o__mbsdup, _strdup, NULL),
    HOOK(_wcsdup),
    REPLACE_AS(_o__wcsdup, _wcsdup, NULL),
    REPLACE_AS(_recalloc, _recalloc, NULL),
    REPLACE_AS(_o__recalloc, _recalloc, NULL),
    REPLACE_AS(_msize, _msize, &system_size),
    REPLACE_AS(_o__msize, _msize, &system_size),
    HOOK(HeapAlloc),
    REPLACE_AS(RtlAllocateHeap, HeapAlloc, NULL),
    REPLACE_AS(HeapFree, HeapFree, &system_heap_free),
    REPLACE_AS(RtlFreeHeap, HeapFree, &system_heap_free),
    REPLACE_AS(HeapReAlloc, HeapReAlloc, &system_heap_realloc),
    REPLACE_AS(RtlReAllocateHeap, HeapReAlloc, &system_heap_realloc),
    REPLACE_AS(HeapSize, HeapSize, &system_heap_size),
    REPLACE_AS(RtlSizeHeap, HeapSize, &system_heap_size),
    HOOK(CoTaskMemAlloc),
    REPLACE_AS(CoTaskMemFree, CoTaskMemFree, &system_task_free),
    REPLACE_AS(CoTaskMemRealloc, CoTaskMemRealloc, &system_task_realloc),
    {0},
};
