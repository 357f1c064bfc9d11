/* SPDX-License-Identifier: Apache-2.0 */
/* OpenGL and EGL sharing in the mock ICD, for platforms that have the extensions. */
#ifndef CLHARNESS_MOCK_GL_GL_H
#define CLHARNESS_MOCK_GL_GL_H

#include "clharness_functions.h"

#include <stdbool.h>

/* Answers a call that is a matter of sharing; false where it is not. */
bool gl_handle(enum function function, const uint64_t *arguments, uint64_t *result);

#endif
