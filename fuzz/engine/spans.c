/* SPDX-License-Identifier: Apache-2.0 */
/* The loaders under test, and spans of their memory that are not put back. */
#include "internal.h"

struct subject subjects[2];
size_t subject_count;
struct subject *subject;

void subject_leave_out(struct subject *of, struct span left_out)
{
    for (size_t i = 0; i < of->writable_count; i++) {
        struct span *span = &of->writable[i];
        if (left_out.end <= span->begin || left_out.begin >= span->end) {
            continue;
        }
        struct span rest = {left_out.end, span->end};
        span->end = left_out.begin > span->begin ? left_out.begin : span->begin;
        if (rest.begin < rest.end) {
            if (of->writable_count == SPANS_MAX) {
                stop("%s has more than %d sections of counters", of->path, SPANS_MAX);
            }
            of->writable[of->writable_count++] = rest;
        }
    }
}
