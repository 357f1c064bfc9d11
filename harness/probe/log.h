/* SPDX-License-Identifier: Apache-2.0 */
/* The call log, as the application writes it. */
#ifndef CLHARNESS_PROBE_LOG_H
#define CLHARNESS_PROBE_LOG_H

#include "calllog.h"

#include <stdint.h>

extern struct calllog probe_log;

/* One line of the application, with `count` arguments, or the result of a return. */
void probe_log_call(enum calllog_kind kind, const char *name, const uint64_t *values, unsigned count);

#endif
