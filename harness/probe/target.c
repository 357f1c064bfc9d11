/* SPDX-License-Identifier: Apache-2.0 */
/* The target's functions answer patterns (harness/probe/patterns.py) as component "target". */
#include "target.h"

#include "clharness_functions.h"
#include "distinct.h"
#include "log.h"

static bool is_silent;

void target_set_silent(bool silent)
{
    is_silent = silent;
}

uint64_t component_call(enum function function, const uint64_t *arguments)
{
    return distinct_answer(&probe_log, "target", function, arguments, is_silent);
}

static void log_event(const char *event)
{
    struct calllog_line line;
    calllog_begin(&probe_log, &line, CALLLOG_EVENT, "target", event, NULL, 0);
    calllog_commit(&probe_log, &line);
}

void target_windows_entry(void)
{
    log_event("Windows entry called");
}

void target_surplus_entry(void)
{
    log_event("surplus entry called");
}
