/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of harness/check/icd/ that run on what memory objects hold. */
#ifndef CLHARNESS_MOCK_LAUNCHES_H
#define CLHARNESS_MOCK_LAUNCHES_H

#include "clharness_functions.h"

struct launch;

/* A kernel with its arguments and its range as they are now, for one of clEnqueueNDRangeKernel and clEnqueueTask; NULL
 * where it does nothing. */
struct launch *launches_keep(enum function function, const uint64_t *arguments);
void launches_run(const struct launch *launch);

#endif
