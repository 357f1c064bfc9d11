/* SPDX-License-Identifier: Apache-2.0 */
/* Commands: memory of a Vulkan device that is exported as file descriptors, for vendors that import such. Linux only.
 *
 * Vulkan is loaded where it is there; nothing is linked. Needed: Vulkan 1.1 with VK_KHR_external_memory_fd.
 *
 * The device itself writes, takes the memory from outside Vulkan before and gives it back after: a write of the host
 * that no command of the device orders need not be seen by anybody.
 */
#include "topics.h"
#include "vulkan_device.h"

#include <dlfcn.h>
#include <string.h>

enum { MAX_DEVICES = 16, MAX_EXTENSIONS = 1024, OWN_FAMILY = 0, MAX_UPDATE = 65536 };

/* Those that an instance gives; all that it takes to make one comes before them. */
#define INSTANCE_FUNCTIONS(F)               \
    F(vkAllocateCommandBuffers)             \
    F(vkAllocateMemory)                     \
    F(vkBeginCommandBuffer)                 \
    F(vkBindBufferMemory)                   \
    F(vkCmdPipelineBarrier)                 \
    F(vkCmdUpdateBuffer)                    \
    F(vkCreateBuffer)                       \
    F(vkCreateCommandPool)                  \
    F(vkCreateDevice)                       \
    F(vkEndCommandBuffer)                   \
    F(vkEnumerateDeviceExtensionProperties) \
    F(vkEnumeratePhysicalDevices)           \
    F(vkGetBufferMemoryRequirements)        \
    F(vkGetDeviceProcAddr)                  \
    F(vkGetDeviceQueue)                     \
    F(vkGetPhysicalDeviceMemoryProperties)  \
    F(vkGetPhysicalDeviceProperties2)       \
    F(vkMapMemory)                          \
    F(vkQueueSubmit)                        \
    F(vkQueueWaitIdle)

#define DECLARE(name) static PFN_##name name;
INSTANCE_FUNCTIONS(DECLARE)
#undef DECLARE

/* The device that was opened last, and its memory. */
static struct vulkan {
    VkInstance instance;
    VkPhysicalDevice physical;
    VkDevice device;
    VkQueue queue;
    VkCommandPool pool;
    VkCommandBuffer commands;
    VkBuffer buffer;
    VkDeviceMemory memory;
    VkExternalMemoryHandleTypeFlagBits handle_type;
    void *mapped;
    VkDeviceSize size;
} vulkan;

/* --- instance and device --- */

/* Makes the instance, and finds the functions. NULL, or the reason why not. */
static const char *open_instance(void)
{
    const VkApplicationInfo application = {
        .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .pApplicationName = "clharness", .apiVersion = VK_API_VERSION_1_1};
    const VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                       .pApplicationInfo = &application};
    void *library = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        return "there is no libvulkan.so.1";
    }
    PFN_vkGetInstanceProcAddr find = (PFN_vkGetInstanceProcAddr)(uintptr_t)dlsym(library, "vkGetInstanceProcAddr");
    PFN_vkCreateInstance create = find ? (PFN_vkCreateInstance)find(NULL, "vkCreateInstance") : NULL;
    if (!create || create(&info, NULL, &vulkan.instance) != VK_SUCCESS) {
        return "Vulkan has no device here";
    }
    bool complete = true;
#define FIND(name)                                   \
    name = (PFN_##name)find(vulkan.instance, #name); \
    complete = complete && (name);
    INSTANCE_FUNCTIONS(FIND)
#undef FIND
    return complete ? NULL : "this Vulkan is older than version 1.1";
}

static bool has_uuid(VkPhysicalDevice physical, const unsigned char *uuid)
{
    VkPhysicalDeviceIDProperties id = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES};
    VkPhysicalDeviceProperties2 all = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &id};
    vkGetPhysicalDeviceProperties2(physical, &all);
    return !uuid || memcmp(id.deviceUUID, uuid, VK_UUID_SIZE) == 0;
}

