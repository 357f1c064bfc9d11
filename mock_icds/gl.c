/* What the parts of OpenGL and EGL sharing in the mock ICD are made of. */
#define _GNU_SOURCE
#include "gl.h"

#include <stdio.h>
#include <unistd.h>

enum { MAX_LINKS = 4096 };

static struct gl_link links[MAX_LINKS]; /* outside the heap, as objects are */
static int link_count;

struct gl_link *gl_tie(struct object *object, enum gl_kind kind)
{
    int index = __atomic_fetch_add(&link_count, 1, __ATOMIC_RELAXED);
    if (index >= MAX_LINKS) {
        fputs("clharness mock ICD: out of links to OpenGL\n", stderr);
        _exit(99);
    }
    links[index].kind = kind;
    object->gl = &links[index];
    return object->gl;
}

struct gl_link *gl_link_of(uint64_t handle)
{
    struct object *object = object_of(handle);
    return object ? object->gl : NULL;
}

cl_int gl_rule(enum fault instead, struct object *object, cl_int error)
{
    return (cl_int)fault_value(instead, object ? object->platform : ANY_PLATFORM, error);
}

/* The place of errcode_ret or of a created event among the arguments, or -1. */
static int last_of_kind(enum function function, enum parameter_kind kind)
{
    const struct function_info *about = &function_info[function];
    int last = (int)about->parameter_count - 1;
    return last >= 0 && about->parameters[last].kind == kind ? last : -1;
}

uint64_t gl_refuse(enum function function, const uint64_t *arguments, cl_int error)
{
    int place = last_of_kind(function, PARAMETER_ERRCODE);
    if (place < 0) {
        return (uint64_t)(int64_t)error;
    }
    if (arguments[place]) {
        *(cl_int *)(uintptr_t)arguments[place] = error;
    }
    return 0;
}

struct gl_link *gl_made(enum function function, const uint64_t *arguments, enum gl_kind kind, uint64_t *result)
{
    *result = behave_otherwise(function, arguments);
    return gl_tie(object_of(*result), kind);
}

static bool is_of_sharing(enum function function)
{
    switch (function) {
    case FUNCTION_clGetGLContextInfoKHR:
    case FUNCTION_clCreateFromGLBuffer:
    case FUNCTION_clCreateFromGLTexture:
    case FUNCTION_clCreateFromGLTexture2D:
    case FUNCTION_clCreateFromGLTexture3D:
    case FUNCTION_clCreateFromGLRenderbuffer:
    case FUNCTION_clGetGLObjectInfo:
    case FUNCTION_clGetGLTextureInfo:
    case FUNCTION_clEnqueueAcquireGLObjects:
    case FUNCTION_clEnqueueReleaseGLObjects:
    case FUNCTION_clCreateEventFromGLsyncKHR:
    case FUNCTION_clCreateFromEGLImageKHR:
    case FUNCTION_clEnqueueAcquireEGLObjectsKHR:
    case FUNCTION_clEnqueueReleaseEGLObjectsKHR:
    case FUNCTION_clCreateEventFromEGLSyncKHR:
        return true;
    default:
        return false;
    }
}

bool gl_behave(enum function function, const uint64_t *arguments, uint64_t *result)
{
    if (is_of_sharing(function) && fault(FAULT_gl_functions_answer, ANY_PLATFORM)) {
        cl_int error = (cl_int)fault_value(FAULT_gl_functions_answer, ANY_PLATFORM, CL_INVALID_OPERATION);
        *result = gl_refuse(function, arguments, error);
        return true;
    }
    return gl_behave_contexts(function, arguments, result) || gl_behave_objects(function, arguments, result) ||
           gl_behave_commands(function, arguments, result);
}
