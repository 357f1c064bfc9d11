/* SPDX-License-Identifier: Apache-2.0 */
/* What the mock ICD can do wrong with external memory, semaphores and command buffers; faults.h explains the form.
 *
 * Where a fault has an error VALUE, it is what stands in the place of the right error. */

/* --- Queries of handle types and semaphore types --- */

/* Answers the handle types of a platform that its first device supports, where another one does not. */
FAULT(platform_types_of_any_device)
/* Answers no handle type of memory for any device. */
FAULT(memory_types_are_none)
/* Answers no semaphore type for any device. */
FAULT(semaphore_types_are_none)
/* Answers no handle type of semaphores for any device, neither to import nor to export. */
FAULT(semaphore_handle_types_are_none)
/* Answers a type of linear images that it cannot import. */
FAULT(linear_types_beyond_import)
/* Answers Windows handles among the types of memory, without that extension. */
FAULT(memory_types_without_extension)
/* Answers the number of a Windows name in the place of that of a dma-buf. */
FAULT(dma_buf_is_win32_name)

/* --- Property lists of memory, semaphores and command buffers --- */

/* Answers the property list up to its first word of 0, be that inside a nested list. */
FAULT(external_list_ends_at_first_0)
/* Answers the property list without its end marker. */
FAULT(external_list_without_end)
/* Answers the property list with its first pair at the end. */
FAULT(external_list_is_turned)

/* --- Import of memory --- */

/* Refuses to import images with CL_INVALID_PROPERTY. */
FAULT(import_of_buffers_only)
/* Takes several external handles, or answers error VALUE (default: none). */
FAULT(import_last_handle_wins)
/* Takes a device list without an external handle, or answers error VALUE (default: none). */
FAULT(import_takes_device_list_alone)
/* Walks property lists of memory in steps of two, over the values of device lists. */
FAULT(import_walks_in_pairs)
/* Answers CL_SUCCESS or error VALUE (default CL_SUCCESS) where a listed device is not in the context. */
FAULT(import_foreign_device_answers)
/* Answers CL_SUCCESS or error VALUE (default CL_SUCCESS) where a listed device cannot import. */
FAULT(import_incapable_device_answers)
/* Takes a context with a device that cannot import, without a device list, or answers error VALUE (default: none). */
FAULT(import_ignores_incapable_device)
/* Takes flags of host pointers together with an external handle, or answers error VALUE (default: none). */
FAULT(import_host_flags_answer)
/* Takes a host pointer together with an external handle, or answers error VALUE (default: none). */
FAULT(import_host_pointer_answers)
/* Leaves the descriptor of memory open that it has taken over. */
FAULT(import_leaves_descriptor_open)
/* Closes the number of the descriptor of memory once more when the object is deleted. */
FAULT(import_closes_twice)
/* Closes the descriptor of memory that it refuses to import. */
FAULT(import_closes_on_failure)
/* Takes descriptor 0 for the end of the list. */
FAULT(import_stops_at_descriptor_0)
/* Takes invalid descriptors of memory. */
FAULT(import_takes_any_descriptor)
/* Looks at the lower half of a descriptor only. */
FAULT(import_cuts_descriptor)
/* Gives the same memory object for each import. */
FAULT(import_gives_same_object)

/* --- Acquire and release --- */

/* Takes a count of memory objects that does not fit the list, or answers error VALUE (default: none). */
FAULT(acquire_takes_any_count)
/* Acquires and releases memory objects that are not imported, or answers error VALUE (default: none). */
FAULT(acquire_takes_any_memory)
/* Acquires and releases in queues of devices that the object is not for, or answers error VALUE (default: none). */
FAULT(acquire_takes_any_queue)
/* Completes an acquire of no object at once, whatever it has to wait for. */
FAULT(acquire_of_nothing_is_complete)
/* Answers VALUE (default CL_COMMAND_MARKER) as the type of acquire commands. */
FAULT(acquire_event_type_is)
/* Answers VALUE (default CL_COMMAND_MARKER) as the type of release commands. */
FAULT(release_event_type_is)
/* Acquires for the device of the queue only. */
FAULT(acquire_for_own_device)
/* Does not look at the external memory when it acquires. */
FAULT(acquire_keeps_old_data)
/* Does not write to the external memory when it releases. */
FAULT(release_keeps_data)

/* --- Wait lists --- */

/* Takes a number of events that does not fit the list, or answers error VALUE (default: none). */
FAULT(wait_list_takes_any_count)
/* Takes invalid events in wait lists, or answers error VALUE (default: none). */
FAULT(wait_list_takes_any_event)
/* Takes events of other contexts in wait lists, or answers error VALUE (default: none). */
FAULT(wait_list_takes_other_context)
/* Takes failed events in wait lists, or answers error VALUE (default: none). */
FAULT(wait_list_takes_failed_event)
/* Does not wait for the events of a list. */
FAULT(wait_list_not_waited_for)
/* Lets commands overtake a barrier in an out-of-order queue. */
FAULT(barrier_orders_nothing)
/* Takes clEnqueueBarrier and clEnqueueWaitForEvents as commands that order nothing. */
FAULT(older_barriers_order_nothing)
/* Ends clEnqueueMarker in an out-of-order queue, whatever is before it. */
FAULT(older_markers_wait_for_nothing)

