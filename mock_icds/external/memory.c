/* SPDX-License-Identifier: Apache-2.0 */
/* cl_khr_external_memory 1.0.1 of the mock ICD, with descriptors of memory that can be mapped (memfd, dma-buf), and
 * Windows handles, which refer to nothing. The device has data of its own while it has acquired the object, so that
 * forgotten hand-overs show.
 */
#define _GNU_SOURCE
#include "external/memory.h"

#include "base/arena.h"
#include "base/arguments.h"
#include "base/config.h"
#include "base/errors.h"
#include "base/platforms.h"
#include "calls.h"
#include "core/contents.h"
#include "core/core.h"
#include "core/usual.h"
#include "external/attachments.h"
#include "external/commands.h"
#include "external/devices.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct memory {
    unsigned char *data;    /* the devices' */
    unsigned char *outside; /* mapped; NULL for a buffer that is OpenCL's alone, and for Windows handles */
    size_t size;
    bool external;
    uint64_t handle;
    uint32_t acquired; /* by these devices */
};

static cl_int check_descriptor(const struct property *property, const void *about)
{
    (void)about;
    uint64_t value = property->values[0];
    if (fault(FAULT_import_cuts_descriptor, ANY_PLATFORM)) {
        value = (uint32_t)value;
    }
    bool valid = value <= INT_MAX && fcntl((int)value, F_GETFD) >= 0;
    return valid || fault(FAULT_import_takes_any_descriptor, ANY_PLATFORM) ? CL_SUCCESS : CL_INVALID_PROPERTY;
}

static cl_int check_handle(const struct property *property, const void *about)
{
    (void)about;
    return property->values[0] ? CL_SUCCESS : CL_INVALID_PROPERTY;
}

static const struct property_rule rules[] = {
    {CL_MEM_DEVICE_HANDLE_LIST_KHR, PROPERTY_LIST, "cl_khr_external_memory", NULL},
    {CL_EXTERNAL_MEMORY_HANDLE_OPAQUE_FD_KHR, PROPERTY_VALUE, "cl_khr_external_memory_opaque_fd", check_descriptor},
    {CL_EXTERNAL_MEMORY_HANDLE_DMA_BUF_KHR, PROPERTY_VALUE, "cl_khr_external_memory_dma_buf", check_descriptor},
    {CL_EXTERNAL_MEMORY_HANDLE_OPAQUE_WIN32_KHR, PROPERTY_VALUE, "cl_khr_external_memory_win32", check_handle},
    {CL_EXTERNAL_MEMORY_HANDLE_OPAQUE_WIN32_KMT_KHR, PROPERTY_VALUE, "cl_khr_external_memory_win32", check_handle},
    {CL_EXTERNAL_MEMORY_HANDLE_OPAQUE_WIN32_NAME_KHR, PROPERTY_VALUE, "cl_khr_external_memory_win32", check_handle},
};
static const struct property_rules memory_rules = {rules, sizeof rules / sizeof *rules, CL_INVALID_PROPERTY,
                                                   CL_INVALID_PROPERTY, false};

/* What a call of a creating function says. */
struct import {
    enum function function;
    const uint64_t *arguments;
    const uint64_t *list;
    struct object *context;
    struct property handle; /* the one handle of the list */
    struct property devices;
    size_t handles;
    bool has_devices;
    bool buffer;
    uint32_t mask;
};

static bool is_descriptor(uint64_t name)
{
    return name == CL_EXTERNAL_MEMORY_HANDLE_OPAQUE_FD_KHR || name == CL_EXTERNAL_MEMORY_HANDLE_DMA_BUF_KHR;
}

static void read_list(struct import *import)
{
    struct property property;
    for (size_t i = 0; i < memory_rules.count; i++) {
        if (!properties_find(import->list, &memory_rules, rules[i].name, &property)) {
            continue;
        }
        if (rules[i].form == PROPERTY_LIST) {
            import->devices = property;
            import->has_devices = true;
        } else {
            import->handle = property;
            import->handles++;
        }
    }
}

