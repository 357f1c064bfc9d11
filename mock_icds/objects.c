/* Objects and dispatch tables of the mock ICD, kept outside the heap. */
#define _GNU_SOURCE
#include "objects.h"

#include "clharness_cl.h"
#include "config.h"

#include <dlfcn.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ARENA_SIZE = 16 << 20, ARENA_OBJECTS = ARENA_SIZE / (int)sizeof(struct object), DEVICES_PER_PLATFORM = 16 };
enum { EXACT_OBJECTS = 4096 };

struct mapping {
    char *start;
    size_t size;
};

static struct object *arena; /* objects from its start, what belongs to them from its end */
static int object_count;
static size_t memory_used;
static struct mapping cells; /* of exact objects: a page for each, and an unreadable one behind it */
static struct object *platforms[MAX_PLATFORMS];
static struct object *devices[MAX_PLATFORMS][DEVICES_PER_PLATFORM];
/* By what tags they carry, and by the class of objects: all the same unless there is one for each. */
enum { FIRST_TAG = 1, SECOND_TAG = 2, TAGGINGS = 4 };
static void **tables[TAGGINGS][HANDLE_COUNT];
static struct mapping table_mappings[TAGGINGS][HANDLE_COUNT];

static size_t page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static void *pages(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        perror("clharness mock ICD: mmap");
        _exit(99);
    }
    return memory;
}

/* --- dispatch tables --- */

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

void *dispatch_entry(int function)
{
    bool unused = function == FUNCTION_clGetPlatformIDs || function == FUNCTION_clUnloadCompiler ||
                  function == FUNCTION_clGetExtensionFunctionAddress;
    if (unused && fault(FAULT_unused_slots_trap, ANY_PLATFORM)) {
        return (void *)(uintptr_t)trap;
    }
    void *global =
        fault(FAULT_table_of_global_symbols, ANY_PLATFORM) ? dlsym(RTLD_DEFAULT, function_info[function].name) : NULL;
    return global ? global : (void *)(uintptr_t)entry_of_function[function];
}

/* Whether a table per class holds a function. The vendor of clCreateContext may be taken from the devices or from the
 * platform among the properties (grey area 10). */
static bool belongs_to(enum function function, enum handle_kind kind)
{
    return class_of(&function_info[function]) == kind ||
           (function == FUNCTION_clCreateContext && kind == HANDLE_cl_platform_id);
}

static void *table_entry(size_t slot, enum handle_kind kind)
{
    if (slot >= TABLE_LENGTH || fault(FAULT_icd2_table_traps, ANY_PLATFORM)) {
        return (void *)(uintptr_t)trap;
    }
    int function = function_of_slot[slot];
    if (function < 0 || config.function[function].lacks || fault(FAULT_icd2_table_holds_tags_only, ANY_PLATFORM) ||
        (config.table_per_class && !belongs_to(function, kind))) {
        return NULL;
    }
    return dispatch_entry(function);
}

static int tagging_of(int platform)
{
    if (!config.icd2) {
        return 0;
    }
    return (fault(FAULT_icd2_tag_in_second_slot_only, platform) ? 0 : FIRST_TAG) |
           (fault(FAULT_icd2_tag_in_first_slot_only, platform) ? 0 : SECOND_TAG);
}

static void set_tag(void **table, size_t length, enum function function)
{
    size_t slot = (size_t)function_info[function].slot;
    if (slot < length) {
        table[slot] = (void *)CL_ICD2_TAG_KHR;
    }
}

/* A table ends where an unreadable page begins, so that a read past its last entry is a crash, and nobody may write. */
static void **make_table(int tagging, enum handle_kind kind)
{
    size_t page = page_size();
    size_t length = (size_t)config.table_length;
    size_t readable = (length * sizeof(void *) + page - 1) / page * page;
    struct mapping *mapping = &table_mappings[tagging][kind];
    *mapping = (struct mapping){pages(readable + page), readable + page};
    void **table = (void **)(void *)(mapping->start + readable) - length;
    for (size_t slot = 0; slot < length; slot++) {
        table[slot] = table_entry(slot, kind);
    }
    if (tagging & FIRST_TAG) {
        set_tag(table, length, FUNCTION_clGetPlatformIDs);
    }
    if (tagging & SECOND_TAG) {
        set_tag(table, length, FUNCTION_clUnloadCompiler);
    }
    mprotect(mapping->start, readable, PROT_READ);
    mprotect(mapping->start + readable, page, PROT_NONE);
    return table;
}

static void make_tables(int tagging)
{
    for (enum handle_kind kind = HANDLE_none; kind < HANDLE_COUNT; kind++) {
        bool own = kind == HANDLE_none || config.table_per_class;
        tables[tagging][kind] = own ? make_table(tagging, kind) : tables[tagging][HANDLE_none];
    }
}

/* --- objects --- */

/* Where the exact object `index` begins: one word (ICD 1) or two words (ICD 2) before an unreadable page. */
static struct shared_part *cell(int index)
{
    size_t size = config.icd2 ? sizeof(struct shared_part) : sizeof(void *);
    return (struct shared_part *)(void *)(cells.start + (size_t)(2 * index + 1) * page_size() - size);
}

static void set_dispatch_data(struct object *object, void *data)
{
    struct shared_part *shared = config.exact_objects ? cell((int)(object - arena)) : &object->shared;
    object->shared.dispatch_data = data;
    if (config.icd2 && object->references > 0) {
        shared->dispatch_data = data;
    }
}

static _Noreturn void out_of_room(void)
{
    fputs("clharness mock ICD: out of objects\n", stderr);
    _exit(99);
}