/* --- Semaphores --- */

/* Takes NULL for the list of a semaphore, or answers error VALUE (default: none). */
FAULT(semaphore_null_list_answers)
/* Takes a list of a semaphore without its type, or answers error VALUE (default: none). */
FAULT(semaphore_without_type_answers)
/* Takes unknown names in the list of a semaphore, or answers error VALUE (default: none). */
FAULT(semaphore_unknown_name_answers)
/* Takes a name twice in the list of a semaphore, or answers error VALUE (default: none). */
FAULT(semaphore_repeated_name_answers)
/* Takes unknown semaphore types, or answers error VALUE (default: none). */
FAULT(semaphore_bad_type_answers)
/* Takes a list without a device in a context of several, or answers error VALUE (default: none). */
FAULT(semaphore_without_device_answers)
/* Takes several devices for a semaphore, or answers error VALUE (default: none). */
FAULT(semaphore_several_devices_answer)
/* Takes an empty device list of a semaphore, or answers error VALUE (default: none). */
FAULT(semaphore_no_device_answers)
/* Takes a device for a semaphore that is not in the context, or answers error VALUE (default: none). */
FAULT(semaphore_foreign_device_answers)
/* Makes semaphores that are signalled. */
FAULT(semaphore_is_signalled_at_first)
/* Answers CL_INVALID_VALUE to the query VALUE of semaphores. */
FAULT(semaphore_query_is_missing)
/* Takes queries of semaphores that nobody knows, or answers error VALUE (default: none). */
FAULT(semaphore_unknown_query_answers)
/* Does not count the references of clRetainSemaphoreKHR. */
FAULT(semaphore_retain_does_nothing)
/* Does not count the references of clReleaseSemaphoreKHR. */
FAULT(semaphore_release_does_nothing)
/* Takes any handle in clRetainSemaphoreKHR and clReleaseSemaphoreKHR, or answers error VALUE (default: none). */
FAULT(references_of_any_semaphore)
/* Takes a wait or signal of no semaphore, or answers error VALUE (default: none). */
FAULT(enqueue_of_no_semaphore_answers)
/* Takes invalid semaphores in waits and signals, or answers error VALUE (default: none). */
FAULT(enqueue_takes_any_semaphore)
/* Takes semaphores of other contexts in waits and signals, or answers error VALUE (default: none). */
FAULT(semaphore_other_context_answers)
/* Takes queues of other devices for waits and signals, or answers error VALUE (default: none). */
FAULT(semaphore_other_queue_answers)
/* Reads the payloads of a wait or signal, which binary semaphores have no need of. */
FAULT(payload_list_is_read)
/* Refuses payloads above 1, which mean nothing for binary semaphores. */
FAULT(payload_list_is_obeyed)
/* Answers the type of waits for signals, and the other way round. */
FAULT(semaphore_event_types_are_swapped)
/* Lets a wait pass before its semaphore is signalled. */
FAULT(wait_does_not_wait)
/* Leaves a semaphore signalled after a wait. */
FAULT(wait_does_not_reset)
/* Leaves a semaphore as it was after a signal. */
FAULT(signal_does_nothing)

/* --- External semaphores --- */

