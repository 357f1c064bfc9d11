/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of a Vulkan loader, and what must be true of its answers whatever the drivers do. */
#ifndef CLHARNESS_FUZZ_VULKAN_LOADER_H
#define CLHARNESS_FUZZ_VULKAN_LOADER_H

#include "driver.h"

enum { OFFERED = DRIVERS * DRIVER_DEVICES + 4 };

struct offered_devices {
    uint32_t count;
    VkPhysicalDevice device[OFFERED];
    struct driver *owner[OFFERED];
};

address loader_find(VkInstance instance, const char *name);
VkResult loader_create_instance(const VkInstanceCreateInfo *info, VkInstance *to);
void loader_destroy_instance(VkInstance instance);

/* The extensions, with room for all and for one fewer. */
void check_extensions(void);
/* The devices of an instance; a finding where one is listed twice, or is of no driver. */
struct offered_devices devices_offered(VkInstance instance);
/* A driver with which nothing is wrong must be there, and none that refused. */
void check_offered(const struct offered_devices *offered, unsigned driver_count);
/* The same where no instance could be made. */
void check_no_instance(VkResult result, unsigned driver_count);
void list_groups_of(VkInstance instance);
/* A device, its queue and a command buffer: calls reach the driver that they are of. */
void use_device(VkInstance instance, VkPhysicalDevice device, const struct driver *owner);
/* Whether the texts leave loaders no choice with such drivers. */
bool texts_are_clear(unsigned driver_count);

#endif
