/* SPDX-License-Identifier: Apache-2.0 */
/* All tables of commands. */
#ifndef CLHARNESS_PROBE_TOPICS_H
#define CLHARNESS_PROBE_TOPICS_H

#include "commands.h"

extern const struct command_table memory_commands;           /* memory.c */
extern const struct command_table call_commands;             /* calls.c */
extern const struct command_table callback_commands;         /* callbacks.c */
extern const struct command_table thread_commands;           /* threads.c */
extern const struct command_table library_commands;          /* libraries.c */
extern const struct command_table layer_commands;            /* layer.c */
extern const struct command_table process_commands;          /* process.c */
extern const struct command_table late_commands;             /* late.c */
extern const struct command_table state_commands;            /* state.c */
extern const struct command_table descriptor_commands;       /* descriptors.c */
extern const struct command_table vulkan_commands;           /* vulkan.c; without Vulkan's headers without_vulkan.c */
extern const struct command_table vulkan_semaphore_commands; /* vulkan_semaphores.c; the same */
extern const struct command_table
    vulkan_call_commands; /* vulkan_calls.c; without its registry without_vulkan_calls.c */

/* Those of the probe, NULL at the end. */
extern const struct command_table *const topics[];

#endif
