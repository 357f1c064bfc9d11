/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of the property lists that the core's functions take. */
#ifndef CLHARNESS_MOCK_PROPERTY_RULES_H
#define CLHARNESS_MOCK_PROPERTY_RULES_H

#include "clharness_functions.h"
#include "core/properties.h"

/* The rules of a function's property list; none for functions that take no such list. */
const struct property_rules *property_rules_of(enum function function);

#endif
