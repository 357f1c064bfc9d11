/* SPDX-License-Identifier: Apache-2.0 */
/* What the program does differently on each system: system_linux.c, windows/system.c. */
#ifndef CLHARNESS_PROBE_SYSTEM_H
#define CLHARNESS_PROBE_SYSTEM_H

#include <stdbool.h>

/* Before anything else: the program ends with who started it, and a crash shows stacks. `arguments` are those of main,
 * which a copy is kept of. */
void system_begin(char **arguments);
/* In the place of this process a new one of the same program begins, with the same arguments and one more. Comes back
 * where that cannot be, with errno; Windows has no such thing. */
void system_begin_again(const char *argument);
/* A program that it is then, in place of that of this process; NULL for none. */
extern const char *system_program;
/* Standard input is empty from now on, and standard output goes to the file. */
bool system_replace_standard(int file);
/* Makes what the file describes of a machine. NULL, or what is wrong with it. */
const char *system_furnish(const char *path);
/* Takes it away again. */
void system_end(void);

#endif
