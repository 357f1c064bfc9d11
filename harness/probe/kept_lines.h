/* SPDX-License-Identifier: Apache-2.0 */
/* Lines that are run when OpenCL calls back. */
#ifndef CLHARNESS_PROBE_KEPT_LINES_H
#define CLHARNESS_PROBE_KEPT_LINES_H

#include "commands.h"

/* The function of the command "when": keeps a line for a callback. */
void kept_lines_add(const struct argument *a, const struct reply *reply);

/* The function of the command "callbacks": the number of lines that were run, or the first error among them. */
void kept_lines_show(const struct argument *a, const struct reply *reply);

void kept_lines_forget(void);

#endif
