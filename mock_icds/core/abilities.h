/* SPDX-License-Identifier: Apache-2.0 */
/* What extensions let an application ask of devices and kernels: identity, dot products, sub-groups, sizes of groups.
 */
#ifndef CLHARNESS_MOCK_ABILITIES_H
#define CLHARNESS_MOCK_ABILITIES_H

#include "base/objects.h"
#include "clharness_cl.h"

/* Answers a query of a device; false where it is not one of these. */
bool abilities_info(const struct object *device, cl_uint query, const uint64_t *rest, cl_int *result);
/* Answers clGetKernelSubGroupInfo and clGetKernelSuggestedLocalWorkSizeKHR; false for all other functions. */
bool abilities_handle(enum function function, const uint64_t *arguments, uint64_t *result);

#endif
