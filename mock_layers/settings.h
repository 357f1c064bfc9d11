/* SPDX-License-Identifier: Apache-2.0 */
/* Everything that single functions of the mock layer can be told to do on the way to its target. What the layer can be
 * told to do wrong as a whole is in faults.h.
 *
 * One entry a setting: its name, its type, and the sentence that explains it. A configuration line reads
 * `name = FUNCTION`; FUNCTION is `all` for every function that has a place in the dispatch table. `clharness mock
 * --settings` prints this list. Whoever includes this defines FUNCTION_SETTING; it is undefined at the end.
 */

/* Is in the layer's table; where any function is set so, all others are left out of it. */
FUNCTION_SETTING(only, flag)
/* Answers -7777 without a call of the target. */
FUNCTION_SETTING(swallows, flag)
/* Adds one to every number on its way down. */
FUNCTION_SETTING(changes_arguments, flag)
/* Answers one more than the target did, also through errcode_ret. */
FUNCTION_SETTING(changes_result, flag)
/* Calls clGetPlatformIDs of the target first. */
FUNCTION_SETTING(calls_another, flag)
/* Calls clGetPlatformIDs of the loader first. */
FUNCTION_SETTING(recurses, flag)
/* Calls the target again when it has answered. */
FUNCTION_SETTING(calls_twice, flag)
/* Calls the target's function of the next slot that has one. */
FUNCTION_SETTING(calls_neighbour, flag)
/* Keeps the lower 32 bits only of every number on its way down. */
FUNCTION_SETTING(truncates, flag)
/* Exchanges the first two arguments of the same kind that differ. */
FUNCTION_SETTING(swaps_arguments, flag)
/* Keeps errcode_ret from the target. */
FUNCTION_SETTING(drops_errcode, flag)
/* Keeps the memory of outputs from the target. */
FUNCTION_SETTING(drops_outputs, flag)
/* Hands NULL on in place of a callback. */
FUNCTION_SETTING(drops_callback, flag)
/* Answers CL_INVALID_VALUE itself where a pointer is NULL. */
FUNCTION_SETTING(needs_pointers, flag)
/* Changes the first byte of an application's memory. */
FUNCTION_SETTING(spoils_memory, flag)
/* Keeps arguments in memory that all threads share while it hands them on. */
FUNCTION_SETTING(shares_arguments, flag)
/* Hands the object of its first call on in the place of the object of every call of another thread. */
FUNCTION_SETTING(keeps_object, flag)
/* Allocates memory that it never frees. */
FUNCTION_SETTING(leaks, flag)

#undef FUNCTION_SETTING
