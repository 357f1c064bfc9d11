/* SPDX-License-Identifier: Apache-2.0 */
/* What the mock ICD can be told to get wrong of what extensions let an application ask of devices and kernels. */

/* Answers another UUID of devices in each process. */
FAULT(identities_change)
/* Answers another UUID of drivers in each process. */
FAULT(identities_of_drivers_change)
/* Answers the same UUID for all devices of a platform. */
FAULT(devices_share_an_identity)
/* Answers 8 bytes as the UUID of devices and drivers. */
FAULT(identities_are_short)
/* Answers a node mask of two bits for a device with an LUID. */
FAULT(node_masks_have_two_bits)
/* Reports dot products of vectors, and none of packed integers. */
FAULT(packed_products_are_missing)
/* Reports 7 where a kind of dot product is accelerated. */
FAULT(products_are_accelerated_by_seven)
/* Answers three of the four numbers of a device's place on the PCI bus. */
FAULT(places_are_short)
/* Counts sub-groups by the first dimension of a group alone. */
FAULT(sub_groups_have_one_dimension)
/* Answers a size of groups that leaves the last of the wanted sub-groups partial. */
FAULT(groups_of_sub_groups_are_partial)
/* Answers the largest size of groups for more sub-groups than fit. */
FAULT(too_many_sub_groups_fit)
/* Answers queries about sub-groups of devices that have none. */
FAULT(sub_groups_of_any_device)
/* Answers queries about sub-groups without their input. */
FAULT(sub_groups_need_no_input)
/* Leaves out the last sub-group of a group where it is partial. */
FAULT(partial_sub_groups_are_not_counted)
/* Reports more sub-groups of a kernel than of its device. */
FAULT(kernels_exceed_sub_groups)
/* Reports that kernels require one sub-group whose source says nothing of it. */
FAULT(sub_groups_are_required)
/* Suggests sizes of groups for a queue and a kernel of two contexts. */
FAULT(suggestions_for_any_context)
/* Suggests sizes of groups for no work-items. */
FAULT(suggestions_of_nothing)
/* Suggests sizes of groups where the offset exceeds what a size_t holds. */
FAULT(suggestions_ignore_offsets)
/* Suggests sizes of groups for kernels whose arguments are not set. */
FAULT(suggestions_need_no_arguments)
/* Suggests three numbers, whatever the dimensions. */
FAULT(suggestions_have_three_dimensions)
/* Suggests larger groups than a kernel can have. */
FAULT(suggestions_are_too_large)
/* Suggests groups of no work-items. */
FAULT(suggestions_are_empty)
/* Makes programs of an intermediate language for devices that take none. */
FAULT(languages_of_any_device)
/* Takes any bytes for a module of an intermediate language. */
FAULT(any_bytes_are_a_module)
/* Keeps the address of a module instead of its bytes. */
FAULT(modules_stay_where_they_are)
/* Answers that no program has a module. */
FAULT(modules_are_not_answered)
/* Takes a specialization constant of any number. */
FAULT(constants_of_any_number)
/* Takes specialization constants of any size. */
FAULT(constants_of_any_size)
/* Suggests no size of groups without an offset. */
FAULT(suggestions_need_an_offset)
/* Says that shared virtual memory is shared by grains of any size, and not by buffers. */
FAULT(shared_memory_is_fine_only)
/* Answers 1 to each query about sub-groups by the function of cl_khr_subgroups. */
FAULT(suffixed_sub_groups_are_one)
/* Has cl_khr_subgroups, and sub-groups that make no progress of their own. */
FAULT(sub_groups_make_no_progress)
/* Answers the name of SPIR to the query of its versions. */
FAULT(versions_of_spir_are_names)
/* Leaves images out of the optional features of OpenCL C. */
FAULT(images_are_no_feature)
/* Lists pipes among the optional features of OpenCL C, whether there are any. */
FAULT(pipes_are_a_feature_without_pipes)
/* Answers NULL as the parent of a sub-device whose parent, a sub-device as well, was released. */
FAULT(sub_devices_lose_their_parent)
/* Lists the whole device where a context was made of its sub-devices. */
FAULT(contexts_name_whole_devices)
