/* SPDX-License-Identifier: Apache-2.0 */
/* What the mock ICD can be told to get wrong of calls that the state of an object does not allow, and of events,
 * where its devices have the feature `compiler`. */

/* Lets the host read and write memory objects whatever their flags say. */
FAULT(host_access_is_ignored)
/* Takes any address for that of a mapping. */
FAULT(unmap_takes_any_address)
/* Makes sub-buffers of sub-buffers. */
FAULT(sub_buffers_of_sub_buffers)
/* Makes sub-buffers that allow more than their buffer. */
FAULT(sub_buffers_widen_access)
/* Waits for events of several contexts. */
FAULT(waits_for_events_of_anybody)
/* Builds and compiles programs that kernels have been made of. */
FAULT(programs_change_under_kernels)
/* Makes kernels of programs that have no executable. */
FAULT(kernels_without_executable)
/* Gives some of the kernels of a program where there is no room for all. */
FAULT(kernel_lists_are_cut)
/* Compiles programs that were made of binaries. */
FAULT(binaries_are_compiled)
/* Links programs that have not been compiled. */
FAULT(anything_is_linked)
/* Lists the kernels of a program that is not built. */
FAULT(programs_list_kernels_unbuilt)
/* Runs kernels whose arguments have not been set. */
FAULT(kernels_run_without_arguments)
/* Takes arguments of any size. */
FAULT(kernels_take_any_size)
/* Runs kernels in groups of another size than they require. */
FAULT(required_size_is_ignored)
/* Answers CL_SUCCESS to clCompileProgram of a source with an error. */
FAULT(compile_takes_errors)
/* Answers CL_SUCCESS to a blocking call that waited for an event which failed. */
FAULT(blocking_calls_hide_failures)
/* Reports that the build of each program has succeeded. */
FAULT(every_program_is_built)
/* Reports each program as an executable. */
FAULT(every_binary_is_executable)
/* Reports no options of a build. */
FAULT(options_are_forgotten)
/* Takes the first of several strings for the whole source. */
FAULT(source_is_first_string)
/* Reports a kernel more than a program has. */
FAULT(kernels_are_miscounted)
/* Reports a byte more than the binary of a program has. */
FAULT(binaries_are_longer)
/* Reports a parameter more than a kernel has. */
FAULT(parameters_are_miscounted)
/* Reports no attributes of a kernel. */
FAULT(attributes_are_forgotten)
/* Reports the type of a kernel's parameter as its name. */
FAULT(parameters_have_types_for_names)
/* Reports a work-group size of a kernel that its device does not allow. */
FAULT(groups_are_larger_than_devices)
/* Clones kernels without the values of their arguments. */
FAULT(clone_has_no_arguments)
/* Sets the arguments of a cloned kernel in the kernel that it was made of, too. */
FAULT(clones_set_their_kernel)
/* Gives kernels the first half of arguments with more than 16 bytes. */
FAULT(kernels_get_half_of_long_arguments)
/* Gives kernels the arguments that are set when they run. */
FAULT(arguments_are_read_late)
/* Runs kernels from work item 0 on, whatever the offset. */
FAULT(offsets_are_ignored)
/* Gives kernels an address where their argument is NULL. */
FAULT(kernels_never_get_null)
/* Gives two arguments of a kernel the same local memory. */
FAULT(local_arguments_overlap)
/* Completes a command that waits for a command which ended with an error. */
FAULT(failures_end_one_command)
/* Runs commands of an in-order queue in any order. */
FAULT(queues_keep_no_order)
/* Has markers and barriers wait for nothing but the events of their list. */
FAULT(markers_wait_for_nothing)
/* Waits for the first event of a list only. */
FAULT(wait_lists_end_after_first)
/* Calls no callbacks for commands that are submitted or running. */
FAULT(callbacks_of_states_are_forgotten)
/* Gives each callback of an event that goes on the status CL_COMPLETE. */
FAULT(callbacks_say_complete)
/* Calls the callbacks of an event with each change of its status. */
FAULT(callbacks_are_repeated)
/* Answers times of commands that have not ended. */
FAULT(profiling_is_early)
/* Answers the times of a command in reverse order. */
FAULT(times_run_backwards)
/* Reports CL_BUILD_NONE of a program whose build has failed. */
FAULT(failed_builds_leave_no_status)
/* Reports a program that once was built as built, also when it is built again, and fails. */
FAULT(builds_stay_successful)
/* Writes to standard output that a build has failed. */
FAULT(failed_builds_write_output)
/* Builds a program that is built without options with the definitions of its last build. */
FAULT(definitions_stay_without_options)
/* Reports the times of commands in microseconds. */
FAULT(times_are_microseconds)
/* Calls the destructor callbacks of a context in the order in which they were set. */
FAULT(context_destructors_forwards)
/* Calls no destructor callback of a context. */
FAULT(context_destructors_forgotten)
/* Runs kernels of two dimensions from work item 0 on, whatever the offset. */
FAULT(offsets_in_the_plane_are_ignored)
/* Calls no callbacks of commands that end because what they wait for failed. */
FAULT(callbacks_of_failures_forgotten)
/* Answers CL_INVALID_OPERATION where a memory object with a mapping is released. */
FAULT(mapped_memory_is_not_released)
/* Answers the queue that is asked for the default queue of its device, also one of the host. */
FAULT(default_queue_is_of_the_host)
/* Answers the largest size_t for the storage of a program's global variables. */
FAULT(global_variables_without_bound)
/* Leaves out the work items of a kernel past the first thousand of its first dimension. */
FAULT(large_ranges_are_cut)
/* Copies between images of different formats. */
FAULT(images_of_two_formats_are_copied)
/* Answers the query of CL_KERNEL_GLOBAL_WORK_SIZE for kernels that are not built in. */
FAULT(any_kernel_has_a_global_size)
/* Completes markers and barriers although what they wait for failed. */
FAULT(failures_pass_markers_by)
/* Answers a size for queues that run commands of the host. */
FAULT(queues_of_the_host_have_a_size)
/* Takes specialization constants for programs of source. */
FAULT(constants_of_any_program)
/* Takes callbacks for commands that are queued. */
FAULT(callbacks_of_queued_are_taken)
/* Maps shared virtual memory with unknown flags. */
FAULT(shared_maps_take_any_flags)
/* Reports the command that gives a mapping back as one that maps. */
FAULT(unmapping_is_mapping)
/* Reports the command that gives a mapping back as running when it has ended. */
FAULT(unmapping_never_ends)
/* Counts no kernels of a program where no list of them is wanted. */
FAULT(kernels_are_not_counted_without_a_list)
/* Gives mappings back before the events that it is to wait for. */
FAULT(unmapping_waits_for_nothing)
/* Runs commands before a barrier with a list that is before them. */
FAULT(barriers_with_lists_hold_nothing)
/* Waits for the events of a list from the second one on. */
FAULT(wait_lists_begin_with_second)
/* Returns from blocking calls before their commands have ended. */
FAULT(blocking_calls_do_not_block)
/* Waits for the last event of those that are to be waited for. */
FAULT(waiting_looks_at_last_event)
/* Waits for no event. */
FAULT(waiting_ends_at_once)
/* Returns from clFinish before the commands of the queue have ended. */
FAULT(finishing_only_flushes)
/* Returns from clFinish before commands have ended of which nobody asked for an event. */
FAULT(finishing_waits_for_events_only)
/* Returns from clFinish before fills of images have ended. */
FAULT(finishing_passes_fills_of_images_by)
/* Runs fills of buffers when their queue is waited for, not when it is flushed. */
FAULT(fills_are_not_flushed)
/* Runs fills of buffers when their queue is flushed or waited for, not when it is released. */
FAULT(released_queues_are_not_flushed)
/* Fails commands whose memory object or kernel is released before they run; they run when their queue is flushed. */
FAULT(commands_lose_what_is_released)
/* Fails commands when an event that they wait for is released, whether that was the last reference or not. */
FAULT(commands_lose_released_events)
/* Answers times of clGetHostTimer that become smaller. */
FAULT(host_timers_run_backwards)
/* Answers the time of another clock than that of profiling as the time of the device. */
FAULT(device_timers_are_another_clock)
/* Calls the destructor callbacks of a buffer before its sub-buffers are released. */
FAULT(buffers_end_before_their_parts)
/* Answers the time of the start for that at which a command has finished. */
FAULT(commands_finish_at_their_start)
/* Reports no flags of host memory for sub-buffers. */
FAULT(parts_inherit_nothing)
/* Looks at the context of the first event of a wait list only. */
FAULT(later_events_are_of_anybody)
/* Copies within shared virtual memory although the parts overlap. */
FAULT(shared_overlaps_are_taken)
/* Copies within an image although slices of the regions overlap. */
FAULT(overlapping_slices_are_taken)
/* Builds programs that were made of binaries once, and answers CL_INVALID_OPERATION then. */
FAULT(binaries_are_built_once)
/* Fills buffers before what is before that in their queue. */
FAULT(fills_overtake)
/* Ends markers before the kernels that are before them. */
FAULT(markers_overtake_kernels)
/* Has no times of events whose queue has another property beside profiling. */
FAULT(profiling_wants_no_other_property)
/* Links the first of several programs only. */
FAULT(first_program_is_linked)
/* Reports a sub-device more than a device has compute units. */
FAULT(parts_exceed_units)
/* Fills past the end of a sub-buffer that does not begin where its buffer does. */
FAULT(fills_leave_their_part)
/* Calls callbacks of events with the lower half of the user data. */
FAULT(user_data_of_events_is_cut)
/* Makes the kernel whose name a longer one begins with. */
FAULT(kernel_names_may_go_on)
/* Makes the kernel whose name begins with a shorter one. */
FAULT(kernel_names_may_be_cut)
/* Fills from any offset where the pattern has two bytes. */
FAULT(short_patterns_fill_anywhere)
/* Refuses NULL in the place of the only device that a kernel has. */
FAULT(only_device_must_be_named)
/* Counts a reference more to programs that are linked. */
FAULT(linked_programs_are_counted_twice)
/* Holds the first linked program until its references have been asked for, which is allowed. */
FAULT(linked_programs_are_held_a_moment)
/* Answers no query of contexts and programs that the application has released. */
FAULT(released_parents_answer_nothing)
/* Reports no buffer of parts whose buffer was released. */
FAULT(parts_forget_released_buffers)
/* Does not delete a buffer with the last of its parts. */
FAULT(parts_keep_their_buffers_for_ever)
/* Terminates contexts that were not made to be terminated. */
FAULT(any_context_is_terminated)
/* Terminates a context as often as it is told to. */
FAULT(contexts_are_terminated_twice)
/* Lets the commands of a context that is terminated count as complete. */
FAULT(terminated_commands_complete)
/* Does not call the function that a context was made with when the context is terminated. */
FAULT(terminations_are_not_told)
/* Makes objects in a context that was terminated. */
FAULT(terminated_contexts_make_objects)
/* Enqueues commands in queues of a context that was terminated. */
FAULT(terminated_queues_take_commands)
/* Lists the image formats of a context that was terminated, and takes its destructor callbacks. */
FAULT(terminated_contexts_are_used)
/* Answers no query of a context that was terminated. */
FAULT(terminated_contexts_answer_nothing)
/* Gives the same time of the device with each reading of its timer. */
FAULT(device_timers_stand_still)
/* Calls no callback of an event that the application has released. */
FAULT(released_events_call_nobody)
/* Calls no destructor callbacks of sub-buffers, images and pipes. */
FAULT(destructors_are_those_of_buffers)
/* Takes the application's reference to the buffer that an image is made of. */
FAULT(images_take_the_reference_to_their_buffer)
/* Answers the options of a build with a blank after them. */
FAULT(options_end_with_a_blank)
/* Hands the first object of its class that had a callback to all later ones. */
FAULT(callbacks_get_the_first_object)
/* Takes commands from the host for queues on the device. */
FAULT(device_queues_take_commands)
/* Stores what is below zero as zero in images of normalised numbers that have a sign. */
FAULT(fills_have_no_sign)
/* Tells callbacks that are set when their event has failed that it is complete. */
FAULT(late_callbacks_are_told_completion)
