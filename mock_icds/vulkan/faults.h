/* SPDX-License-Identifier: Apache-2.0 */
/* Everything that the mock Vulkan driver can be told to do wrong. One flat list: a name, and what it makes the driver
 * do.
 *
 * Absent means correct. A configuration line reads `fault = name` or `fault = name=VALUE`, with a whole number;
 * VkResult codes are numbers, such as -3. `clharness mock --faults` prints this list.
 */

/* --- the library --- */

/* Aborts the process while the library is loaded. */
FAULT(constructor_aborts)
/* Ends the process with the exit code VALUE while the library is loaded. */
FAULT(constructor_exits)
/* Sleeps VALUE milliseconds while the library is loaded. */
FAULT(constructor_sleeps)
/* Aborts the process while the library is unloaded. */
FAULT(destructor_aborts)

/* Sets the variable CLHARNESS_MOCK while the library is loaded. */
FAULT(constructor_sets_environment)
/* Writes a line to standard output while the library is loaded. */
FAULT(constructor_prints)
/* Writes a line to standard output with each instance. */
FAULT(create_instance_prints)
/* Opens a file while the library is loaded that programs inherit. */
FAULT(constructor_opens_inherited_file)
/* Opens a file with each device that programs inherit. */
FAULT(create_device_opens_inherited_file)
/* Starts a thread with each instance, which goes on for ever. */
FAULT(starts_thread)
/* Has one device more where the library is loaded a second time. */
FAULT(loads_with_other_devices)
/* Aborts the process where the library is loaded a second time. */
FAULT(loads_once)

/* --- negotiation --- */

/* Answers the VkResult VALUE to the negotiation. */
FAULT(negotiation_fails)
/* Answers the version VALUE to the negotiation, whatever the loader offers. */
FAULT(negotiation_answers)
/* Leaves the version as the loader offers it, and answers VK_SUCCESS. */
FAULT(negotiation_leaves_version)
/* Writes the version VALUE and answers VK_ERROR_INCOMPATIBLE_DRIVER. */
FAULT(negotiation_writes_and_fails)
/* Answers VK_ERROR_INCOMPATIBLE_DRIVER to offers above its own version. */
FAULT(negotiation_refuses_newer)
/* Answers VK_ERROR_INITIALIZATION_FAILED to offers below its lowest version. */
FAULT(negotiation_has_another_error)
/* Answers version 2 to each negotiation but the first. */
FAULT(negotiation_forgets)
/* Makes no instance after a negotiation of a version below 3. */
FAULT(negotiation_breaks_old_versions)
/* Sleeps VALUE milliseconds in the negotiation. */
FAULT(negotiation_sleeps)

/* --- finding functions --- */

/* Answers NULL to every look-up by vk_icdGetInstanceProcAddr. */
FAULT(finds_nothing)
/* Answers NULL to look-ups with a NULL instance. */
FAULT(finds_nothing_without_instance)
/* Answers NULL to look-ups with an instance. */
FAULT(finds_nothing_with_instance)
/* Answers look-ups with a NULL instance as those with one. */
FAULT(finds_all_without_instance)
/* Answers NULL to look-ups before a negotiation. */
FAULT(finds_nothing_unnegotiated)
/* Answers look-ups with what another library exports by the name, where there is one. */
FAULT(finds_by_global_symbols)
/* Answers a stub to each name that it does not know. */
FAULT(finds_any_name)
/* Answers to names that have one letter more than a function's. */
FAULT(finds_longer_names)
/* Answers functions of instances and physical devices to vkGetDeviceProcAddr. */
FAULT(device_query_answers_all)
/* Answers NULL to every name to vkGetDeviceProcAddr. */
FAULT(device_query_finds_nothing)
/* Answers every name to vk_icdGetPhysicalDeviceProcAddr, also those of functions that take a device. */
FAULT(physical_device_query_answers_all)
/* Answers NULL to vk_icdGetPhysicalDeviceProcAddr for functions of surfaces. */
FAULT(physical_device_query_lacks_surfaces)
/* Answers NULL to every name to vk_icdGetPhysicalDeviceProcAddr. */
FAULT(physical_device_query_finds_nothing)

