/* SPDX-License-Identifier: Apache-2.0 */
/* Memory objects that are made of OpenGL's and EGL's. */
#ifndef CLHARNESS_MOCK_GL_OBJECTS_H
#define CLHARNESS_MOCK_GL_OBJECTS_H

#include "clharness_functions.h"

#include <stdbool.h>

/* Answers a call that is a matter of these; false where it is not. */
bool gl_objects_handle(enum function function, const uint64_t *arguments, uint64_t *result);

#endif
