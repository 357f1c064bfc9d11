/* OpenGL and EGL sharing in the mock ICD, for platforms that have the extensions: what the parts share. */
#ifndef CLHARNESS_MOCK_GL_H
#define CLHARNESS_MOCK_GL_H

#include "icd.h"

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
    struct object *of; /* the queue that acquired a memory object, or NULL; the device of a queue */
    size_t size;       /* of a memory object */
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

/* Whether a function is OpenGL's or EGL's matter here; if so, `*result` is the answer. */
bool gl_behave(enum function function, const uint64_t *arguments, uint64_t *result);

/* --- gl_contexts.c --- */

/* The link of what an object belongs to: a context's own, that of a memory object's, a queue's or an event's context.
 */
struct gl_link *gl_context_of(struct object *object);
/* The error of the OpenGL attributes of a property list, or CL_SUCCESS; `*tied` says whether there are any. */
cl_int gl_check_attributes(const uint64_t *list, int platform, bool *tied);
/* Answers with the extensions of a device: only some devices share. `rest` are the last three arguments of the query.
 */
cl_int gl_answer_extensions(const struct object *device, const uint64_t *rest);
bool gl_behave_contexts(enum function function, const uint64_t *arguments, uint64_t *result);

/* --- gl_objects.c, gl_commands.c --- */

bool gl_behave_objects(enum function function, const uint64_t *arguments, uint64_t *result);
bool gl_behave_commands(enum function function, const uint64_t *arguments, uint64_t *result);

/* --- what they are made of --- */

/* Ties a new object to OpenGL. Never NULL. */
struct gl_link *gl_tie(struct object *object, enum gl_kind kind);
/* The link of a handle's object, or NULL. */
struct gl_link *gl_link_of(uint64_t handle);
/* Makes what the function makes, as it always does, and answers CL_SUCCESS; the object is tied. */
struct gl_link *gl_made(enum function function, const uint64_t *arguments, enum gl_kind kind, uint64_t *result);
/* What a function answers that reports by errcode_ret: NULL and the error. */
uint64_t gl_refuse(enum function function, const uint64_t *arguments, cl_int error);
/* The error of a rule, or what a fault says in its place; CL_SUCCESS where the rule is not enforced. */
cl_int gl_rule(enum fault instead, struct object *object, cl_int error);

#endif
