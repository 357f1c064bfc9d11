/* SPDX-License-Identifier: Apache-2.0 */
/* OpenCL's core. Extensions use it for what their functions do besides. */
#ifndef CLHARNESS_MOCK_CORE_H
#define CLHARNESS_MOCK_CORE_H

#include "clharness_functions.h"

#include <stdbool.h>

/* What the core answers to a call. */
uint64_t core_call(enum function function, const uint64_t *arguments);
/* The same for the dispatcher; always true. */
bool core_handle(enum function function, const uint64_t *arguments, uint64_t *result);

#endif
