/* SPDX-License-Identifier: Apache-2.0 */
/* Queries: all clGet…Info functions of the core. */
#ifndef CLHARNESS_MOCK_INFO_H
#define CLHARNESS_MOCK_INFO_H

#include "clharness_cl.h"

#include <stdbool.h>

/* clGetPlatformInfo, as the table has it or as the library exports it. */
cl_int info_platform(const uint64_t *arguments, bool exported);
/* All others, whose object is the first argument; false where the function is not one of them. */
bool info_handle(enum function function, const uint64_t *arguments, uint64_t *result);

#endif
