/* SPDX-License-Identifier: Apache-2.0 */
/* Everything that the mock Vulkan driver can be told to be. What it can be told to do wrong is in faults.h.
 *
 * One entry a setting, written as in mock_icds/settings.h: its name, its type, what it is where nothing is said, and
 * the sentence that explains it. A configuration line reads `name = VALUE`, or of single functions `name = FUNCTION`.
 *
 * Whoever includes this defines the macros that matter there; they are undefined at the end.
 */
#ifndef SETTING
#define SETTING(name, type, initial)
#endif
#ifndef FUNCTION_SETTING
#define FUNCTION_SETTING(name, type)
#endif

/* --- the driver --- */

/* The highest version of the interface between loaders and drivers that it supports. */
SETTING(interface, number, 5)
/* The lowest one; a loader that offers less is refused. */
SETTING(least_interface, number, 0)
/* Answers look-ups of the interface's own functions by vk_icdGetInstanceProcAddr, as version 7 has it. */
SETTING(interface_by_query, flag, false)
/* Its version of Vulkan, and that of its devices. */
SETTING(api_version, text, "1.1.0")
/* Its extensions of instances: names, each with a colon and its version where that is not 1, with blanks between. */
SETTING(extensions, text, "")
/* How many physical devices it has, up to 16; they are named after the driver: "a.0", "a.1". */
SETTING(devices, number, 1)
/* The VkPhysicalDeviceType of its devices. */
SETTING(device_type, number, 2)
/* The vendorID of its devices. */
SETTING(vendor, number, 65536)
/* The driverVersion of its devices. */
SETTING(driver_version, number, 1)
/* The first byte of its devices' deviceUUID; the last one counts them, from 1. */
SETTING(device_uuid, number, 0)
/* The first byte of its driverUUID. */
SETTING(driver_uuid, number, 0)
/* The PCI bus of its devices, which they tell by VK_EXT_pci_bus_info. -1: none. */
SETTING(pci_bus, number, -1)
/* The PCI domain of its devices. */
SETTING(pci_domain, number, 0)
/* The PCI device that each of its devices is. -1: each is there by its number. */
SETTING(pci_device, number, -1)
/* Its last device has the place of the first one, and so on, where each is there by its number. */
SETTING(pci_backwards, flag, false)
/* The PCI function of its devices. */
SETTING(pci_function, number, 0)
/* The VkDriverId of its devices, which they tell by VK_KHR_driver_properties. */
SETTING(driver_id, number, 0)
/* Extensions of its devices, written as `extensions`. */
SETTING(device_extensions, text, "")
/* How many devices each of its groups has, with blanks between; where it is empty, each device is a group. */
SETTING(groups, text, "")
/* Handles surfaces itself: has the functions that make and destroy them. */
SETTING(surfaces, flag, false)
/* Functions of its own that take an instance, names with blanks between; at most 4 of each kind. */
SETTING(instance_functions, text, "")
/* Functions of its own that take a physical device. */
SETTING(physical_device_functions, text, "")
/* Functions of its own that take a device. */
SETTING(device_functions, text, "")
/* Logs every look-up of a function, and not only the first four and those of functions that the registry does not have.
 */
SETTING(log_lookups, flag, false)

/* --- single functions --- */

/* Does not exist: NULL to every look-up. */
FUNCTION_SETTING(lacks, flag)
/* Is found only once an instance has been made. */
FUNCTION_SETTING(late, flag)
/* Is found, but no longer once an instance has been made. */
FUNCTION_SETTING(early, flag)
/* Takes any arguments, looks at none, and answers what functions without an implementation answer. */
FUNCTION_SETTING(answers, flag)
/* Logs what follows each structure that it is called with: of each, sType and the eight bytes after pNext. */
FUNCTION_SETTING(chains, flag)

#undef SETTING
#undef FUNCTION_SETTING
