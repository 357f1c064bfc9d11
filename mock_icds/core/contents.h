/* SPDX-License-Identifier: Apache-2.0 */
/* What memory objects hold: the bytes of buffers, sub-buffers, images and shared virtual memory; for a mock ICD that
 * refuses improper calls, on platforms with the feature `compiler`. */
#ifndef CLHARNESS_MOCK_CONTENTS_H
#define CLHARNESS_MOCK_CONTENTS_H

#include "base/objects.h"
#include "clharness_cl.h"

enum { MAX_MAPPINGS = 16 };

struct contents {
    unsigned char *bytes;
    size_t size;
    size_t origin;                   /* of a sub-buffer, in its buffer */
    uint64_t host_ptr;               /* of CL_MEM_USE_HOST_PTR, else 0 */
    cl_mem_flags flags;              /* as the object has them, inherited ones included */
    const struct object *written_by; /* the queue that wrote the memory last */
    /* of an image */
    cl_image_format format;
    cl_image_desc image;
    size_t pixel; /* bytes, 0 for a buffer */
    size_t row;   /* bytes from row to row, and from slice to slice or layer to layer */
    size_t slice;
    const void *mapped[MAX_MAPPINGS]; /* the addresses that mappings have; NULL: free */
};

/* Memory of a region: where it begins, and how far its rows and slices lie apart. */
struct view {
    unsigned char *bytes;
    size_t row;
    size_t slice;
};

/* Whether objects of a platform hold something. */
bool contents_kept(int platform);
/* Makes what a new memory object holds. */
void contents_make(enum function function, const uint64_t *arguments, uint64_t handle);
/* Shared virtual memory: new, or NULL. */
void *contents_share(const struct object *context, const uint64_t *arguments);
/* Whether an address lies in such memory. */
bool contents_is_shared(uint64_t address);
/* What a handle of a memory object holds, or NULL. */
struct contents *contents_of(uint64_t handle);
/* How many mappings a memory object has. */
cl_uint contents_map_count(const struct contents *contents);
/* Keeps or drops the address of a mapping; false where there is no room, or no such mapping. */
bool contents_map(struct contents *contents, const void *address);
bool contents_unmap(struct contents *contents, const void *address);
/* How many channels an image has. */
size_t contents_channels(const struct contents *image);
/* A region of an image that begins at an origin. */
struct view contents_image_view(const struct contents *contents, const size_t *origin);
/* The bytes of a region of an image: of a row, rows, slices. */
void contents_image_region(const struct contents *contents, const size_t *region, size_t *bytes);

/* Clears the first bytes of what a memory object holds. */
void contents_clear(const struct object *memory);

#endif
