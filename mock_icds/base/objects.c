/* SPDX-License-Identifier: Apache-2.0 */
/* Objects of the mock ICD, kept outside the heap. */
#include "base/objects.h"

#include "base/arena.h"
#include "base/config.h"
#include "base/lock.h"
#include "base/tables.h"

enum { ARENA_SIZE = 16 << 20, MAX_OBJECTS = ARENA_SIZE / (int)sizeof(struct object), MAX_EXACT_OBJECTS = 4096 };

static struct object *objects;
static int object_count;
static char *cells; /* of exact objects: a page for each, and an unreadable one after it */

void object_open(void)
{
    objects = arena_map(ARENA_SIZE);
    if (config.exact_objects) {
        cells = arena_map((size_t)MAX_EXACT_OBJECTS * 2 * arena_page_size());
    }
}

void object_close(void)
{
    arena_unmap(objects, ARENA_SIZE);
    if (cells) {
        arena_unmap(cells, (size_t)MAX_EXACT_OBJECTS * 2 * arena_page_size());
    }
}

/* Where the exact object `index` begins: one word (ICD 1) or two words (ICD 2) before an unreadable page. */
static struct shared_part *cell(int index)
{
    size_t size = config.icd2 ? sizeof(struct shared_part) : sizeof(void *);
    return (struct shared_part *)(void *)(cells + (size_t)(2 * index + 1) * arena_page_size() - size);
}

/* Threads make objects, and look others up, at once. */
static int objects_so_far(void)
{
    return __atomic_load_n(&object_count, __ATOMIC_RELAXED);
}

static int references_of(const struct object *object)
{
    return __atomic_load_n(&object->references, __ATOMIC_RELAXED);
}

static void set_dispatch_data(struct object *object, void *data)
{
    struct shared_part *shared = config.exact_objects ? cell((int)(object - objects)) : &object->shared;
    object->shared.dispatch_data = data;
    if (config.icd2 && references_of(object) > 0) {
        shared->dispatch_data = data;
    }
}

static struct object *make(enum handle_kind kind, struct object *parent, int platform)
{
    void *const *table = tables_of(platform, kind);
    if (fault(FAULT_threads_make_one_object, ANY_PLATFORM)) {
        int before = objects_so_far();
        lock_pause();
        __atomic_store_n(&object_count, before, __ATOMIC_RELAXED);
    }
    int index = __atomic_fetch_add(&object_count, 1, __ATOMIC_RELAXED);
    if (index >= (config.exact_objects ? MAX_EXACT_OBJECTS : MAX_OBJECTS)) {
        arena_is_full("objects");
    }
    struct object *object = &objects[index];
    *object = (struct object){
        .shared.dispatch = table, .kind = kind, .platform = platform, .references = 1, .parent = parent};
    if (config.exact_objects) {
        arena_forbid(cells + (size_t)(2 * index + 1) * arena_page_size(), arena_page_size());
        cell(index)->dispatch = table;
    }
    if (parent) {
        set_dispatch_data(object, parent->shared.dispatch_data);
    }
    return object;
}

struct object *object_make(enum handle_kind kind, struct object *parent)
{
    return make(kind, parent, parent->platform);
}

struct object *object_make_platform(int platform)
{
    return make(HANDLE_cl_platform_id, NULL, platform);
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
    return config.exact_objects ? (void *)cell((int)(object - objects)) : (void *)(uintptr_t)object;
}

struct object *object_find(uint64_t handle)
{
    uint64_t start = (uint64_t)(uintptr_t)(config.exact_objects ? (void *)cell(0) : (void *)objects);
    uint64_t stride = config.exact_objects ? 2 * arena_page_size() : sizeof *objects;
    uint64_t index = (handle - start) / stride;
    bool ours = handle >= start && (handle - start) % stride == 0 && index < (uint64_t)objects_so_far();
    return ours ? &objects[index] : NULL;
}

struct object *object_of_kind(uint64_t handle, enum handle_kind kind)
{
    struct object *object = object_find(handle);
    return object && object->kind == kind ? object : NULL;
}

struct object *object_live(uint64_t handle, enum handle_kind kind)
{
    struct object *object = object_of_kind(handle, kind);
    return object && references_of(object) > 0 ? object : NULL;
}

struct object *object_context(struct object *object)
{
    while (object && object->kind != HANDLE_cl_context) {
        object = object->parent;
    }
    return object;
}

bool object_is_held(const struct object *object)
{
    for (int i = 0; i < objects_so_far(); i++) {
        for (const struct object *at = references_of(&objects[i]) > 0 ? &objects[i] : NULL; at; at = at->parent) {
            if (at == object) {
                return true;
            }
        }
    }
    return false;
}

/* Exact objects that nothing holds any more: a read of one from now on is a crash. Platforms and devices stay. */
static void forbid_unheld(struct object *object)
{
    for (; object && object->kind != HANDLE_cl_platform_id; object = object->parent) {
        if ((object->kind != HANDLE_cl_device_id || references_of(object) <= 0) && !object_is_held(object)) {
            arena_forbid(cells + (size_t)(object - objects) * 2 * arena_page_size(), arena_page_size());
        }
    }
}

bool object_count_reference(struct object *object, int by)
{
    if (!object || references_of(object) <= 0) {
        return false;
    }
    if (fault(FAULT_counts_are_not_atomic, ANY_PLATFORM)) {
        int before = references_of(object);
        lock_pause();
        __atomic_store_n(&object->references, before, __ATOMIC_RELAXED);
    }
    int left = __atomic_add_fetch(&object->references, by, __ATOMIC_RELAXED);
    if (left == 0 && config.exact_objects) {
        forbid_unheld(object);
    }
    return true;
}

void object_set_dispatch_data(int platform, void *data)
{
    for (int i = 0; i < objects_so_far(); i++) {
        bool spared = objects[i].kind == HANDLE_cl_device_id && fault(FAULT_icd2_devices_without_data, platform);
        if ((objects[i].platform == platform || fault(FAULT_icd2_data_of_all_platforms, ANY_PLATFORM)) && !spared) {
            set_dispatch_data(&objects[i], data);
        }
    }
}

void object_release_children(const struct object *parent)
{
    for (int i = 0; parent && references_of(parent) == 1 && i < objects_so_far(); i++) {
        if (objects[i].parent == parent) {
            __atomic_store_n(&objects[i].references, 0, __ATOMIC_RELAXED);
        }
    }
}

int object_count_children(const struct object *parent, enum handle_kind kind)
{
    int count = 0;
    for (int i = 0; i < object_count; i++) {
        count += objects[i].parent == parent && objects[i].kind == kind && objects[i].references > 0;
    }
    return count;
}
