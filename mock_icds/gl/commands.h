/* SPDX-License-Identifier: Apache-2.0 */
/* Commands on OpenGL's and EGL's objects, and events of their syncs. */
#ifndef CLHARNESS_MOCK_GL_COMMANDS_H
#define CLHARNESS_MOCK_GL_COMMANDS_H

#include "clharness_functions.h"

#include <stdbool.h>

/* Answers a call that is a matter of these; false where it is not. */
bool gl_commands_handle(enum function function, const uint64_t *arguments, uint64_t *result);

#endif
