/* SPDX-License-Identifier: Apache-2.0 */
/* Queries of memory objects that hold something: their sizes, formats and mappings. */
#ifndef CLHARNESS_MOCK_CONTENTS_INFO_H
#define CLHARNESS_MOCK_CONTENTS_INFO_H

#include "base/objects.h"
#include "clharness_cl.h"

/* Answers a query of clGetMemObjectInfo or clGetImageInfo; false where it is for another part. */
bool contents_info(enum function function, const struct object *object, const uint64_t *rest, cl_int *result);

#endif
