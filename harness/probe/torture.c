/* SPDX-License-Identifier: Apache-2.0 */
/* To be preloaded into a probe (LD_PRELOAD), with the heap of guarded_heap.c in the same library: makes one call fail
 * by which the library under test asks for a resource, and says which resources it still has at the end.
 *
 *   CLHARNESS_TORTURE_IN      path of the library
 *   CLHARNESS_TORTURE_REPORT  file to which lines are added
 *   CLHARNESS_TORTURE_FAIL    which call fails, from 1; without it all calls are listed
 *
 *   call NUMBER FUNCTION OFFSET   one for each call; OFFSET is where it returns to in the library
 *   fail NUMBER FUNCTION OFFSET   the one that failed
 *   left COUNT FUNCTION OFFSET    at the end: resources from calls at this place that nobody gave back
 *   lost COUNT FUNCTION OFFSET    the same of memory, where nothing points to it: no data of a library, and no
 *                                 memory that is not lost itself
 *   end                           the last line
 *
 * Calls that the C library makes for the library count as well, such as that of malloc by asprintf; FUNCTION is then
 * what was called by the library. Calls of vendors and layers do not count, nor do those of the dynamic linker.
 */
#define _GNU_SOURCE
#include "torture.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <unwind.h>

#include "torture_internal.h"

enum { MAX_PLACES = 1024, MAX_RESOURCES = 1 << 16, NAME = 40, MAX_FRAMES = 16 };

static struct place {
    char function[NAME];
    uintptr_t offset;
    long left, lost;
} places[MAX_PLACES];
static int place_count;

/* What was taken and not given back: an open hash table; a freed entry keeps its key, so that searches go on. */
static struct resource {
    uintptr_t key;
    int place; /* TORTURE_NOBODY: given back */
    enum torture_kind kind;
} resources[MAX_RESOURCES];

static atomic_flag lock = ATOMIC_FLAG_INIT;
static const char *library, *report;
static long failing;
static atomic_long calls;
static const char *own_path, *c_library;

/* Of this thread: within a wrapper, whose own calls do not count, but what they bring is that of its place. */
static _Thread_local int quiet, quiet_place = TORTURE_NOBODY;

__attribute__((constructor)) static void configure(void)
{
    static char keep[2][4096]; /* the program may change its environment */
    const char *number = getenv("CLHARNESS_TORTURE_FAIL");
    Dl_info about;
    if (!getenv("CLHARNESS_TORTURE_IN") || !getenv("CLHARNESS_TORTURE_REPORT")) {
        return;
    }
    own_path = dladdr((const void *)(uintptr_t)configure, &about) ? about.dli_fname : "";
    c_library = dladdr((const void *)(uintptr_t)getenv, &about) ? about.dli_fname : "";
    failing = number ? strtol(number, NULL, 10) : 0;
    snprintf(keep[0], sizeof keep[0], "%s", getenv("CLHARNESS_TORTURE_REPORT"));
    snprintf(keep[1], sizeof keep[1], "%s", getenv("CLHARNESS_TORTURE_IN"));
    report = keep[0];
    library = keep[1];
}

/* --- the report --- */

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void say(const char *format, ...)
{
    char line[256];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    int fd = (int)syscall(SYS_openat, AT_FDCWD, report, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || syscall(SYS_write, fd, line, length) != length) {
        abort(); /* the case would be judged by half a report */
    }
    syscall(SYS_close, fd);
}

/* --- whose call it is --- */

struct search {
    const void *frames[MAX_FRAMES];
    int count;
};

static _Unwind_Reason_Code add_frame(struct _Unwind_Context *context, void *data)
{
    struct search *search = data;
    search->frames[search->count++] = (const void *)_Unwind_GetIP(context);
    return search->count < MAX_FRAMES ? _URC_NO_REASON : _URC_END_OF_STACK;
}

/* The place in the library that a call comes from, through nothing but the C library: NULL where there is none. What
 * the library called is `function`, unless the C library came between. */
static const void *origin(const void *caller, char *function)
{
    Dl_info about;
    if (!dladdr(caller, &about) || !about.dli_fname) {
        return NULL;
    }
    if (strcmp(about.dli_fname, library) == 0) {
        return (const void *)((const char *)caller - (const char *)about.dli_fbase);
    }
    if (strcmp(about.dli_fname, c_library) != 0) {
        return NULL;
    }
    struct search search = {.count = 0};
    _Unwind_Backtrace(add_frame, &search);
    for (int i = 0; i < search.count; i++) {
        if (!dladdr(search.frames[i], &about) || !about.dli_fname) {
            return NULL;
        }
        if (strcmp(about.dli_fname, library) == 0) {
            return (const void *)((const char *)search.frames[i] - (const char *)about.dli_fbase);
        }
        if (strcmp(about.dli_fname, c_library) == 0) {
            const char *name = about.dli_sname ? about.dli_sname : "?";
            snprintf(function, NAME, "%s", name + strspn(name, "_"));
            if (strncmp(function, "dl", 2) == 0) {
                return NULL; /* texts of errors, which the C library keeps for itself */
            }
        } else if (strcmp(about.dli_fname, own_path) != 0) {
            return NULL;
        }
    }
    return NULL;
}

static void enter(void)
{
    while (atomic_flag_test_and_set_explicit(&lock, memory_order_acquire)) {
    }
}

static void leave(void)
{
    atomic_flag_clear_explicit(&lock, memory_order_release);
}

