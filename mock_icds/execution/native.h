/* SPDX-License-Identifier: Apache-2.0 */
/* Native kernels: functions of the application that run as commands. */
#ifndef CLHARNESS_MOCK_NATIVE_H
#define CLHARNESS_MOCK_NATIVE_H

#include "clharness_cl.h"

#include <stdint.h>

struct native;

/* CL_INVALID_VALUE where the arguments of clEnqueueNativeKernel do not agree with each other, or CL_SUCCESS. */
cl_int native_error(const uint64_t *arguments);
/* What is kept of such a call until it runs. */
struct native *native_keep(const uint64_t *arguments);
void native_run(const struct native *native);

#endif
