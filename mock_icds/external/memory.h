/* SPDX-License-Identifier: Apache-2.0 */
/* cl_khr_external_memory of the mock ICD. */
#ifndef CLHARNESS_MOCK_MEMORY_H
#define CLHARNESS_MOCK_MEMORY_H

#include "base/objects.h"

/* Answers a call that is a matter of memory; false where it is not. */
bool memory_handle(enum function function, const uint64_t *arguments, uint64_t *result);
/* Writes a pattern again and again; the numbers say where in the buffer: offset, size, size of pattern. */
void memory_fill(struct object *buffer, const uint64_t *numbers, const void *pattern, uint32_t device);

#endif
