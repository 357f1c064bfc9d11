/* SPDX-License-Identifier: Apache-2.0 */
/* Callback functions that the probe can pass to OpenCL, one for each callback parameter of the API (generated). */
#ifndef CLHARNESS_CALLBACKS_H
#define CLHARNESS_CALLBACKS_H

#include "clharness_functions.h"

struct callback {
    const char *name; /* "clBuildProgram.pfn_notify" */
    void (*address)(void);
};

extern const struct callback callbacks[];

/* Called by each of them with its arguments widened to 64 bits. */
void callback_called(const char *name, unsigned count, const uint64_t *arguments);

#endif