/* A walk in steps of two takes the values of a nested list for names. */
static bool walks_astray(const uint64_t *list)
{
    for (; fault(FAULT_import_walks_in_pairs, ANY_PLATFORM) && list[0]; list += 2) {
        bool known = false;
        for (size_t i = 0; i < memory_rules.count; i++) {
            known = known || rules[i].name == list[0];
        }
        if (!known) {
            return true;
        }
    }
    return false;
}

static cl_int check_properties(struct import *import)
{
    const uint64_t *list = import->list;
    cl_int error = properties_check(list, &memory_rules, import->context->platform, NULL);
    bool stops =
        fault(FAULT_import_stops_at_descriptor_0, ANY_PLATFORM) && import->handles && !import->handle.values[0];
    if (error || stops || walks_astray(list)) {
        return error ? error : CL_INVALID_PROPERTY;
    }
    if (import->handles > 1) {
        return error_unless_fault(FAULT_import_last_handle_wins, CL_INVALID_PROPERTY);
    }
    if (import->handles == 0 && import->has_devices) {
        return error_unless_fault(FAULT_import_takes_device_list_alone, CL_INVALID_PROPERTY);
    }
    return CL_SUCCESS;
}

static cl_int check_devices(struct import *import)
{
    int platform = import->context->platform;
    uint32_t all = attachment_of(import->context)->devices;
    import->mask = all;
    if (!import->has_devices) {
        bool able = devices_can(platform, all);
        return error_unless_fault(FAULT_import_ignores_incapable_device, able ? CL_SUCCESS : CL_INVALID_DEVICE);
    }
    import->mask = 0;
    for (size_t i = 0; i < import->devices.count; i++) {
        struct object *device = object_live(import->devices.values[i], HANDLE_cl_device_id);
        uint32_t bit = device && device->platform == platform ? platform_device_bit(device) : 0;
        if (!(bit & all)) {
            return error_unless_fault(FAULT_import_foreign_device_answers, CL_INVALID_DEVICE);
        }
        import->mask |= bit;
    }
    bool able = devices_can(platform, import->mask);
    return error_unless_fault(FAULT_import_incapable_device_answers, able ? CL_SUCCESS : CL_INVALID_DEVICE);
}

static cl_int check_rest(const struct import *import)
{
    cl_mem_flags host = CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR;
    cl_mem_flags flags = argument_named(import->function, import->arguments, "flags");
    cl_int error = error_unless_fault(FAULT_import_host_flags_answer, flags & host ? CL_INVALID_VALUE : CL_SUCCESS);
    if (!error && argument_named(import->function, import->arguments, "host_ptr")) {
        error = error_unless_fault(FAULT_import_host_pointer_answers, CL_INVALID_HOST_PTR);
    }
    if (!error && import->buffer && !argument_named(import->function, import->arguments, "size")) {
        error = CL_INVALID_BUFFER_SIZE;
    }
    if (!error && !import->buffer &&
        (!argument_named(import->function, import->arguments, "image_format") ||
         !argument_named(import->function, import->arguments, "image_desc"))) {
        error = CL_INVALID_IMAGE_DESCRIPTOR;
    }
    if (!error && !import->buffer && fault(FAULT_import_of_buffers_only, ANY_PLATFORM)) {
        error = CL_INVALID_PROPERTY;
    }
    return error;
}

static size_t size_of(const struct import *import)
{
    const cl_image_desc *image =
        (const cl_image_desc *)(uintptr_t)argument_named(import->function, import->arguments, "image_desc");
    if (import->buffer) {
        return (size_t)argument_named(import->function, import->arguments, "size");
    }
    return image->image_width * (image->image_height ? image->image_height : 1);
}

