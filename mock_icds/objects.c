/* Objects and dispatch table of the mock ICD, kept outside the heap. */
#define _GNU_SOURCE
#include "objects.h"

#include "clharness_cl.h"
#include "config.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ARENA_SIZE = 16 << 20, ARENA_OBJECTS = ARENA_SIZE / (int)sizeof(struct object), DEVICES_PER_PLATFORM = 16 };

static struct object *arena;
static int object_count;
static struct object *platforms[MAX_PLATFORMS];
static struct object *devices[MAX_PLATFORMS][DEVICES_PER_PLATFORM];
static char *table_mapping;
static size_t table_mapping_size;
static void **table;

static void *pages(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        perror("clharness mock ICD: mmap");
        _exit(99);
    }
    return memory;
}

/* The table ends where an unreadable page begins, so that a read past its last entry is a crash. */
static void make_table(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t length = (size_t)(config.table_length < TABLE_LENGTH ? config.table_length : TABLE_LENGTH);
    size_t readable = (length * sizeof *table + page - 1) / page * page;
    table_mapping_size = readable + page;
    table_mapping = pages(table_mapping_size);
    mprotect(table_mapping + readable, page, PROT_NONE);
    table = (void **)(void *)(table_mapping + readable) - length;
    for (size_t slot = 0; slot < length; slot++) {
        int function = function_of_slot[slot];
        bool empty = function < 0 || fault(FAULT_icd2_table_holds_tags_only, ANY_PLATFORM);
        table[slot] = empty ? NULL : (void *)(uintptr_t)entry_of_function[function];
    }
    if (config.icd2 && !fault(FAULT_icd2_tag_in_second_slot_only, ANY_PLATFORM)) {
        table[function_info[FUNCTION_clGetPlatformIDs].slot] = (void *)CL_ICD2_TAG_KHR;
    }
    if (config.icd2 && !fault(FAULT_icd2_tag_in_first_slot_only, ANY_PLATFORM)) {
        table[function_info[FUNCTION_clUnloadCompiler].slot] = (void *)CL_ICD2_TAG_KHR;
    }
}

struct object *object_make(enum handle_kind kind, struct object *parent)
{
    int index = __atomic_fetch_add(&object_count, 1, __ATOMIC_RELAXED);
    if (index >= ARENA_OBJECTS) {
        fputs("clharness mock ICD: out of objects\n", stderr);
        _exit(99);
    }
    struct object *object = &arena[index];
    *object = (struct object){.dispatch = table, .kind = kind, .references = 1, .parent = parent};
    if (parent) {
        object->platform = parent->platform;
        object->dispatch_data = parent->dispatch_data;
    }
    return object;
}

bool object_is_ours(uint64_t handle)
{
    uint64_t start = (uint64_t)(uintptr_t)arena;
    return handle >= start && handle < start + (uint64_t)object_count * sizeof *arena &&
           (handle - start) % sizeof *arena == 0;
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
    make_table();
    for (int i = 0; i < config.platform_count && i < MAX_PLATFORMS; i++) {
        platforms[i] = object_make(HANDLE_cl_platform_id, NULL);
        platforms[i]->platform = i;
        make_devices(i);
        if (fault(FAULT_platform_without_dispatch, i)) {
            platforms[i]->dispatch = NULL;
        }
    }
}

void objects_unmake(void)
{
    munmap(arena, ARENA_SIZE);
    munmap(table_mapping, table_mapping_size);
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
        if (arena[i].platform == platform) {
            arena[i].dispatch_data = data;
        }
    }
}
