/* Memory of a Vulkan device that is exported as file descriptors, for vendors that import such.
 *
 * Vulkan is loaded where it is there; nothing is linked. The declarations are those of the Vulkan specification 1.1
 * with VK_KHR_external_memory_fd, as far as they are needed here.
 *
 * The device itself writes, takes the memory from outside Vulkan before and gives it back after: a write of the host
 * that no command of the device orders need not be seen by anybody.
 */
#define _GNU_SOURCE
#include "probe.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEVICES = 16, UUID_SIZE = 16, API_1_1 = 1 << 22 | 1 << 12, PROPERTIES_SIZE = 1024 };
enum { STAGE_TRANSFER = 0x1000, STAGE_HOST = 0x4000, STAGE_ALL = 0x10000 };
enum { TRANSFER_WRITE = 0x1000, HOST_READ = 0x2000 };
enum { OWN_FAMILY = 0, MAX_UPDATE = 65536 };
static const uint32_t outside = 0xFFFFFFFE; /* VK_QUEUE_FAMILY_EXTERNAL */

enum { HOST_VISIBLE = 2, HOST_COHERENT = 4, DEVICE_LOCAL = 1, USAGE_TRANSFER_AND_STORAGE = 0x23 };

struct head {
    uint32_t type;
    const void *next;
};

struct application_info {
    struct head head;
    const char *name;
    uint32_t version;
    const char *engine;
    uint32_t engine_version;
    uint32_t api_version;
};

struct instance_info {
    struct head head;
    uint32_t flags;
    const struct application_info *application;
    uint32_t layer_count;
    const char *const *layers;
    uint32_t extension_count;
    const char *const *extensions;
};

struct queue_info {
    struct head head;
    uint32_t flags;
    uint32_t family;
    uint32_t count;
    const float *priorities;
};

struct device_info {
    struct head head;
    uint32_t flags;
    uint32_t queue_count;
    const struct queue_info *queues;
    uint32_t layer_count;
    const char *const *layers;
    uint32_t extension_count;
    const char *const *extensions;
    const void *features;
};

struct id_properties {
    struct head head;
    uint8_t device[UUID_SIZE];
    uint8_t driver[UUID_SIZE];
    uint8_t luid[8];
    uint32_t node_mask;
    uint32_t luid_valid;
};

struct properties {
    struct head head;
    uint64_t room[PROPERTIES_SIZE / 8];
};

struct external_info {
    struct head head;
    uint32_t handle_types;
};

struct buffer_info {
    struct head head;
    uint32_t flags;
    uint64_t size;
    uint32_t usage;
    uint32_t sharing;
    uint32_t family_count;
    const uint32_t *families;
};

struct requirements {
    uint64_t size;
    uint64_t alignment;
    uint32_t types;
};

struct memory_properties {
    uint32_t type_count;
    struct {
        uint32_t flags;
        uint32_t heap;
    } types[32];
    uint32_t heap_count;
    struct {
        uint64_t size;
        uint32_t flags;
    } heaps[16];
};

struct allocation {
    struct head head;
    uint64_t size;
    uint32_t type;
};

struct descriptor_info {
    struct head head;
    uint64_t memory;
    uint32_t handle_type;
};

struct pool_info {
    struct head head;
    uint32_t flags;
    uint32_t family;
};

struct commands_info {
    struct head head;
    uint64_t pool;
    uint32_t level;
    uint32_t count;
};

struct begin_info {
    struct head head;
    uint32_t flags;
    const void *inheritance;
};

struct barrier {
    struct head head;
    uint32_t access_before;
    uint32_t access_after;
    uint32_t family_before;
    uint32_t family_after;
    uint64_t buffer;
    uint64_t offset;
    uint64_t size;
};

struct submit_info {
    struct head head;
    uint32_t wait_count;
    const uint64_t *waits;
    const uint32_t *wait_stages;
    uint32_t commands_count;
    void *const *commands;
    uint32_t signal_count;
    const uint64_t *signals;
};

static struct {
    void *library;
    void *instance;
    void *physical;
    void *device;
    void *queue;
    void *commands;
    uint64_t memory;
    uint64_t buffer;
    uint32_t handle_type;
    unsigned char *mapped;
    size_t size;
} vulkan;

/* Calls a function of the library, all of whose arguments are words. */
static int32_t call(const char *name, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f)
{
    typedef int32_t function(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);
    function *found = (function *)(uintptr_t)dlsym(vulkan.library, name);
    return found ? found(a, b, c, d, e, f) : -1;
}

static uint64_t word(const void *pointer)
{
    return (uint64_t)(uintptr_t)pointer;
}

static bool has_uuid(void *physical, const unsigned char *uuid)
{
    struct id_properties id = {.head.type = 1000071004};
    struct properties all = {.head = {1000059001, &id}};
    call("vkGetPhysicalDeviceProperties2", word(physical), word(&all), 0, 0, 0, 0);
    return !uuid || memcmp(id.device, uuid, UUID_SIZE) == 0;
}

