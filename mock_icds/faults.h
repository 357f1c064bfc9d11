/* SPDX-License-Identifier: Apache-2.0 */
/* Everything that the mock ICD can be told to do wrong. Absent means correct.
 *
 * One entry a fault: its name, and the sentence that says what it makes the ICD do. A configuration line reads
 * `fault = name`, `fault = name=VALUE` where the sentence speaks of VALUE, and `fault = name@PLATFORM` (a number from
 * 0) to have only that platform affected where the sentence speaks of a platform. `clharness mock --faults` prints
 * this list. FAULT is defined by whoever includes it.
 */

/* --- What clGetExtensionFunctionAddress answers --- */

/* Answers NULL to every name asked of clGetExtensionFunctionAddress. */
FAULT(address_query_returns_null)
/* Answers NULL when clGetExtensionFunctionAddress is asked for clIcdGetPlatformIDsKHR. */
FAULT(get_platform_ids_not_returned)
/* Answers NULL when clGetExtensionFunctionAddress is asked for clGetPlatformInfo. */
FAULT(get_platform_info_not_returned)
/* Answers an address to every name asked of clGetExtensionFunctionAddress and of its form for a platform. */
FAULT(address_query_answers_anything)
/* Answers the address of clFinish to every name that begins so. */
FAULT(address_query_reads_the_beginning)
/* Ends the process where a name that it is asked for is no text in UTF-8, as a language with such strings does. */
FAULT(address_query_wants_text)
/* Answers addresses for a platform of another vendor, too. */
FAULT(address_query_takes_any_platform)

/* --- clIcdGetPlatformIDsKHR --- */

/* Fails the count call with error VALUE (default CL_OUT_OF_HOST_MEMORY), leaving the count as it was. */
FAULT(count_call_fails)
/* Fails the count call with error VALUE (default CL_OUT_OF_HOST_MEMORY) after it wrote the right count. */
FAULT(count_call_fails_after_writing)
/* Answers VALUE to the count call, whatever the number of platforms is. */
FAULT(count_call_says)
/* Answers CL_SUCCESS to the count call and does not write the count. */
FAULT(count_call_leaves_count)
/* Answers CL_SUCCESS to the platform count, and error VALUE (default CL_OUT_OF_HOST_MEMORY) to the list. */
FAULT(list_call_fails)
/* Writes the whole platform list and then answers error VALUE (default CL_OUT_OF_HOST_MEMORY). */
FAULT(list_call_fails_after_writing)
/* Writes only the first VALUE handles of the list and answers CL_SUCCESS. */
FAULT(list_call_writes)
/* Gives the first platform of the list again in the place of the platform. */
FAULT(list_call_repeats)
/* Answers VALUE as the number of platforms in the list call, where the count is asked for. */
FAULT(list_call_says)
/* Writes the whole platform list, into however little room. */
FAULT(list_call_ignores_room)
/* Writes NULL after the last handle of the platform list, where there is room. */
FAULT(list_call_fills_room)
/* Answers CL_SUCCESS to a call without any output, and to a list of no entries. */
FAULT(enumeration_takes_anything)
/* Fails with CL_PLATFORM_NOT_FOUND_KHR in a process that was forked when it was loaded already. */
FAULT(enumeration_fails_in_child)
/* Fails with CL_PLATFORM_NOT_FOUND_KHR when it was loaded in the process before. */
FAULT(enumeration_fails_after_reload)
/* Fails with CL_OUT_OF_HOST_MEMORY while another thread is in it. */
FAULT(enumeration_fails_in_parallel)
/* Answers CL_PLATFORM_NOT_FOUND_KHR and a count of 0 to both calls. */
FAULT(platform_not_found)
/* Gives NULL in the list in place of the platform. */
FAULT(platform_is_null)
/* Gives a platform whose dispatch pointer is NULL. */
FAULT(platform_without_dispatch)

/* --- Queries of the platform's extensions and suffix --- */

