/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that are a matter of OpenGL and EGL sharing. */
#include "gl/gl.h"

#include "base/errors.h"
#include "gl/commands.h"
#include "gl/contexts.h"
#include "gl/objects.h"

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

bool gl_handle(enum function function, const uint64_t *arguments, uint64_t *result)
{
    if (is_of_sharing(function) && fault(FAULT_gl_functions_answer, ANY_PLATFORM)) {
        *result =
            error_refuse(function, arguments, error_or_fault(FAULT_gl_functions_answer, NULL, CL_INVALID_OPERATION));
        return true;
    }
    return gl_contexts_handle(function, arguments, result) || gl_objects_handle(function, arguments, result) ||
           gl_commands_handle(function, arguments, result);
}
