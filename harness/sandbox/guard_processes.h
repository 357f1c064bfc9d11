/* SPDX-License-Identifier: Apache-2.0 */
/* What /proc says of a process. */
#ifndef CLHARNESS_GUARD_PROCESSES_H
#define CLHARNESS_GUARD_PROCESSES_H

#include <stdbool.h>
#include <sys/types.h>

enum { MAX_STATUS = 1 << 12 };

/* Reads a file of /proc/PROCESS as text, into room for MAX_STATUS bytes; gives false where there is none. */
bool read_about(pid_t process, const char *file, char *text);

/* Gives false for a process that is gone, or that this one may not see. */
bool read_parent(pid_t process, pid_t *parent, pid_t *group);

/* The parent of a process, 0 where it has none or is not to be seen. */
pid_t parent_of(pid_t process);

#endif
