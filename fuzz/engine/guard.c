/* SPDX-License-Identifier: Apache-2.0 */
/* Memory between unreadable pages: a step over its end is a crash, in a loader without instrumentation, too. */
#define _GNU_SOURCE
#include "internal.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Every slot has so many pages, and an unreadable one after them. */
enum { SLOTS = 1024, PAGES = 12, FILL = 0xA5 };

static char *slots;
static size_t page;
static size_t used;
static size_t kept; /* of them, those from before the first input */
static struct about {
    char *memory;
    size_t size;
    size_t slack; /* bytes between its end and the unreadable page */
    bool closed;
} abouts[SLOTS];

static char *slot(size_t number)
{
    return slots + number * (PAGES + 1) * page;
}

static void prepare(void)
{
    page = (size_t)sysconf(_SC_PAGESIZE);
    slots = mmap(NULL, (size_t)SLOTS * (PAGES + 1) * page, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (slots == MAP_FAILED) {
        stop("no memory for guarded blocks");
    }
    for (size_t i = 0; i < SLOTS; i++) {
        mprotect(slot(i) + PAGES * page, page, PROT_NONE);
    }
}

void *guard_allocate(size_t size, size_t alignment)
{
    if (!slots) {
        prepare();
    }
    if (used == SLOTS || size > PAGES * page) {
        return NULL;
    }
    char *end = slot(used) + PAGES * page;
    char *memory = end - size;
    memory -= (uintptr_t)memory % alignment;
    abouts[used] = (struct about){memory, size, (size_t)(end - memory) - size, false};
    memset(memory, FILL, (size_t)(end - memory));
    used++;
    return memory;
}

bool guard_owns(const void *memory)
{
    return slots && (uintptr_t)memory >= (uintptr_t)slots && (uintptr_t)memory < (uintptr_t)slot(SLOTS);
}

bool guard_was_released(const void *memory)
{
    return guard_owns(memory) && abouts[(size_t)((const char *)memory - slots) / ((PAGES + 1) * page)].closed;
}

bool guard_is_past_end(const void *memory)
{
    return guard_owns(memory) && (size_t)((const char *)memory - slots) % ((PAGES + 1) * page) >= PAGES * page;
}

bool guard_release(void *memory)
{
    size_t number = (size_t)((char *)memory - slots) / ((PAGES + 1) * page);
    struct about *about = &abouts[number];
    bool whole = true;
    for (size_t i = 0; i < about->slack; i++) {
        whole &= ((unsigned char *)memory)[about->size + i] == FILL;
    }
    about->closed = true;
    mprotect(slot(number), PAGES * page, PROT_NONE);
    return whole;
}

void guard_reset(void)
{
    for (; used > kept; used--) {
        if (abouts[used - 1].closed) {
            mprotect(slot(used - 1), PAGES * page, PROT_READ | PROT_WRITE);
        }
    }
}

void guard_checkpoint(void)
{
    kept = used;
}

void *guarded(size_t size)
{
    void *memory = guard_allocate(size, 1);
    if (!memory) {
        memory = keep(size);
    }
    return memset(memory, 0, size);
}
