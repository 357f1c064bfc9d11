/* The mock ICD's objects: every handle knows its kind, its platform, its parent and its reference count. */
#ifndef CLHARNESS_MOCK_OBJECTS_H
#define CLHARNESS_MOCK_OBJECTS_H

#include "clharness_functions.h"

#include <stdbool.h>

/* What a handle points to. The first two words are the contract with the loader (cl_khr_icd 2.0: dispatch table, then
 * the data that the loader set for the platform; with ICD 1 the first word only). */
struct object {
    void *const *dispatch;
    void *dispatch_data;
    enum handle_kind kind;
    int platform;
    int references;
    uint64_t device_type; /* of a device */
    struct object *parent;
};

/* Makes the dispatch table and the platforms as configured. */
void objects_make(void);
void objects_unmake(void);

struct object *platform_object(int index);
/* The n-th device of a platform, counted over all types, or NULL. */
struct object *device_object(int platform, int index);

/* A new object; its platform and dispatch data are the parent's. Never NULL (the process stops when out of room). */
struct object *object_make(enum handle_kind kind, struct object *parent);
/* Whether the handle is one of ours; reads no memory of others. */
bool object_is_ours(uint64_t handle);
/* Sets the dispatch data of a platform and of all objects that belong to it. */
void objects_set_dispatch_data(int platform, void *data);

#endif
