/* SPDX-License-Identifier: Apache-2.0 */
/* In the place of vulkan.c, where the headers of Vulkan are not there to build it with. */
#include "topics.h"

static void refuse(const struct argument *a, const struct reply *reply)
{
    (void)a;
    reply_error(reply, "the probe was built without the headers of Vulkan (Debian package libvulkan-dev)");
}

static const struct command rows[] = {
    {"vulkan", "RESULT WORD...", refuse, false},
    {0},
};

const struct command_table vulkan_commands = {.rows = rows};
const struct command_table vulkan_semaphore_commands = {.rows = rows + 1};