static bool make_commands(void)
{
    struct pool_info pool = {{39, NULL}, 2, OWN_FAMILY};
    struct commands_info commands = {.head.type = 40, .count = 1};
    call("vkGetDeviceQueue", word(vulkan.device), OWN_FAMILY, 0, word(&vulkan.queue), 0, 0);
    return vulkan.queue &&
           call("vkCreateCommandPool", word(vulkan.device), word(&pool), 0, word(&commands.pool), 0, 0) == 0 &&
           call("vkAllocateCommandBuffers", word(vulkan.device), word(&commands), word(&vulkan.commands), 0, 0, 0) == 0;
}

/* Takes the buffer from outside Vulkan, or gives it back, in the order of the commands. */
static void change_owner(bool take, uint32_t stage, uint32_t access)
{
    typedef void barriers(void *, uint32_t, uint32_t, uint32_t, uint32_t, void *, uint32_t, struct barrier *, uint32_t,
                          void *);
    barriers *add = (barriers *)(uintptr_t)dlsym(vulkan.library, "vkCmdPipelineBarrier");
    struct barrier barrier = {{44, NULL}, access, 0, OWN_FAMILY, outside, vulkan.buffer, 0, ~(uint64_t)0};
    if (take) {
        barrier = (struct barrier){{44, NULL}, 0, access, outside, OWN_FAMILY, vulkan.buffer, 0, ~(uint64_t)0};
    }
    if (add) {
        add(vulkan.commands, take ? STAGE_ALL : stage, take ? stage : STAGE_ALL, 0, 0, NULL, 1, &barrier, 0, NULL);
    }
}

static bool begin(void)
{
    struct begin_info info = {.head.type = 42, .flags = 1};
    return call("vkBeginCommandBuffer", word(vulkan.commands), word(&info), 0, 0, 0, 0) == 0;
}

/* Ends the commands, and waits until the device has done them. */
static bool done(void)
{
    struct submit_info info = {.head.type = 4, .commands_count = 1, .commands = &vulkan.commands};
    return call("vkEndCommandBuffer", word(vulkan.commands), 0, 0, 0, 0, 0) == 0 &&
           call("vkQueueSubmit", word(vulkan.queue), 1, word(&info), 0, 0, 0) == 0 &&
           call("vkQueueWaitIdle", word(vulkan.queue), 0, 0, 0, 0, 0) == 0;
}

/* Whole words are written: up to three bytes of 0 follow. */
static const char *write_memory(const char *hex)
{
    static unsigned char bytes[MAX_UPDATE];
    long length = hex_bytes(hex, NULL);
    if (length < 0 || (size_t)length > vulkan.size || length > MAX_UPDATE - 4) {
        return "these bytes do not fit";
    }
    memset(bytes, 0, sizeof bytes);
    if (hex_bytes(hex, bytes) != length || !begin()) {
        return "Vulkan has no commands here";
    }
    change_owner(true, STAGE_TRANSFER, TRANSFER_WRITE);
    call("vkCmdUpdateBuffer", word(vulkan.commands), vulkan.buffer, 0, (uint64_t)(length + 3) & ~(uint64_t)3,
         word(bytes), 0);
    change_owner(false, STAGE_TRANSFER, TRANSFER_WRITE);
    return done() ? NULL : "Vulkan did not write the bytes";
}

/* Lets the host see what was written outside Vulkan. */
static const char *take_memory(void)
{
    if (!begin()) {
        return "Vulkan has no commands here";
    }
    change_owner(true, STAGE_HOST, HOST_READ);
    change_owner(false, STAGE_HOST, HOST_READ);
    return done() ? NULL : "Vulkan did not take the memory";
}

static const char *open_device(const unsigned char *uuid)
{
    struct application_info application = {.name = "clharness", .api_version = API_1_1};
    struct instance_info info = {.head.type = 1, .application = &application};
    void *found[MAX_DEVICES];
    uint32_t count = MAX_DEVICES;
    vulkan.library = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!vulkan.library) {
        return "there is no libvulkan.so.1";
    }
    if (call("vkCreateInstance", word(&info), 0, word(&vulkan.instance), 0, 0, 0) != 0 ||
        call("vkEnumeratePhysicalDevices", word(vulkan.instance), word(&count), word(found), 0, 0, 0) < 0) {
        return "Vulkan has no device here";
    }
    for (uint32_t i = 0; i < count && !vulkan.physical; i++) {
        vulkan.physical = has_uuid(found[i], uuid) ? found[i] : NULL;
    }
    if (!vulkan.physical) {
        return "Vulkan does not have this device";
    }
    static const float priority = 1;
    static const char *const extensions[] = {"VK_KHR_external_memory_fd", "VK_EXT_external_memory_dma_buf"};
    struct queue_info queue = {.head.type = 2, .count = 1, .priorities = &priority};
    struct device_info device = {.head.type = 3, .queue_count = 1, .queues = &queue, .extensions = extensions};
    for (device.extension_count = 2; device.extension_count > 0; device.extension_count--) {
        if (call("vkCreateDevice", word(vulkan.physical), word(&device), 0, word(&vulkan.device), 0, 0) == 0) {
            return make_commands() ? NULL : "this device of Vulkan has no queue";
        }
    }
    return "this device of Vulkan exports no memory as descriptors";
}