static const char *choose_device(const unsigned char *uuid)
{
    VkPhysicalDevice devices[MAX_DEVICES];
    uint32_t count = MAX_DEVICES;
    if (vkEnumeratePhysicalDevices(vulkan.instance, &count, devices) < 0) {
        return "Vulkan has no device here";
    }
    for (uint32_t i = 0; i < count && !vulkan.physical; i++) {
        vulkan.physical = has_uuid(devices[i], uuid) ? devices[i] : NULL;
    }
    return vulkan.physical ? NULL : "Vulkan does not have this device";
}

VkDevice vulkan_device(void)
{
    return vulkan.device;
}

VkQueue vulkan_queue(void)
{
    return vulkan.queue;
}

PFN_vkVoidFunction vulkan_function(const char *name)
{
    return vkGetDeviceProcAddr(vulkan.device, name);
}

VkCommandBuffer vulkan_new_commands(void)
{
    const VkCommandBufferAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                              .commandPool = vulkan.pool,
                                              .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                              .commandBufferCount = 1};
    VkCommandBuffer commands = VK_NULL_HANDLE;
    return vkAllocateCommandBuffers(vulkan.device, &info, &commands) == VK_SUCCESS ? commands : VK_NULL_HANDLE;
}

static bool make_commands(void)
{
    const VkCommandPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                          .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
                                          .queueFamilyIndex = OWN_FAMILY};
    vkGetDeviceQueue(vulkan.device, OWN_FAMILY, 0, &vulkan.queue);
    bool has_pool = vulkan.queue && vkCreateCommandPool(vulkan.device, &info, NULL, &vulkan.pool) == VK_SUCCESS;
    vulkan.commands = has_pool ? vulkan_new_commands() : VK_NULL_HANDLE;
    return vulkan.commands;
}

static bool has_extension(const char *name)
{
    static VkExtensionProperties all[MAX_EXTENSIONS];
    uint32_t count = MAX_EXTENSIONS;
    if (vkEnumerateDeviceExtensionProperties(vulkan.physical, NULL, &count, all) < 0) {
        return false;
    }
    while (count > 0 && strcmp(all[count - 1].extensionName, name) != 0) {
        count--;
    }
    return count > 0;
}

/* With those of the extensions that it has. */
static const char *open_device(const unsigned char *uuid)
{
    static const float priority = 1;
    static const char *const wanted[] = {"VK_KHR_external_memory_fd", "VK_EXT_external_memory_dma_buf",
                                         "VK_KHR_external_semaphore_fd"};
    const char *extensions[sizeof wanted / sizeof *wanted];
    const VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                           .queueFamilyIndex = OWN_FAMILY,
                                           .queueCount = 1,
                                           .pQueuePriorities = &priority};
    VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                               .queueCreateInfoCount = 1,
                               .pQueueCreateInfos = &queue,
                               .ppEnabledExtensionNames = extensions};
    vulkan = (struct vulkan){0};
    const char *problem = open_instance();
    problem = problem ? problem : choose_device(uuid);
    if (problem) {
        return problem;
    }
    if (!has_extension(wanted[0])) {
        return "this device of Vulkan exports no memory as descriptors";
    }
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        if (has_extension(wanted[i])) {
            extensions[info.enabledExtensionCount++] = wanted[i];
        }
    }
    if (vkCreateDevice(vulkan.physical, &info, NULL, &vulkan.device) != VK_SUCCESS) {
        return "Vulkan does not open this device";
    }
    return make_commands() ? NULL : "this device of Vulkan has no queue";
}

/* --- memory --- */

/* A type of memory that the host sees, preferably the device's own. */
static int choose_type(uint32_t allowed)
{
    const VkMemoryPropertyFlags visible = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    const VkMemoryPropertyFlags wanted[] = {visible | VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, visible};
    VkPhysicalDeviceMemoryProperties memory = {0};
    vkGetPhysicalDeviceMemoryProperties(vulkan.physical, &memory);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        for (uint32_t type = 0; type < memory.memoryTypeCount; type++) {
            if (allowed >> type & 1 && (memory.memoryTypes[type].propertyFlags & wanted[i]) == wanted[i]) {
                return (int)type;
            }
        }
    }
    return -1;
}

