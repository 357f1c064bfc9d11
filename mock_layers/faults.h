/* SPDX-License-Identifier: Apache-2.0 */
/* Everything that the mock layer can be told to do wrong, or in its own way. Absent means correct and transparent.
 *
 * One entry a fault: its name, and the sentence that says what it makes the layer do. A configuration line reads
 * `fault = name`, or `fault = name=VALUE` where the sentence speaks of VALUE. `clharness mock --faults` prints this
 * list. FAULT is defined by whoever includes it.
 */

/* --- clGetLayerInfo --- */

/* Fails every query of clGetLayerInfo with error VALUE (default CL_OUT_OF_HOST_MEMORY). */
FAULT(get_layer_info_fails)
/* Fails the query of CL_LAYER_API_VERSION with error VALUE (default CL_INVALID_VALUE). */
FAULT(api_version_fails)
/* Answers the query of CL_LAYER_API_VERSION and fails it with error VALUE. */
FAULT(api_version_fails_after_writing)
/* Answers CL_SUCCESS to the query of CL_LAYER_API_VERSION and does not write the version. */
FAULT(api_version_unset)
/* Answers VALUE to the query of CL_LAYER_API_VERSION. */
FAULT(reports_api_version)
/* Answers the query of CL_LAYER_API_VERSION the first time only, then CL_INVALID_OPERATION. */
FAULT(api_version_answered_once)
/* Does not know CL_LAYER_NAME. */
FAULT(layer_name_unknown)
/* Answers its name without the terminating zero. */
FAULT(layer_name_without_end)
/* Answers names that clGetLayerInfo does not know with VALUE (default CL_SUCCESS). */
FAULT(unknown_info_refused_with)
/* Answers as much as fits into memory that is too small, with CL_SUCCESS. */
FAULT(info_ignores_size)
/* Writes as much as fits into memory that is too small, and then fails. */
FAULT(info_writes_then_fails)
/* Writes a byte past its answer where there is room. */
FAULT(info_writes_too_much)
/* Fails a query into memory of exactly the right size. */
FAULT(info_refuses_exact_size)
/* Fails a query without memory for the value. */
FAULT(info_needs_value)
/* Fails a query that gives a size and no memory. */
FAULT(info_refuses_size_without_value)
/* Fails a query without an output for the size. */
FAULT(info_needs_size)
/* Does not write the size of its answer. */
FAULT(info_size_is_unset)
/* Reports one byte more than its answer has. */
FAULT(info_size_is_wrong)
/* Fails a query without any output with error VALUE (default CL_INVALID_VALUE). */
FAULT(info_fails_without_outputs)

/* --- clInitLayer and clInitLayerWithProperties --- */

/* Fails its initialisation with error VALUE (default CL_OUT_OF_HOST_MEMORY), writing nothing. */
FAULT(init_fails)
/* Fails its initialisation with error VALUE (default CL_OUT_OF_HOST_MEMORY) after it gave its table. */
FAULT(init_fails_after_writing)
/* Answers CL_SUCCESS to its initialisation and gives neither a table nor a number of entries. */
FAULT(init_leaves_outputs)
/* Answers CL_SUCCESS where pointer VALUE of its initialisation is NULL: 1 the target, 2 the count, 3 the table. */
FAULT(init_accepts_null)
/* Answers VALUE where a pointer of its initialisation is NULL. */
FAULT(init_refuses_null_with)
/* Fails its initialisation when it has refused one before. */
FAULT(init_fails_after_refusal)
/* Refuses a target that is shorter than its own table with error VALUE (default CL_INVALID_VALUE). */
FAULT(init_refuses_short_table_with)
/* Refuses a target that is longer than its own table. */
FAULT(init_refuses_long_table)
/* Reads as many entries of its target as its own table has, however few there are. */
FAULT(init_reads_all_entries)
/* Gives its whole table, however few entries its target has. */
FAULT(init_ignores_num_entries)
/* Initialises itself whatever its properties are. */
FAULT(init_ignores_properties)
/* Answers VALUE to unknown properties. */
FAULT(init_refuses_properties_with)
/* Refuses a list of properties that ends at once. */
FAULT(init_refuses_empty_properties)
/* Refuses NULL as its properties. */
FAULT(init_refuses_absent_properties)
/* Exchanges clFlush and clFinish in its target. */
FAULT(init_writes_target)
/* Calls what its target has for Windows in its initialisation. */
FAULT(init_calls_windows_entries)
/* Keeps VALUE bytes of memory in each initialisation that nobody will free. */
FAULT(init_leaks)
/* Opens a file in each initialisation, and does not close it. */
FAULT(init_opens_files)
/* Opens a file in its initialisation that programs which the process starts inherit. */
FAULT(init_opens_inherited_files)
/* Has the address of data in place of clFinish in its table. */
FAULT(table_has_wild_entry)
/* Reports VALUE entries more than its table has. */
FAULT(table_is_shorter_than_told)
/* Gives NULL in place of its table, with the usual number of entries. */
FAULT(table_is_null)
/* Gives a table of 0 entries. */
FAULT(table_is_empty)
/* Gives a table of VALUE entries, that ends where an unreadable page begins. */
FAULT(table_length_is)
/* Exchanges clFlush and clFinish in its table once it has been called. */
FAULT(table_changes_after_init)
/* Sleeps VALUE milliseconds in its initialisation. */
FAULT(init_sleeps)
/* Has another name once it is initialised. */
FAULT(name_changes_with_init)
/* Changes what is the process's in its initialisation: VALUE 1 the umask, 2 the environment, 3 the signal mask, 4 the
 * working directory. */
