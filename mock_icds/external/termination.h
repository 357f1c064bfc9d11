/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts that are terminated before their time: cl_khr_terminate_context, for a mock ICD that `refuses`. */
#ifndef CLHARNESS_MOCK_TERMINATION_H
#define CLHARNESS_MOCK_TERMINATION_H

#include "clharness_functions.h"

#include <stdbool.h>
#include <stdint.h>

/* Terminates a context, or refuses what cannot be done in one that was; false where a call is neither. */
bool termination_handle(enum function function, const uint64_t *arguments, uint64_t *result);

#endif
