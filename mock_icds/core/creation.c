/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of the arguments that contexts, queues, buffers, images, samplers and pipes are made with. */
#include "core/creation.h"

#include "base/arena.h"
#include "base/arguments.h"
#include "base/config.h"
#include "base/loader.h"
#include "base/platforms.h"
#include "core/property_rules.h"

#include <string.h>

/* Checks a property list by the rules of its function, with its errors as they are or as faults say. */
static cl_int check_list(enum function function, const uint64_t *arguments, int platform)
{
    struct property_rules rules = *property_rules_of(function);
    const struct {
        enum function function;
        enum fault unknown;
        enum fault repeated;
    } faults[] = {
        {FUNCTION_clCreateContext, FAULT_context_unknown_name_gives, FAULT_context_repeated_name_gives},
        {FUNCTION_clCreateCommandQueueWithProperties, FAULT_queue_unknown_name_gives, FAULT_queue_unknown_name_gives},
        {FUNCTION_clCreateBufferWithProperties, FAULT_memory_unknown_name_gives, FAULT_memory_repeated_name_gives},
        {FUNCTION_clCreateSamplerWithProperties, FAULT_sampler_unknown_name_gives, FAULT_sampler_repeated_name_gives},
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        if (property_rules_of(faults[i].function)->rules == rules.rules) {
            rules.unknown_name = (cl_int)fault_value(faults[i].unknown, ANY_PLATFORM, rules.unknown_name);
            rules.repeated_name = (cl_int)fault_value(faults[i].repeated, ANY_PLATFORM, rules.repeated_name);
        }
    }
    const uint64_t *list = argument_properties(function, arguments);
    if (!list && fault(FAULT_properties_null_refused, ANY_PLATFORM)) {
        return (cl_int)fault_value(FAULT_properties_null_refused, ANY_PLATFORM, CL_INVALID_VALUE);
    }
    if (!list && fault(FAULT_properties_null_read, ANY_PLATFORM)) {
        return (cl_int) * (const volatile uint64_t *)list;
    }
    if (list && list[0] == 0 && fault(FAULT_properties_empty_refused, ANY_PLATFORM)) {
        return (cl_int)fault_value(FAULT_properties_empty_refused, ANY_PLATFORM, CL_INVALID_PROPERTY);
    }
    return properties_check(properties_seen(list, &rules), &rules, platform, NULL);
}

/* --- contexts --- */

static cl_int check_notification(uint64_t pfn_notify, uint64_t user_data)
{
    bool alone = !pfn_notify && user_data && !fault(FAULT_context_takes_user_data_alone, ANY_PLATFORM);
    return alone ? CL_INVALID_VALUE : CL_SUCCESS;
}

static cl_int check_context(const uint64_t *arguments)
{
    const uintptr_t *devices = (const uintptr_t *)(uintptr_t)arguments[2];
    cl_uint count = (cl_uint)arguments[1];
    if (!devices || count == 0 || check_notification(arguments[3], arguments[4]) != CL_SUCCESS) {
        return CL_INVALID_VALUE;
    }
    for (cl_uint i = 0; i < count; i++) {
        if (!object_of_kind(devices[i], HANDLE_cl_device_id)) {
            return fault(FAULT_context_of_foreign_devices, ANY_PLATFORM) ? CL_OUT_OF_RESOURCES : CL_INVALID_DEVICE;
        }
    }
    if (fault(FAULT_first_platform_is_own, ANY_PLATFORM) && !loader_lists_ours_first()) {
        return CL_INVALID_PLATFORM;
    }
    return check_list(FUNCTION_clCreateContext, arguments, object_find(devices[0])->platform);
}

/* The platform of a context from type: the one in its list, or the first. */
static int platform_of(const uint64_t *arguments)
{
    const uint64_t *list = argument_properties(FUNCTION_clCreateContextFromType, arguments);
    uint64_t handle =
        properties_value(list, property_rules_of(FUNCTION_clCreateContextFromType), CL_CONTEXT_PLATFORM, 0);
    const struct object *platform = object_of_kind(handle, HANDLE_cl_platform_id);
    return platform ? platform->platform : 0;
}

static cl_int check_context_from_type(const uint64_t *arguments)
{
    const cl_device_type types = CL_DEVICE_TYPE_DEFAULT | CL_DEVICE_TYPE_CPU | CL_DEVICE_TYPE_GPU |
                                 CL_DEVICE_TYPE_ACCELERATOR | CL_DEVICE_TYPE_CUSTOM;
    cl_device_type type = arguments[1];
    struct object *device;
    int platform = platform_of(arguments);
    cl_int result = check_notification(arguments[2], arguments[3]);
    if (result == CL_SUCCESS && type != CL_DEVICE_TYPE_ALL && (type & ~types || !type)) {
        result = CL_INVALID_DEVICE_TYPE;
    }
    if (result == CL_SUCCESS) {
        result = check_list(FUNCTION_clCreateContextFromType, arguments, platform);
    }
    for (int i = 0; result == CL_SUCCESS && (device = platform_device(platform, i)) != NULL; i++) {
        if (platform_device_matches(device, type, i)) {
            return CL_SUCCESS;
        }
    }
    return result == CL_SUCCESS ? CL_DEVICE_NOT_FOUND : result;
}

