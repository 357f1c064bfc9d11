/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of which every step is followed: the layers that it goes through, the vendor that it reaches, arguments,
 * result and outputs. What is wrong is a finding.
 *
 * Vendors and layers that answer such a call look at nothing that an argument points to, so that any bits can be one;
 * their answers are bits, too, other ones in every call, component and function.
 */
#ifndef CLHARNESS_FUZZ_TRACED_H
#define CLHARNESS_FUZZ_TRACED_H

#include "layer.h"
#include "vendor.h"

/* This vendor stays out of the world: it shows what a call looks like that nobody stands in the way of. */
enum { SPARE_VENDOR = VENDORS - 1, TRACED_PLATFORMS = 16 };

/* One call of a function of the dispatch table. */
struct traced {
    enum function function;
    uint64_t argument[MAX_PARAMETERS];
    uint64_t result;
};

/* The platforms that the loader offers: objects for calls are theirs. */
extern const struct object *traced_platforms[TRACED_PLATFORMS];
extern unsigned traced_platform_count;

/* At the beginning of an input. */
void traced_begin(void);
/* Asks the loader for its platforms, as an application does first (NULL), or a layer; gives the result. */
cl_int traced_discover(const struct layer *by);
/* Draws a call from the input. False where there is none: the loader has no such function, or texts leave open what
 * happens. */
bool traced_draw(struct traced *call);
/* Makes the call, as the application (NULL) or as a layer through its target, and checks it. */
void traced_make(struct traced *call, const struct layer *by);

/* --- draw.c --- */

/* Where calls put outputs, one word for each parameter. */
extern uint64_t traced_outputs[MAX_PARAMETERS];
/* Bits that depend on all of these, and on nothing else. */
uint64_t traced_bits(uint64_t a, uint64_t b);

/* --- expect.c --- */

/* What must become of a call. */
struct expected {
    enum { TO_VENDOR, TO_LOADER, UNDEFINED, ANYTHING } outcome;
    int vendor;
    cl_int error;        /* the loader's own answer, or CL_SUCCESS */
    const char *because; /* of what it answers, where no text says that it has to; else NULL */
};

struct expected traced_expect(const struct traced *call);

#endif
