/* SPDX-License-Identifier: Apache-2.0 */
/* The device of Vulkan that the probe opened last (vulkan.c), for what is made of it elsewhere. */
#ifndef CLHARNESS_PROBE_VULKAN_DEVICE_H
#define CLHARNESS_PROBE_VULKAN_DEVICE_H

#define VK_NO_PROTOTYPES
#include "commands.h"

#include <vulkan/vulkan_core.h>

/* NULL where none was opened yet. */
VkDevice vulkan_device(void);
/* Its queue, of family 0. */
VkQueue vulkan_queue(void);
/* Makes one more command buffer for that queue, or VK_NULL_HANDLE. */
VkCommandBuffer vulkan_new_commands(void);
/* A function of the device, NULL where it has none of this name. */
PFN_vkVoidFunction vulkan_function(const char *name);
/* Answers `value`, or the reason why there is none. a[0] is the result's number. */
void vulkan_finish(const struct argument *a, const char *problem, uint64_t value, const struct reply *reply);

#endif