/* Fails the size query of CL_PLATFORM_EXTENSIONS with error VALUE (default CL_OUT_OF_HOST_MEMORY). */
FAULT(extensions_size_fails)
/* Fails the data query of CL_PLATFORM_EXTENSIONS with error VALUE (default CL_OUT_OF_HOST_MEMORY). */
FAULT(extensions_data_fails)
/* Answers VALUE as the size of CL_PLATFORM_EXTENSIONS of the platform, and fills as many bytes as it is then given. */
FAULT(extensions_size_is)
/* Answers the extension string of the platform without its terminator and a size to match. */
FAULT(extensions_unterminated)
/* Answers CL_SUCCESS to the size query of CL_PLATFORM_EXTENSIONS and does not write the size. */
FAULT(extensions_size_unset)
/* Fails the size query of CL_PLATFORM_ICD_SUFFIX_KHR with error VALUE (default CL_OUT_OF_HOST_MEMORY). */
FAULT(suffix_size_fails)
/* Fails the data query of CL_PLATFORM_ICD_SUFFIX_KHR with error VALUE (default CL_OUT_OF_HOST_MEMORY). */
FAULT(suffix_data_fails)
/* Answers VALUE as the size of CL_PLATFORM_ICD_SUFFIX_KHR of the platform, and fills as many bytes as it is given. */
FAULT(suffix_size_is)
/* Answers the suffix of the platform without its terminator and a size to match. */
FAULT(suffix_unterminated)
/* Answers CL_SUCCESS to the size query of CL_PLATFORM_ICD_SUFFIX_KHR and does not write the size. */
FAULT(suffix_size_unset)
/* Answers CL_SUCCESS to a query of either string with too little memory, and writes what fits. */
FAULT(strings_are_cut)
/* Writes past the end of either string, as far as the memory goes. */
FAULT(strings_fill_memory)
/* Answers 8 bytes to the query of CL_PLATFORM_UNLOADABLE_KHR. */
FAULT(unloadable_is_long)
/* Fails the query of CL_PLATFORM_UNLOADABLE_KHR with error VALUE (default CL_INVALID_VALUE). */
FAULT(unloadable_fails)
/* Writes CL_TRUE to the query of CL_PLATFORM_UNLOADABLE_KHR and fails it with error VALUE (default
 * CL_INVALID_VALUE). */
FAULT(unloadable_fails_after_writing)
/* Fails every query of clGetPlatformInfo about the platform with error VALUE (default CL_INVALID_PLATFORM). */
FAULT(platform_info_fails)
/* Answers the exported clGetPlatformInfo as another vendor would (name and suffix end in "X"), the table's as usual. */
FAULT(exported_info_differs)

/* --- Devices --- */

/* Fails clGetDeviceIDs of the platform with error VALUE (default CL_OUT_OF_HOST_MEMORY). */
FAULT(device_list_fails)

/* --- While it is loaded, asked and unloaded --- */

/* Calls clGetPlatformIDs of the loader from its constructor, in the loading thread. */
FAULT(constructor_calls_opencl)
/* Starts a thread in its constructor that calls clGetPlatformIDs of the loader. */
FAULT(constructor_calls_opencl_in_thread)
/* Sleeps VALUE milliseconds in its constructor. */
FAULT(constructor_sleeps)
/* Calls abort() in its constructor. */
FAULT(constructor_aborts)
/* Calls exit(VALUE) in its constructor. */
FAULT(constructor_exits)
/* Starts a thread in its constructor that runs until the library is unloaded. */
FAULT(constructor_starts_thread)
/* Sets a variable of the environment in its constructor. */
FAULT(constructor_sets_environment)
/* Changes the working directory in its constructor. */
FAULT(constructor_changes_folder)
/* Changes the mask of new files' modes in its constructor. */
FAULT(constructor_changes_umask)
/* Handles SIGSEGV and ignores SIGPIPE from its constructor on. */
FAULT(constructor_handles_signals)
/* Blocks SIGTERM in its constructor. */
FAULT(constructor_blocks_signals)
/* Sets the locale of the process in its constructor. */
FAULT(constructor_sets_locale)
/* Has small floating-point numbers flushed to zero, and rounds down, from its constructor on. */
FAULT(constructor_changes_arithmetic)
/* In its constructor changes, by VALUE: 1 how much data it may have, 2 how the process is scheduled, 3 its
 * priority, 4 its timer, 5 its signal stack, 6 how standard error waits, 7 its name, 8 who its orphans belong to; or
 * leaves a process behind, 9 as its child, 10 as nobody's; or 11 binds
 * the process to one processor, or 12 has it see nothing outside /dev. */
