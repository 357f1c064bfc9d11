/* SPDX-License-Identifier: Apache-2.0 */
/* A table of objects. Entries are used again only where there is no other one: late uses of old handles are seen. */
#include "objects.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vulkan/vk_icd.h>

enum { MAX_OBJECTS = 1024 };

static struct object objects[MAX_OBJECTS];
static size_t next;

static const char *const kind_names[] = {
    [KIND_none] = "nothing",    [KIND_instance] = "instance", [KIND_physical_device] = "physical device",
    [KIND_device] = "device",   [KIND_queue] = "queue",       [KIND_command_buffer] = "command buffer",
    [KIND_surface] = "surface",
};

static void log_object(const char *event, enum kind kind, int index, uint64_t handle)
{
    struct calllog_line line;
    char detail[64];
    snprintf(detail, sizeof detail, "%s %d", kind_names[kind], index);
    calllog_begin(&line, mock_name, "event", event);
    calllog_string(&line, "detail", detail, strlen(detail));
    calllog_hex(&line, "handle", handle);
    calllog_commit(&mock_log, &line);
}

struct object *object_make(enum kind kind, struct object *parent, int index, enum fault without_magic)
{
    for (size_t tried = 0; tried < MAX_OBJECTS; tried++) {
        struct object *object = &objects[next++ % MAX_OBJECTS];
        if (object->kind == KIND_none) {
            bool bare = without_magic != FAULT_COUNT && fault(without_magic, ANY_PLATFORM);
            *object = (struct object){bare ? 0 : ICD_LOADER_MAGIC, kind, index, parent};
            log_object("object", kind, index, (uint64_t)(uintptr_t)object);
            return object;
        }
    }
    return NULL;
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

struct object *object_of(uint64_t handle, enum kind kind)
{
    uintptr_t first = (uintptr_t)objects;
    uintptr_t offset = (uintptr_t)handle - first;
    if (handle >= first && offset < sizeof objects && offset % sizeof *objects == 0 &&
        objects[offset / sizeof *objects].kind == kind) {
        use_first_word(&objects[offset / sizeof *objects]);
        return &objects[offset / sizeof *objects];
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
