/* The two tables of a layer: its own, and its target's, which it watches. */
#define _GNU_SOURCE
#include "layer.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MAX_LENGTH = 1024 };

static entry *const *target;
static cl_uint target_length;
static entry *target_copy[MAX_LENGTH];
static entry *const *own_functions; /* in the order of `enum function` */
static entry **table;

/* --- the target's table --- */

void target_set(const void *given, cl_uint count)
{
    target = (entry *const *)given;
    target_length = count < MAX_LENGTH ? count : MAX_LENGTH;
    memcpy(target_copy, target, target_length * sizeof *target_copy);
    for (cl_uint slot = 0; slot < target_length && slot < TABLE_LENGTH; slot++) {
        if (!target[slot] && function_of_slot[slot] >= 0) {
            log_event("hole in target", function_info[function_of_slot[slot]].name);
        }
    }
}

void target_check(void)
{
    if (target && memcmp(target, target_copy, target_length * sizeof *target_copy) != 0) {
        log_event("target changed", NULL);
    }
}

entry *target_function(int slot)
{
    return target && slot >= 0 && (cl_uint)slot < target_length ? target[slot] : NULL;
}

void target_call_windows_entries(void)
{
    for (cl_uint slot = 0; slot < target_length && slot < TABLE_LENGTH; slot++) {
        if (function_of_slot[slot] < 0 && target[slot]) {
            target[slot]();
        }
    }
}

void target_swap_entries(void)
{
    entry **writable = (entry **)(uintptr_t)target;
    int flush = function_info[FUNCTION_clFlush].slot;
    int finish = function_info[FUNCTION_clFinish].slot;
    entry *first = target[flush];
    writable[flush] = target[finish];
    writable[finish] = first;
}

/* --- the layer's own table --- */

/* Stands after the last slot that anybody knows. */
static void surplus_entry(void)
{
    log_event("surplus entry called", NULL);
}

static bool is_partial(void)
{
    for (int function = 0; function < FUNCTION_COUNT; function++) {
        if (function_config[function].only) {
            return true;
        }
    }
    return false;
}

/* Entries without a signature in the headers stay NULL: the loader fills them from the target. */
static entry *own_entry(size_t slot, bool partial)
{
    if (slot >= TABLE_LENGTH) {
        return surplus_entry;
    }
    int function = function_of_slot[slot];
    if (function == FUNCTION_clFinish && fault(FAULT_table_has_wild_entry, ANY_PLATFORM)) {
        return (entry *)(uintptr_t)target_copy;
    }
    return function < 0 || (partial && !function_config[function].only) ? NULL : own_functions[function];
}

const void *table_make(entry *const *functions, cl_uint *count)
{
    own_functions = functions;
    bool whole = target_length >= TABLE_LENGTH || fault(FAULT_init_ignores_num_entries, ANY_PLATFORM);
    cl_uint known = whole ? TABLE_LENGTH : target_length;
    size_t length = (size_t)fault_value(FAULT_table_length_is, ANY_PLATFORM, (long)known);
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t readable = (length * sizeof *table + page - 1) / page * page;
    char *memory = mmap(NULL, readable + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        perror("clharness mock layer: mmap");
        _exit(99);
    }
    mprotect(memory + readable, page, PROT_NONE);
    table =
        (entry **)(void *)(memory + readable) - length; /* stays until the process ends: the loader may look at it */
    bool partial = is_partial();
    for (size_t slot = 0; slot < length; slot++) {
        table[slot] = own_entry(slot, partial);
    }
    *count = (cl_uint)(length + (size_t)fault_value(FAULT_table_is_shorter_than_told, ANY_PLATFORM, 0));
    return table;
}

void table_swap_entries(void)
{
    int flush = function_info[FUNCTION_clFlush].slot;
    int finish = function_info[FUNCTION_clFinish].slot;
    table[flush] = own_functions[FUNCTION_clFinish];
    table[finish] = own_functions[FUNCTION_clFlush];
}
