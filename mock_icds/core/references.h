/* SPDX-License-Identifier: Apache-2.0 */
/* What calls do to the references of the objects that they are given. */
#ifndef CLHARNESS_MOCK_REFERENCES_H
#define CLHARNESS_MOCK_REFERENCES_H

#include "clharness_functions.h"

/* Ends a context whose last object was released, and leaves references where the function is set to. */
void references_follow(enum function function, const uint64_t *arguments, uint64_t *result);

#endif
