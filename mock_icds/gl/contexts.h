/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts that are tied to OpenGL, and clGetGLContextInfoKHR. */
#ifndef CLHARNESS_MOCK_GL_CONTEXTS_H
#define CLHARNESS_MOCK_GL_CONTEXTS_H

#include "clharness_functions.h"

#include <stdbool.h>

/* Answers a call that is a matter of these; false where it is not. */
bool gl_contexts_handle(enum function function, const uint64_t *arguments, uint64_t *result);

#endif
