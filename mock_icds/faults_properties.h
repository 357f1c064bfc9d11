/* SPDX-License-Identifier: Apache-2.0 */
/* What the mock ICD can do wrong with property lists and the queries of objects; faults.h explains the form. All of
 * them are of ICDs that validate. */

/* --- Every property list --- */

/* Takes a value of 0 for the end of a property list. */
FAULT(properties_end_at_zero_value)
/* Takes each word of a property list for a name, values too. */
FAULT(properties_without_stride)
/* Reads the word past the end of a property list. */
FAULT(properties_read_behind_end)
/* Passes over what follows the first VALUE properties of a list. */
FAULT(properties_limited)
/* Looks at the lower half of names only, and of values that are no platforms. */
FAULT(properties_cut_to_32_bits)
/* Takes the end marker of a list that is a value for the end of the whole list. */
FAULT(properties_end_at_inner_end)
/* Sorts a property list by name, in the application's memory. */
FAULT(properties_sorted_in_place)
/* Keeps the address of a property list in place of a copy. */
FAULT(properties_not_copied)
/* Reads through the address of a property list that is NULL. */
FAULT(properties_null_read)
/* Answers error VALUE (default CL_INVALID_VALUE) to NULL in place of a property list. */
FAULT(properties_null_refused)
/* Answers error VALUE (default CL_INVALID_PROPERTY) to a property list that is empty. */
FAULT(properties_empty_refused)
/* Wants the properties of a list in ascending order of their names, and passes over those that are not. */
FAULT(properties_want_order)
/* Takes the property with the name VALUE for unknown. */
FAULT(properties_refuse_name)
/* Gives an object in spite of an error in the property list, together with the error. */
FAULT(properties_error_with_object)

/* --- Queries that answer with a property list --- */

/* Answers one zero element where no property list was given. */
FAULT(properties_query_null_is_empty)
/* Answers a size of 0 where an empty property list was given. */
FAULT(properties_query_empty_is_null)
/* Answers a size of 0 whatever property list was given. */
FAULT(properties_query_forgets)
/* Answers property lists without the end marker. */
FAULT(properties_query_without_end)
/* Answers property lists with a further property at their end. */
FAULT(properties_query_appends)
/* Answers property lists with their properties in descending order of the names. */
FAULT(properties_query_sorts)
/* Answers the size of property lists as a number of elements. */
FAULT(properties_query_counts_elements)
/* Answers a property list for objects that were made by functions without such a list. */
FAULT(properties_query_of_older_functions)
/* Answers the property list of the parent for a sub-buffer. */
FAULT(properties_query_inherits)

/* --- Contexts --- */

/* Answers error VALUE (0: none) to an unknown name in the properties of a context. */
FAULT(context_unknown_name_gives)
/* Answers error VALUE (0: none) to a bad value in the properties of a context. */
FAULT(context_bad_value_gives)
/* Answers error VALUE (0: none) to a repeated name in the properties of a context. */
FAULT(context_repeated_name_gives)
/* Answers error VALUE (0: none) to a platform in the properties of a context that is of another vendor. */
FAULT(context_platform_gives)
/* Makes contexts with user_data and without pfn_notify. */
FAULT(context_takes_user_data_alone)
/* Counts a device of a context as often as it was given. */
FAULT(context_counts_devices_twice)
/* Makes contexts that can be terminated, on devices that cannot do that. */
FAULT(context_takes_terminate)

/* --- Command queues --- */

/* Answers error VALUE (0: none) to unknown bits of CL_QUEUE_PROPERTIES. */
FAULT(queue_unknown_bits_give)
/* Answers error VALUE (0: none) to values of queue properties that are valid and that the device cannot do. */
FAULT(queue_unsupported_gives)
/* Answers error VALUE (0: none) to an unknown name in the properties of a queue. */
FAULT(queue_unknown_name_gives)
/* Makes queues on the device that are not out of order. */
FAULT(queue_on_device_in_order)
/* Makes the default queue on the device without CL_QUEUE_ON_DEVICE. */
FAULT(queue_default_on_host)
/* Takes CL_QUEUE_SIZE for queues on the host. */
FAULT(queue_size_on_host)
/* Takes a CL_QUEUE_SIZE beyond the device's maximum. */
FAULT(queue_size_unlimited)
/* Takes hints of priority and throttle for queues on the device. */
FAULT(queue_hints_on_device)
/* Answers 0 to the query of CL_QUEUE_PROPERTIES. */
FAULT(queue_forgets_bits)
/* Leaves CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE out of the answer to CL_QUEUE_PROPERTIES. */
FAULT(queue_forgets_order)
/* Answers error VALUE (0: none) to a queue on a device that is not the context's. */
FAULT(queue_device_gives)

