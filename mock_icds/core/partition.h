/* SPDX-License-Identifier: Apache-2.0 */
/* Sub-devices, for a mock ICD that `validates`. */
#ifndef CLHARNESS_MOCK_PARTITION_H
#define CLHARNESS_MOCK_PARTITION_H

#include "base/objects.h"
#include "clharness_cl.h"

/* clCreateSubDevices. */
uint64_t partition_create(const uint64_t *arguments);
/* Compute units of a device or sub-device. */
cl_uint partition_units(const struct object *device);

#endif
