/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that move data: rows of bytes from one view of memory to another, or a pattern into one. */
#ifndef CLHARNESS_MOCK_TRANSFERS_H
#define CLHARNESS_MOCK_TRANSFERS_H

#include "core/contents.h"

struct transfer {
    struct view to;
    struct view from;
    size_t region[3];             /* bytes of a row, rows, slices */
    const unsigned char *pattern; /* of a fill, or NULL */
    size_t width;                 /* of the pattern */
    struct contents *written;     /* what the command writes to, or NULL */
};

/* Works out what an enqueue function is to move; false where it moves nothing that is known here. What pointers among
 * the arguments point to may be gone afterwards, but for the host's memory that data is moved to or from. */
bool transfers_plan(enum function function, const uint64_t *arguments, struct transfer *transfer);
void transfers_run(const struct transfer *transfer);

#endif
