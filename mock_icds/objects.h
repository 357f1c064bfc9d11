/* The mock ICD's objects: every handle knows its kind, its platform, its parent and its reference count. */
#ifndef CLHARNESS_MOCK_OBJECTS_H
#define CLHARNESS_MOCK_OBJECTS_H

#include "clharness_functions.h"

#include <stdbool.h>

/* What a handle points to: the contract with the loader (cl_khr_icd 2.0: the dispatch table, then the data that the
 * loader set for the platform; with ICD 1 the first word only). */
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
/* Takes its dispatch table, or its dispatch data, from an object. */
void object_strip(struct object *object, bool dispatch, bool data);
/* What the application gets for an object. */
void *object_handle(const struct object *object);
/* The object behind a handle, or NULL where it is none of ours; reads no memory of others. */
struct object *object_of(uint64_t handle);
/* Drops or adds a reference. False where there was none. */
bool object_count_reference(struct object *object, int by);
/* Sets the dispatch data of a platform and of all objects that belong to it. */
void objects_set_dispatch_data(int platform, void *data);

#endif
