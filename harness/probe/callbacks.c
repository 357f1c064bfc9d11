/* SPDX-License-Identifier: Apache-2.0 */
/* Commands: what is done when OpenCL calls back, and the functions that it can call. */
#include "clharness_callbacks.h"
#include "kept_lines.h"
#include "topics.h"

#include <string.h>

static bool find_callback(const char *name, uint64_t *value)
{
    for (const struct callback *callback = callbacks; callback->name; callback++) {
        if (strcmp(callback->name, name) == 0) {
            *value = (uint64_t)(uintptr_t)callback->address;
            return true;
        }
    }
    return false;
}

static const struct command rows[] = {
    /* Keeps a line to be run each time that the callback is called. */
    {"when", "CALLBACK LINE", kept_lines_add, true},
    /* ok NUMBER of lines run in callbacks so far, or the first error among them. */
    {"callbacks", "", kept_lines_show, false},
    {0},
};

const struct command_table callback_commands = {
    .rows = rows, .forget = kept_lines_forget, .prefix = '^', .find = find_callback};
