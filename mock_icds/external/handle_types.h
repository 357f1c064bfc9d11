/* SPDX-License-Identifier: Apache-2.0 */
/* Queries of handle types and semaphore types. */
#ifndef CLHARNESS_MOCK_HANDLE_TYPES_H
#define CLHARNESS_MOCK_HANDLE_TYPES_H

#include "base/objects.h"
#include "clharness_cl.h"

/* Answers such a query of a platform or a device; false where it is another one. */
bool handle_types_answer(struct object *object, cl_uint query, const uint64_t *rest, cl_int *result);

#endif
