/* SPDX-License-Identifier: Apache-2.0 */
/* What devices can do, in numbers: those of a device of the full profile, where the ICD refuses improper calls. */
#ifndef CLHARNESS_MOCK_DEVICE_INFO_H
#define CLHARNESS_MOCK_DEVICE_INFO_H

#include "base/objects.h"
#include "clharness_cl.h"

/* Answers a query of a number of a device; false where it is for another part. */
bool device_info_number(const struct object *device, cl_uint query, const uint64_t *rest, cl_int *result);
/* Answers a version, or extensions with versions, of a platform or of its devices; false where it is for another part.
 */
bool device_info_version(const struct object *object, cl_uint query, const uint64_t *rest, cl_int *result);
/* clGetSupportedImageFormats. */
cl_int device_info_formats(const uint64_t *arguments);

#endif