/* --- what the driver is --- */

/* Answers the VkResult VALUE to vkEnumerateInstanceVersion. */
FAULT(version_fails)
/* Answers the VkResult VALUE where vkEnumerateInstanceExtensionProperties asks for the number. */
FAULT(extension_count_fails)
/* Answers the VkResult VALUE where vkEnumerateInstanceExtensionProperties asks for the list. */
FAULT(extension_list_fails)
/* Answers VK_SUCCESS where there is less room than extensions of instances or of a device. */
FAULT(extension_list_never_incomplete)
/* Says that it has VALUE extensions more than it lists. */
FAULT(extension_count_is_higher)

/* Says that it wrote VALUE extensions of instances more than there was room for. */
FAULT(extension_list_claims_more)

/* --- instances --- */

/* Answers the VkResult VALUE to vkCreateInstance. */
FAULT(create_instance_fails)
/* Makes the instance in vkCreateInstance, and answers the VkResult VALUE. */
FAULT(create_instance_fails_late)
/* Answers VK_ERROR_INCOMPATIBLE_DRIVER to vkCreateInstance for an apiVersion above 1.0, as drivers of 1.0 did. */
FAULT(create_instance_refuses_versions)
/* Answers VK_ERROR_EXTENSION_NOT_PRESENT to vkCreateInstance where an extension is enabled that it does not have. */
FAULT(create_instance_refuses_extensions)
/* Answers VK_ERROR_INITIALIZATION_FAILED to vkCreateInstance where something follows VkInstanceCreateInfo. */
FAULT(create_instance_refuses_structures)
/* Answers VK_ERROR_INITIALIZATION_FAILED to vkCreateInstance where the application gives callbacks for memory. */
FAULT(create_instance_refuses_allocators)
/* Takes memory of the application's callbacks in vkCreateInstance, and never gives it back. */
FAULT(create_instance_keeps_memory)
/* Answers VK_ERROR_LAYER_NOT_PRESENT to vkCreateInstance where a layer is enabled. */
FAULT(create_instance_refuses_layers)
/* Answers VK_ERROR_INITIALIZATION_FAILED to vkCreateInstance without a VkApplicationInfo. */
FAULT(create_instance_needs_application)
/* Crashes in vkCreateInstance for an apiVersion above 1.0 after a negotiation of a version below 5. */
FAULT(create_instance_crashes_for_old_loaders)
/* Answers VK_ERROR_INITIALIZATION_FAILED to vkCreateInstance for an apiVersion above 1.0 after a negotiation of a
 * version below 5. */
FAULT(create_instance_fails_for_old_loaders)
/* Destroys all physical devices in vkDestroyInstance and vkDestroyDevice where the handle is VK_NULL_HANDLE. */
FAULT(destroying_null_takes_devices)
/* Crashes in vkDestroyInstance and vkDestroyDevice where the handle is VK_NULL_HANDLE. */
FAULT(destroying_null_crashes)
/* Destroys the physical devices of all instances with each instance. */
FAULT(destroy_instance_takes_all_devices)
/* Leaves the first word of instances without the loader's magic number. */
FAULT(instance_without_magic)

/* --- physical devices --- */

/* Answers the VkResult VALUE where vkEnumeratePhysicalDevices asks for the number. */
FAULT(device_count_fails)
/* Answers the VkResult VALUE where vkEnumeratePhysicalDevices asks for the list. */
FAULT(device_list_fails)
/* Writes the number where vkEnumeratePhysicalDevices asks for it, and answers the VkResult VALUE. */
FAULT(device_count_fails_late)
/* Writes the list where vkEnumeratePhysicalDevices asks for it, and answers the VkResult VALUE. */
FAULT(device_list_fails_late)
/* Answers VK_INCOMPLETE where vkEnumeratePhysicalDevices asks for the list, which is whole. */
FAULT(device_list_incomplete)
/* Lists one device fewer than the number that was asked before. */
FAULT(device_list_is_shorter)
/* Has one device more each time that their number is asked, up to 16. */
FAULT(device_count_grows)
/* Answers VK_SUCCESS where there is less room than devices or groups. */
FAULT(device_list_never_incomplete)
/* Writes one device more than there is room for. */
FAULT(device_list_overflows)
/* Says that it wrote VALUE devices more than there was room for. */
FAULT(device_list_claims_more)
/* Says that it wrote VALUE groups more than there was room for. */
FAULT(group_list_claims_more)
/* Says in answer to queries of a device that it wrote VALUE queue families, formats or displays more than there was
 * room for. */
