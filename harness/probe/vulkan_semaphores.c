/* SPDX-License-Identifier: Apache-2.0 */
/* Commands: a semaphore of a Vulkan device that is exported as a file descriptor, for vendors that import such.
 *
 * The device is the one that was opened last (vulkan.c). A signal can be held back by an event of the host, so that
 * what waits for it can be seen waiting.
 */
#include "topics.h"
#include "vulkan_device.h"

#include <string.h>

/* What the device has for it; all of it is Vulkan 1.0 but the last, of VK_KHR_external_semaphore_fd. */
#define DEVICE_FUNCTIONS(F) \
    F(vkBeginCommandBuffer) \
    F(vkCmdWaitEvents)      \
    F(vkCreateEvent)        \
    F(vkCreateFence)        \
    F(vkCreateSemaphore)    \
    F(vkEndCommandBuffer)   \
    F(vkQueueSubmit)        \
    F(vkSetEvent)           \
    F(vkWaitForFences)      \
    F(vkGetSemaphoreFdKHR)

#define DECLARE(name) static PFN_##name name;
DEVICE_FUNCTIONS(DECLARE)
#undef DECLARE

static struct shared {
    VkDevice of; /* the device at that time */
    VkSemaphore semaphore;
    VkExternalSemaphoreHandleTypeFlagBits handle_type;
    VkEvent gate; /* what the signal that was submitted last waits for */
    VkFence fence;
} shared;

static bool find_functions(void)
{
    bool complete = true;
#define FIND(name)                             \
    name = (PFN_##name)vulkan_function(#name); \
    complete = complete && (name);
    DEVICE_FUNCTIONS(FIND)
#undef FIND
    return complete;
}

static const char *make_semaphore(VkExternalSemaphoreHandleTypeFlagBits handle_type)
{
    const VkExportSemaphoreCreateInfo exported = {.sType = VK_STRUCTURE_TYPE_EXPORT_SEMAPHORE_CREATE_INFO,
                                                  .handleTypes = handle_type};
    const VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, .pNext = &exported};
    const VkEventCreateInfo event = {.sType = VK_STRUCTURE_TYPE_EVENT_CREATE_INFO};
    const VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    shared = (struct shared){.of = vulkan_device(), .handle_type = handle_type};
    if (!shared.of) {
        return "no device was opened yet";
    }
    if (!find_functions()) {
        return "this device of Vulkan exports no semaphores as descriptors";
    }
    bool complete = vkCreateEvent(shared.of, &event, NULL, &shared.gate) == VK_SUCCESS &&
                    vkCreateFence(shared.of, &fence, NULL, &shared.fence) == VK_SUCCESS &&
                    vkCreateSemaphore(shared.of, &info, NULL, &shared.semaphore) == VK_SUCCESS;
    return complete ? NULL : "Vulkan makes no semaphore that can be exported so";
}

static const char *missing(void)
{
    return shared.semaphore && shared.of == vulkan_device() ? NULL : "no semaphore was made yet";
}

/* Commands that wait for the gate. */
static VkCommandBuffer gated_commands(void)
{
    const VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                           .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    VkCommandBuffer commands = vulkan_new_commands();
    if (!commands || vkBeginCommandBuffer(commands, &info) != VK_SUCCESS) {
        return VK_NULL_HANDLE;
    }
    vkCmdWaitEvents(commands, 1, &shared.gate, VK_PIPELINE_STAGE_HOST_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, NULL,
                    0, NULL, 0, NULL);
    return vkEndCommandBuffer(commands) == VK_SUCCESS ? commands : VK_NULL_HANDLE;
}

static const char *submit_signal(void)
{
    VkCommandBuffer commands = gated_commands();
    const VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                               .commandBufferCount = 1,
                               .pCommandBuffers = &commands,
                               .signalSemaphoreCount = 1,
                               .pSignalSemaphores = &shared.semaphore};
    bool submitted = commands && vkQueueSubmit(vulkan_queue(), 1, &info, VK_NULL_HANDLE) == VK_SUCCESS;
    return submitted ? NULL : "Vulkan did not take the signal";
}

/* Waits on the device, and for the device. */
static const char *wait(void)
{
    const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    const VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                               .waitSemaphoreCount = 1,
                               .pWaitSemaphores = &shared.semaphore,
                               .pWaitDstStageMask = &stage};
    bool waited = vkQueueSubmit(vulkan_queue(), 1, &info, shared.fence) == VK_SUCCESS &&
                  vkWaitForFences(shared.of, 1, &shared.fence, VK_TRUE, UINT64_MAX) == VK_SUCCESS;
    return waited ? NULL : "Vulkan did not wait for the semaphore";
}

static int export_semaphore(void)
{
    const VkSemaphoreGetFdInfoKHR info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_GET_FD_INFO_KHR,
                                          .semaphore = shared.semaphore,
                                          .handleType = shared.handle_type};
    int fd = -1;
    return vkGetSemaphoreFdKHR(shared.of, &info, &fd) == VK_SUCCESS ? fd : -1;
}

/* --- the rows; a[0] is the result's number, a[1] the word that names the row --- */

static void run_semaphore(const struct argument *a, const struct reply *reply)
{
    vulkan_finish(a, make_semaphore((VkExternalSemaphoreHandleTypeFlagBits)a[2].value), 0, reply);
}

static void run_export(const struct argument *a, const struct reply *reply)
{
    const char *problem = missing();
    int fd = problem ? -1 : export_semaphore();
    vulkan_finish(a, problem || fd >= 0 ? problem : "Vulkan did not export the semaphore", (uint64_t)fd, reply);
}

static void run_signal(const struct argument *a, const struct reply *reply)
{
    const char *problem = missing();
    vulkan_finish(a, problem ? problem : submit_signal(), 0, reply);
}

static void run_release(const struct argument *a, const struct reply *reply)
{
    const char *problem = missing();
    bool released = !problem && vkSetEvent(shared.of, shared.gate) == VK_SUCCESS;
    vulkan_finish(a, problem || released ? problem : "Vulkan did not set the event", 0, reply);
}

static void run_wait(const struct argument *a, const struct reply *reply)
{
    const char *problem = missing();
    vulkan_finish(a, problem ? problem : wait(), 0, reply);
}

static const struct command rows[] = {
    /* A binary semaphore of the device; TYPE is VkExternalSemaphoreHandleTypeFlagBits. */
    {"vulkan", "RESULT semaphore TYPE", run_semaphore, false},
    /* ok NUMBER of a new descriptor of the semaphore, which is kept. */
    {"vulkan", "RESULT semaphore-export", run_export, false},
    /* Lets the device signal it, once it is released. */
    {"vulkan", "RESULT semaphore-signal", run_signal, false},
    {"vulkan", "RESULT semaphore-release", run_release, false},
    /* Lets the device wait for it; comes back when it has. */
    {"vulkan", "RESULT semaphore-wait", run_wait, false},
    {0},
};

const struct command_table vulkan_semaphore_commands = {.rows = rows};
