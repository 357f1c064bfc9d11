/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that wait: for events, for what is before them in their queue, for semaphores. */
#ifndef CLHARNESS_MOCK_COMMANDS_H
#define CLHARNESS_MOCK_COMMANDS_H

#include "base/objects.h"
#include "clharness_cl.h"

enum { MAX_ITEMS = 32 };

struct command;
typedef bool command_ready(const struct command *command);
typedef void command_run(const struct command *command);

/* One command: it runs when the events of its list are complete, and what is before it in its queue. */
struct command {
    cl_uint type;
    cl_uint count; /* of items */
    struct object *queue;
    command_ready *ready; /* NULL: always */
    command_run *run;     /* NULL: nothing is done */
    struct object *items[MAX_ITEMS];
    uint64_t numbers[4];
    const void *data;
    struct object *event;
    struct object *waits_for[MAX_ITEMS]; /* up to the first that is NULL */
    uint64_t used;                       /* its first memory object, or its kernel; 0: none */
    bool blocks;                         /* the call returns when it has ended */
    bool barrier; /* in an out-of-order queue: waits for all before, all later ones wait for it */
    bool marker;  /* the same, but no later one waits for it */
    bool unseen;  /* nobody asked for its event */
    bool issued;  /* its queue was flushed or waited for; matters for faults alone */
    bool running;
    bool done;
};

/* Checks the wait list of a function that enqueues. */
cl_int commands_check_wait_list(enum function function, const uint64_t *arguments, struct object *queue);
/* Ends the commands of a context that have not run, with a status. */
void commands_end(const struct object *context, cl_int status);
/* Takes the wait list and the event from the arguments; gives the status that the command has then. */
cl_int commands_enqueue(enum function function, const uint64_t *arguments, struct command command);
/* Answers a call that is a matter of commands and events; false where it is not. */
bool commands_handle(enum function function, const uint64_t *arguments, uint64_t *result);

#endif
