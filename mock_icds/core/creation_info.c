/* SPDX-License-Identifier: Apache-2.0 */
/* Queries that follow from how an object was made, and from what devices can do. */
#include "core/creation_info.h"

#include "base/arguments.h"
#include "base/config.h"
#include "base/platforms.h"
#include "calls.h"
#include "core/creation.h"
#include "core/partition.h"
#include "core/property_rules.h"

#include <string.h>

#ifndef CL_QUEUE_PROPERTIES_ARRAY
#define CL_QUEUE_PROPERTIES_ARRAY 0x1098
#endif
#ifndef CL_DEVICE_TERMINATE_CAPABILITY_CONTEXT_KHR
#define CL_DEVICE_TERMINATE_CAPABILITY_CONTEXT_KHR (1 << 0)
#endif

/* --- property lists --- */

static int by_name_downwards(const uint64_t *one, const uint64_t *other)
{
    return one[0] < other[0];
}

static void sort_downwards(uint64_t *list, size_t count)
{
    for (size_t i = 0; i + 2 < count; i += 2) {
        for (size_t j = i + 2; j + 2 < count; j += 2) {
            if (by_name_downwards(list + i, list + j)) {
                uint64_t pair[2];
                memcpy(pair, list + i, sizeof pair);
                memcpy(list + i, list + j, sizeof pair);
                memcpy(list + j, pair, sizeof pair);
            }
        }
    }
}

static bool takes_list(enum function function)
{
    const struct function_info *about = &function_info[function];
    for (unsigned i = 0; i < about->parameter_count; i++) {
        if (about->parameters[i].kind == PARAMETER_PROPERTIES) {
            return true;
        }
    }
    return false;
}

static cl_int answer_property_list(const struct object *object, const uint64_t *rest)
{
    const struct creation *creation = object->creation;
    uint64_t words[64 + 2] = {0};
    size_t count = 0;
    if (creation->function == FUNCTION_clCreateSubBuffer && fault(FAULT_properties_query_inherits, ANY_PLATFORM)) {
        creation = object->parent->creation;
    }
    if (creation && creation->properties && !fault(FAULT_properties_query_forgets, ANY_PLATFORM)) {
        count = creation->property_count < 64 ? creation->property_count : 64;
        memcpy(words, creation->properties, count * sizeof *words);
    } else if (fault(takes_list(object->creation->function) ? FAULT_properties_query_null_is_empty
                                                            : FAULT_properties_query_of_older_functions,
                     ANY_PLATFORM)) {
        count = 1;
    }
    if (count == 1 && fault(FAULT_properties_query_empty_is_null, ANY_PLATFORM)) {
        count = 0;
    }
    if (count > 1 && fault(FAULT_properties_query_appends, ANY_PLATFORM)) {
        words[count - 1] = 0x1080;
        count += 2;
    }
    if (count > 0 && fault(FAULT_properties_query_without_end, ANY_PLATFORM)) {
        count--;
    }
    if (fault(FAULT_properties_query_sorts, ANY_PLATFORM)) {
        sort_downwards(words, count);
    }
    return answer_info(rest, words,
                       fault(FAULT_properties_query_counts_elements, ANY_PLATFORM) ? count : count * sizeof *words);
}

/* --- objects --- */

static cl_int answer_uint(const uint64_t *rest, uint64_t value)
{
    cl_uint narrow = (cl_uint)value;
    return answer_info(rest, &narrow, sizeof narrow);
}

static cl_int answer_ulong(const uint64_t *rest, uint64_t value)
{
    return answer_info(rest, &value, sizeof value);
}

/* The devices of a context; by a fault, those that sub-devices are parts of. */
static cl_int answer_devices(const struct creation *creation, const uint64_t *rest)
{
    enum { MOST = 64 };
    uint64_t devices[MOST];
    cl_uint count = creation->device_count < MOST ? creation->device_count : MOST;
    for (cl_uint i = 0; i < count; i++) {
        const struct object *device = object_find(creation->devices[i]);
        bool part = device && device->parent->kind == HANDLE_cl_device_id;
        bool whole = part && fault(FAULT_contexts_name_whole_devices, ANY_PLATFORM);
        devices[i] = whole ? (uint64_t)(uintptr_t)object_handle(device->parent) : creation->devices[i];
    }
    return answer_info(rest, devices, count * sizeof *devices);
}

