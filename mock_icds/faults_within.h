/* SPDX-License-Identifier: Apache-2.0 */
/* What the mock ICD can be told to get wrong of releases within callbacks, where its devices have the feature
 * `compiler`. */

/* Answers CL_INVALID_OPERATION to a release within the callback of an event. */
FAULT(releases_in_event_callbacks_are_refused)
/* Answers CL_INVALID_OPERATION to a release within the destructor callback of a memory object. */
FAULT(releases_in_destructors_are_refused)
/* Answers CL_INVALID_OPERATION to a release within the destructor callback of a context. */
FAULT(releases_in_context_destructors_are_refused)
/* Answers CL_INVALID_OPERATION to a release within the callback of a build, a compilation or a linking. */
FAULT(releases_in_build_callbacks_are_refused)
/* Ends the process at a release within the callback of an event. */
FAULT(releases_in_event_callbacks_crash)
/* Keeps what is released within the callback of an event. */
FAULT(releases_in_event_callbacks_are_forgotten)
/* Keeps what is released within the destructor callback of a memory object. */
FAULT(releases_in_destructors_are_forgotten)
/* Keeps what is released within the callback of a build, a compilation or a linking. */
FAULT(releases_in_build_callbacks_are_forgotten)
/* Keeps what is released within the function that frees shared memory. */
FAULT(releases_while_memory_is_freed_are_forgotten)
/* Keeps what is released within a native kernel. */
FAULT(releases_in_native_kernels_are_forgotten)
