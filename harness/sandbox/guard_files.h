/* SPDX-License-Identifier: Apache-2.0 */
/* A /dev/shm of the program's own. */
#ifndef CLHARNESS_GUARD_FILES_H
#define CLHARNESS_GUARD_FILES_H

/* What a program puts into /dev/shm (shared memory and semaphores of POSIX) outlives it, and it could reach the
 * sandboxes of others there: with mounts of its own, it has a /dev/shm of its own with all that others have there but
 * those. For a program that is in a sandbox there: the sandboxes that others need are unknown. */
void leave_shared_files(void);

#endif
