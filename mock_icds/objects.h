/* The mock ICD's objects: every handle knows its kind, its platform, its parent and its reference count. */
#ifndef CLHARNESS_MOCK_OBJECTS_H
#define CLHARNESS_MOCK_OBJECTS_H

#include "clharness_functions.h"

#include <stdbool.h>
#include <stddef.h>

struct gl_link;
struct compute;

/* What a handle points to: the contract with the loader (cl_khr_icd 2.0: the dispatch table, then the data that the
 * loader set for the platform; with ICD 1 the first word only). */
struct shared_part {
    void *const *dispatch;
    void *dispatch_data;
};

/* How an object was made, for queries; only where the mock validates. */
struct creation {
    enum function function;
    uint64_t arguments[MAX_PARAMETERS]; /* what pointers among them point to is the application's, and may be gone */
    const uint64_t *properties;         /* a copy of the property list; NULL where none was given */
    size_t property_count;              /* words of it, with the end marker */
    const uint64_t *properties_seen;    /* what the mock made of it, which is the same unless a fault says otherwise */
    const uint64_t *devices;            /* of a context, each once */
    size_t device_count;
    uint32_t units; /* compute units of a sub-device */
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
    struct life *life;         /* of an event or a memory object (events.c), or NULL */
    struct creation *made;     /* NULL where nothing is known of it */
    struct compute *compute;   /* what compute.c keeps of it, or NULL */
    struct gl_link *gl;        /* what ties it to OpenGL or EGL (gl.h), or NULL */
    struct external *external; /* what external.h keeps of it, or NULL */
};

/* Makes the dispatch tables and the platforms as configured. */
void objects_make(void);
void objects_unmake(void);

struct object *platform_object(int index);
/* The n-th device of a platform, counted over all types, or NULL. */
struct object *device_object(int platform, int index);

/* What the table, and a query for the table's functions, hold for a function. */
void *dispatch_entry(int function);

/* A new object; its platform and dispatch data are the parent's. Never NULL (the process stops when out of room). */
struct object *object_make(enum handle_kind kind, struct object *parent);
/* Memory for what belongs to objects, zeroed, as long as the library is loaded. Never NULL. */
void *objects_memory(size_t size);
/* Takes its dispatch table, or its dispatch data, from an object. */
void object_strip(struct object *object, bool dispatch, bool data);
/* What the application gets for an object. */
void *object_handle(const struct object *object);
/* The object behind a handle, or NULL where it is none of ours; reads no memory of others. */
struct object *object_of(uint64_t handle);
/* Drops or adds a reference. False where there was none. */
bool object_count_reference(struct object *object, int by);
/* Takes all references from the objects that were made of one. */
void objects_die_with(const struct object *parent);
/* Sets the dispatch data of a platform and of all objects that belong to it. */
void objects_set_dispatch_data(int platform, void *data);

#endif
