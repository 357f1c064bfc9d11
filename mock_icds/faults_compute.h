/* SPDX-License-Identifier: Apache-2.0 */
/* What the mock ICD can be told to get wrong of programs and kernels, where its devices have the feature `compiler`. */

/* Leaves the last element of a sum as it was. */
FAULT(kernel_leaves_last_item)
/* Copies where a kernel exchanges items through local memory. */
FAULT(kernel_ignores_local_memory)
/* Reads the first pixel of an image wherever a kernel reads. */
FAULT(kernel_reads_first_pixel)
/* Runs no kernel on memory that another queue has written. */
FAULT(queues_share_no_memory)
/* Answers CL_SUCCESS to a build of a source with an error. */
FAULT(build_takes_errors)
/* Has an empty log of a build that failed. */
FAULT(build_log_is_empty)
/* Takes the first platform that a loader lists for its own, and refuses contexts where it is another vendor's. */
FAULT(first_platform_is_own)
/* Answers no bytes, and not an empty string, for the log of a program that has not been built. */
FAULT(logs_begin_with_a_build)
/* Reports the options of a program's first build for all of them. */
FAULT(first_options_stay)
/* Forgets the data of callbacks of compilations and linkings. */
FAULT(compilers_forget_data)
/* Calls the callback of a build twice. */
FAULT(builds_end_twice)
/* Calls native kernels with the application's own arguments. */
FAULT(native_kernels_share_arguments)
/* Copies the arguments of native kernels that have memory objects only. */
FAULT(native_kernels_share_plain_arguments)
/* Gives native kernels the first memory object in the place of all others. */
FAULT(native_kernels_have_one_memory)
/* Takes native kernels whose arguments do not agree with each other. */
FAULT(native_kernels_take_anything)
/* Clears the highest bit of arguments of one byte. */
FAULT(characters_have_seven_bits)
/* Calls no callback of builds and compilations that fail. */
FAULT(failed_builds_call_nobody)
/* Reports no local memory for the local arguments of a kernel. */
FAULT(local_arguments_are_not_counted)
/* Reports a size of the binary of a program that has none. */
FAULT(programs_have_sizes_without_binaries)
/* Exchanges the headers that a program is compiled with. */
FAULT(headers_are_exchanged)
/* Reads a single string of source to its end, whatever its length is said to be. */
FAULT(length_of_one_string_is_ignored)
/* Reports the options that it reported first for each program. */
FAULT(answered_options_stay)
/* Reports no names of kernels of programs that were made of binaries. */
FAULT(binaries_have_no_kernel_names)
/* Keeps the first memory object that is set as an argument of a kernel. */
FAULT(memory_arguments_are_set_once)
/* Reports an intermediate language of programs that were made of source. */
FAULT(programs_of_source_have_il)
/* Builds a program for all its devices, whichever are named. */
FAULT(programs_are_built_for_all)
/* Runs kernels on devices that their program is not built for. */
FAULT(kernels_run_on_every_device)
/* Answers CL_SUCCESS to CL_PROGRAM_BINARIES with memory for fewer addresses than the program has devices. */
FAULT(binaries_need_no_room)
/* Answers the size of one binary for a program of several devices. */
FAULT(programs_have_one_binary)
/* Lists a built-in kernel with its version, which the list without versions lacks. */
FAULT(kernels_are_listed_by_version_only)
/* Lists an intermediate language with its version, which the string lacks. */
FAULT(languages_are_listed_by_version_only)
/* Reports that a single allocation may be larger than the device's memory. */
FAULT(allocations_exceed_the_memory)
/* Prefers work-group sizes that are multiples of 0. */
FAULT(groups_have_no_preferred_multiple)
/* Takes an image as the argument for a pointer. */
FAULT(images_are_taken_for_pointers)
/* Takes a buffer as the argument for an image. */
FAULT(buffers_are_taken_for_images)
/* Takes an image of any type as the argument for one of another type. */
FAULT(images_of_any_type_are_arguments)
/* Takes NULL as the argument for an image. */
FAULT(images_may_be_null)
/* Takes NULL as the argument for a sampler. */
FAULT(samplers_may_be_null)
/* Takes an object of any class as an argument. */
FAULT(any_object_is_an_argument)
/* Takes an image that kernels only write for one that is read, and the other way round. */
FAULT(images_are_accessed_in_any_way)
/* Takes memory objects and samplers of another context as arguments. */
FAULT(arguments_are_of_any_context)
/* Counts a reference to each object that is an argument. */
FAULT(kernels_count_their_arguments)
/* Takes the argument from a kernel for which another one is refused. */
FAULT(refused_arguments_are_unset)
/* Forgets the options that a program was compiled with. */
FAULT(compilers_forget_options)
/* Looks at no queue and no wait list of a native kernel. */
FAULT(native_kernels_are_not_judged)
/* Runs native kernels at once, whatever they wait for. */
FAULT(native_kernels_wait_for_nothing)
/* Makes an executable where a library is asked for. */
FAULT(libraries_are_executable)
/* Says that a binary was taken, and makes no program of it. */
FAULT(refused_binaries_are_taken)
/* Takes any device in builds and queries of programs and kernels. */
FAULT(programs_are_for_any_device)
/* Has no compiler once it was unloaded. */
FAULT(compilers_stay_unloaded)
/* Rounds pointers to shared memory down that are arguments. */
FAULT(shared_pointers_are_rounded)
/* Does not initialise local memory in contexts that were made for it. */
FAULT(local_memory_is_left_as_it_is)
/* Does not initialise private memory in contexts that were made for it. */
FAULT(private_memory_is_left_as_it_is)
/* Makes each program of binaries of the first binary that it got. */
FAULT(binaries_are_those_of_the_first)
/* Runs a range that its groups do not divide without the work-items that are left over. */
FAULT(uneven_ranges_are_cut)
/* Runs a range that its groups do not divide, whatever its program was built for. */
FAULT(uniform_ranges_run_uneven)
/* Runs such a range of a program that was built for OpenCL C 3.0 with -cl-uniform-work-group-size. */
FAULT(uniform_option_is_overlooked)
/* Has only the first -D of the options define a macro. */
FAULT(first_definition_counts)
/* Overlooks each -D of the options that no space stands between and its name. */
FAULT(definitions_in_one_word_are_lost)
/* Keeps the kernels of the first build of a program. */
FAULT(kernels_of_first_build_stay)
