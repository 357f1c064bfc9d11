/* SPDX-License-Identifier: Apache-2.0 */
/* Counts the instructions of a call. */
#ifndef CLHARNESS_PROBE_COUNT_H
#define CLHARNESS_PROBE_COUNT_H

#include "clharness_functions.h"

#include <stddef.h>
#include <stdint.h>

/* Calls a function as `invoke` does, one instruction at a time; libraries below the folder, which is "" for none, run
 * freely and count as one instruction where they are entered. On processors where that cannot be done, as `invoke`. */
uint64_t count_invoke(const char *folder, enum function function, void (*address)(void), const uint64_t *arguments);
/* Where the instructions of the last such call were: a line "NUMBER PATH" for each stretch of them in one library; no
 * path for the probe itself. NULL where they could not be counted. To be freed. */
char *count_text(size_t *length);

#endif
