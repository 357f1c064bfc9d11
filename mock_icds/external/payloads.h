/* SPDX-License-Identifier: Apache-2.0 */
/* Payloads of semaphores, which processes and APIs share by descriptors. */
#ifndef CLHARNESS_MOCK_PAYLOADS_H
#define CLHARNESS_MOCK_PAYLOADS_H

#include <stdbool.h>
#include <stdint.h>

/* What an opaque descriptor refers to. */
struct payload_memory {
    uint64_t magic;
    uint64_t value;
};

struct payload {
    struct payload_memory *memory; /* its own, or shared */
    struct payload_memory own;
    int fd; /* of shared memory, or -1 */
};

void payload_open(struct payload *payload);
/* Gives back what is shared; the descriptor is closed. */
void payload_close(struct payload *payload);

/* Not 0 where the semaphore is signalled. */
uint64_t payload_value(const struct payload *payload);
void payload_set(struct payload *payload, bool signalled);

/* Moves the payload into memory that can be shared. False where the system refuses. */
bool payload_share(struct payload *payload);
/* Takes over a descriptor, which is `value` as the property list has it. False where it is not such a descriptor. */
bool payload_import_opaque(struct payload *payload, uint64_t value);
bool payload_import_sync(struct payload *payload, uint64_t value);
/* A new descriptor of the payload, or -1; that of a sync descriptor resets the payload. */
int payload_export_opaque(const struct payload *payload);
int payload_export_sync(struct payload *payload);

#endif
