/* SPDX-License-Identifier: Apache-2.0 */
/* What must be in every machine, small ones among them: rules of the catalogue, and what follows from a loader's asking
 * for a variable, which it then honours (DISC-GEN-024).
 */
#ifndef CLHARNESS_FUZZ_KNOWN_H
#define CLHARNESS_FUZZ_KNOWN_H

#include "outcome.h"

/* Makes the first call that the machine has, where that is not one for platforms; and looks at its answer again, after
 * discovery. */
void call_first(const struct machine *machine);
void check_first_again(const struct machine *machine);
/* Whether platforms are found in the way that the machine has; `small` is its small machine. */
void check_way_is_honoured(const struct machine *machine, const struct outcome *small);
/* The same of layers, where a small machine says that they are not initialised. */
void check_layers_are_honoured(const struct machine *machine, const struct outcome *small);
/* What holds of each layer. */
void check_layers(const struct machine *machine, const struct offered_list *offered);
/* Whether a loader sorts by devices, as its documents say. */
bool must_sort(const struct machine *machine);
/* Which platform stands in for none. */
void check_default_is_known(const struct machine *machine, const struct offered_list *offered,
                            const struct outcome *outcome);
/* What calls without a platform answer where there is none. */
void check_without_platforms(const struct outcome *outcome);
/* Whether libraries were opened, or asked, once more; and whether the list is still the same. */
void begin_use(void);
void check_use(const struct machine *machine, const struct offered_list *offered);
/* What holds after the end: which libraries are still open, and which layers were ended. */
void begin_end(const struct offered_list *offered);
void check_end(const struct machine *machine);

#endif
