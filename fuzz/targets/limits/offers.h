/* SPDX-License-Identifier: Apache-2.0 */
/* What is right on its own, whatever the controls are. */
#ifndef CLHARNESS_FUZZ_OFFERS_H
#define CLHARNESS_FUZZ_OFFERS_H

#include "outcome.h"

/* Calls reach the platforms that are offered, and names, suffixes, devices, lists and properties are theirs. */
void check_offers(const struct machine *machine, const struct offered_list *offered, bool special_is_offered);

#endif
