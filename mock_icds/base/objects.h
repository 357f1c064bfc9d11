/* SPDX-License-Identifier: Apache-2.0 */
/* The mock ICD's objects: every handle knows its kind, its platform, its parent and its reference count. */
#ifndef CLHARNESS_MOCK_OBJECTS_H
#define CLHARNESS_MOCK_OBJECTS_H

#include "clharness_functions.h"

#include <stdbool.h>
#include <stddef.h>

/* What the loader sees of an object (cl_khr_icd 2.0: the dispatch table, then the data that the loader set for the
 * platform; with ICD 1 the first word only). */
struct shared_part {
    void *const *dispatch;
    void *dispatch_data;
};

struct object {
    struct shared_part shared; /* unless it lies elsewhere (exact objects) */
    enum handle_kind kind;
    int platform;
    int references;
    uint64_t device_type; /* of a device */
    struct object *parent;
    bool is_image;             /* a memory object that was made as one, */
    bool is_buffer;            /* or as a buffer; others are neither */
    bool is_on_device;         /* a queue whose commands the device enqueues */
    bool is_terminated;        /* a context, by clTerminateContextKHR */
    struct life *life;         /* of an event or a memory object (core/events.c), or NULL */
    struct creation *creation; /* how it was made (core/creation.h), or NULL where that is not known */
    struct contents *contents; /* what a memory object holds (core/contents.h), or NULL */
    struct program *program;   /* what is kept of a program or a kernel (core/programs.h), or NULL */
    struct kernel *running;
    struct gl_link *gl;          /* what ties it to OpenGL or EGL (gl/links.h), or NULL */
    struct attachment *external; /* what external/attachments.h keeps of it, or NULL */
};

void object_open(void);
void object_close(void);

/* A new object; its platform and dispatch data are the parent's. Never NULL (the process ends with code 99 where there
 * is no more room). */
struct object *object_make(enum handle_kind kind, struct object *parent);
struct object *object_make_platform(int platform);
/* Takes its dispatch table, or its dispatch data, from an object. */
void object_strip(struct object *object, bool dispatch, bool data);
/* What the application gets for an object. */
void *object_handle(const struct object *object);

/* The object of a handle, or NULL where it is not one of ours; reads no memory of others. */
struct object *object_find(uint64_t handle);
/* The same of one kind only, or NULL; */
struct object *object_of_kind(uint64_t handle, enum handle_kind kind);
/* and only while it has references. */
struct object *object_live(uint64_t handle, enum handle_kind kind);
/* The context that an object belongs to, which may be itself; NULL where there is none. */
struct object *object_context(struct object *object);

/* Adds a reference or drops one. False where there was none. */
bool object_count_reference(struct object *object, int by);
/* Whether an object that has references is this one, or was made from it. */
bool object_is_held(const struct object *object);
/* How many objects of a kind have this parent, and references. */
int object_count_children(const struct object *parent, enum handle_kind kind);
/* Takes all references from the children of an object that has one reference itself. */
void object_release_children(const struct object *parent);
/* Sets the dispatch data of a platform and of all objects that belong to it. */
void object_set_dispatch_data(int platform, void *data);

#endif
