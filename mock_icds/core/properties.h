/* SPDX-License-Identifier: Apache-2.0 */
/* Property lists: walked by rules (known names, values, repetitions, values that are lists), and kept for queries.
 *
 * Lists of either element type are runs of 64-bit words here: a name, what belongs to it, and so on until a name is 0.
 */
#ifndef CLHARNESS_MOCK_PROPERTIES_H
#define CLHARNESS_MOCK_PROPERTIES_H

#include "clharness_cl.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One property of a list. */
struct property {
    uint64_t name;
    const uint64_t *values; /* the value; of a list all of them, without its end marker */
    size_t count;           /* how many values: 1, or as many as the list has */
    int platform;           /* that the object is to belong to */
};

enum property_form {
    PROPERTY_VALUE, /* one value */
    PROPERTY_LIST,  /* values up to an end marker of their own, which is 0 */
};

struct property_rule {
    uint64_t name;
    enum property_form form;
    const char *extension; /* the name is known where the platform has this extension only; NULL: always */
    /* Answers CL_SUCCESS or the error for a bad value; NULL: any value is fine. */
    cl_int (*check)(const struct property *property, const void *about);
};

/* What holds for the lists of a function. */
struct property_rules {
    const struct property_rule *rules;
    size_t count;
    cl_int unknown_name;  /* the error for a name without a rule; CL_SUCCESS where it is passed over */
    cl_int repeated_name; /* the error for a name that is listed twice; CL_SUCCESS where it may be */
    bool without_list;    /* a function without a list has one made of its arguments */
};

/* The first error of a list in its order, or CL_SUCCESS; NULL and empty lists have none. `about` is for the checks. */
cl_int properties_check(const uint64_t *list, const struct property_rules *rules, int platform, const void *about);
/* The first property of this name; `*property` stays as it was where there is none. `list` may be NULL. */
bool properties_find(const uint64_t *list, const struct property_rules *rules, uint64_t name,
                     struct property *property);
/* The value of the first property of this name, or `otherwise`. */
uint64_t properties_value(const uint64_t *list, const struct property_rules *rules, uint64_t name, uint64_t otherwise);
/* The list as the mock reads it: the same, unless a fault says that it reads lists in a wrong way. */
const uint64_t *properties_seen(const uint64_t *list, const struct property_rules *rules);
/* Length in words, with the end marker; 0 for NULL. */
size_t properties_length(const uint64_t *list, const struct property_rules *rules);

#endif
