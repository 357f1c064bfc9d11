/* SPDX-License-Identifier: Apache-2.0 */
/* What the program does differently on each system: system_linux.c, windows/system.c. */
#ifndef CLHARNESS_PROBE_SYSTEM_H
#define CLHARNESS_PROBE_SYSTEM_H

#include <stdbool.h>

/* Before anything else: the program ends with who started it, and a crash shows stacks. */
void system_begin(void);
/* Standard input is empty from now on, and standard output goes to the file. */
bool system_replace_standard(int file);
/* Makes what the file describes of a machine. NULL, or what is wrong with it. */
const char *system_furnish(const char *path);
/* Takes it away again. */
void system_end(void);

#endif
