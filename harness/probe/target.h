/* SPDX-License-Identifier: Apache-2.0 */
/* What stands below a layer that is driven without a loader: functions that answer patterns, and stand-ins for slots
 * that have none. */
#ifndef CLHARNESS_PROBE_TARGET_H
#define CLHARNESS_PROBE_TARGET_H

#include <stdbool.h>

typedef void target_entry(void);

/* Silent: calls are not logged. */
void target_set_silent(bool silent);

/* Windows has functions there; tables of other systems may hold NULL. */
void target_windows_entry(void);

/* Stands after the last slot that anybody knows. */
void target_surplus_entry(void);

#endif
