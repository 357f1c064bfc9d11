/* SPDX-License-Identifier: Apache-2.0 */
/* A table of objects. Entries are used again only where there is no other one: late uses of old handles are seen.
 *
 * Instances are followed by what is not an address: a loader that takes one for an object of its own, and reads more
 * than its first word, crashes on every machine, and not only where the memory happens not to be zero.
 */
#include "objects.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vulkan/vk_icd.h>

enum { MAX_OBJECTS = 1024, MAX_INSTANCES = 64, BEYOND = 16384, NO_ADDRESS = 0xA5 };

struct instance {
    struct object object;
    unsigned char beyond[BEYOND];
};

static struct object objects[MAX_OBJECTS];
static struct instance instances[MAX_INSTANCES];
static size_t next;
static size_t next_instance;

static const char *const kind_names[] = {
    [KIND_none] = "nothing",    [KIND_instance] = "instance",   [KIND_physical_device] = "physical device",
    [KIND_device] = "device",   [KIND_queue] = "queue",         [KIND_command_buffer] = "command buffer",
    [KIND_surface] = "surface", [KIND_messenger] = "messenger",
};

static void log_object(const char *event, enum kind kind, int index, uint64_t handle)
{
    struct calllog_line line;
    char detail[64];
    snprintf(detail, sizeof detail, "%s %d", kind_names[kind], index);
    calllog_begin(&mock_log, &line, CALLLOG_EVENT, mock_name, event, NULL, 0);
    calllog_string(&line, "detail", detail, strlen(detail));
    calllog_hex(&line, "handle", handle);
    calllog_commit(&mock_log, &line);
}

static struct object *free_instance(void)
{
    for (size_t tried = 0; tried < MAX_INSTANCES; tried++) {
        struct instance *instance = &instances[next_instance++ % MAX_INSTANCES];
        if (instance->object.kind == KIND_none) {
            memset(instance->beyond, NO_ADDRESS, sizeof instance->beyond);
            return &instance->object;
        }
    }
    return NULL;
}

static struct object *free_object(void)
{
    for (size_t tried = 0; tried < MAX_OBJECTS; tried++) {
        struct object *object = &objects[next++ % MAX_OBJECTS];
        if (object->kind == KIND_none) {
            return object;
        }
    }
    return NULL;
}

struct object *object_make(enum kind kind, struct object *parent, int index, enum fault without_magic)
{
    struct object *object = kind == KIND_instance ? free_instance() : free_object();
    if (object) {
        bool bare = without_magic != FAULT_COUNT && fault(without_magic, ANY_PLATFORM);
        *object = (struct object){bare ? 0 : ICD_LOADER_MAGIC, kind, index, parent};
        log_object("object", kind, index, (uint64_t)(uintptr_t)object);
    }
    return object;
}

void object_drop(struct object *object)
{
    if (object) {
        object->kind = KIND_none;
    }
}

void objects_drop_all(enum kind kind)
{
    for (size_t i = 0; i < MAX_OBJECTS; i++) {
        if (objects[i].kind == kind) {
            object_drop(&objects[i]);
        }
    }
}

void object_drop_null(void)
{
    if (fault(FAULT_destroying_null_crashes, ANY_PLATFORM)) {
        abort();
    }
    if (fault(FAULT_destroying_null_takes_devices, ANY_PLATFORM)) {
        objects_drop_all(KIND_physical_device);
    }
}

/* What some drivers do to the word that is the loader's. */
static void use_first_word(struct object *object)
{
    if (fault(FAULT_first_word_is_written, ANY_PLATFORM)) {
        object->word = ICD_LOADER_MAGIC;
    }
    if (fault(FAULT_first_word_is_needed, ANY_PLATFORM) && object->word != ICD_LOADER_MAGIC) {
        abort();
    }
}

/* The entry whose address is the handle, in a table of `size` bytes; NULL where there is none. */
static struct object *entry_of(uint64_t handle, void *table, size_t size, size_t entry)
{
    uintptr_t first = (uintptr_t)table;
    uintptr_t offset = (uintptr_t)handle - first;
    return handle >= first && offset < size && offset % entry == 0 ? (struct object *)(uintptr_t)handle : NULL;
}

struct object *object_of(uint64_t handle, enum kind kind)
{
    struct object *object = kind == KIND_instance ? entry_of(handle, instances, sizeof instances, sizeof *instances)
                                                  : entry_of(handle, objects, sizeof objects, sizeof *objects);
    if (object && object->kind == kind) {
        use_first_word(object);
        return object;
    }
    if (handle) {
        log_object("foreign handle", kind, -1, handle);
    }
    return NULL;
}

struct object *object_find(enum kind kind, const struct object *parent, int index)
{
    for (size_t i = 0; i < MAX_OBJECTS; i++) {
        if (objects[i].kind == kind && objects[i].parent == parent && objects[i].index == index) {
            return &objects[i];
        }
    }
    return NULL;
}

bool objects_have_instances(void)
{
    for (size_t i = 0; i < MAX_INSTANCES; i++) {
        if (instances[i].object.kind == KIND_instance) {
            return true;
        }
    }
    return false;
}
