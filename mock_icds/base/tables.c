/* SPDX-License-Identifier: Apache-2.0 */
/* Dispatch tables of the mock ICD: of any length, one for all objects or one for each class, with the tags of ICD 2. */
#define _GNU_SOURCE
#include "base/tables.h"

#include "base/arena.h"
#include "base/config.h"
#include "clharness_cl.h"

#include <dlfcn.h>

struct mapping {
    char *start;
    size_t size;
};

/* By what tags they carry, and by the class of objects: all the same unless there is one for each. */
enum { FIRST_TAG = 1, SECOND_TAG = 2, WITHOUT_INFO = 4, TAGGINGS = 8 };
static void **tables[TAGGINGS][HANDLE_COUNT];
static struct mapping mappings[TAGGINGS][HANDLE_COUNT];
static table_entry *const *own_functions;

/* The class of objects whose table a loader takes a function from: that of the first argument that is an object. */
static enum handle_kind class_of(const struct function_info *about)
{
    for (unsigned i = 0; i < about->parameter_count; i++) {
        if (about->parameters[i].kind == PARAMETER_HANDLE || about->parameters[i].kind == PARAMETER_HANDLES) {
            return about->parameters[i].handle;
        }
    }
    return HANDLE_cl_platform_id;
}

/* Stands where nobody may call. */
static uint64_t trap(void)
{
    log_event("trap", NULL);
    return 0;
}

void *tables_function(enum function function)
{
    return (void *)(uintptr_t)own_functions[function];
}

void *tables_entry(enum function function)
{
    bool unused = function == FUNCTION_clGetPlatformIDs || function == FUNCTION_clUnloadCompiler ||
                  function == FUNCTION_clGetExtensionFunctionAddress;
    if (unused && fault(FAULT_unused_slots_trap, ANY_PLATFORM)) {
        return (void *)(uintptr_t)trap;
    }
    void *global =
        fault(FAULT_table_of_global_symbols, ANY_PLATFORM) ? dlsym(RTLD_DEFAULT, function_info[function].name) : NULL;
    return global ? global : tables_function(function);
}

/* Whether a table per class holds a function. The vendor of clCreateContext may be taken from the devices or from the
 * platform among the properties (grey area 10). */
static bool belongs_to(enum function function, enum handle_kind kind)
{
    return class_of(&function_info[function]) == kind ||
           (function == FUNCTION_clCreateContext && kind == HANDLE_cl_platform_id);
}

static void *entry_of_slot(size_t slot, enum handle_kind kind)
{
    if (slot >= TABLE_LENGTH || fault(FAULT_icd2_table_traps, ANY_PLATFORM)) {
        return (void *)(uintptr_t)trap;
    }
    int function = function_of_slot[slot];
    if (function < 0 || config.function[function].lacks.all || fault(FAULT_icd2_table_holds_tags_only, ANY_PLATFORM) ||
        (config.table_per_class && !belongs_to((enum function)function, kind))) {
        return NULL;
    }
    return tables_entry((enum function)function);
}

static int tagging_of(int platform)
{
    int info = fault(FAULT_table_without_platform_info, platform) ? WITHOUT_INFO : 0;
    if (!config.icd2) {
        return info;
    }
    return info | (fault(FAULT_icd2_tag_in_second_slot_only, platform) ? 0 : FIRST_TAG) |
           (fault(FAULT_icd2_tag_in_first_slot_only, platform) ? 0 : SECOND_TAG);
}

static void set_slot(void **table, size_t length, enum function function, void *value)
{
    size_t slot = (size_t)function_info[function].slot;
    if (slot < length) {
        table[slot] = value;
    }
}

/* A table ends where an unreadable page begins, so that a read past its last entry is a crash, and nobody may write. */
static void **make_table(int tagging, enum handle_kind kind)
{
    size_t page = arena_page_size();
    size_t length = (size_t)config.table;
    size_t readable = (length * sizeof(void *) + page - 1) / page * page;
    struct mapping *mapping = &mappings[tagging][kind];
    *mapping = (struct mapping){arena_map(readable + page), readable + page};
    void **table = (void **)(void *)(mapping->start + readable) - length;
    for (size_t slot = 0; slot < length; slot++) {
        table[slot] = entry_of_slot(slot, kind);
    }
    if (tagging & FIRST_TAG) {
        set_slot(table, length, FUNCTION_clGetPlatformIDs, (void *)CL_ICD2_TAG_KHR);
    }
    if (tagging & SECOND_TAG) {
        set_slot(table, length, FUNCTION_clUnloadCompiler, (void *)CL_ICD2_TAG_KHR);
    }
    if (tagging & WITHOUT_INFO) {
        set_slot(table, length, FUNCTION_clGetPlatformInfo, NULL);
    }
    arena_forbid_writes(mapping->start, readable);
    arena_forbid(mapping->start + readable, page);
    return table;
}

static void make_tables(int tagging)
{
    for (enum handle_kind kind = HANDLE_none; kind < HANDLE_COUNT; kind++) {
        bool own = kind == HANDLE_none || config.table_per_class;
        tables[tagging][kind] = own ? make_table(tagging, kind) : tables[tagging][HANDLE_none];
    }
}

void *const *tables_of(int platform, enum handle_kind kind)
{
    return tables[tagging_of(platform)][kind];
}

void tables_open(table_entry *const *functions)
{
    own_functions = functions;
    for (int platform = 0; platform < config.platforms && platform < MAX_PLATFORMS; platform++) {
        int tagging = tagging_of(platform);
        if (!tables[tagging][HANDLE_none]) {
            make_tables(tagging);
        }
    }
}

void tables_close(void)
{
    for (int i = 0; i < TAGGINGS * HANDLE_COUNT; i++) {
        struct mapping *mapping = &mappings[i / HANDLE_COUNT][i % HANDLE_COUNT];
        if (mapping->start) {
            arena_unmap(mapping->start, mapping->size);
        }
    }
}
