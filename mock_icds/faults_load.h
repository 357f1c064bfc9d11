/* SPDX-License-Identifier: Apache-2.0 */
/* What the mock ICD can be told to get wrong when many threads use it at once, when objects come and go all day, and
 * when the process forks or unloads it. */

/* Counts references in two steps, between which other threads count, too. */
FAULT(counts_are_not_atomic)
/* Makes one object for threads that make one each at once. */
FAULT(threads_make_one_object)
/* Has all threads prepare their commands in one place. */
FAULT(threads_share_a_command)
/* Has all threads build their programs in one place. */
FAULT(threads_share_a_compiler)
/* Has the arguments that all threads set go through one place. */
FAULT(threads_share_an_argument)
/* Leaves a descriptor open with each context. */
FAULT(contexts_leave_descriptors)
/* Leaves a block of the heap behind with each context. */
FAULT(contexts_leave_memory)
/* Leaves pages of the system behind with each context. */
FAULT(contexts_leave_pages)
/* Leaves a thread behind with each context. */
FAULT(contexts_leave_threads)
/* Starts a thread with its first context, which it does not end when it is unloaded. */
FAULT(unloading_leaves_a_thread)
/* Gives its platforms up when the process forks. */
FAULT(forks_end_the_platforms)
/* Has no platform in programs that a process starts which has used it. */
FAULT(contexts_mark_the_environment)
/* Leaves a block of the heap behind with each mapping of a buffer. */
FAULT(mappings_leave_memory)
/* Leaves a block of the heap behind with each user event. */
FAULT(user_events_leave_memory)
/* Leaves a descriptor open with each build. */
FAULT(builds_leave_descriptors)
/* Has the first context change how the thread rounds. */
FAULT(contexts_change_arithmetic)
/* Has the first context change the umask. */
FAULT(contexts_change_umask)
