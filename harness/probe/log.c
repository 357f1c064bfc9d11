/* SPDX-License-Identifier: Apache-2.0 */
/* The call log, as the application writes it. */
#include "log.h"

struct calllog probe_log;

void probe_log_call(const char *event, const char *name, const uint64_t *arguments, unsigned count,
                    const uint64_t *result)
{
    struct calllog_line line;
    calllog_begin(&line, "application", event, name);
    if (arguments) {
        calllog_words(&line, "args", arguments, count);
    }
    if (result) {
        calllog_hex(&line, "result", *result);
    }
    calllog_commit(&probe_log, &line);
}
