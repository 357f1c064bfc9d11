/* SPDX-License-Identifier: Apache-2.0 */
/* What a library should leave as it is in the process that loads it: locale, signals, threads, limits and so on. Linux
 * only. */
#ifndef CLHARNESS_PROBE_PROCESS_STATE_H
#define CLHARNESS_PROBE_PROCESS_STATE_H

#include <stddef.h>

/* A line NAME=VALUE each, of so many bytes together. NULL: no room. To be freed. */
char *process_state(size_t *length);

#endif
