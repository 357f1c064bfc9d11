/* SPDX-License-Identifier: Apache-2.0 */
/* What ties objects of the mock ICD to OpenGL or EGL. */
#ifndef CLHARNESS_MOCK_GL_LINKS_H
#define CLHARNESS_MOCK_GL_LINKS_H

#include "base/objects.h"
#include "clharness_cl.h"

enum gl_kind {
    GL_IS_CONTEXT,
    GL_IS_QUEUE,
    GL_IS_BUFFER,
    GL_IS_TEXTURE,
    GL_IS_RENDERBUFFER,
    GL_IS_EGL_IMAGE,
    GL_IS_SYNC,
    GL_IS_EGL_SYNC,
};

/* What ties an object to OpenGL or EGL. */
struct gl_link {
    struct object *queue;  /* that acquired a memory object, or NULL */
    struct object *device; /* of a queue */
    size_t size;           /* of a memory object */
    enum gl_kind kind;
    cl_uint type;       /* cl_gl_object_type of a memory object, or cl_command_type of an event */
    cl_uint name;       /* of the object in OpenGL */
    cl_uint target;     /* of a texture */
    cl_int level;       /* of a texture */
    cl_int samples;     /* of a texture */
    cl_int status;      /* of an event */
    bool depth_stencil; /* of a texture */
    bool store_lost;    /* by a fault */
};

/* Ties a new object to OpenGL. Never NULL. */
struct gl_link *gl_link_make(struct object *object, enum gl_kind kind);
/* Makes what the core makes in a function, ties it to OpenGL, and answers its handle. Never NULL. */
struct gl_link *gl_link_create(enum function function, const uint64_t *arguments, enum gl_kind kind, uint64_t *result);
/* The link of a handle's object, or NULL. */
struct gl_link *gl_link_find(uint64_t handle);
/* The link of the context that an object belongs to, which may be itself; NULL where that has none. */
struct gl_link *gl_link_of_context(struct object *object);

#endif
