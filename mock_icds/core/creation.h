/* SPDX-License-Identifier: Apache-2.0 */
/* How objects of the core are made with property lists: what the specification says of the arguments, and what is kept
 * of them for queries; for a mock ICD that `validates`. */
#ifndef CLHARNESS_MOCK_CREATION_H
#define CLHARNESS_MOCK_CREATION_H

#include "base/objects.h"
#include "clharness_cl.h"

enum {
    DEVICE_QUEUE_SIZE = 1 << 18, /* preferred and largest, in bytes */
    PIPE_PACKET_SIZE = 1024,
};

/* How an object was made. */
struct creation {
    enum function function;
    uint64_t arguments[MAX_PARAMETERS]; /* what pointers among them point to is the application's, and may be gone */
    const uint64_t *properties;         /* a copy of the property list; NULL where none was given */
    size_t property_count;              /* words of it, with the end marker */
    const uint64_t *properties_seen;    /* as the mock read it: the same, unless by a fault */
    const uint64_t *devices;            /* of a context, each once */
    size_t device_count;
    uint32_t units; /* compute units of a sub-device */
};

/* Whether the arguments are as the specification says: CL_SUCCESS, or the error. Functions that are not known here
 * take anything. */
cl_int creation_check(enum function function, const uint64_t *arguments);
/* Keeps how an object was made. */
void creation_remember(struct object *object, enum function function, const uint64_t *arguments);

#endif
