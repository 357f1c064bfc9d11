/* SPDX-License-Identifier: Apache-2.0 */
/* The topics of the probe's commands. */
#include "topics.h"

const struct command_table *const topics[] = {
    &call_commands,
    &memory_commands,
    &thread_commands,
    &callback_commands,
    &library_commands,
    &process_commands,
    &late_commands,
    &state_commands,
    &layer_commands,
    &vulkan_commands,
    &descriptor_commands,
    &vulkan_call_commands,
    &vulkan_semaphore_commands,
    NULL,
};
