/* SPDX-License-Identifier: Apache-2.0 */
/* The objects of the mock Vulkan driver: all of them of one shape, in memory of the library's own. */
#ifndef CLHARNESS_MOCK_VULKAN_OBJECTS_H
#define CLHARNESS_MOCK_VULKAN_OBJECTS_H

#include "config.h"

enum kind {
    KIND_none,
    KIND_instance,
    KIND_physical_device,
    KIND_device,
    KIND_queue,
    KIND_command_buffer,
    KIND_surface,
    KIND_messenger
};

/* `word` is the loader's once the object has been handed out. */
struct object {
    uintptr_t word;
    enum kind kind;
    int index;
    struct object *parent;
};

/* A new object, which the log then knows by its kind, number and handle; NULL where there is no room. The first word is
 * the loader's magic number, unless `without_magic` is a fault that is on (FAULT_COUNT: none). */
struct object *object_make(enum kind kind, struct object *parent, int index, enum fault without_magic);
/* The object has been destroyed. */
void object_drop(struct object *object);
/* The application destroys VK_NULL_HANDLE. */
void object_drop_null(void);
/* All of a kind have been destroyed. */
void objects_drop_all(enum kind kind);
/* The object with a handle, or NULL, which the log then has as a foreign handle. NULL itself is nobody's. */
struct object *object_of(uint64_t handle, enum kind kind);
/* The n-th object of a kind that belongs to a parent, or NULL. */
struct object *object_find(enum kind kind, const struct object *parent, int index);

/* Whether there is an instance that was not destroyed. */
bool objects_have_instances(void);

#endif
