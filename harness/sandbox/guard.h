/* SPDX-License-Identifier: Apache-2.0 */
/* The guard as a part of a program: see guard.c. */
#ifndef CLHARNESS_GUARD_H
#define CLHARNESS_GUARD_H

#include <stdnoreturn.h>

/* What runs in place of the program, in the process that is guarded, with the program's arguments and environment. Does
 * not return. */
typedef void guard_application(char **arguments, char **environment);

/* Does what the guard's command line says (NULL ends it), in this process and its children; does not return.
 * `in_its_place` runs where the program would, or is NULL. `number` is the one that the program gets in a namespace of
 * its own, where that can be had; 0 for that of this process. */
noreturn void guard_main(char **arguments, guard_application *in_its_place, long number);

#endif
