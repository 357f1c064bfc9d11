/* SPDX-License-Identifier: Apache-2.0 */
/* The call log, as the application writes it. */
#ifndef CLHARNESS_PROBE_LOG_H
#define CLHARNESS_PROBE_LOG_H

#include "calllog.h"

#include <stdint.h>

extern struct calllog probe_log;

/* One event of the application: "call", "return" or "event"; arguments and result may be NULL. */
void probe_log_call(const char *event, const char *name, const uint64_t *arguments, unsigned count,
                    const uint64_t *result);

#endif
