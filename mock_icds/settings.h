/* SPDX-License-Identifier: Apache-2.0 */
/* Everything that the mock ICD can be told to be. What it can be told to do wrong is in faults.h.
 *
 * One entry a setting: its name, its type, what it is where nothing is said, and the sentence that explains it. A
 * configuration line of the ICD reads `name = VALUE`, of a platform `platform.N.name = VALUE` (N counts from 0), of
 * single functions `name = FUNCTION`, with one more word where the type says so; FUNCTION is `all` for every function
 * that has a place in the dispatch table. `clharness mock --settings` prints this list.
 *
 *   flag       0 or 1; of functions: no word
 *   number     a whole number from 0
 *   text       a line; \xhh stands for any byte
 *   path       of functions: the path of a file
 *   platforms  of functions: the number of a platform, or no word for every platform
 *
 * Whoever includes this defines the macros that matter there; they are undefined at the end.
 */
#ifndef SETTING
#define SETTING(name, type, initial)
#endif
#ifndef PLATFORM_SETTING
#define PLATFORM_SETTING(name, type, initial)
#endif
#ifndef FUNCTION_SETTING
#define FUNCTION_SETTING(name, type)
#endif

/* --- the ICD --- */

/* How many platforms it has. */
SETTING(platforms, number, 1)
/* How many entries its dispatch table has; at first, all that are known. Entries past the last known one log a trap. */
SETTING(table, number, TABLE_LENGTH)
/* Is an ICD of cl_khr_icd 2.0. */
SETTING(icd2, flag, false)
/* Makes objects of one word (two with ICD 2) before an unreadable page, and unreadable once they are released. */
SETTING(exact_objects, flag, false)
/* Gives each class of objects a dispatch table of its own, which holds the functions of that class only. */
SETTING(table_per_class, flag, false)
/* Checks the arguments that objects are made with as the specification says, and remembers them for queries. */
SETTING(validates, flag, true)
/* Refuses what the checks of ICDs expect a correct ICD to refuse: NULL handles, wrong wait lists, improper values. */
SETTING(refuses, flag, false)

/* --- each platform --- */

/* CL_PLATFORM_NAME; at first, the name of the ICD. */
PLATFORM_SETTING(name, text, NULL)
/* CL_PLATFORM_ICD_SUFFIX_KHR, and the end of the names of its own functions. */
PLATFORM_SETTING(suffix, text, "MOCK")
/* CL_PLATFORM_EXTENSIONS; functions of these extensions do what the extensions say. */
PLATFORM_SETTING(extensions, text, "cl_khr_icd")
/* CL_PLATFORM_VERSION. */
PLATFORM_SETTING(version, text, "OpenCL 3.0 clharness mock")
/* CL_PLATFORM_PROFILE. */
PLATFORM_SETTING(profile, text, "FULL_PROFILE")
/* What its devices can do, where the ICD validates: words among images, out_of_order, terminate, pipes, device_queues,
 * compiler, il and sub_groups. */
PLATFORM_SETTING(features, text, "images")
/* How many devices it has of type CL_DEVICE_TYPE_GPU, which come first. */
PLATFORM_SETTING(gpus, number, 1)
/* How many devices it has of type CL_DEVICE_TYPE_CPU. */
PLATFORM_SETTING(cpus, number, 0)
/* How many devices it has of type CL_DEVICE_TYPE_ACCELERATOR. */
PLATFORM_SETTING(accelerators, number, 0)
/* CL_PLATFORM_UNLOADABLE_KHR, where it has the extension cl_khr_icd_unloadable. */
PLATFORM_SETTING(unloadable, flag, false)

/* --- single functions --- */

/* Takes any arguments and answers values that distinguish this function from all others. */
FUNCTION_SETTING(answers, flag)
/* The same, but writes nothing through its arguments. */
FUNCTION_SETTING(silent, flag)
/* Refuses no arguments, where the ICD refuses. */
FUNCTION_SETTING(takes_anything, flag)
/* Answers CL_INVALID_OPERATION to whatever it is given, as if the device did not have what it is for. */
FUNCTION_SETTING(refused, flag)
/* Makes objects, and no other function does, that the fault answer_is_off is about. */
FUNCTION_SETTING(misreported, flag)
/* Does not exist: NULL in the table and to queries; of one platform, NULL to a query of ICD 2 for that platform. */
FUNCTION_SETTING(lacks, platforms)
/* Makes objects with NULL in place of their dispatch table. */
FUNCTION_SETTING(without_dispatch, flag)
/* Makes objects without dispatch data (ICD 2). */
FUNCTION_SETTING(without_data, flag)
/* Leaves one more reference to each object that it is given, whether it succeeds or not. */
FUNCTION_SETTING(keeps_references, flag)
/* Leaves one more reference to the context of the object that it is given first, whether it succeeds or not. */
FUNCTION_SETTING(keeps_its_context, flag)
/* Does not give up the last reference. */
FUNCTION_SETTING(keeps_the_last_reference, flag)
/* Calls the callback that it is given, before it returns. */
FUNCTION_SETTING(calls_back, flag)
/* Calls the callback that it is given, in a thread of its own, and waits for that. */
FUNCTION_SETTING(calls_back_threaded, flag)
/* Opens the FIFO at the path for reading, and so waits for a writer. */
FUNCTION_SETTING(waits_at, path)
/* Opens the FIFO at the path for writing, and so waits for a reader. */
FUNCTION_SETTING(arrives_at, path)

#undef SETTING
#undef PLATFORM_SETTING
#undef FUNCTION_SETTING
