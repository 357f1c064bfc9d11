/* SPDX-License-Identifier: Apache-2.0 */
/* Devices of contexts and queues, for external memory, semaphores and command buffers. */
#ifndef CLHARNESS_MOCK_DEVICES_H
#define CLHARNESS_MOCK_DEVICES_H

#include "base/objects.h"

/* Whether an object's platform has one of the extensions, so that its devices matter. */
bool devices_matter(const struct object *object);
/* Whether all these devices of a platform, a bit for each, can do it. Accelerators cannot, so that there is a device
 * that cannot. */
bool devices_can(int platform, uint32_t devices);
/* Keeps which devices a new context or queue has, and whether the queue is in order. */
void devices_follow(enum function function, const uint64_t *arguments, uint64_t *result);

#endif
