/* SPDX-License-Identifier: Apache-2.0 */
/* cl_khr_command_buffer of the mock ICD. */
#ifndef CLHARNESS_MOCK_COMMAND_BUFFERS_H
#define CLHARNESS_MOCK_COMMAND_BUFFERS_H

#include "clharness_functions.h"

#include <stdbool.h>

/* Answers a call that is a matter of command buffers; false where it is not. */
bool command_buffers_handle(enum function function, const uint64_t *arguments, uint64_t *result);

#endif