static bool context_info(const struct object *context, cl_uint query, const uint64_t *rest, cl_int *result)
{
    switch (query) {
    case CL_CONTEXT_NUM_DEVICES:
        *result =
            answer_uint(rest, context->creation->device_count + fault(FAULT_contexts_count_one_more, ANY_PLATFORM));
        return true;
    case CL_CONTEXT_DEVICES:
        *result = answer_devices(context->creation, rest);
        return true;
    case CL_CONTEXT_PROPERTIES:
        *result = answer_property_list(context, rest);
        return true;
    default:
        return false;
    }
}

static uint64_t device_of_queue(const struct creation *creation)
{
    const struct object *device = object_find(creation->arguments[1]);
    const struct object *context = object_find(creation->arguments[0]);
    if (context && context->creation && context->creation->device_count &&
        fault(FAULT_queues_name_the_first_device, ANY_PLATFORM)) {
        return context->creation->devices[0];
    }
    bool part = device && device->parent->kind == HANDLE_cl_device_id;
    return part && fault(FAULT_queues_name_the_root_device, ANY_PLATFORM)
               ? (uint64_t)(uintptr_t)object_handle(device->parent)
               : creation->arguments[1];
}

static bool queue_info(const struct object *queue, cl_uint query, const uint64_t *rest, cl_int *result)
{
    const struct creation *creation = queue->creation;
    const struct property_rules *rules = property_rules_of(FUNCTION_clCreateCommandQueueWithProperties);
    bool older = creation->function == FUNCTION_clCreateCommandQueue;
    switch (query) {
    case CL_QUEUE_DEVICE:
        *result = answer_ulong(rest, device_of_queue(creation));
        return true;
    case CL_QUEUE_PROPERTIES: {
        uint64_t bits =
            older ? creation->arguments[2] : properties_value(creation->properties_seen, rules, CL_QUEUE_PROPERTIES, 0);
        if (fault(FAULT_queue_forgets_order, ANY_PLATFORM)) {
            bits &= ~(uint64_t)CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
        }
        *result = answer_ulong(rest, fault(FAULT_queue_forgets_bits, ANY_PLATFORM) ? 0 : bits);
        return true;
    }
    case CL_QUEUE_SIZE:
        *result =
            answer_uint(rest, properties_value(creation->properties_seen, rules, CL_QUEUE_SIZE, DEVICE_QUEUE_SIZE));
        if ((older ||
             !(properties_value(creation->properties_seen, rules, CL_QUEUE_PROPERTIES, 0) & CL_QUEUE_ON_DEVICE)) &&
            !fault(FAULT_queues_of_the_host_have_a_size, ANY_PLATFORM)) {
            *result = CL_INVALID_COMMAND_QUEUE;
        }
        return true;
    case CL_QUEUE_DEVICE_DEFAULT:
        *result = answer_ulong(rest, 0);
        return !(properties_value(creation->properties_seen, rules, CL_QUEUE_PROPERTIES, 0) & CL_QUEUE_ON_DEVICE) &&
               !fault(FAULT_default_queue_is_of_the_host, ANY_PLATFORM);
    case CL_QUEUE_PROPERTIES_ARRAY:
        *result = answer_property_list(queue, rest);
        return true;
    default:
        return false;
    }
}

static bool sampler_info(const struct object *sampler, cl_uint query, const uint64_t *rest, cl_int *result)
{
    const struct creation *creation = sampler->creation;
    const uint64_t older[] = {CL_SAMPLER_NORMALIZED_COORDS,
                              creation->arguments[1],
                              CL_SAMPLER_ADDRESSING_MODE,
                              creation->arguments[2],
                              CL_SAMPLER_FILTER_MODE,
                              creation->arguments[3],
                              0};
    const uint64_t *list = creation->function == FUNCTION_clCreateSampler ? older : creation->properties_seen;
    uint64_t otherwise;
    switch (query) {
    case CL_SAMPLER_NORMALIZED_COORDS:
        otherwise = fault(FAULT_sampler_not_normalized, ANY_PLATFORM) ? CL_FALSE : CL_TRUE;
        break;
    case CL_SAMPLER_ADDRESSING_MODE:
        otherwise = fault(FAULT_sampler_address_none, ANY_PLATFORM) ? CL_ADDRESS_NONE : CL_ADDRESS_CLAMP;
        break;
    case CL_SAMPLER_FILTER_MODE:
        if (fault(FAULT_samplers_have_no_filter, ANY_PLATFORM)) {
            *result = answer_uint(rest, CL_FILTER_NEAREST);
            return true;
        }
        otherwise = fault(FAULT_sampler_filter_linear, ANY_PLATFORM) ? CL_FILTER_LINEAR : CL_FILTER_NEAREST;
        break;
    case CL_SAMPLER_PROPERTIES:
        *result = answer_property_list(sampler, rest);
        return true;
    default:
        return false;
    }
    *result = answer_uint(
        rest, properties_value(list, property_rules_of(FUNCTION_clCreateSamplerWithProperties), query, otherwise));
    return true;
}