/* A type of memory that the host sees, preferably the device's own. */
static int choose_type(uint32_t allowed)
{
    struct memory_properties memory = {0};
    call("vkGetPhysicalDeviceMemoryProperties", word(vulkan.physical), word(&memory), 0, 0, 0, 0);
    const uint32_t wanted[] = {HOST_VISIBLE | HOST_COHERENT | DEVICE_LOCAL, HOST_VISIBLE | HOST_COHERENT};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        for (uint32_t type = 0; type < memory.type_count; type++) {
            if (allowed >> type & 1 && (memory.types[type].flags & wanted[i]) == wanted[i]) {
                return (int)type;
            }
        }
    }
    return -1;
}

static const char *make_memory(size_t size, uint32_t handle_type)
{
    struct external_info external = {{1000072000, NULL}, handle_type};
    struct buffer_info info = {.head = {12, &external}, .size = size, .usage = USAGE_TRANSFER_AND_STORAGE};
    struct requirements needed = {0};
    if (call("vkCreateBuffer", word(vulkan.device), word(&info), 0, word(&vulkan.buffer), 0, 0) != 0) {
        return "Vulkan makes no buffer that can be exported so";
    }
    call("vkGetBufferMemoryRequirements", word(vulkan.device), vulkan.buffer, word(&needed), 0, 0, 0);
    int type = choose_type(needed.types);
    struct external_info exported = {{1000072002, NULL}, handle_type};
    struct allocation allocation = {{5, &exported}, needed.size, (uint32_t)type};
    if (type < 0 ||
        call("vkAllocateMemory", word(vulkan.device), word(&allocation), 0, word(&vulkan.memory), 0, 0) != 0 ||
        call("vkBindBufferMemory", word(vulkan.device), vulkan.buffer, vulkan.memory, 0, 0, 0) != 0 ||
        call("vkMapMemory", word(vulkan.device), vulkan.memory, 0, needed.size, 0, word(&vulkan.mapped)) != 0) {
        return "Vulkan has no memory that the host sees and that can be exported so";
    }
    vulkan.size = size;
    vulkan.handle_type = handle_type;
    return NULL;
}

static const char *export_memory(int64_t *made)
{
    typedef int32_t get(void *, const struct descriptor_info *, int *);
    typedef void *lookup(void *, const char *);
    lookup *find = (lookup *)(uintptr_t)dlsym(vulkan.library, "vkGetDeviceProcAddr");
    get *found = find ? (get *)(uintptr_t)find(vulkan.device, "vkGetMemoryFdKHR") : NULL;
    struct descriptor_info info = {{1000074002, NULL}, vulkan.memory, vulkan.handle_type};
    int fd = -1;
    bool done = found && found(vulkan.device, &info, &fd) == 0;
    *made = fd;
    return done ? NULL : "Vulkan did not export the memory";
}

const char *vulkan_make(char **words, int count, int64_t *made)
{
    unsigned char uuid[UUID_SIZE];
    *made = 0;
    if (count == 2 && strcmp(words[0], "open") == 0) {
        bool any = strcmp(words[1], "-") == 0;
        if (!any && (hex_bytes(words[1], NULL) != UUID_SIZE || hex_bytes(words[1], uuid) != UUID_SIZE)) {
            return "no UUID";
        }
        return open_device(any ? NULL : uuid);
    }
    if (count == 3 && strcmp(words[0], "memory") == 0 && vulkan.device) {
        return make_memory(strtoul(words[1], NULL, 10), (uint32_t)strtoul(words[2], NULL, 0));
    }
    if (count == 1 && strcmp(words[0], "export") == 0 && vulkan.mapped) {
        return export_memory(made);
    }
    if (count == 1 && strcmp(words[0], "mapped") == 0 && vulkan.mapped) {
        *made = (int64_t)(uintptr_t)vulkan.mapped;
        return NULL;
    }
    if (count == 2 && strcmp(words[0], "write") == 0 && vulkan.mapped) {
        return write_memory(words[1]);
    }
    if (count == 1 && strcmp(words[0], "take") == 0 && vulkan.mapped) {
        return take_memory();
    }
    return "open UUID, memory SIZE TYPE, export, mapped, write HEX or take, in this order";
}
