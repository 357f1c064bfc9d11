/* SPDX-License-Identifier: Apache-2.0 */
/* What external memory, semaphores and command buffers keep of the mock ICD's objects. */
#ifndef CLHARNESS_MOCK_ATTACHMENTS_H
#define CLHARNESS_MOCK_ATTACHMENTS_H

#include "base/objects.h"
#include "clharness_cl.h"
#include "core/properties.h"

struct attachment {
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

/* What is kept of an object; all 0 at first. */
struct attachment *attachment_of(struct object *object);
/* Keeps a property list for queries. */
void attachment_keep_list(struct attachment *attachment, const uint64_t *list, const struct property_rules *rules);
/* Answers with the kept list. */
cl_int attachment_answer_list(const struct attachment *attachment, const uint64_t *rest);

#endif