/* Takes several types to export a semaphore as, or answers error VALUE (default: none). */
FAULT(semaphore_several_exports_answer)
/* Takes an external handle together with types to export, or answers error VALUE (default: none). */
FAULT(semaphore_import_and_export_answers)
/* Takes several external handles of a semaphore, or answers error VALUE (default: none). */
FAULT(semaphore_several_handles_answer)
/* Imports and makes semaphores for a device that cannot have them, or answers error VALUE (default: none). */
FAULT(semaphore_incapable_device_answers)
/* Takes invalid descriptors of semaphores, or answers error VALUE (default: none). */
FAULT(semaphore_bad_descriptor_answers)
/* Does not notice that a semaphore was signalled outside OpenCL. */
FAULT(signals_from_outside_are_not_seen)
/* Leaves the descriptor of a semaphore open that it has taken over. */
FAULT(semaphore_leaves_descriptor_open)
/* Gives the same semaphore for each import. */
FAULT(semaphore_import_gives_same_object)
/* Answers CL_TRUE to CL_SEMAPHORE_EXPORTABLE_KHR of each semaphore. */
FAULT(semaphore_is_always_exportable)
/* Exports as types that were not asked for at creation, or answers error VALUE (default: none). */
FAULT(export_takes_any_type)
/* Writes a handle into however little room, or answers error VALUE (default: none). */
FAULT(export_takes_any_size)
/* Exports for devices that the semaphore is not for, or answers error VALUE (default: none). */
FAULT(export_takes_any_device)
/* Copies the payload of an opaque descriptor. */
FAULT(opaque_fd_is_a_copy)
/* Leaves a semaphore signalled that was exported as a sync descriptor. */
FAULT(sync_fd_export_does_not_wait)
/* Refuses sync descriptor -1. */
FAULT(sync_fd_minus_1_refused)
/* Takes sync descriptor -1 for one that is not signalled. */
FAULT(sync_fd_minus_1_is_unsignalled)
/* Takes invalid sync descriptors. */
FAULT(sync_fd_takes_anything)
/* Reimports into semaphores that were not imported, or answers error VALUE (default: none). */
FAULT(reimport_takes_any_semaphore)
/* Takes invalid descriptors in clReImportSemaphoreSyncFdKHR, or answers error VALUE (default: none). */
FAULT(reimport_bad_descriptor_answers)
/* Reads the property list NULL of clReImportSemaphoreSyncFdKHR. */
FAULT(reimport_reads_null)

/* --- Command buffers --- */

/* Takes numbers of queues other than one, or answers error VALUE (default: none). */
FAULT(command_buffer_count_answers)
/* Takes invalid queues, or answers error VALUE (default: none). */
FAULT(command_buffer_bad_queue_answers)
/* Makes command buffers that are executable already. */
FAULT(command_buffer_is_executable_at_once)
/* Leaves command buffers in the recording state. */
FAULT(finalize_does_nothing)
/* Finalizes command buffers again, or answers error VALUE (default: none). */
FAULT(finalize_twice_answers)
/* Finalizes invalid command buffers, or answers error VALUE (default: none). */
FAULT(finalize_takes_any_handle)
/* Answers CL_INVALID_VALUE to the query VALUE of command buffers. */
FAULT(command_buffer_query_is_missing)
/* Takes queries of command buffers that nobody knows, or answers error VALUE (default: none). */
FAULT(command_buffer_unknown_query_answers)
/* Takes queries of invalid command buffers, or answers error VALUE (default: none). */
FAULT(command_buffer_query_takes_any_handle)
/* Does not count the references of clRetainCommandBufferKHR. */
FAULT(command_buffer_retain_does_nothing)
/* Does not count the references of clReleaseCommandBufferKHR. */
FAULT(command_buffer_release_does_nothing)
/* Takes any handle in clRetainCommandBufferKHR and clReleaseCommandBufferKHR, or answers error VALUE (default:
 * none). */
FAULT(references_of_any_command_buffer)
/* Records into invalid command buffers, or answers error VALUE (default: none). */
FAULT(recording_takes_any_handle)
/* Records into command buffers that are finalized, or answers error VALUE (default: none). */
FAULT(recording_when_executable_answers)
/* Takes a number of sync points that does not fit the list, or answers error VALUE (default: none). */
FAULT(sync_points_answer)
/* Takes sync points that no command gave. */
FAULT(sync_points_are_of_anybody)
/* Writes no sync point. */
FAULT(sync_points_are_not_written)
/* Records commands with any arguments. */
FAULT(anything_is_recorded)
/* Records commands with a queue. */
FAULT(queues_are_recorded)
/* Records commands with a place for a handle, without the extension that has them. */
FAULT(handles_of_commands_are_taken)
/* Records kernels without their offsets. */
FAULT(recorded_kernels_have_no_offset)
/* Executes invalid command buffers, or answers error VALUE (default: none). */
FAULT(enqueue_takes_any_command_buffer)
/* Executes command buffers that are not finalized, or answers error VALUE (default: none). */
FAULT(enqueue_recording_answers)
/* Takes numbers of queues that do not fit the command buffer, or answers error VALUE (default: none). */
FAULT(enqueue_queues_answer)
/* Executes a command buffer the first time only. */
FAULT(command_buffer_executes_once)
/* Executes nothing of a command buffer. */
FAULT(command_buffer_executes_nothing)
/* Takes queues of the first device only for command buffers. */
FAULT(command_buffers_for_first_device)
/* Takes queues for command buffers of that platform only whose functions were asked for last. */
FAULT(command_buffers_for_last_platform)
/* Answers VALUE (default 0) as the type of executed command buffers. */
FAULT(command_buffer_event_type_is)
/* Executes nothing of a command buffer but fills of buffers and kernels. */
FAULT(only_fills_are_recorded)
/* Runs no kernel of a command buffer. */
FAULT(recorded_kernels_do_not_run)
/* Fills buffers from their first byte on, where a command buffer does. */
FAULT(recorded_fills_begin_at_0)
