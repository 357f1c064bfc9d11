/* SPDX-License-Identifier: Apache-2.0 */
/* What a program under the guard may do to processes that are not its own: nothing, whatever it can see.
 *
 * The kernel has the guard decide on each call that signals, traces or limits another process (notifications of
 * seccomp, Linux 5.0). Where it cannot ask, it refuses those that name a process above the program. In every way, the
 * program can neither watch who opens files nor change how terminals work.
 *
 * A signal that comes while a call waits for the guard to read it ends the call with EINTR where its handler does not
 * restart calls. New processes are never asked for, therefore: a shell that forks twice would be told of the end of its
 * first child in the middle of the second fork.
 */
#ifndef CLHARNESS_GUARD_CALLS_H
#define CLHARNESS_GUARD_CALLS_H

#include <linux/seccomp.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { NO_CALLS = -1 };

/* For the process that becomes the program. sees_others: whether it can name processes that are not its own;
 * keeps_rights: whether a filter must not keep it from getting other rights, as a set-uid program does. Gives the
 * descriptor of the calls that the guard has to answer, or NO_CALLS. */
int restrict_calls(bool sees_others, bool keeps_rights);

/* The process that a call names which the guard has to answer. */
pid_t process_of_call(const struct seccomp_data *call);

#endif
