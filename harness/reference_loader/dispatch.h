/* SPDX-License-Identifier: Apache-2.0 */
/* How a call finds its vendor: by the dispatch table behind the object that it is given (ICD "Inferring Vendors From
 * Function Call Arguments"). */
#ifndef CLHARNESS_REFERENCE_DISPATCH_H
#define CLHARNESS_REFERENCE_DISPATCH_H

#include "loader.h"

/* What every handle points to. The second word is there in ICD 2 objects only. */
struct dispatchable {
    const entry *table;
    const struct dispatch_data *data;
};

/* An ICD 2 object carries the tag where clGetPlatformIDs would be. */
static inline bool is_icd2(const void *object)
{
    const struct dispatchable *dispatchable = object;
    return (intptr_t)dispatchable->table[0] == CL_ICD2_TAG_KHR;
}

/* The vendor's function in a slot, or NULL. A table that is shorter than ours cannot be told from a longer one: the
 * text has no length in it, and members are only ever appended. */
static inline entry vendor_entry(const void *object, int slot)
{
    const struct dispatchable *dispatchable = object;
    return is_icd2(object) ? dispatchable->data->table.slot[slot] : dispatchable->table[slot];
}

#endif
