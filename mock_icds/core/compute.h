/* SPDX-License-Identifier: Apache-2.0 */
/* Programs and kernels that do something: a device with the feature `compiler` reads the declarations of every source,
 * takes it unless it says `clharness_undeclared`, and knows the kernels of harness/check/icd/ by their names. */
#ifndef CLHARNESS_MOCK_COMPUTE_H
#define CLHARNESS_MOCK_COMPUTE_H

#include "base/objects.h"
#include "clharness_cl.h"

/* Answers what only programs and kernels can: the kernels of a program. False for other calls. */
bool compute_handle(enum function function, const uint64_t *arguments, uint64_t *result);
/* Remembers what was made and set, once a call has been answered; a build may fail. */
void compute_follow(enum function function, const uint64_t *arguments, uint64_t *result);
/* The error of a call that the state of a program or kernel does not allow, or CL_SUCCESS. */
cl_int compute_error(enum function function, const uint64_t *arguments);
/* Whether a call is about a kernel that can run, and that is not the one which the rules of improper calls are about.
 */
bool compute_runs(enum function function, const uint64_t *arguments);
/* Answers a query that follows from a program or kernel. */
bool compute_info(enum function function, const struct object *object, const uint64_t *rest, cl_int *result);

#endif
