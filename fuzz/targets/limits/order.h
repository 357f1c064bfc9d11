/* SPDX-License-Identifier: Apache-2.0 */
/* The order of the platforms that a loader offers. */
#ifndef CLHARNESS_FUZZ_ORDER_H
#define CLHARNESS_FUZZ_ORDER_H

#include "outcome.h"

/* Pairs of classes of which the first has more devices of a type: a loader that puts it first both times sorts by them.
 * The first pair is of GPUs. */
enum { DEVICE_PAIRS = 3 };
extern const unsigned device_pairs[DEVICE_PAIRS][2];

/* Whether platforms stand as small machines have shown it; `even` came of the one with the same devices everywhere. */
void check_order(const struct machine *machine, const struct offered_list *offered, const struct outcome *even);

#endif