void *objects_memory(size_t size)
{
    size_t rounded = (size + 15) / 16 * 16;
    size_t used = __atomic_add_fetch(&memory_used, rounded, __ATOMIC_RELAXED);
    if (used + (size_t)object_count * sizeof *arena > ARENA_SIZE) {
        out_of_room();
    }
    return (char *)arena + ARENA_SIZE - used;
}

static struct object *make_object(enum handle_kind kind, struct object *parent, int platform)
{
    void **table = tables[tagging_of(platform)][kind];
    int index = __atomic_fetch_add(&object_count, 1, __ATOMIC_RELAXED);
    if (index >= (config.exact_objects ? EXACT_OBJECTS : ARENA_OBJECTS) ||
        (size_t)(index + 1) * sizeof *arena + memory_used > ARENA_SIZE) {
        out_of_room();
    }
    struct object *object = &arena[index];
    *object = (struct object){
        .shared.dispatch = table, .kind = kind, .platform = platform, .references = 1, .parent = parent};
    if (config.exact_objects) {
        mprotect(cells.start + (size_t)(2 * index + 1) * page_size(), page_size(), PROT_NONE);
        cell(index)->dispatch = table;
    }
    if (parent) {
        set_dispatch_data(object, parent->shared.dispatch_data);
    }
    return object;
}

struct object *object_make(enum handle_kind kind, struct object *parent)
{
    return make_object(kind, parent, parent->platform);
}

void object_strip(struct object *object, bool dispatch, bool data)
{
    if (dispatch) {
        ((struct shared_part *)object_handle(object))->dispatch = NULL;
    }
    if (data) {
        set_dispatch_data(object, NULL);
    }
}

void *object_handle(const struct object *object)
{
    return config.exact_objects ? (void *)cell((int)(object - arena)) : (void *)(uintptr_t)object;
}

struct object *object_of(uint64_t handle)
{
    uint64_t start = (uint64_t)(uintptr_t)(config.exact_objects ? (void *)cell(0) : (void *)arena);
    uint64_t stride = config.exact_objects ? 2 * page_size() : sizeof *arena;
    uint64_t index = (handle - start) / stride;
    bool ours = handle >= start && (handle - start) % stride == 0 && index < (uint64_t)object_count;
    return ours ? &arena[index] : NULL;
}

bool object_count_reference(struct object *object, int by)
{
    if (!object || __atomic_load_n(&object->references, __ATOMIC_RELAXED) <= 0) {
        return false;
    }
    int left = __atomic_add_fetch(&object->references, by, __ATOMIC_RELAXED);
    if (left == 0 && config.exact_objects) { /* whoever looks at it from now on is caught */
        mprotect(cells.start + (size_t)(object - arena) * 2 * page_size(), page_size(), PROT_NONE);
    }
    return true;
}

static void make_devices(int platform)
{
    const struct platform_config *wanted = &config.platform[platform];
    const struct {
        int count;
        cl_device_type type;
    } kinds[] = {{wanted->gpus, CL_DEVICE_TYPE_GPU},
                 {wanted->cpus, CL_DEVICE_TYPE_CPU},
                 {wanted->accelerators, CL_DEVICE_TYPE_ACCELERATOR}};
    int made = 0;
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++) {
        for (int i = 0; i < kinds[kind].count && made < DEVICES_PER_PLATFORM; i++) {
            struct object *device = object_make(HANDLE_cl_device_id, platforms[platform]);
            device->device_type = kinds[kind].type;
            devices[platform][made++] = device;
        }
    }
}

void objects_make(void)
{
    arena = pages(ARENA_SIZE);
    madvise(arena, ARENA_SIZE, MADV_NOHUGEPAGE); /* else the first object costs clearing 2 MiB */
    if (config.exact_objects) {
        cells.size = (size_t)EXACT_OBJECTS * 2 * page_size();
        cells.start = pages(cells.size);
    }
    for (int i = 0; i < config.platform_count && i < MAX_PLATFORMS; i++) {
        int tagging = tagging_of(i);
        if (!tables[tagging][HANDLE_none]) {
            make_tables(tagging);
        }
        platforms[i] = make_object(HANDLE_cl_platform_id, NULL, i);
        make_devices(i);
        if (fault(FAULT_platform_without_dispatch, i)) {
            ((struct shared_part *)object_handle(platforms[i]))->dispatch = NULL;
        }
    }
}

void objects_unmake(void)
{
    munmap(arena, ARENA_SIZE);
    if (cells.start) {
        munmap(cells.start, cells.size);
    }
    for (int i = 0; i < TAGGINGS * HANDLE_COUNT; i++) {
        struct mapping *mapping = &table_mappings[i / HANDLE_COUNT][i % HANDLE_COUNT];
        if (mapping->start) {
            munmap(mapping->start, mapping->size);
        }
    }
}

struct object *platform_object(int index)
{
    return platforms[index];
}

struct object *device_object(int platform, int index)
{
    return index < DEVICES_PER_PLATFORM ? devices[platform][index] : NULL;
}

void objects_set_dispatch_data(int platform, void *data)
{
    for (int i = 0; i < object_count; i++) {
        bool spared = arena[i].kind == HANDLE_cl_device_id && fault(FAULT_icd2_devices_without_data, platform);
        if ((arena[i].platform == platform || fault(FAULT_icd2_data_of_all_platforms, ANY_PLATFORM)) && !spared) {
            set_dispatch_data(&arena[i], data);
        }
    }
}

void objects_die_with(const struct object *parent)
{
    for (int i = 0; parent && parent->references == 1 && i < object_count; i++) {
        if (arena[i].parent == parent) {
            arena[i].references = 0;
        }
    }
}
