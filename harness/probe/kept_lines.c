/* SPDX-License-Identifier: Apache-2.0 */
/* Lines that are run when OpenCL calls back. */
#include "kept_lines.h"

#include "clharness_callbacks.h"
#include "log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A line that calls a function that calls back that runs the line goes CALLBACKS_DEEP deep and no deeper. */
enum { MAX_CALLBACK_LINES = 64, CALLBACKS_DEEP = 8 };

static struct {
    char *callback;
    char *line;
} kept_lines[MAX_CALLBACK_LINES];
static int kept_count;
static int lines_run;
static char *first_error;
static _Thread_local int depth;

void kept_lines_add(const struct argument *a, const struct reply *reply)
{
    if (kept_count == MAX_CALLBACK_LINES || !command_can_nest(a[1].text)) {
        reply_error(reply, "this line cannot be kept, or %d lines are", MAX_CALLBACK_LINES);
        return;
    }
    kept_lines[kept_count].callback = strdup(a[0].text);
    kept_lines[kept_count++].line = strdup(a[1].text);
    reply_ok(reply);
}

static void run_line(const char *kept)
{
    if (depth == CALLBACKS_DEEP) {
        first_error = first_error ? first_error : strdup("error callbacks within callbacks have no end");
        return;
    }
    depth++;
    size_t room = 512;
    char *text = malloc(room);
    char *line = strdup(kept); /* command_execute takes it apart */
    if (text && line) {
        command_execute(line, &text, &room);
        lines_run++;
        if (strncmp(text, "ok", 2) != 0 && !first_error) {
            first_error = strdup(text);
        }
    }
    free(line);
    free(text);
    depth--;
}

void callback_called(const char *name, unsigned count, const uint64_t *arguments)
{
    char full[128];
    struct callback_arguments outer = callback_arguments;
    snprintf(full, sizeof full, "callback %s", name);
    probe_log_call(CALLLOG_EVENT, full, arguments, count);
    callback_arguments = (struct callback_arguments){arguments, count};
    for (int i = 0; i < kept_count; i++) {
        if (strcmp(kept_lines[i].callback, name) == 0) {
            run_line(kept_lines[i].line);
        }
    }
    callback_arguments = outer;
}

void kept_lines_show(const struct argument *a, const struct reply *reply)
{
    (void)a;
    if (first_error) {
        reply_write(reply, "%s", first_error);
    } else {
        reply_write(reply, "ok %d", lines_run);
    }
}

void kept_lines_forget(void)
{
    while (kept_count > 0) {
        free(kept_lines[--kept_count].callback);
        free(kept_lines[kept_count].line);
    }
    free(first_error);
    first_error = NULL;
    lines_run = 0;
}
