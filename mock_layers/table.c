/* SPDX-License-Identifier: Apache-2.0 */
/* The layer's own table. */
#define _GNU_SOURCE
#include "layer.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

static entry *const *own_functions; /* in the order of `enum function` */
static entry **table;

/* Stands after the last slot that anybody knows. */
static void surplus_entry(void)
{
    log_event("surplus entry called", NULL);
}

static bool is_partial(void)
{
    for (int function = 0; function < FUNCTION_COUNT; function++) {
        if (config_of_function[function].only) {
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
        return (entry *)(uintptr_t)&table;
    }
    return function < 0 || (partial && !config_of_function[function].only) ? NULL : own_functions[function];
}

const void *table_make(entry *const *functions, cl_uint *count)
{
    own_functions = functions;
    bool whole = target_entries() >= TABLE_LENGTH || fault(FAULT_init_ignores_num_entries, ANY_PLATFORM);
    cl_uint known = whole ? TABLE_LENGTH : target_entries();
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