static bool is_with_properties(enum function function)
{
    return function == FUNCTION_clCreateBufferWithProperties || function == FUNCTION_clCreateImageWithProperties;
}

static bool memory_info(const struct object *memory, cl_uint query, const uint64_t *rest, cl_int *result)
{
    const struct creation *creation = memory->creation;
    bool with = is_with_properties(creation->function);
    bool buffer =
        creation->function == FUNCTION_clCreateBuffer || creation->function == FUNCTION_clCreateBufferWithProperties;
    bool pipe = creation->function == FUNCTION_clCreatePipe;
    switch (query) {
    case CL_MEM_PROPERTIES:
    case CL_PIPE_PROPERTIES:
        *result = (query == CL_PIPE_PROPERTIES) == pipe ? answer_property_list(memory, rest) : CL_INVALID_VALUE;
        return true;
    case CL_MEM_FLAGS: {
        uint64_t flags = creation->arguments[with ? 2 : 1];
        bool changed = with && fault(FAULT_memory_properties_change_flags, ANY_PLATFORM);
        *result = answer_ulong(rest, changed ? flags ^ CL_MEM_HOST_NO_ACCESS : flags);
        return true;
    }
    case CL_MEM_SIZE:
        *result = answer_ulong(rest, buffer ? creation->arguments[with ? 3 : 2] : 0);
        return buffer;
    case CL_MEM_TYPE:
        *result = answer_uint(rest, pipe ? CL_MEM_OBJECT_PIPE : CL_MEM_OBJECT_BUFFER);
        return buffer || pipe || creation->function == FUNCTION_clCreateSubBuffer;
    case CL_PIPE_PACKET_SIZE:
    case CL_PIPE_MAX_PACKETS:
        *result = answer_uint(rest, creation->arguments[query == CL_PIPE_PACKET_SIZE ? 2 : 3]);
        return pipe;
    default:
        return false;
    }
}

bool creation_info_object(struct object *object, cl_uint query, const uint64_t *rest, cl_int *result)
{
    switch (object->creation ? object->kind : HANDLE_none) {
    case HANDLE_cl_context:
        return context_info(object, query, rest, result);
    case HANDLE_cl_command_queue:
        return queue_info(object, query, rest, result);
    case HANDLE_cl_sampler:
        return sampler_info(object, query, rest, result);
    case HANDLE_cl_mem:
        return memory_info(object, query, rest, result);
    default:
        return false;
    }
}

/* --- devices --- */

/* Those of the platform; of sharing with OpenGL and EGL only where the device does. */
static cl_int answer_extensions(const struct object *device, const uint64_t *rest)
{
    char text[2048] = "";
    const char *at = config.platform[device->platform].extensions;
    size_t length = 0;
    while (*(at += strspn(at, " "))) {
        size_t word = strcspn(at, " ");
        bool shared = strncmp(at, "cl_khr_gl_", 10) == 0 || strncmp(at, "cl_khr_egl_", 11) == 0;
        if ((!shared || platform_device_shares_gl(device)) &&
            length + word + CL_NAME_VERSION_MAX_NAME_SIZE < sizeof text) {
            memcpy(text + length, at, word);
            length += word;
            text[length++] = ' ';
        }
        at += word;
    }
    text[length > 0 ? length - 1 : 0] = '\0';
    return answer_info(rest, text, strlen(text) + 1);
}

