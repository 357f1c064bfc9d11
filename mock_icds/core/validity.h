/* SPDX-License-Identifier: Apache-2.0 */
/* What a correct ICD refuses, as the specification of each function says it; for a mock ICD that `refuses`. */
#ifndef CLHARNESS_MOCK_VALIDITY_H
#define CLHARNESS_MOCK_VALIDITY_H

#include "clharness_functions.h"

#include <stdbool.h>

/* Whether a call is improper; its error, which is 0 where the function answers NULL and nothing else. */
bool validity_is_improper(enum function function, const uint64_t *arguments, int *error);
/* What a function answers that refuses a call. */
uint64_t validity_refuse(enum function function, const uint64_t *arguments, int error);
/* The size of the answer to a query, or 0 where the function has no query of this number. */
unsigned validity_query_size(enum function function, uint32_t number);

#endif
