/* SPDX-License-Identifier: Apache-2.0 */
/* A /dev/shm of the program's own, a place of sandboxes without those of others, and no vendors of this machine. */
#ifndef CLHARNESS_GUARD_FILES_H
#define CLHARNESS_GUARD_FILES_H

#include <stdbool.h>
#include <stdint.h>

/* What a program puts into /dev/shm (shared memory and semaphores of POSIX) outlives it, and it could reach the
 * sandboxes of others. With mounts of its own, it has a /dev/shm of its own, and the folder that its sandbox is in,
 * each with all that others have there but those: of more than a thousand entries, folders come first. For a program
 * that is in a sandbox, which has to be its working folder. `size` is in bytes. Gives false where it sees those of
 * others. */
bool leave_shared_files(uint64_t size);

/* Whether it has such places. */
bool shared_files_are_own(void);

/* Gives them up again, with all that the program put there. Gives false where one of them stays. */
bool return_to_shared_files(void);

/* With mounts of its own, the program finds none of this machine's vendors and layers in the folders that loaders look
 * into by themselves: what they do in its process would be taken for the loader's doing. The variable CLHARNESS_HIDDEN
 * of the guard has more folders, with a colon between them, that are empty for the program. */
void hide_own_vendors(void);

/* With mounts of its own, the program can change nothing in the first folder of the guard's variable CLHARNESS_KEPT but
 * in those after it, with a colon before each, which lie there, as far as this machine allows that. */
void keep_folder(void);

#endif