FAULT(constructor_changes_process)
/* Writes to standard output in its constructor. */
FAULT(constructor_writes_output)
/* Writes to standard error in its constructor. */
FAULT(constructor_writes_errors)
/* Sets a variable of the environment when it lists its platforms. */
FAULT(enumeration_sets_environment)
/* Finds no device when clGetDeviceIDs is called by the address that it answers for a platform. */
FAULT(icd2_get_answers_other_functions)
/* Calls abort() in its destructor. */
FAULT(destructor_aborts)
/* Calls clGetPlatformIDs of the loader from its destructor. */
FAULT(destructor_calls_opencl)
/* Calls clReleaseContext of the loader from its destructor, with the address in CLHARNESS_LATE_CONTEXT. */
FAULT(destructor_releases_context)
/* Calls clGetPlatformIDs of the loader from clIcdGetPlatformIDsKHR. */
FAULT(enumeration_calls_opencl)
/* Calls clGetPlatformIDs of the loader from clGetPlatformInfo. */
FAULT(info_calls_opencl)
/* Has a thread fork in the count call of clIcdGetPlatformIDsKHR, whose child calls clGetPlatformIDs of the loader. */
FAULT(enumeration_forks)
/* Ends the calling thread in the count call of clIcdGetPlatformIDsKHR, where that is not the process's first. */
FAULT(enumeration_ends_thread)
/* Sleeps VALUE milliseconds in the count call of clIcdGetPlatformIDsKHR. */
FAULT(enumeration_sleeps)

/* --- Its dispatch table --- */

/* Has functions that log a trap in the slots of clGetPlatformIDs, clUnloadCompiler and
 * clGetExtensionFunctionAddress. */
FAULT(unused_slots_trap)

/* Has NULL in the slot of clGetPlatformInfo, in the table of the platform. */
FAULT(table_without_platform_info)
/* Has in its dispatch table what the process's global scope has under the names of its functions, as a library has that
 * exports these names and is not linked with -Bsymbolic. */
FAULT(table_of_global_symbols)
/* Answers queries for another object with the address of memory that is not an object. */
FAULT(queries_give_no_object)

/* --- cl_khr_icd 2.0: loader-managed dispatch --- */

/* Has functions that log a trap in every other slot of its own table. */
FAULT(icd2_table_traps)
/* Has NULL in every other slot of its own table, so that only loader-managed dispatch reaches it (which is allowed). */
FAULT(icd2_table_holds_tags_only)
/* Has no clIcdGetFunctionAddressForPlatformKHR. */
FAULT(icd2_without_get_function_address)
/* Has no clIcdSetPlatformDispatchDataKHR. */
FAULT(icd2_without_set_dispatch_data)
/* Fails clIcdSetPlatformDispatchDataKHR of the platform with error VALUE (default CL_INVALID_PLATFORM). */
FAULT(icd2_set_dispatch_data_fails)
/* Carries the ICD 2 tag in the slot of clGetPlatformIDs only, in the table of the platform. */
FAULT(icd2_tag_in_first_slot_only)
/* Carries the ICD 2 tag in the slot of clUnloadCompiler only, in the table of the platform. */
FAULT(icd2_tag_in_second_slot_only)
/* Leaves the dispatch data of devices as it was when that of their platform is set. */
FAULT(icd2_devices_without_data)
/* Gives the dispatch data of one platform to all platforms. */
FAULT(icd2_data_of_all_platforms)
/* Makes devices, sub-devices and kernels without a dispatch table, but for the first of each list. */
FAULT(later_objects_have_no_table)
/* Makes queues on the device without a dispatch table. */
FAULT(device_queues_have_no_table)
/* Reads from the dispatch data when it is set. */
FAULT(icd2_reads_data)
/* Answers CL_SUCCESS to clIcdSetPlatformDispatchDataKHR of a platform of another vendor. */
FAULT(icd2_set_takes_any_platform)
/* Answers addresses for a platform of another vendor from clIcdGetFunctionAddressForPlatformKHR. */
FAULT(icd2_get_takes_any_platform)
/* Answers an address to every name asked of clIcdGetFunctionAddressForPlatformKHR. */
FAULT(icd2_get_answers_anything)