/* Memory for the buffer, at an address of the host, too. */
static bool allocate(VkExternalMemoryHandleTypeFlagBits handle_type)
{
    VkMemoryRequirements needed = {0};
    vkGetBufferMemoryRequirements(vulkan.device, vulkan.buffer, &needed);
    int type = choose_type(needed.memoryTypeBits);
    const VkExportMemoryAllocateInfo exported = {.sType = VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO,
                                                 .handleTypes = handle_type};
    const VkMemoryAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                       .pNext = &exported,
                                       .allocationSize = needed.size,
                                       .memoryTypeIndex = (uint32_t)type};
    return type >= 0 && vkAllocateMemory(vulkan.device, &info, NULL, &vulkan.memory) == VK_SUCCESS &&
           vkBindBufferMemory(vulkan.device, vulkan.buffer, vulkan.memory, 0) == VK_SUCCESS &&
           vkMapMemory(vulkan.device, vulkan.memory, 0, needed.size, 0, &vulkan.mapped) == VK_SUCCESS;
}

static const char *make_memory(VkDeviceSize size, VkExternalMemoryHandleTypeFlagBits handle_type)
{
    const VkExternalMemoryBufferCreateInfo external = {.sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO,
                                                       .handleTypes = handle_type};
    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                     .pNext = &external,
                                     .size = size,
                                     .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT |
                                              VK_BUFFER_USAGE_STORAGE_BUFFER_BIT};
    if (vkCreateBuffer(vulkan.device, &info, NULL, &vulkan.buffer) != VK_SUCCESS) {
        return "Vulkan makes no buffer that can be exported so";
    }
    if (!allocate(handle_type)) {
        return "Vulkan has no memory that the host sees and that can be exported so";
    }
    vulkan.size = size;
    vulkan.handle_type = handle_type;
    return NULL;
}

/* The descriptor, or -1. */
static int export_memory(void)
{
    PFN_vkGetMemoryFdKHR get = (PFN_vkGetMemoryFdKHR)vkGetDeviceProcAddr(vulkan.device, "vkGetMemoryFdKHR");
    const VkMemoryGetFdInfoKHR info = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_GET_FD_INFO_KHR, .memory = vulkan.memory, .handleType = vulkan.handle_type};
    int fd = -1;
    return get && get(vulkan.device, &info, &fd) == VK_SUCCESS ? fd : -1;
}

/* --- commands of the device --- */

static bool begin(void)
{
    const VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                           .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    return vkBeginCommandBuffer(vulkan.commands, &info) == VK_SUCCESS;
}

/* Takes the buffer from outside Vulkan, or gives it back, in the order of the commands. */
static void change_owner(bool take, VkPipelineStageFlags stage, VkAccessFlags access)
{
    const VkPipelineStageFlags all = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    const VkBufferMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_BUFFER_MEMORY_BARRIER,
                                           .srcAccessMask = take ? 0 : access,
                                           .dstAccessMask = take ? access : 0,
                                           .srcQueueFamilyIndex = take ? VK_QUEUE_FAMILY_EXTERNAL : OWN_FAMILY,
                                           .dstQueueFamilyIndex = take ? OWN_FAMILY : VK_QUEUE_FAMILY_EXTERNAL,
                                           .buffer = vulkan.buffer,
                                           .size = VK_WHOLE_SIZE};
    vkCmdPipelineBarrier(vulkan.commands, take ? all : stage, take ? stage : all, 0, 0, NULL, 1, &barrier, 0, NULL);
}

/* Ends the commands, and waits until the device has done them. */
static bool done(void)
{
    const VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &vulkan.commands};
    return vkEndCommandBuffer(vulkan.commands) == VK_SUCCESS &&
           vkQueueSubmit(vulkan.queue, 1, &info, VK_NULL_HANDLE) == VK_SUCCESS &&
           vkQueueWaitIdle(vulkan.queue) == VK_SUCCESS;
}