FAULT(queries_claim_more)
/* Says that each of its groups has VALUE devices more than it lists. */
FAULT(group_claims_more_devices)
/* Has no devices any more once it was asked what it supports of a surface. */
FAULT(devices_go_with_surfaces)
/* Says that it wrote VALUE extensions of a device more than there was room for. */
FAULT(device_extension_list_claims_more)
/* Lists new handles each time. */
FAULT(device_list_has_new_handles)
/* Leaves the first word of physical devices without the loader's magic number. */
FAULT(physical_device_without_magic)
/* Crashes in vkEnumeratePhysicalDevices. */
FAULT(device_list_crashes)
/* Answers the VkResult VALUE where vkEnumeratePhysicalDeviceGroups asks for the number. */
FAULT(group_count_fails)
/* Answers the VkResult VALUE where vkEnumeratePhysicalDeviceGroups asks for the list. */
FAULT(group_list_fails)
/* Answers the VkResult VALUE to vkEnumerateDeviceExtensionProperties. */
FAULT(device_extensions_fail)

/* --- devices and what is made of them --- */

/* Writes the magic number into the first word of objects again where they are used. */
FAULT(first_word_is_written)
/* Crashes where the first word of an object that is used is not the magic number. */
FAULT(first_word_is_needed)

/* Answers a new queue each time that one is asked for. */
FAULT(queues_have_new_handles)
/* Answers its first queue, whatever index is asked for. */
FAULT(queues_are_one)
/* Answers one command buffer, as often as several are asked for. */
FAULT(command_buffers_are_one)
/* Answers VK_ERROR_INITIALIZATION_FAILED to vkCreateDevice where something follows VkDeviceCreateInfo. */
FAULT(create_device_refuses_structures)
/* Answers VK_ERROR_INITIALIZATION_FAILED to vkCreateDevice where the application gives callbacks for memory. */
FAULT(create_device_refuses_allocators)
/* Makes devices with extensions that it does not list. */
FAULT(create_device_takes_any_extension)
/* Leaves the first word of queues but the first one without the loader's magic number. */
FAULT(later_queue_without_magic)
/* Answers the VkResult VALUE to vkCreateDevice. */
FAULT(create_device_fails)
/* Leaves the first word of devices without the loader's magic number. */
FAULT(device_without_magic)
/* Leaves the first word of queues without the loader's magic number. */
FAULT(queue_without_magic)
/* Leaves the first word of command buffers without the loader's magic number. */
FAULT(command_buffer_without_magic)
/* Leaves the first word of an instance without the loader's magic number where there is another instance. */
FAULT(second_instance_without_magic)
/* Leaves the first word of a device without the loader's magic number where its physical device has another device. */
FAULT(second_device_without_magic)
/* Leaves the first word of queues that vkGetDeviceQueue2 makes without the loader's magic number. */
FAULT(queue2_without_magic)
/* Leaves the first word of secondary command buffers without the loader's magic number. */
FAULT(secondary_without_magic)
/* Answers the VkResult VALUE to vkAllocateCommandBuffers. */
FAULT(command_buffers_fail)

/* --- surfaces --- */

/* Answers the VkResult VALUE to functions that make surfaces. */
FAULT(create_surface_fails)

/* --- messengers --- */

/* Answers the VkResult VALUE to functions that make messengers, and callbacks for reports. */
FAULT(create_messenger_fails)