/* --- queues --- */

static bool is_in_context(const struct object *context, uint64_t device)
{
    for (size_t i = 0; context->creation && i < context->creation->device_count; i++) {
        if (context->creation->devices[i] == device) {
            return true;
        }
    }
    return false;
}

/* What the properties of a queue want of each other. */
static cl_int check_together(const uint64_t *list)
{
    const struct property_rules *rules = property_rules_of(FUNCTION_clCreateCommandQueueWithProperties);
    bool on_device = properties_value(list, rules, CL_QUEUE_PROPERTIES, 0) & CL_QUEUE_ON_DEVICE;
    struct property property;
    bool size = properties_find(list, rules, CL_QUEUE_SIZE, &property);
    if (size && ((!on_device && !fault(FAULT_queue_size_on_host, ANY_PLATFORM)) ||
                 (property.values[0] > DEVICE_QUEUE_SIZE && !fault(FAULT_queue_size_unlimited, ANY_PLATFORM)))) {
        return CL_INVALID_VALUE;
    }
    bool hints = properties_find(list, rules, CL_QUEUE_PRIORITY_KHR, &property) ||
                 properties_find(list, rules, CL_QUEUE_THROTTLE_KHR, &property);
    return on_device && hints && !fault(FAULT_queue_hints_on_device, ANY_PLATFORM) ? CL_INVALID_QUEUE_PROPERTIES
                                                                                   : CL_SUCCESS;
}

static cl_int check_queue(enum function function, const uint64_t *arguments)
{
    const struct object *context = object_of_kind(arguments[0], HANDLE_cl_context);
    if (!context) {
        return CL_INVALID_CONTEXT;
    }
    if (!object_of_kind(arguments[1], HANDLE_cl_device_id)) {
        return CL_INVALID_DEVICE;
    }
    if (!is_in_context(context, arguments[1])) {
        cl_int error = (cl_int)fault_value(FAULT_queue_device_gives, ANY_PLATFORM, CL_INVALID_DEVICE);
        if (error != CL_SUCCESS) {
            return error;
        }
    }
    if (function == FUNCTION_clCreateCommandQueue) {
        const uint64_t list[] = {CL_QUEUE_PROPERTIES, arguments[2], 0};
        bool host_only = !(arguments[2] & (CL_QUEUE_ON_DEVICE | CL_QUEUE_ON_DEVICE_DEFAULT));
        struct property_rules rules = *property_rules_of(FUNCTION_clCreateCommandQueueWithProperties);
        rules.without_list = true;
        return host_only ? properties_check(list, &rules, context->platform, NULL) : CL_INVALID_VALUE;
    }
    cl_int result = check_list(function, arguments, context->platform);
    const struct property_rules *rules = property_rules_of(function);
    return result == CL_SUCCESS ? check_together(properties_seen(argument_properties(function, arguments), rules))
                                : result;
}

/* --- buffers, images, samplers, pipes --- */

static cl_int check_in_context(enum function function, const uint64_t *arguments, const char *feature)
{
    const struct object *context = object_of_kind(arguments[0], HANDLE_cl_context);
    if (!context) {
        return CL_INVALID_CONTEXT;
    }
    if (feature && !platform_has_feature(context->platform, feature)) {
        return CL_INVALID_OPERATION;
    }
    return property_rules_of(function)->count ? check_list(function, arguments, context->platform) : CL_SUCCESS;
}

static bool more_than_one(cl_mem_flags bits)
{
    return (bits & (bits - 1)) != 0;
}

static cl_int check_flags(cl_mem_flags flags, uint64_t host_ptr)
{
    const cl_mem_flags known = (1 << 13) - 1;
    const cl_mem_flags from_host = CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR;
    bool uses = flags & CL_MEM_USE_HOST_PTR;
    if (flags & ~known || more_than_one(flags & (CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY)) ||
        more_than_one(flags & (CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS)) ||
        (uses && flags & (CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR))) {
        return CL_INVALID_VALUE;
    }
    return (host_ptr != 0) == ((flags & from_host) != 0) ? CL_SUCCESS : CL_INVALID_HOST_PTR;
}

static cl_int check_buffer(enum function function, const uint64_t *arguments)
{
    const uint64_t *own = arguments + (function == FUNCTION_clCreateBuffer ? 1 : 2); /* flags, size, host_ptr */
    cl_int result = check_in_context(function, arguments, NULL);
    if (result == CL_SUCCESS) {
        result = check_flags(own[0], own[2]);
    }
    return result == CL_SUCCESS && own[1] == 0 ? CL_INVALID_BUFFER_SIZE : result;
}

