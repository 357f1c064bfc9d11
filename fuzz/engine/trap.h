/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the handler of SIGTRAP, whatever the library under test does: the functions of the C library that set handlers,
 * or block signals, are replaced here for the whole process, libraries that are loaded later included. What a library
 * sets for SIGTRAP is noted, and gets those traps that are not breakpoints of ours; SIGTRAP itself is never blocked.
 *
 * Replacement by name needs a program that exports its symbols (-rdynamic). What goes past it (a system call, a
 * library that has functions of its own) is found by trap_check.
 */
#ifndef CLHARNESS_FUZZ_TRAP_H
#define CLHARNESS_FUZZ_TRAP_H

#include <signal.h>

/* Says whether a trap was ours. */
typedef int trap_handler(void *context);

/* Installs the handler. */
void trap_keep(trap_handler *handler);
/* Takes SIGTRAP back where another handler was installed; to be called after each call of the library. */
void trap_check(void);

#endif