/* Whole words are written: up to three bytes of 0 follow. */
static const char *write_memory(const char *content, size_t length)
{
    static unsigned char bytes[MAX_UPDATE];
    if (length > vulkan.size || length > MAX_UPDATE - 4) {
        return "these bytes do not fit";
    }
    memset(bytes, 0, sizeof bytes);
    memcpy(bytes, content, length);
    if (!begin()) {
        return "Vulkan has no commands here";
    }
    change_owner(true, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT);
    vkCmdUpdateBuffer(vulkan.commands, vulkan.buffer, 0, (length + 3) & ~(VkDeviceSize)3, bytes);
    change_owner(false, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT);
    return done() ? NULL : "Vulkan did not write the bytes";
}

static const char *take_memory(void)
{
    if (!begin()) {
        return "Vulkan has no commands here";
    }
    change_owner(true, VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
    change_owner(false, VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
    return done() ? NULL : "Vulkan did not take the memory";
}

/* --- the rows; a[0] is the result's number, a[1] the word that names the row --- */

void vulkan_finish(const struct argument *a, const char *problem, uint64_t value, const struct reply *reply)
{
    if (problem) {
        reply_error(reply, "%s", problem);
    } else {
        reply_result(reply, a[0].value, value);
    }
}

static const char *missing_memory(void)
{
    return vulkan.mapped ? NULL : "no memory was made yet";
}

static void run_open(const struct argument *a, const struct reply *reply)
{
    unsigned char uuid[VK_UUID_SIZE];
    const char *text = a[2].text;
    bool any = strcmp(text, "-") == 0;
    if (!any && (hex_bytes(text, NULL) != VK_UUID_SIZE || hex_bytes(text, uuid) != VK_UUID_SIZE)) {
        reply_error(reply, "'%s' is neither a UUID nor '-'", text);
        return;
    }
    vulkan_finish(a, open_device(any ? NULL : uuid), 0, reply);
}

static void run_memory(const struct argument *a, const struct reply *reply)
{
    const char *problem = vulkan.device ? NULL : "no device was opened yet";
    problem = problem ? problem : make_memory(a[2].value, (VkExternalMemoryHandleTypeFlagBits)a[3].value);
    vulkan_finish(a, problem, 0, reply);
}

static void run_export(const struct argument *a, const struct reply *reply)
{
    const char *problem = missing_memory();
    int fd = problem ? -1 : export_memory();
    vulkan_finish(a, problem || fd >= 0 ? problem : "Vulkan did not export the memory", (uint64_t)fd, reply);
}

static void run_mapped(const struct argument *a, const struct reply *reply)
{
    vulkan_finish(a, missing_memory(), (uint64_t)(uintptr_t)vulkan.mapped, reply);
}

static void run_write(const struct argument *a, const struct reply *reply)
{
    const char *problem = missing_memory();
    vulkan_finish(a, problem ? problem : write_memory(a[2].text, a[2].length), 0, reply);
}

static void run_take(const struct argument *a, const struct reply *reply)
{
    const char *problem = missing_memory();
    vulkan_finish(a, problem ? problem : take_memory(), 0, reply);
}

static const struct command rows[] = {
    /* The device with this UUID; "-" for any. */
    {"vulkan", "RESULT open UUID", run_open, false},
    /* Memory of that device; TYPE is VkExternalMemoryHandleTypeFlagBits. */
    {"vulkan", "RESULT memory SIZE TYPE", run_memory, false},
    /* ok NUMBER of a new descriptor of the memory, which is kept. */
    {"vulkan", "RESULT export", run_export, false},
    /* ok ADDRESS of the memory, which is kept. */
    {"vulkan", "RESULT mapped", run_mapped, false},
    /* Lets the device write at the start of the memory. */
    {"vulkan", "RESULT write HEX", run_write, false},
    /* Lets the host see what was written outside Vulkan. */
    {"vulkan", "RESULT take", run_take, false},
    {0},
};

const struct command_table vulkan_commands = {.rows = rows};