/* Maps what the descriptor refers to, and takes it over. False: it refers to no such memory. */
static bool map(struct memory *memory, int fd)
{
    struct stat about;
    bool large = fstat(fd, &about) == 0 && (size_t)about.st_size >= memory->size;
    void *mapped = large ? mmap(NULL, memory->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
    if (mapped == MAP_FAILED) {
        return fault(FAULT_import_takes_any_descriptor, ANY_PLATFORM);
    }
    memory->outside = mapped;
    if (fault(FAULT_import_leaves_descriptor_open, ANY_PLATFORM)) {
        return true;
    }
    return close(fd) == 0;
}

static cl_int import_memory(struct import *import, struct object **object)
{
    static struct object *last;
    struct memory *memory = arena_keep(sizeof *memory);
    memory->size = size_of(import);
    memory->external = true;
    if (import->handles) {
        memory->handle = import->handle.values[0];
        if (is_descriptor(import->handle.name) && !map(memory, (int)(uint32_t)memory->handle)) {
            return CL_INVALID_PROPERTY;
        }
    }
    memory->data = arena_keep(memory->size);
    if (last && fault(FAULT_import_gives_same_object, ANY_PLATFORM)) {
        *object = last;
        last->references++;
        return CL_SUCCESS;
    }
    *object = usual_object(import->function, import->arguments, HANDLE_cl_mem, import->context);
    last = *object;
    struct attachment *attachment = attachment_of(*object);
    attachment->memory = memory;
    attachment->devices = import->mask;
    attachment_keep_list(attachment, import->list, &memory_rules);
    return CL_SUCCESS;
}

static uint64_t create(struct import *import)
{
    struct object *object = NULL;
    read_list(import);
    cl_int error = check_properties(import);
    error = error ? error : check_devices(import);
    error = error ? error : check_rest(import);
    error = error ? error : import_memory(import, &object);
    if (error && fault(FAULT_import_closes_on_failure, ANY_PLATFORM) && import->handles &&
        is_descriptor(import->handle.name)) {
        close((int)import->handle.values[0]);
    }
    return error_or_handle(import->function, import->arguments, object, error);
}

static bool create_memory(enum function function, const uint64_t *arguments, uint64_t *result)
{
    struct import import = {
        .function = function, .arguments = arguments, .context = object_live(arguments[0], HANDLE_cl_context)};
    struct property property;
    bool ours = false;
    import.list = (const uint64_t *)(uintptr_t)arguments[1];
    import.buffer = function == FUNCTION_clCreateBufferWithProperties;
    for (size_t i = 0; import.list && import.context && i < memory_rules.count; i++) {
        ours = ours || properties_find(import.list, &memory_rules, rules[i].name, &property);
    }
    if (ours && platform_has_extension(import.context->platform, "cl_khr_external_memory")) {
        *result = create(&import);
        return true;
    }
    return false;
}

/* A buffer of OpenCL's own, with data. */
static void give_data(uint64_t handle, size_t size)
{
    enum { LARGEST = 1 << 20 };
    struct object *object = object_find(handle);
    if (object && size <= LARGEST && !attachment_of(object)->memory) {
        struct memory *memory = arena_keep(sizeof *memory);
        memory->size = size;
        memory->data = object->contents ? object->contents->bytes : arena_keep(size);
        attachment_of(object)->memory = memory;
    }
}

static void release(struct object *object)
{
    struct memory *memory = object->external ? object->external->memory : NULL;
    if (object->references > 0 || !memory || !memory->outside) {
        return;
    }
    munmap(memory->outside, memory->size);
    memory->outside = NULL;
    if (fault(FAULT_import_closes_twice, ANY_PLATFORM)) {
        close((int)memory->handle);
    }
}

/* --- acquire and release --- */

static bool is_acquire(const struct command *command)
{
    return command->numbers[0] != 0;
}

static void hand_over(const struct command *command)
{
    bool acquire = is_acquire(command);
    for (cl_uint i = 0; i < command->count; i++) {
        struct attachment *attachment = attachment_of(command->items[i]);
        struct memory *memory = attachment->memory;
        bool own_device_only = fault(FAULT_acquire_for_own_device, ANY_PLATFORM);
        uint32_t devices = own_device_only ? attachment_of(command->queue)->devices : attachment->devices;
        if (acquire == (memory->acquired != 0)) {
            log_event(acquire ? "acquired twice" : "released without acquire", NULL);
        }
        bool forgets = fault(acquire ? FAULT_acquire_keeps_old_data : FAULT_release_keeps_data, ANY_PLATFORM);
        if (memory->outside && !forgets) {
            memcpy(acquire ? memory->data : memory->outside, acquire ? memory->outside : memory->data, memory->size);
        }
        memory->acquired = acquire ? memory->acquired | devices : memory->acquired & ~devices;
    }
}

static cl_int check_objects(const uint64_t *arguments, struct object *queue)
{
    cl_uint count = (cl_uint)arguments[1];
    const uintptr_t *list = (const uintptr_t *)(uintptr_t)arguments[2];
    uint32_t device = attachment_of(queue)->devices;
    if ((count > 0) != (list != NULL)) {
        return error_unless_fault(FAULT_acquire_takes_any_count, CL_INVALID_VALUE);
    }
    for (cl_uint i = 0; i < count; i++) {
        struct object *object = object_live(list[i], HANDLE_cl_mem);
        bool imported = object && object->external && object->external->memory && object->external->memory->external;
        if (!imported) {
            return error_unless_fault(FAULT_acquire_takes_any_memory, CL_INVALID_MEM_OBJECT);
        }
        bool belongs = object->external->devices & device && object_context(object) == object_context(queue);
        cl_int error =
            error_unless_fault(FAULT_acquire_takes_any_queue, belongs ? CL_SUCCESS : CL_INVALID_COMMAND_QUEUE);
        if (error) {
            return error;
        }
    }
    return CL_SUCCESS;
}

static cl_int acquire_or_release(enum function function, const uint64_t *arguments, bool acquire)
{
    struct object *queue = object_live(arguments[0], HANDLE_cl_command_queue);
    const uintptr_t *list = (const uintptr_t *)(uintptr_t)arguments[2];
    if (!queue) {
        return CL_INVALID_COMMAND_QUEUE;
    }
    cl_int error = check_objects(arguments, queue);
    error = error ? error : commands_check_wait_list(function, arguments, queue);
    if (error) {
        return error;
    }
    cl_uint type = acquire ? CL_COMMAND_ACQUIRE_EXTERNAL_MEM_OBJECTS_KHR : CL_COMMAND_RELEASE_EXTERNAL_MEM_OBJECTS_KHR;
    enum fault other = acquire ? FAULT_acquire_event_type_is : FAULT_release_event_type_is;
    struct command command = {.queue = queue, .run = hand_over, .numbers = {acquire}};
    command.type = fault(other, ANY_PLATFORM) ? (cl_uint)fault_value(other, ANY_PLATFORM, CL_COMMAND_MARKER) : type;
    for (cl_uint i = 0; list && i < (cl_uint)arguments[1] && i < MAX_ITEMS; i++) {
        struct object *object = object_live(list[i], HANDLE_cl_mem);
        if (object && object->external && object->external->memory) {
            command.items[command.count++] = object;
        }
    }
    commands_enqueue(function, arguments, command);
    struct object *event = object_find(argument_named(function, arguments, "event")
                                           ? *(uintptr_t *)(uintptr_t)argument_named(function, arguments, "event")
                                           : 0);
    if (event && command.count == 0 && fault(FAULT_acquire_of_nothing_is_complete, ANY_PLATFORM)) {
        attachment_of(event)->status = CL_COMPLETE;
    }
    return CL_SUCCESS;
}

/* --- data --- */

static bool may_use(const struct memory *memory, uint32_t device)
{
    if (memory->external && !(memory->acquired & device)) {
        log_event("used without acquire", NULL);
        return false;
    }
    return true;
}

void memory_fill(struct object *buffer, const uint64_t *numbers, const void *pattern, uint32_t device)
{
    struct memory *memory = attachment_of(buffer)->memory;
    for (uint64_t at = 0; memory && may_use(memory, device) && at + numbers[2] <= numbers[1]; at += numbers[2]) {
        if (numbers[0] + at + numbers[2] <= memory->size) {
            memcpy(memory->data + numbers[0] + at, pattern, numbers[2]);
        }
    }
}

static void run_fill(const struct command *command)
{
    memory_fill(command->items[0], command->numbers, command->data, attachment_of(command->queue)->devices);
}

static void run_copy(const struct command *command)
{
    struct memory *memory = attachment_of(command->items[0])->memory;
    bool inside = command->numbers[0] + command->numbers[1] <= memory->size;
    unsigned char *outside = (unsigned char *)(uintptr_t)command->numbers[3];
    if (!inside || !may_use(memory, attachment_of(command->queue)->devices)) {
        return;
    }
    unsigned char *at = memory->data + command->numbers[0];
    bool write = command->numbers[2] != 0;
    memcpy(write ? at : outside, write ? outside : at, command->numbers[1]);
}

static bool transfer(enum function function, const uint64_t *arguments, uint64_t *result)
{
    struct object *queue = object_live(arguments[0], HANDLE_cl_command_queue);
    struct object *buffer = object_live(arguments[1], HANDLE_cl_mem);
    if (!queue || !buffer || !attachment_of(buffer)->memory) {
        return false;
    }
    cl_int error = commands_check_wait_list(function, arguments, queue);
    struct command command = {.queue = queue, .count = 1, .items = {buffer}};
    if (function == FUNCTION_clEnqueueFillBuffer) {
        unsigned char *pattern = arena_keep((size_t)arguments[3]);
        memcpy(pattern, (const void *)(uintptr_t)arguments[2], (size_t)arguments[3]);
        command.type = CL_COMMAND_FILL_BUFFER;
        command.run = run_fill;
        command.data = pattern;
        memcpy(command.numbers, (uint64_t[]){arguments[4], arguments[5], arguments[3]}, 3 * sizeof(uint64_t));
    } else {
        bool write = function == FUNCTION_clEnqueueWriteBuffer;
        command.type = write ? CL_COMMAND_WRITE_BUFFER : CL_COMMAND_READ_BUFFER;
        command.run = run_copy;
        memcpy(command.numbers, (uint64_t[]){arguments[3], arguments[4], write, arguments[5]}, 4 * sizeof(uint64_t));
    }
    if (!error) {
        commands_enqueue(function, arguments, command);
    }
    *result = error_result(error);
    return true;
}

bool memory_handle(enum function function, const uint64_t *arguments, uint64_t *result)
{
    struct object *object;
    switch (function) {
    case FUNCTION_clCreateBufferWithProperties:
    case FUNCTION_clCreateImageWithProperties:
        if (create_memory(function, arguments, result)) {
            return true;
        }
        *result = core_call(function, arguments);
        if (function == FUNCTION_clCreateBufferWithProperties) {
            give_data(*result, (size_t)arguments[3]);
        }
        return true;
    case FUNCTION_clCreateBuffer:
        *result = core_call(function, arguments);
        give_data(*result, (size_t)arguments[2]);
        return true;
    case FUNCTION_clReleaseMemObject:
        *result = core_call(function, arguments);
        object = object_find(arguments[0]);
        if (object) {
            release(object);
        }
        return true;
    case FUNCTION_clGetMemObjectInfo:
        object = object_live(arguments[0], HANDLE_cl_mem);
        if (!object || !object->external || !object->external->list || arguments[1] != CL_MEM_PROPERTIES) {
            return false;
        }
        *result = error_result(attachment_answer_list(object->external, arguments + 2));
        return true;
    case FUNCTION_clEnqueueAcquireExternalMemObjectsKHR:
    case FUNCTION_clEnqueueReleaseExternalMemObjectsKHR:
        *result = error_result(
            acquire_or_release(function, arguments, function == FUNCTION_clEnqueueAcquireExternalMemObjectsKHR));
        return true;
    case FUNCTION_clEnqueueReadBuffer:
    case FUNCTION_clEnqueueWriteBuffer:
    case FUNCTION_clEnqueueFillBuffer:
        return transfer(function, arguments, result);
    default:
        return false;
    }
}
