/* SPDX-License-Identifier: Apache-2.0 */
/* What the mock ICD can be told to get wrong of what memory objects hold, where its devices have the feature
 * `compiler`. */

/* Reads a buffer from its beginning, whatever the offset. */
FAULT(reads_ignore_offset)
/* Leaves out the last byte of what is written to a buffer. */
FAULT(writes_leave_last_byte)
/* Loses what is written past the first 64 KiB of a buffer. */
FAULT(large_buffers_lose_their_end)
/* Copies to the offset of the source in the target. */
FAULT(copies_go_to_source_offset)
/* Uses the buffer's row pitch for the host's memory, and the source's for the target. */
FAULT(rectangles_have_one_pitch)
/* Takes the smallest slice pitch for rectangles, whatever is given. */
FAULT(slice_pitches_are_ignored)
/* Fills with the first byte of the pattern. */
FAULT(fills_repeat_first_byte)
/* Maps a buffer from its beginning, whatever the offset. */
FAULT(mappings_ignore_offset)
/* Loses what is written to a mapping. */
FAULT(writes_to_mappings_are_lost)
/* Reports that a memory object has no mappings. */
FAULT(mappings_are_not_counted)
/* Makes buffers without the content of the host's memory. */
FAULT(host_content_is_forgotten)
/* Maps other memory than that which a buffer with CL_MEM_USE_HOST_PTR was made of. */
FAULT(host_memory_is_copied)
/* Has sub-buffers begin where their buffer does. */
FAULT(sub_buffers_begin_at_0)
/* Clears the first byte and all others of a memory object that is migrated. */
FAULT(migration_clears)
/* Copies within a memory object although the parts overlap. */
FAULT(overlaps_are_taken)
/* Refuses to copy within a buffer to the byte after the last one. */
FAULT(copies_may_not_touch)
/* Leaves out the last byte of a copy to or from shared virtual memory. */
FAULT(shared_copies_leave_last_byte)
/* Clears a byte of shared virtual memory that is given back by the host. */
FAULT(shared_unmap_clears)
/* Gives shared virtual memory that is aligned to four bytes only. */
FAULT(shared_memory_is_not_aligned)
/* Calls the function that frees shared virtual memory twice. */
FAULT(shared_memory_is_freed_twice)
/* Reads and writes images from the first pixel on. */
FAULT(image_origins_are_ignored)
/* Takes the host's rows and slices of an image for such that lie without gaps. */
FAULT(image_pitches_are_ignored)
/* Copies to the origin of the source in the target image. */
FAULT(image_copies_go_to_source_origin)
/* Copies between images and the beginning of buffers, whatever the offset. */
FAULT(image_copies_ignore_offset)
/* Fills the first row of a region only. */
FAULT(image_fills_end_with_first_row)
/* Maps images from their first pixel on. */
FAULT(mapped_images_begin_at_first_pixel)
/* Reports a byte less than a pixel of an image has. */
FAULT(pixels_are_smaller)
/* Reports the height of an image as its width, and the other way round. */
FAULT(images_are_turned)
/* Reports a byte more than a memory object has. */
FAULT(memory_is_larger)
/* Reports each memory object as a 2D image. */
FAULT(memory_is_of_one_type)
/* Reports no host memory of buffers that were made with CL_MEM_USE_HOST_PTR. */
FAULT(host_pointer_is_forgotten)
/* Reports the host's memory that an image was made of, also where it was copied. */
FAULT(images_name_copied_memory)
/* Reports two sizes for the three dimensions that work items have. */
FAULT(dimensions_are_cut)
/* Has less local memory than the full profile wants. */
FAULT(devices_have_little_local_memory)
/* Leaves cl_khr_byte_addressable_store out of its extensions, which OpenCL 1.1 demands. */
FAULT(bytes_are_not_addressed)
/* Lists all extensions but the last one with their versions. */
FAULT(extensions_lack_the_last_version)
/* Lists the newest version of OpenCL C only. */
FAULT(old_languages_are_not_listed)
/* Reports 1.0 as the number of the versions of platforms and devices. */
FAULT(numeric_versions_are_older)
/* Counts a device more than a context has. */
FAULT(contexts_count_one_more)
/* Reports CL_FILTER_NEAREST of every sampler. */
FAULT(samplers_have_no_filter)
/* Answers a context where the queue of a user event is asked for. */
FAULT(user_events_have_queues)
/* Reports no parent of sub-devices. */
FAULT(sub_devices_have_no_parent)
/* Leaves out the first extension of its devices in the list of a platform. */
FAULT(platform_lacks_an_extension)
/* Reports each device as one of another type, too. */
FAULT(devices_are_of_two_types)
/* Lists image formats twice. */
FAULT(formats_are_listed_twice)
/* Reports that each sub-buffer begins at 0. */
FAULT(sub_buffers_have_no_offset)
/* Leaves out the last pattern of a fill that does not begin at the first byte. */
FAULT(fills_leave_last_pattern)
/* Loses what a write to a buffer has past its first 64 KiB. */
FAULT(long_writes_are_cut)
/* Loses what a command moves past its first MiB. */
FAULT(megabytes_are_cut)
/* Loses what a copy between buffers has past its first 4 KiB. */
FAULT(long_copies_are_cut)
/* Leaves out the last three bytes of a copy of an odd number of bytes to or from shared virtual memory. */
FAULT(odd_shared_copies_are_cut)
/* Fills images of CL_BGRA as those of CL_RGBA. */
FAULT(fills_have_one_order)
/* Fills images of CL_DEPTH with the fourth number of a colour. */
FAULT(depth_is_a_fourth_number)
/* Fills images of CL_sRGBA with transparent colours. */
FAULT(fills_of_srgb_are_transparent)
/* Reports the sizes and numbers of images that a device without images would have. */
FAULT(images_have_limits_where_there_are_none)
/* Rounds the colours of fills toward zero. */
FAULT(fills_are_rounded_down)
/* Fills images with the low bits of numbers that their channels cannot hold. */
FAULT(fills_wrap)
/* Fills images whose channels are not bytes with the colour's bits, whatever they stand for. */
FAULT(only_bytes_are_normalized)
/* Reports no CL_QUEUE_PROFILING_ENABLE of devices. */
FAULT(devices_lack_profiling)
/* Reports CL_EXEC_NATIVE_KERNEL only of devices. */
FAULT(devices_run_no_kernels)
/* Reports CL_FP_ROUND_TO_ZERO only of devices. */
FAULT(devices_round_to_zero)
/* Reports no linker of devices that have a compiler. */
FAULT(devices_have_no_linker)
/* Reports full_profile of platforms and devices. */
FAULT(profiles_are_in_lower_case)
/* Reports the version of OpenCL C without OpenCL C before it. */
FAULT(languages_have_no_name)
/* Reports 7 where CL_TRUE is right. */
FAULT(truth_is_seven)
/* Reports the size of memory objects as a multiple of 128 bytes. */
FAULT(memory_is_rounded_up)
/* Reports each memory object as one of shared virtual memory. */
FAULT(memory_is_always_shared)
/* Says of no buffer that it lies in shared memory. */
FAULT(memory_is_never_shared)
/* Looks at the first memory object of a migration only. */
FAULT(migrations_look_at_the_first)
/* Refuses to migrate memory without its content. */
FAULT(content_is_never_given_up)
/* Has no format with four channels of 8 bits. */
FAULT(formats_lack_the_usual)
/* Ends the process where NULL is given back as shared memory. */
FAULT(null_is_no_shared_memory)
/* Reports no buffer of images that were made of one. */
FAULT(image_buffers_are_forgotten)
/* Answers that images of buffers have none, where the older query is asked. */
FAULT(images_have_no_buffer)
/* Counts an image format more than it lists. */
FAULT(formats_are_miscounted)
/* Counts only those image formats that it lists. */
FAULT(formats_past_the_list_are_not_counted)
/* Lists the first image format with a channel order that there is not. */
FAULT(formats_have_unknown_orders)
/* Writes NULL past the last device of a list that has room. */
FAULT(device_lists_end_with_null)
/* Lists the first device once more at the end. */
FAULT(first_device_is_listed_again)
/* Succeeds with a count of 0 where it has no device of a type. */
FAULT(absent_types_are_counted)
/* Counts one more as the default device where it gives a list, too. */
FAULT(default_device_is_counted_twice)
/* Answers CL_DEVICE_NOT_FOUND to several types of devices at once. */
FAULT(mixed_types_find_nothing)
/* Makes buffers with the whole words of the host's memory only. */
FAULT(host_content_ends_with_a_word)
/* Refuses to copy a rectangle within a buffer where rows lie between each other's. */
FAULT(rectangles_may_not_interleave)
/* Packs slices of the host's memory where only the pitch of rows is given. */
FAULT(slices_do_not_follow_rows)
/* Fills images of one channel with the last component of the colour. */
FAULT(fills_take_last_component)
/* Forgets that pointers of a kernel are volatile or restrict. */
FAULT(qualifiers_are_forgotten)
/* Names unsigned types as they were declared. */
FAULT(unsigned_is_spelled_out)
/* Reports no access for images of a kernel. */
FAULT(images_are_not_accessed)
/* Loses what is written to a region of an image that is mapped as invalid. */
FAULT(invalid_regions_are_lost)
/* Clears the first byte of shared virtual memory that is migrated. */
FAULT(shared_migration_clears)
/* Makes buffers with properties without the content of the host's memory. */
FAULT(properties_forget_content)
/* Takes the rows and slices of the host's memory that an image is made of for such that lie without gaps. */
FAULT(images_begin_packed)
/* Reports one reference to a sub-device, however often it is retained. */
FAULT(sub_devices_are_not_counted)
/* Leaves out the bytes past the last whole word where the whole of a buffer is written. */
FAULT(whole_writes_end_with_a_word)
/* Reports that an image has no mappings. */
FAULT(mappings_of_images_are_not_counted)
/* Takes the source's slice pitch for both buffers where that of the target is left out. */
FAULT(slice_pitch_of_source_is_for_both)
/* Copies from the first slice of an image to an image of another kind. */
FAULT(copies_between_kinds_take_first_slice)
/* Takes the host's row pitch for the buffer where that of the buffer is left out. */
FAULT(row_pitch_of_host_is_for_both)
/* Reports that vectors of bytes have no width. */
FAULT(native_vectors_have_no_width)
/* Answers the context for the queue of events where a context has several queues. */
FAULT(events_of_second_queue_name_another)
/* Answers the context for the program of a cloned kernel. */
FAULT(clones_name_no_program)
/* Reports the device that a sub-device is a part of as the device of its queues. */
FAULT(queues_name_the_root_device)
/* Reports the first device of the context as the device of every queue. */
FAULT(queues_name_the_first_device)
/* Reads no more than a page of a buffer at once. */
FAULT(long_reads_are_cut)
/* Fills no more than a page of a buffer at once. */
FAULT(long_fills_are_cut)
/* Copies no more than a page of shared virtual memory at once. */
FAULT(long_shared_copies_are_cut)
/* Fills no more than a page of shared virtual memory at once. */
FAULT(long_shared_fills_are_cut)
/* Loses what is written to a mapping of a page or more. */
FAULT(writes_to_long_mappings_are_lost)
/* Takes one page of the host's memory that a buffer is made of. */
FAULT(host_content_is_one_page)
/* Has rectangles begin in the first slice where no slice pitch is given. */
FAULT(slices_are_not_counted_without_pitch)
/* Has rectangles begin in the first row where no row pitch is given. */
FAULT(rows_are_not_counted_without_pitch)
/* Answers 0 as the slice pitch of an array of 1D images that is mapped. */
FAULT(mapped_lines_have_no_slice_pitch)
/* Copies between images and buffers at offsets that are multiples of 4, rounding others down. */
FAULT(image_copies_round_offsets)
/* Clears the first bytes of a buffer with its last release, though a part of it lives. */
FAULT(parts_lose_content_with_their_buffer)
/* Moves no more than 64 rows of a rectangle. */
FAULT(rectangles_have_few_rows)
/* Moves nothing of a rectangle whose slices lie apart by no whole number of rows, and answers CL_SUCCESS. */
FAULT(slices_of_no_whole_rows_are_left_out)
/* Writes one pattern more where a fill ends with its sub-buffer. */
FAULT(fills_go_on_after_their_part)
/* Begins each row of an image that is copied to or from a buffer at a multiple of 4 bytes. */
FAULT(image_rows_in_buffers_are_padded)
/* Moves no more than 64 slices of an image. */
FAULT(images_have_few_slices)
/* Fills nothing of a 1D image of a buffer. */
FAULT(images_of_buffers_are_not_filled)
/* Copies nothing to a 1D image of a buffer. */
FAULT(images_of_buffers_are_not_copied)
/* Copies no buffers that the host may not use. */
FAULT(hidden_buffers_are_not_copied)
/* Lists the first extension with its version a second time, as the last one. */
FAULT(extensions_are_listed_twice)
