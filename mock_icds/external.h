/* External memory, semaphores and command buffers of the mock ICD, on platforms that have one of the extensions: what
 * the parts share. Elsewhere nothing of this happens.
 *
 * Accelerators can do nothing of it, so that there is a device that cannot.
 */
#ifndef CLHARNESS_MOCK_EXTERNAL_H
#define CLHARNESS_MOCK_EXTERNAL_H

#include "icd.h"
#include "properties.h"

enum { MAX_LIST = 64, MAX_ITEMS = 32 };

/* What is kept of an object, besides what every object has. */
struct external {
    uint32_t devices;   /* of a context, queue, memory object or semaphore: a bit for each device of the platform */
    bool out_of_order;  /* of a queue */
    cl_uint type;       /* of an event: the command */
    cl_int status;      /* of an event */
    uint64_t *list;     /* the property list that it was made with, or NULL */
    size_t list_length; /* in words, with the end marker */
    struct memory *memory;
    struct semaphore *semaphore;
    struct command_buffer *command_buffer;
};

/* Whether a call is a matter of these extensions; if so, `*result` is the answer. */
bool external_behave(enum function function, const uint64_t *arguments, uint64_t *result);

/* Notes the devices of a new context or queue, and whether the queue is in order; of others nothing. */
void external_note_devices(enum function function, const uint64_t *arguments, uint64_t made);

/* --- external.c --- */

/* Zeroed memory that stays. */
void *external_keep(size_t size);
struct external *external_of(struct object *object);
/* The living object of a kind behind a handle, or NULL. */
struct object *external_object(uint64_t handle, enum handle_kind kind);
struct object *external_context(struct object *object);
/* The bit of a device, or 0 for what is none; a sub-device counts as the device that it is of. */
uint32_t external_device_bit(const struct object *device);
/* Whether all these devices of a platform can do it. */
bool external_can(int platform, uint32_t devices);
bool external_has(const struct object *object, const char *extension);
/* Keeps a property list for queries. */
void external_keep_list(struct external *external, const uint64_t *list, const struct property_rules *rules);
/* Answers with the kept list. */
cl_int external_answer_list(const struct external *external, const uint64_t *rest);
/* The argument that has this name in the headers, 0 where the function has none. */
uint64_t external_argument(enum function function, const uint64_t *arguments, const char *name);
/* Answers a function that makes an object: the handle, or the error by errcode_ret. */
uint64_t external_made(enum function function, const uint64_t *arguments, struct object *object, cl_int error);
/* The error, or what the fault answers in its place (CL_SUCCESS without a value). */
cl_int external_rule(enum fault instead, cl_int error);

static inline uint64_t external_error(cl_int error)
{
    return (uint64_t)(int64_t)error;
}

/* --- handle_types.c --- */

/* Answers a query of handle types or semaphore types, of a platform or a device. False: it is none. */
bool external_types(struct object *object, cl_uint query, const uint64_t *rest, cl_int *result);

/* --- commands.c --- */

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
    bool barrier;                        /* in an out-of-order queue: waits for all before, all behind wait for it */
    bool done;
};

/* Checks the wait list of a function that enqueues. */
cl_int command_check_list(enum function function, const uint64_t *arguments, struct object *queue);
/* Takes the wait list and the event from the arguments. */
void command_enqueue(enum function function, const uint64_t *arguments, struct command command);
bool commands_behave(enum function function, const uint64_t *arguments, uint64_t *result);

/* --- external_memory.c --- */

bool memory_behave(enum function function, const uint64_t *arguments, uint64_t *result);
/* Writes a pattern again and again; where it lies in the buffer stands in the numbers: offset, size, size of pattern.
 */
void memory_fill(struct object *buffer, const uint64_t *numbers, const void *pattern, uint32_t device);

/* --- semaphores.c, command_buffers.c --- */

bool semaphores_behave(enum function function, const uint64_t *arguments, uint64_t *result);
bool command_buffers_behave(enum function function, const uint64_t *arguments, uint64_t *result);

#endif
