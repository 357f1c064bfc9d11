/* SPDX-License-Identifier: Apache-2.0 */
/* What the mock ICD can be told to get wrong of every function's hygiene, where it validates (see faults.h). What
 * single functions take is set by `takes_anything` (Sandbox.icd). */

/* Answers CL_SUCCESS to queries with too little memory, and writes what fits. */
FAULT(info_takes_little_memory)
/* Writes as much memory as it is given, past the end of the answer to a query. */
FAULT(info_fills_all_memory)
/* Reports 8 bytes as the size of answers that have 4. */
FAULT(info_sizes_are_long)
/* Turns the lowest bit of the answer to the query with the number VALUE; of all objects, or of those whose functions
 * are set to be `misreported`. */
FAULT(answer_is_off)
/* Answers only zeros to the query with the number VALUE. */
FAULT(answer_is_zero)
/* Writes the size of an answer wherever the caller says, also to NULL. */
FAULT(info_writes_size_to_null)
/* Answers queries that it does not know with zeros. */
FAULT(info_takes_unknown_queries)
/* Looks into NULL where an object should be. */
FAULT(null_is_looked_at)
/* Writes errcode_ret wherever the caller says, also to NULL. */
FAULT(errcode_written_to_null)
/* Writes CL_INVALID_BUFFER_SIZE wherever the caller says, also to NULL. */
FAULT(size_errors_written_to_null)
/* Answers CL_OUT_OF_RESOURCES to contexts of devices that are not its own. */
FAULT(context_of_foreign_devices)
/* Calls callbacks with the object that the one in question was made of. */
FAULT(callbacks_get_other_objects)
/* Takes objects of any context and memory objects of any type. */
FAULT(objects_of_anybody)
/* Answers CL_OUT_OF_RESOURCES to a query without any output. */
FAULT(info_wants_an_output)
/* Answers CL_OUT_OF_RESOURCES to clFlush. */
FAULT(flush_fails)
/* Answers CL_BUILD_PROGRAM_FAILURE to clBuildProgram with -cl-kernel-arg-info. */
FAULT(argument_information_fails)
/* Takes a second status of a user event. */
FAULT(user_event_set_twice)
/* Calls no callback of an event. */
FAULT(event_callbacks_forgotten)
/* Answers CL_SUCCESS where an event of the list has failed. */
FAULT(failed_events_forgotten)
/* Answers CL_SUCCESS to waiting for a list of events whose last one has not failed. */
FAULT(last_event_decides)
/* Calls the destructor callbacks of a memory object in the order in which they were set. */
FAULT(destructor_callbacks_forwards)
/* Calls no destructor callbacks of 3D images. */
FAULT(deep_images_end_silently)
/* Answers 0 as the type of the command of every event. */
FAULT(event_type_unknown)
/* Reports times of events that have none. */
FAULT(profiling_of_any_event)
/* Counts no retains. */
FAULT(retains_not_counted)
/* Counts no retains of images. */
FAULT(retains_of_images_are_not_counted)
/* Destroys the objects that were made of one together with it. */
FAULT(children_die_with_parents)
/* Takes a status for the event of a command. */
FAULT(status_of_any_event)
/* Completes commands before the events that they wait for. */
FAULT(commands_wait_for_nothing)