/* --- Buffers, images, samplers, pipes --- */

/* Answers error VALUE (0: none) to an unknown name in the properties of a buffer or an image. */
FAULT(memory_unknown_name_gives)
/* Answers error VALUE (0: none) to a repeated name in the properties of a buffer or an image. */
FAULT(memory_repeated_name_gives)
/* Gives a buffer or image that is made with a property list other flags. */
FAULT(memory_properties_change_flags)
/* Answers error VALUE (0: none) to an unknown name in the properties of a sampler. */
FAULT(sampler_unknown_name_gives)
/* Answers error VALUE (0: none) to a bad value in the properties of a sampler. */
FAULT(sampler_bad_value_gives)
/* Answers error VALUE (0: none) to a repeated name in the properties of a sampler. */
FAULT(sampler_repeated_name_gives)
/* Has CL_FALSE as the default of CL_SAMPLER_NORMALIZED_COORDS. */
FAULT(sampler_not_normalized)
/* Has CL_ADDRESS_NONE as the default of CL_SAMPLER_ADDRESSING_MODE. */
FAULT(sampler_address_none)
/* Has CL_FILTER_LINEAR as the default of CL_SAMPLER_FILTER_MODE. */
FAULT(sampler_filter_linear)
/* Takes an empty property list for a pipe. */
FAULT(pipe_takes_empty_list)
/* Takes properties for a pipe. */
FAULT(pipe_takes_properties)
/* Answers error VALUE (0: none) to a pipe where no device has pipes. */
FAULT(pipe_unsupported_gives)

/* Answers error VALUE (0: none) to an unknown name in the properties of a command buffer. */
FAULT(command_buffer_unknown_name_gives)
/* Answers error VALUE (0: none) to unknown flags of a command buffer. */
FAULT(command_buffer_bad_value_gives)
/* Answers error VALUE (0: none) to flags of a command buffer that the device cannot do. */
FAULT(command_buffer_unsupported_gives)
/* Answers error VALUE (0: none) to a repeated name in the properties of a command buffer. */
FAULT(command_buffer_repeated_name_gives)

/* --- Sub-devices --- */

/* Goes by the first of several partition schemes. */
FAULT(partition_first_scheme_wins)
/* Answers error VALUE (0: none, and no device) to an empty or missing partition list. */
FAULT(partition_without_scheme_gives)
/* Answers error VALUE (0: none, and no device) to a partition scheme that is unknown or not the device's. */
FAULT(partition_unknown_gives)
/* Reads two words for each count of CL_DEVICE_PARTITION_BY_COUNTS. */
FAULT(partition_counts_by_two)
/* Answers error VALUE (0: as many units as there are) to more compute units than there are. */
FAULT(partition_too_many_gives)
/* Answers error VALUE (0: one device) where a device is too small to be partitioned. */
FAULT(partition_failed_gives)
/* Writes as many devices as there is room for, in an array that is too small. */
FAULT(partition_fills_small_array)
/* Writes all devices into an array that is too small. */
FAULT(partition_overflows_array)
/* Fails the query for the number of sub-devices. */
FAULT(partition_without_size_query)
/* Says one sub-device fewer than there are. */
FAULT(partition_says_one_fewer)
/* Gives sub-devices the compute units of their parent. */
FAULT(partition_keeps_units)
/* Counts references of root devices. */
FAULT(root_devices_counted)
/* Does not count references of sub-devices. */
FAULT(sub_devices_not_counted)
