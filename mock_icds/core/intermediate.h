/* SPDX-License-Identifier: Apache-2.0 */
/* Programs in an intermediate language: what SPIR-V says of its entry point and of its specialization constants. */
#ifndef CLHARNESS_MOCK_INTERMEDIATE_H
#define CLHARNESS_MOCK_INTERMEDIATE_H

#include "base/objects.h"
#include "clharness_cl.h"

/* The error of clCreateProgramWithIL or clSetProgramSpecializationConstant; CL_SUCCESS for all other functions. */
cl_int intermediate_error(enum function function, const uint64_t *arguments);
/* Keeps the program of clCreateProgramWithIL, whose handle is given. */
void intermediate_keep(uint64_t handle, const uint64_t *arguments);
/* Answers CL_DEVICE_IL_VERSION and CL_DEVICE_ILS_WITH_VERSION of a device that takes SPIR-V; false otherwise. */
bool intermediate_info(const struct object *device, cl_uint query, const uint64_t *rest, cl_int *result);

#endif
