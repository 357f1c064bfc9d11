/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments of a call by what the headers say of them: each is one word. */
#ifndef CLHARNESS_MOCK_ARGUMENTS_H
#define CLHARNESS_MOCK_ARGUMENTS_H

#include "base/objects.h"

/* The argument that has this name in the headers, 0 where the function has none. */
uint64_t argument_named(enum function function, const uint64_t *arguments, const char *name);
/* The first of our objects among the handles and the beginnings of lists of handles, or NULL. */
struct object *argument_first_object(enum function function, const uint64_t *arguments);
/* The list of 64-bit properties among the arguments, or NULL. */
const uint64_t *argument_properties(enum function function, const uint64_t *arguments);
/* Whether the name of a function begins so. */
bool argument_function_begins(enum function function, const char *start);

#endif
