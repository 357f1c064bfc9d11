/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of events and of memory objects, for a mock ICD that `refuses`. */
#ifndef CLHARNESS_MOCK_EVENTS_H
#define CLHARNESS_MOCK_EVENTS_H

#include "base/objects.h"
#include "clharness_cl.h"

/* What a function does to events and memory objects; false where that is not all it does. */
bool events_handle(enum function function, const uint64_t *arguments, uint64_t *result);
/* Calls the callback of a build that has ended. */
void events_follow(enum function function, const uint64_t *arguments, uint64_t *result);
/* Keeps which command a new event is of, and what it waits for. */
void events_remember(struct object *event, enum function function, const uint64_t *arguments);
/* Answers a query of an event; false where the answer does not follow from this. `rest` are the last three arguments of
 * the query. */
bool events_info(struct object *event, cl_uint query, const uint64_t *rest, cl_int *result);
/* The command of an event, which is managed elsewhere, has another status: notes the time, and calls its callbacks. */
void events_progress(struct object *event, cl_int status);
/* Answers a query of a time; false where it is none. */
bool events_time(struct object *event, cl_uint query, const uint64_t *rest, cl_int *result);
/* Whether the times of an event can be queried. */
bool events_have_profiling(const struct object *event);
/* Calls the destructor callbacks of a context, once. */
void events_end_context(struct object *context);

#endif
