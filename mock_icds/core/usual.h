/* SPDX-License-Identifier: Apache-2.0 */
/* What a function does that no part of the mock treats in its own way: makes what it is to make, and succeeds. */
#ifndef CLHARNESS_MOCK_USUAL_H
#define CLHARNESS_MOCK_USUAL_H

#include "base/objects.h"

uint64_t usual_call(enum function function, const uint64_t *arguments);
/* The same where the arguments are as the specification says; else the error. */
uint64_t usual_checked_call(enum function function, const uint64_t *arguments);

/* A new object of a function, without what its settings leave out. */
struct object *usual_object(enum function function, const uint64_t *arguments, enum handle_kind kind,
                            struct object *parent);
/* The object that a created one belongs to: the first of our handles among the arguments, else the platform among the
 * properties, else the first platform. */
struct object *usual_parent(enum function function, const uint64_t *arguments);

#endif
