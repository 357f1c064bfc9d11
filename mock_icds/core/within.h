/* SPDX-License-Identifier: Apache-2.0 */
/* What the mock ICD does of releases that the application makes within its callbacks. */
#ifndef CLHARNESS_MOCK_WITHIN_H
#define CLHARNESS_MOCK_WITHIN_H

#include "clharness_functions.h"

#include <stdbool.h>

/* This thread calls a callback that was given to a function; it has returned. */
void within_enter(enum function setter);
void within_leave(void);
/* Whether the function is a release that is not to be made as usual, with its result. */
bool within_handle(enum function function, uint64_t *result);

#endif