static int place_of(const char *function, uintptr_t offset)
{
    int i = 0;
    enter();
    while (i < place_count && (places[i].offset != offset || strcmp(places[i].function, function) != 0)) {
        i++;
    }
    if (i == place_count && place_count < MAX_PLACES) {
        places[i].offset = offset;
        snprintf(places[i].function, NAME, "%s", function);
        place_count++;
    }
    leave();
    return i < MAX_PLACES ? i : TORTURE_NOBODY;
}

int torture_call(const char *function, const void *caller, bool *fails)
{
    *fails = false;
    if (!report || quiet) {
        return quiet_place;
    }
    char name[NAME];
    snprintf(name, sizeof name, "%s", function);
    quiet++;
    const void *from = origin(caller, name);
    int place = from ? place_of(name, (uintptr_t)from) : TORTURE_NOBODY;
    if (place >= 0) {
        long number = atomic_fetch_add(&calls, 1) + 1;
        *fails = number == failing;
        if (*fails || failing == 0) {
            say("%s %ld %s %#lx\n", *fails ? "fail" : "call", number, name, (unsigned long)(uintptr_t)from);
        }
    }
    quiet--;
    return place;
}

void torture_enter(int place)
{
    quiet++;
    quiet_place = place;
}

void torture_leave(void)
{
    quiet--;
    quiet_place = TORTURE_NOBODY;
}

/* --- what it has --- */

/* The entry of a key that is held, else of the first one that is free. NULL: no room. */
static struct resource *entry_of(uintptr_t key, bool held)
{
    size_t first = (size_t)(key >> 4) * 0x9e3779b97f4a7c15U >> 48;
    for (size_t i = 0; i < MAX_RESOURCES; i++) {
        struct resource *entry = &resources[(first + i) % MAX_RESOURCES];
        bool taken = entry->key != 0 && entry->place >= 0;
        if (held ? taken && entry->key == key : !taken) {
            return entry;
        }
        if (held && entry->key == 0) {
            return NULL;
        }
    }
    return NULL;
}

void torture_takes(enum torture_kind kind, const void *resource, int place)
{
    if (!resource || place < 0 || (quiet && kind == TORTURE_OTHER)) {
        return; /* the heap's own mappings are none of the library's */
    }
    enter();
    struct resource *entry = entry_of((uintptr_t)resource, false);
    if (entry) {
        *entry = (struct resource){(uintptr_t)resource, place, kind};
    }
    leave();
}

void torture_gives_back(const void *resource)
{
    if (!resource || !report) {
        return;
    }
    enter();
    struct resource *entry = entry_of((uintptr_t)resource, true);
    if (entry) {
        entry->place = TORTURE_NOBODY;
    }
    leave();
}

/* --- the end --- */

static struct resource *blocks[MAX_RESOURCES]; /* of memory, by address */
static size_t block_count;
static bool reached[MAX_RESOURCES];
static size_t unread[MAX_RESOURCES], unread_count; /* blocks that were reached and not looked into yet */

static int by_address(const void *one, const void *other)
{
    uintptr_t a = (*(struct resource *const *)one)->key, b = (*(struct resource *const *)other)->key;
    return a < b ? -1 : a > b;
}

/* Notes the blocks that the memory points to, to their start or their inside. */
static void follow(const char *memory, size_t size)
{
    for (size_t at = 0; at + sizeof(uintptr_t) <= size; at += sizeof(uintptr_t)) {
        uintptr_t pointer;
        memcpy(&pointer, memory + at, sizeof pointer);
        size_t low = 0, high = block_count;
        while (low < high) {
            size_t middle = (low + high) / 2;
            *(blocks[middle]->key <= pointer ? &low : &high) = blocks[middle]->key <= pointer ? middle + 1 : middle;
        }
        if (low == 0 || reached[low - 1]) {
            continue;
        }
        void *block = (void *)blocks[low - 1]->key;
        size_t length = malloc_usable_size(block);
        if (pointer - (uintptr_t)block < (length ? length : 1)) {
            reached[low - 1] = true;
            unread[unread_count++] = low - 1;
        }
    }
}

static int follow_library(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    (void)data;
    for (int i = 0; i < info->dlpi_phnum && strcmp(info->dlpi_name, own_path) != 0; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        uintptr_t start = (info->dlpi_addr + part->p_vaddr + sizeof(void *) - 1) / sizeof(void *) * sizeof(void *);
        if (part->p_type == PT_LOAD && (part->p_flags & PF_W)) {
            follow((const char *)start, info->dlpi_addr + part->p_vaddr + part->p_memsz - start);
        }
    }
    return 0;
}

__attribute__((destructor)) static void finish(void)
{
    if (!report) {
        return;
    }
    for (size_t i = 0; i < MAX_RESOURCES; i++) {
        struct resource *entry = &resources[i];
        if (entry->key && entry->place >= 0 && entry->kind == TORTURE_BLOCK) {
            blocks[block_count++] = entry;
        } else if (entry->key && entry->place >= 0) {
            places[entry->place].left++;
        }
    }
    quiet++;
    qsort(blocks, block_count, sizeof *blocks, by_address);
    dl_iterate_phdr(follow_library, NULL);
    while (unread_count > 0) {
        void *block = (void *)blocks[unread[--unread_count]]->key;
        follow(block, malloc_usable_size(block));
    }
    for (size_t i = 0; i < block_count; i++) {
        places[blocks[i]->place].lost += !reached[i];
    }
    for (int i = 0; i < place_count; i++) {
        const struct place *place = &places[i];
        if (place->left > 0) {
            say("left %ld %s %#lx\n", place->left, place->function, (unsigned long)place->offset);
        }
        if (place->lost > 0) {
            say("lost %ld %s %#lx\n", place->lost, place->function, (unsigned long)place->offset);
        }
    }
    say("end\n");
}