static cl_int check_pipe(const uint64_t *arguments)
{
    const cl_mem_flags allowed = CL_MEM_READ_WRITE | CL_MEM_HOST_NO_ACCESS;
    const uint64_t *list = argument_properties(FUNCTION_clCreatePipe, arguments);
    cl_int result = check_in_context(FUNCTION_clCreatePipe, arguments, "pipes");
    if (result == CL_INVALID_OPERATION) {
        result = (cl_int)fault_value(FAULT_pipe_unsupported_gives, ANY_PLATFORM, CL_INVALID_OPERATION);
    }
    if (result != CL_SUCCESS) {
        return result;
    }
    if (arguments[1] & ~allowed) {
        return CL_INVALID_VALUE;
    }
    if (list && !fault(list[0] == 0 ? FAULT_pipe_takes_empty_list : FAULT_pipe_takes_properties, ANY_PLATFORM)) {
        return CL_INVALID_VALUE;
    }
    cl_uint size = (cl_uint)arguments[2];
    return size == 0 || size > PIPE_PACKET_SIZE || (cl_uint)arguments[3] == 0 ? CL_INVALID_PIPE_SIZE : CL_SUCCESS;
}

cl_int creation_check(enum function function, const uint64_t *arguments)
{
    switch (function) {
    case FUNCTION_clCreateContext:
        return check_context(arguments);
    case FUNCTION_clCreateContextFromType:
        return check_context_from_type(arguments);
    case FUNCTION_clCreateCommandQueue:
    case FUNCTION_clCreateCommandQueueWithProperties:
    case FUNCTION_clCreateCommandQueueWithPropertiesKHR:
        return check_queue(function, arguments);
    case FUNCTION_clCreateBuffer:
    case FUNCTION_clCreateBufferWithProperties:
        return check_buffer(function, arguments);
    case FUNCTION_clCreateImage:
    case FUNCTION_clCreateImageWithProperties:
    case FUNCTION_clCreateSampler:
    case FUNCTION_clCreateSamplerWithProperties:
        return check_in_context(function, arguments, "images");
    case FUNCTION_clCreatePipe:
        return check_pipe(arguments);
    default:
        return CL_SUCCESS;
    }
}

/* --- what is kept for queries --- */

static void remember_devices(struct creation *creation, enum function function, const uint64_t *arguments)
{
    const uintptr_t *listed = (const uintptr_t *)(uintptr_t)arguments[2];
    int platform = function == FUNCTION_clCreateContext ? 0 : platform_of(arguments);
    size_t count =
        function == FUNCTION_clCreateContext ? (cl_uint)arguments[1] : (size_t)platform_device_count(platform);
    uint64_t *devices = arena_keep((count + 1) * sizeof *devices);
    creation->devices = devices;
    for (size_t i = 0; i < count; i++) {
        const struct object *device =
            function == FUNCTION_clCreateContext ? object_find(listed[i]) : platform_device(platform, (int)i);
        if (!device ||
            (function != FUNCTION_clCreateContext && !platform_device_matches(device, arguments[1], (int)i))) {
            continue;
        }
        uint64_t handle = (uint64_t)(uintptr_t)object_handle(device);
        bool known = false;
        for (size_t j = 0; j < creation->device_count; j++) {
            known = known || devices[j] == handle;
        }
        if (!known || fault(FAULT_context_counts_devices_twice, ANY_PLATFORM)) {
            devices[creation->device_count++] = handle;
        }
    }
}

void creation_remember(struct object *object, enum function function, const uint64_t *arguments)
{
    const uint64_t *list = argument_properties(function, arguments);
    struct creation *creation = arena_keep(sizeof *creation);
    creation->function = function;
    memcpy(creation->arguments, arguments, function_info[function].parameter_count * sizeof *arguments);
    if (list) {
        creation->property_count = properties_length(list, property_rules_of(function));
        creation->properties_seen = properties_seen(list, property_rules_of(function));
        uint64_t *copy = arena_keep(creation->property_count * sizeof *copy);
        memcpy(copy, list, creation->property_count * sizeof *copy);
        if (creation->properties_seen == list) {
            creation->properties_seen = copy;
        }
        creation->properties = fault(FAULT_properties_not_copied, ANY_PLATFORM) ? list : copy;
    }
    if (function == FUNCTION_clCreateContext || function == FUNCTION_clCreateContextFromType) {
        remember_devices(creation, function, arguments);
    }
    if (function == FUNCTION_clCreateCommandQueueWithProperties) {
        uint64_t bits =
            properties_value(creation->properties_seen, property_rules_of(function), CL_QUEUE_PROPERTIES, 0);
        object->is_on_device = bits & CL_QUEUE_ON_DEVICE;
        object_strip(object, object->is_on_device && fault(FAULT_device_queues_have_no_table, ANY_PLATFORM), false);
    }
    object->creation = creation;
}
