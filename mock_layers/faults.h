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

/* --- clInitLayer and clInitLayerWithProperties --- */

/* Fails its initialisation with error VALUE (default CL_OUT_OF_HOST_MEMORY), writing nothing. */
FAULT(init_fails)
/* Fails its initialisation with error VALUE (default CL_OUT_OF_HOST_MEMORY) after it gave its table. */
FAULT(init_fails_after_writing)
/* Answers CL_SUCCESS to its initialisation and gives neither a table nor a number of entries. */
FAULT(init_leaves_outputs)
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
/* Prints to standard output in its initialisation. */
FAULT(init_prints)
/* Registers an exit handler in its initialisation that calls its target. */
FAULT(init_registers_exit_handler)
/* Calls clGetPlatformIDs of its target during its initialisation, and clGetPlatformInfo of the first platform. */
FAULT(init_calls_target)

/* --- clDeinitLayer --- */

/* Fails clDeinitLayer with error VALUE (default CL_OUT_OF_HOST_MEMORY). */
FAULT(deinit_fails)
/* Calls clGetPlatformIDs of its target in clDeinitLayer, and clGetPlatformInfo of the first platform. */
FAULT(deinit_calls_target)

/* --- Calls on their way --- */

/* Gives the application small numbers as handles, and takes them for its own on the way back. */
FAULT(wraps_handles)
/* Adds a platform of its own to the list, and answers clGetPlatformInfo and clGetDeviceIDs about it. */
FAULT(supplies_platform)
/* Answers every address query with a function of its own, which answers the layer's name. */
FAULT(substitutes_addresses)

/* --- While it is loaded --- */

/* Calls abort() in its constructor. */
FAULT(constructor_aborts)
/* Sleeps VALUE milliseconds in its constructor. */
FAULT(constructor_sleeps)