static bool partition_info(const struct object *device, cl_uint query, const uint64_t *rest, cl_int *result)
{
    static const uint64_t schemes[] = {CL_DEVICE_PARTITION_EQUALLY, CL_DEVICE_PARTITION_BY_COUNTS, 0};
    cl_uint units = partition_units(device);
    bool divisible = units > 1;
    switch (query) {
    case CL_DEVICE_MAX_COMPUTE_UNITS:
        *result = answer_uint(rest, units);
        return true;
    case CL_DEVICE_PARTITION_MAX_SUB_DEVICES:
        *result = answer_uint(rest, (divisible ? units : 0) + fault(FAULT_parts_exceed_units, ANY_PLATFORM));
        return true;
    case CL_DEVICE_PARTITION_PROPERTIES:
        *result = divisible ? answer_info(rest, schemes, 2 * sizeof *schemes) : answer_ulong(rest, 0);
        return true;
    case CL_DEVICE_PARTITION_AFFINITY_DOMAIN:
        *result = answer_ulong(rest, 0);
        return true;
    case CL_DEVICE_PARTITION_TYPE:
        *result = device->creation ? answer_property_list(device, rest) : answer_info(rest, schemes, 0);
        return true;
    case CL_DEVICE_REFERENCE_COUNT:
        *result = answer_uint(
            rest, fault(FAULT_sub_devices_are_not_counted, ANY_PLATFORM) ? 1 : (uint64_t)device->references);
        return true;
    default:
        return false;
    }
}

bool creation_info_device(struct object *device, cl_uint query, const uint64_t *rest, cl_int *result)
{
    int platform = device->platform;
    bool queues = platform_has_feature(platform, "device_queues");
    bool pipes = platform_has_feature(platform, "pipes");
    bool lacks = fault(FAULT_devices_lack_profiling, ANY_PLATFORM);
    cl_command_queue_properties out_of_order =
        platform_has_feature(platform, "out_of_order") ? CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE : 0;
    switch (query) {
    case CL_DEVICE_EXTENSIONS:
        *result = answer_extensions(device, rest);
        return true;
    case CL_DEVICE_IMAGE_SUPPORT:
        *result = answer_uint(rest, platform_has_feature(platform, "images"));
        return true;
    case CL_DEVICE_COMPILER_AVAILABLE:
    case CL_DEVICE_LINKER_AVAILABLE:
        lacks = query == CL_DEVICE_LINKER_AVAILABLE && fault(FAULT_devices_have_no_linker, ANY_PLATFORM);
        *result = answer_uint(rest, platform_has_feature(platform, "compiler") && !lacks);
        return true;
    case CL_DEVICE_TERMINATE_CAPABILITY_KHR:
        *result = answer_ulong(
            rest, platform_has_feature(platform, "terminate") ? CL_DEVICE_TERMINATE_CAPABILITY_CONTEXT_KHR : 0);
        return platform_has_extension(platform, "cl_khr_terminate_context");
    case CL_DEVICE_QUEUE_ON_HOST_PROPERTIES:
        *result = answer_ulong(rest, out_of_order | (lacks ? 0 : CL_QUEUE_PROFILING_ENABLE));
        return true;
    case CL_DEVICE_QUEUE_ON_DEVICE_PROPERTIES:
        *result = answer_ulong(rest, queues ? CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE : 0);
        return true;
    case CL_DEVICE_QUEUE_ON_DEVICE_MAX_SIZE:
    case CL_DEVICE_QUEUE_ON_DEVICE_PREFERRED_SIZE:
        *result = answer_uint(rest, queues ? DEVICE_QUEUE_SIZE : 0);
        return true;
    case CL_DEVICE_DEVICE_ENQUEUE_CAPABILITIES:
        *result = answer_ulong(rest, queues ? CL_DEVICE_QUEUE_SUPPORTED | CL_DEVICE_QUEUE_REPLACEABLE_DEFAULT : 0);
        return true;
    case CL_DEVICE_GENERIC_ADDRESS_SPACE_SUPPORT:
        *result = answer_uint(rest, queues || pipes);
        return true;
    case CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE:
        *result = answer_ulong(rest, queues ? 64 << 10 : 0);
        return true;
    case CL_DEVICE_MAX_ON_DEVICE_QUEUES:
        *result = answer_uint(rest, queues);
        return true;
    case CL_DEVICE_MAX_ON_DEVICE_EVENTS:
        *result = answer_uint(rest, queues ? 1024 : 0);
        return true;
    case CL_DEVICE_MAX_PIPE_ARGS:
        *result = answer_uint(rest, pipes ? 16 : 0);
        return true;
    case CL_DEVICE_PIPE_MAX_ACTIVE_RESERVATIONS:
    case CL_DEVICE_PIPE_SUPPORT:
        *result = answer_uint(rest, pipes);
        return true;
    case CL_DEVICE_PIPE_MAX_PACKET_SIZE:
        *result = answer_uint(rest, pipes ? PIPE_PACKET_SIZE : 0);
        return true;
    default:
        return partition_info(device, query, rest, result);
    }
}
