/* SPDX-License-Identifier: Apache-2.0 */
/* Programs, kernels and memory that hold something, for a mock ICD whose devices have the feature `compiler`. */
#ifndef CLHARNESS_MOCK_COMPUTE_H
#define CLHARNESS_MOCK_COMPUTE_H

#include "base/objects.h"
#include "clharness_cl.h"

/* What a call does besides, once another part has answered it; may turn `*result` into an error. */
void compute_follow(enum function function, const uint64_t *arguments, uint64_t *result);
/* Whether a function is called with a kernel that is run. */
bool compute_runs(enum function function, const uint64_t *arguments);
/* Answers a query that follows from this; false where it does not. `rest` are the last three arguments of the query. */
bool compute_info(enum function function, const struct object *object, const uint64_t *rest, cl_int *result);

#endif
