/* SPDX-License-Identifier: Apache-2.0 */
/* What the mock refuses, by faults, although it is legal to make (faults_refusals.h). */
#ifndef CLHARNESS_MOCK_REFUSALS_H
#define CLHARNESS_MOCK_REFUSALS_H

#include "clharness_functions.h"

#include <stdbool.h>

/* Answers calls of functions that are set to be refused; false for all others. */
bool refusals_of_function(enum function function, const uint64_t *arguments, uint64_t *result);
/* Answers calls that a fault has refused; false for all others. */
bool refusals_handle(enum function function, const uint64_t *arguments, uint64_t *result);

#endif
