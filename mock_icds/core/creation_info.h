/* SPDX-License-Identifier: Apache-2.0 */
/* Queries that follow from how an object was made, and from what devices can do. */
#ifndef CLHARNESS_MOCK_CREATION_INFO_H
#define CLHARNESS_MOCK_CREATION_INFO_H

#include "base/objects.h"
#include "clharness_cl.h"

/* Answers a query of an object; false where the answer does not follow from this. `rest` are the last three arguments
 * of the query. */
bool creation_info_object(struct object *object, cl_uint query, const uint64_t *rest, cl_int *result);
/* The same of devices. */
bool creation_info_device(struct object *device, cl_uint query, const uint64_t *rest, cl_int *result);

#endif
