/* SPDX-License-Identifier: Apache-2.0 */
/* The library under test. */
#ifndef CLHARNESS_PROBE_LOADER_H
#define CLHARNESS_PROBE_LOADER_H

#include <stdbool.h>

struct loader_options {
    const char *path;
    bool global;
    bool now;
};

extern struct loader_options loader_options;

/* Whether this program is linked to it. */
extern const bool loader_is_linked;

/* Opens the loader (in the linked probe: notes what the dynamic linker loaded). NULL, or the reason of the failure. */
const char *loader_open(void);
/* Closes it. NULL, or the reason. */
const char *loader_close(void);
/* Address of a symbol of the loader, or NULL; of that version only, unless that is NULL. */
void *loader_symbol(const char *name, const char *version);

#endif