FAULT(init_changes_process)
/* Prints to standard output in its initialisation. */
FAULT(init_prints)
/* Registers an exit handler in its initialisation that calls its target. */
FAULT(init_registers_exit_handler)
/* Registers an exit handler in its initialisation that ends the process with exit code 3. */
FAULT(exit_handler_ends_process)
/* Calls clGetPlatformIDs of its target during its initialisation, and clGetPlatformInfo of the first platform. */
FAULT(init_calls_target)

/* --- clDeinitLayer --- */

/* Fails clDeinitLayer with error VALUE (default CL_OUT_OF_HOST_MEMORY). */
FAULT(deinit_fails)
/* Calls clGetPlatformIDs of its target in clDeinitLayer, and clGetPlatformInfo of the first platform. */
FAULT(deinit_calls_target)
/* Calls clGetPlatformIDs of the loader itself in clDeinitLayer, as an application's late call would. */
FAULT(deinit_calls_loader)
/* Calls clGetPlatformIDs of its target in its destructor. */
FAULT(destructor_calls_target)

/* --- Calls on their way --- */

/* Gives the application small numbers as handles, and takes them for its own on the way back. */
FAULT(wraps_handles)
/* Adds a platform of its own to the list, and answers clGetPlatformInfo and clGetDeviceIDs about it. */
FAULT(supplies_platform)
/* Answers every address query with a function of its own, which answers the layer's name. */
FAULT(substitutes_addresses)

/* Hands on no more than VALUE events of a list. */
FAULT(cuts_lists_of_events)
/* Hands NULL on for a list whose number of elements is 0. */
FAULT(drops_empty_lists)
/* Asks for devices of every type where the default one is wanted. */
FAULT(lists_all_devices_as_default)
/* Answers clCreateBuffer of no bytes itself, as its target would. */
FAULT(refuses_empty_buffers_itself)
/* Refuses patterns of four bytes, which clEnqueueFillBuffer may have. */
FAULT(refuses_proper_patterns)
/* Fails clCreateBuffer once it has made VALUE buffers. */
FAULT(has_room_for_buffers)
/* Leaves errcode_ret as it was where its target answers NULL. */
FAULT(loses_errors)
/* Reports commands that failed as complete. */
FAULT(hides_failed_events)
/* Hands the first letter of a platform's extensions back as a space. */
FAULT(hides_an_extension)

/* --- While it is loaded --- */

/* Calls abort() in its constructor. */
FAULT(constructor_aborts)
/* Sleeps VALUE milliseconds in its constructor. */
FAULT(constructor_sleeps)
/* Changes what is the process's in its constructor; VALUE as of init_changes_process. */
FAULT(constructor_changes_process)
/* Opens a file in its constructor that programs which the process starts inherit. */
FAULT(constructor_opens_inherited_files)
