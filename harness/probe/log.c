/* SPDX-License-Identifier: Apache-2.0 */
/* The call log, as the application writes it. */
#include "log.h"

struct calllog probe_log;

void probe_log_call(enum calllog_kind kind, const char *name, const uint64_t *values, unsigned count)
{
    struct calllog_line line;
    calllog_begin(&probe_log, &line, kind, "application", name, values, count);
    calllog_commit(&probe_log, &line);
}
