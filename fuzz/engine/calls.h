/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of the loader whose way to a vendor is checked: once, the right one, unchanged there and back. */
#ifndef CLHARNESS_FUZZ_CALLS_H
#define CLHARNESS_FUZZ_CALLS_H

#include "vendor.h"

/* The platforms that the loader offers, as an application reads them; what is wrong with the list itself is a finding.
 */
struct offered {
    cl_uint count;
    struct object *platform[VENDORS * PLATFORMS];
};

struct offered platforms_offered(void);

/* Calls the function of the loader with objects of the platform; a finding where the call arrives elsewhere, more than
 * once or changed, or its answer does. `there` says whether the vendor has the function; where it has not, the loader
 * must answer by itself, with an error. */
void check_call(struct object *platform, enum function function, bool there);
/* All functions that the loader exports, or answers an address of its own for, for one platform. */
void check_calls(struct object *platform);
/* All functions again, each with NULL in the place of the object that would lead it to a vendor: the loader must answer
 * with an error, and call nobody. */
void check_null_handles(void);
/* The number of its devices. */
void check_devices(struct object *platform);
/* The address that the loader answers for an extension's function, by both queries. */
void check_queries(struct object *platform, const char *name);

#endif
