/* SPDX-License-Identifier: Apache-2.0 */
/* Links of objects to OpenGL and EGL, kept outside the heap. */
#include "gl/links.h"

#include "base/arena.h"
#include "core/core.h"

enum { MAX_LINKS = 4096 };

static struct gl_link links[MAX_LINKS];
static int link_count;

struct gl_link *gl_link_make(struct object *object, enum gl_kind kind)
{
    int index = __atomic_fetch_add(&link_count, 1, __ATOMIC_RELAXED);
    if (index >= MAX_LINKS) {
        arena_is_full("links to OpenGL");
    }
    links[index].kind = kind;
    object->gl = &links[index];
    return object->gl;
}

struct gl_link *gl_link_find(uint64_t handle)
{
    struct object *object = object_find(handle);
    return object ? object->gl : NULL;
}

struct gl_link *gl_link_of_context(struct object *object)
{
    const struct object *context = object_context(object);
    return context ? context->gl : NULL;
}

struct gl_link *gl_link_create(enum function function, const uint64_t *arguments, enum gl_kind kind, uint64_t *result)
{
    *result = core_call(function, arguments);
    return gl_link_make(object_find(*result), kind);
}
