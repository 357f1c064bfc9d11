/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that the state of memory objects and events does not allow. */
#ifndef CLHARNESS_MOCK_STATES_H
#define CLHARNESS_MOCK_STATES_H

#include "clharness_cl.h"
#include "clharness_functions.h"

#include <stdbool.h>

/* Whether a call is about memory whose bounds are known, and are not those of the objects that rules are about. */
bool states_bounds_known(enum function function, const uint64_t *arguments);
/* The error of such a call, or CL_SUCCESS. */
cl_int states_error(enum function function, const uint64_t *arguments);

#endif
