/* SPDX-License-Identifier: Apache-2.0 */
/* What the mock ICD can be told to refuse although it is legal to make. */

/* Refuses buffers that kernels only write. */
FAULT(write_only_buffers_are_refused)
/* Refuses buffers that kernels only read. */
FAULT(read_only_buffers_are_refused)
/* Refuses buffers without flags. */
FAULT(buffers_without_flags_are_refused)
/* Refuses buffers that are made of memory of the host's. */
FAULT(host_memory_is_refused_for_buffers)
/* Refuses buffers whose memory the host can reach. */
FAULT(reachable_buffers_are_refused)
/* Refuses buffers whose memory the host can reach and that begin with a copy. */
FAULT(reachable_copies_are_refused)
/* Refuses buffers that the host only writes. */
FAULT(buffers_that_the_host_writes_are_refused)
/* Refuses buffers that the host only reads. */
FAULT(buffers_that_the_host_reads_are_refused)
/* Refuses buffers that the host does not touch. */
FAULT(buffers_without_the_host_are_refused)
/* Refuses buffers whose size is odd. */
FAULT(odd_buffers_are_refused)
/* Refuses buffers that begin with a copy and that kernels only read. */
FAULT(read_only_copies_are_refused)
/* Refuses sub-buffers that do not begin where their buffer does. */
FAULT(later_parts_are_refused)
/* Refuses sub-buffers that are as long as their buffer. */
FAULT(whole_parts_are_refused)
/* Refuses sub-buffers that kernels only read of buffers that they write, too. */
FAULT(read_only_parts_are_refused)
/* Refuses sub-buffers that the host does not touch. */
FAULT(parts_without_the_host_are_refused)
/* Refuses sub-buffers whose size is odd. */
FAULT(odd_parts_are_refused)
/* Refuses a second sub-buffer of a buffer. */
FAULT(second_parts_are_refused)
/* Refuses images of one dimension. */
FAULT(lines_are_refused)
/* Refuses arrays of images of one dimension. */
FAULT(arrays_of_lines_are_refused)
/* Refuses images that are made of a buffer. */
FAULT(images_of_buffers_are_refused)
/* Refuses arrays of images of two dimensions. */
FAULT(arrays_of_images_are_refused)
/* Refuses images of four half numbers, which it lists. */
FAULT(images_of_half_numbers_are_refused)
/* Refuses images of four half numbers with three dimensions, which it lists. */
FAULT(deep_images_of_half_numbers_are_refused)
/* Refuses images that kernels only write. */
FAULT(write_only_images_are_refused)
/* Refuses images that kernels only read. */
FAULT(read_only_images_are_refused)
/* Refuses images without flags. */
FAULT(images_without_flags_are_refused)
/* Refuses images that are made of memory of the host's. */
FAULT(host_memory_is_refused_for_images)
/* Refuses images of memory of the host's with pitches of its own. */
FAULT(pitches_are_refused)
/* Refuses images whose memory the host can reach. */
FAULT(reachable_images_are_refused)
/* Refuses images that the host does not touch. */
FAULT(images_without_the_host_are_refused)
/* Refuses images of one pixel. */
FAULT(images_of_one_pixel_are_refused)
/* Refuses images that are wider than 1000 pixels. */
FAULT(wide_images_are_refused)
/* Refuses images of more than one mipmap level. */
FAULT(mipmaps_are_refused)
/* Refuses samplers that clamp to the border. */
FAULT(clamping_samplers_are_refused)
/* Refuses samplers that repeat. */
FAULT(repeating_samplers_are_refused)
/* Refuses samplers that repeat in a mirror. */
FAULT(mirrored_samplers_are_refused)
/* Refuses samplers that interpolate. */
FAULT(linear_samplers_are_refused)
/* Refuses samplers that count pixels. */
FAULT(samplers_of_pixels_are_refused)
/* Refuses samplers of clCreateSampler that interpolate between pixels that are counted. */
FAULT(linear_samplers_of_pixels_are_refused)
/* Refuses queues of clCreateCommandQueue with profiling. */
FAULT(profiling_queues_are_refused)
/* Refuses queues of clCreateCommandQueueWithProperties with profiling. */
FAULT(listed_profiling_is_refused)
/* Refuses queues that run out of order. */
FAULT(unordered_queues_are_refused)
/* Refuses queues that run out of order with profiling. */
FAULT(unordered_profiling_is_refused)
/* Refuses a second queue for a device. */
FAULT(second_queues_are_refused)
/* Refuses programs of several strings. */
FAULT(several_strings_are_refused)
/* Refuses programs with the lengths of their strings. */
FAULT(lengths_of_strings_are_refused)
/* Refuses programs of an intermediate language. */
FAULT(intermediate_languages_are_refused)
/* Refuses programs of binaries. */
FAULT(binaries_are_refused)
/* Refuses a second user event. */
FAULT(second_user_events_are_refused)
/* Refuses shared virtual memory with an alignment. */
FAULT(aligned_shared_memory_is_refused)
/* Refuses shared virtual memory that kernels only read. */
FAULT(read_only_shared_memory_is_refused)
/* Refuses shared virtual memory of one byte. */
FAULT(small_shared_memory_is_refused)
/* Refuses pipes without flags. */
FAULT(pipes_without_flags_are_refused)
/* Refuses pipes that are written by kernels and not by the host, in these words. */
FAULT(pipes_with_flags_are_refused)
/* Refuses pipes of packets with an odd size. */
FAULT(odd_pipes_are_refused)
/* Refuses contexts of several devices. */
FAULT(contexts_of_several_devices_are_refused)
/* Refuses contexts of all devices of a type. */
FAULT(contexts_of_types_are_refused)
/* Refuses contexts with a callback. */
FAULT(contexts_with_callbacks_are_refused)
/* Refuses contexts without a list of properties. */
FAULT(contexts_without_properties_are_refused)
/* Refuses all kernels of a program at once. */
FAULT(kernels_at_once_are_refused)
/* Refuses to build with the name of a macro. */
FAULT(macros_are_refused)
/* Refuses to build with relaxed arithmetic. */
FAULT(relaxed_arithmetic_is_refused)
/* Refuses to build without warnings. */
FAULT(silence_is_refused)
/* Refuses to build for a version of OpenCL C. */
FAULT(versions_of_the_language_are_refused)
/* Refuses to build without optimisation. */
FAULT(plain_code_is_refused)
/* Refuses to link with relaxed arithmetic. */
FAULT(relaxed_linking_is_refused)
/* Refuses to make a library that takes options later. */
FAULT(libraries_with_options_are_refused)
