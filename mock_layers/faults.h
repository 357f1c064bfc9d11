/* Everything that the mock layer can be told to do wrong. Absent means correct.
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
/* Calls clGetPlatformIDs of its target during its initialisation. */
FAULT(init_calls_target)

/* --- clDeinitLayer --- */

/* Fails clDeinitLayer with error VALUE (default CL_OUT_OF_HOST_MEMORY). */
FAULT(deinit_fails)
/* Calls clGetPlatformIDs of its target in clDeinitLayer. */
FAULT(deinit_calls_target)

/* --- While it is loaded --- */

/* Calls abort() in its constructor. */
FAULT(constructor_aborts)
/* Sleeps VALUE milliseconds in its constructor. */
FAULT(constructor_sleeps)
