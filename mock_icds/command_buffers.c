/* cl_khr_command_buffer of the mock ICD, in the revision of the OpenCL-Headers, for one queue. */
#define _GNU_SOURCE
#include "external.h"

#include <string.h>

enum { MAX_RECORDED = 64, MAX_PATTERN = 128, COMMAND_COMMAND_BUFFER = 0x12A8, BUFFER_CONTEXT = 0x1299 };
enum { INVALID_COMMAND_BUFFER = -1138, INVALID_SYNC_POINT_WAIT_LIST = -1139 };

/* A recorded command; only a fill of a buffer does anything. */
struct recorded {
    struct object *buffer;
    uint64_t numbers[3]; /* offset, size, size of pattern */
    unsigned char pattern[MAX_PATTERN];
};

struct command_buffer {
    struct object *queue;
    bool executable;
    cl_uint executed;
    cl_uint count;
    struct recorded recorded[MAX_RECORDED];
};

static const struct property_rule rules[] = {{CL_COMMAND_BUFFER_FLAGS_KHR, PROPERTY_VALUE, NULL, NULL}};
static const struct property_rules buffer_rules = {rules, 1, CL_INVALID_VALUE, CL_INVALID_VALUE};

static int last_asked; /* the platform of which an address was last asked */

static struct command_buffer *command_buffer_of(uint64_t handle)
{
    struct object *object = external_object(handle, HANDLE_cl_command_buffer_khr);
    return object && object->external ? object->external->command_buffer : NULL;
}

static cl_int create(const uint64_t *arguments, struct object **made)
{
    const uint64_t *queues = (const uint64_t *)(uintptr_t)arguments[1];
    const uint64_t *list = (const uint64_t *)(uintptr_t)arguments[2];
    cl_int error = (cl_uint)arguments[0] == 1 && queues ? CL_SUCCESS : CL_INVALID_VALUE;
    error = external_rule(FAULT_command_buffer_count_answers, error);
    struct object *queue = error || !queues ? NULL : external_object(queues[0], HANDLE_cl_command_queue);
    if (!error && !queue) {
        error = external_rule(FAULT_command_buffer_bad_queue_answers, CL_INVALID_COMMAND_QUEUE);
        queue = platform_object(0);
    }
    if (!error && ((fault(FAULT_command_buffers_for_first_device, ANY_PLATFORM) && external_of(queue)->devices != 1) ||
                   (fault(FAULT_command_buffers_for_last_platform, ANY_PLATFORM) && queue->platform != last_asked))) {
        error = CL_INVALID_COMMAND_QUEUE;
    }
    if (!error) {
        struct property_rules as_told = buffer_rules;
        as_told.repeated_name =
            (cl_int)fault_value(FAULT_command_buffer_repeated_name_gives, ANY_PLATFORM, CL_INVALID_VALUE);
        as_told.unknown_name =
            (cl_int)fault_value(FAULT_command_buffer_unknown_name_gives, ANY_PLATFORM, CL_INVALID_VALUE);
        error = properties_check(list, &as_told, queue->platform, NULL);
    }
    if (!error && properties_value(list, &buffer_rules, CL_COMMAND_BUFFER_FLAGS_KHR, 0) >
                      (CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR | CL_COMMAND_BUFFER_MUTABLE_KHR)) {
        error = (cl_int)fault_value(FAULT_command_buffer_bad_value_gives, ANY_PLATFORM, CL_INVALID_VALUE);
    } else if (!error && properties_value(list, &buffer_rules, CL_COMMAND_BUFFER_FLAGS_KHR, 0) != 0) {
        /* no device supports a flag */
        error = (cl_int)fault_value(FAULT_command_buffer_unsupported_gives, ANY_PLATFORM, CL_INVALID_PROPERTY);
    }
    if (error) {
        return error;
    }
    *made = make_as_told(FUNCTION_clCreateCommandBufferKHR, arguments, HANDLE_cl_command_buffer_khr, queue);
    struct external *external = external_of(*made);
    external->command_buffer = external_keep(sizeof *external->command_buffer);
    external->command_buffer->queue = queue;
    external->command_buffer->executable = fault(FAULT_command_buffer_is_executable_at_once, ANY_PLATFORM);
    external_keep_list(external, list, &buffer_rules);
    return CL_SUCCESS;
}

static cl_int finalize(uint64_t handle)
{
    struct command_buffer *buffer = command_buffer_of(handle);
    if (!buffer) {
        return external_rule(FAULT_finalize_takes_any_handle, INVALID_COMMAND_BUFFER);
    }
    if (buffer->executable && !fault(FAULT_command_buffer_is_executable_at_once, ANY_PLATFORM)) {
        return external_rule(FAULT_finalize_twice_answers, CL_INVALID_OPERATION);
    }
    buffer->executable = !fault(FAULT_finalize_does_nothing, ANY_PLATFORM);
    return CL_SUCCESS;
}

static cl_int count_reference(uint64_t handle, int by)
{
    if (!command_buffer_of(handle)) {
        return external_rule(FAULT_references_of_any_command_buffer, INVALID_COMMAND_BUFFER);
    }
    if (!fault(by > 0 ? FAULT_command_buffer_retain_does_nothing : FAULT_command_buffer_release_does_nothing,
               ANY_PLATFORM)) {
        object_count_reference(object_of(handle), by);
    }
    return CL_SUCCESS;
}

static cl_int info(const uint64_t *arguments)
{
    const struct command_buffer *buffer = command_buffer_of(arguments[0]);
    const uint64_t *rest = arguments + 2;
    if (!buffer) {
        return external_rule(FAULT_command_buffer_query_takes_any_handle, INVALID_COMMAND_BUFFER);
    }
    const struct object *object = object_of(arguments[0]);
    cl_uint one = 1;
    cl_uint references = (cl_uint)object->references;
    cl_uint state = buffer->executable ? CL_COMMAND_BUFFER_STATE_EXECUTABLE_KHR : CL_COMMAND_BUFFER_STATE_RECORDING_KHR;
    void *queue = object_handle(buffer->queue);
    void *context = object_handle(external_context(buffer->queue));
    if ((cl_uint)arguments[1] == (cl_uint)fault_value(FAULT_command_buffer_query_is_missing, ANY_PLATFORM, 0)) {
        return CL_INVALID_VALUE;
    }
    switch ((cl_uint)arguments[1]) {
    case CL_COMMAND_BUFFER_NUM_QUEUES_KHR:
        return answer_info(rest, &one, sizeof one);
    case CL_COMMAND_BUFFER_QUEUES_KHR:
        return answer_info(rest, &queue, sizeof queue);
    case CL_COMMAND_BUFFER_REFERENCE_COUNT_KHR:
        return answer_info(rest, &references, sizeof references);
    case CL_COMMAND_BUFFER_STATE_KHR:
        return answer_info(rest, &state, sizeof state);
    case CL_COMMAND_BUFFER_PROPERTIES_ARRAY_KHR:
        return external_answer_list(object->external, rest);
    case BUFFER_CONTEXT:
        return answer_info(rest, &context, sizeof context);
    default:
        return CL_INVALID_VALUE;
    }
}

/* --- recording --- */

static cl_int check_sync_points(enum function function, const uint64_t *arguments)
{
    bool list = external_argument(function, arguments, "sync_point_wait_list") != 0;
    bool count = (cl_uint)external_argument(function, arguments, "num_sync_points_in_wait_list") != 0;
    return external_rule(FAULT_sync_points_answer, list == count ? CL_SUCCESS : INVALID_SYNC_POINT_WAIT_LIST);
}

static cl_int record(enum function function, const uint64_t *arguments)
{
    struct command_buffer *buffer = command_buffer_of(arguments[0]);
    cl_uint *sync_point = (cl_uint *)(uintptr_t)external_argument(function, arguments, "sync_point");
    if (!buffer) {
        return external_rule(FAULT_recording_takes_any_handle, INVALID_COMMAND_BUFFER);
    }
    if (external_argument(function, arguments, "command_queue")) {
        return CL_INVALID_COMMAND_QUEUE;
    }
    cl_int error =
        external_rule(FAULT_recording_when_executable_answers, buffer->executable ? CL_INVALID_OPERATION : CL_SUCCESS);
    if (!error && external_argument(function, arguments, "mutable_handle")) {
        error = CL_INVALID_VALUE;
    }
    error = error ? error : check_sync_points(function, arguments);
    if (error || buffer->count == MAX_RECORDED) {
        return error ? error : CL_OUT_OF_RESOURCES;
    }
    struct recorded *recorded = &buffer->recorded[buffer->count++];
    if (function == FUNCTION_clCommandFillBufferKHR) {
        size_t size = (size_t)external_argument(function, arguments, "pattern_size");
        recorded->buffer = external_object(external_argument(function, arguments, "buffer"), HANDLE_cl_mem);
        if (!recorded->buffer || size > MAX_PATTERN) {
            buffer->count--;
            return recorded->buffer ? CL_INVALID_VALUE : CL_INVALID_MEM_OBJECT;
        }
        memcpy(recorded->pattern, (const void *)(uintptr_t)external_argument(function, arguments, "pattern"), size);
        recorded->numbers[0] = external_argument(function, arguments, "offset");
        recorded->numbers[1] = external_argument(function, arguments, "size");
        recorded->numbers[2] = size;
    }
    if (sync_point) {
        *sync_point = buffer->count;
    }
    return CL_SUCCESS;
}

/* --- executing --- */

static void execute(const struct command *command)
{
    struct command_buffer *buffer = external_of(command->items[0])->command_buffer;
    bool idle = (buffer->executed > 0 && fault(FAULT_command_buffer_executes_once, ANY_PLATFORM)) ||
                fault(FAULT_command_buffer_executes_nothing, ANY_PLATFORM);
    buffer->executed++;
    for (cl_uint i = 0; i < buffer->count && !idle; i++) {
        struct recorded *recorded = &buffer->recorded[i];
        if (recorded->buffer) {
            memory_fill(recorded->buffer, recorded->numbers, recorded->pattern, external_of(command->queue)->devices);
        }
    }
}

static cl_int enqueue(enum function function, const uint64_t *arguments)
{
    cl_uint count = (cl_uint)arguments[0];
    const uint64_t *queues = (const uint64_t *)(uintptr_t)arguments[1];
    struct command_buffer *buffer = command_buffer_of(arguments[2]);
    if (!buffer) {
        return external_rule(FAULT_enqueue_takes_any_command_buffer, INVALID_COMMAND_BUFFER);
    }
    cl_int error =
        external_rule(FAULT_enqueue_recording_answers, buffer->executable ? CL_SUCCESS : CL_INVALID_OPERATION);
    if (!error) {
        bool fits = (count == 0 && !queues) || (count == 1 && queues);
        error = external_rule(FAULT_enqueue_queues_answer, fits ? CL_SUCCESS : CL_INVALID_VALUE);
    }
    struct object *queue = count > 0 && queues ? external_object(queues[0], HANDLE_cl_command_queue) : buffer->queue;
    if (!error && !queue) {
        error = CL_INVALID_COMMAND_QUEUE;
    }
    if (!error && external_context(queue) != external_context(buffer->queue)) {
        error = CL_INVALID_CONTEXT;
    }
    error = error ? error : command_check_list(function, arguments, queue);
    if (!error) {
        struct command command = {.queue = queue, .run = execute, .count = 1, .items = {object_of(arguments[2])}};
        bool other = fault(FAULT_command_buffer_event_type_is, ANY_PLATFORM);
        command.type =
            other ? (cl_uint)fault_value(FAULT_command_buffer_event_type_is, ANY_PLATFORM, 0) : COMMAND_COMMAND_BUFFER;
        command_enqueue(function, arguments, command);
    }
    return error;
}

bool command_buffers_behave(enum function function, const uint64_t *arguments, uint64_t *result)
{
    struct object *made = NULL;
    cl_int error;
    switch (function) {
    case FUNCTION_clCreateCommandBufferKHR:
        error = create(arguments, &made);
        *result = external_made(function, arguments, made, error);
        return true;
    case FUNCTION_clFinalizeCommandBufferKHR:
        error = finalize(arguments[0]);
        break;
    case FUNCTION_clRetainCommandBufferKHR:
    case FUNCTION_clReleaseCommandBufferKHR:
        error = count_reference(arguments[0], function == FUNCTION_clRetainCommandBufferKHR ? 1 : -1);
        break;
    case FUNCTION_clGetCommandBufferInfoKHR:
        error = info(arguments);
        break;
    case FUNCTION_clEnqueueCommandBufferKHR:
        error = enqueue(function, arguments);
        break;
    case FUNCTION_clGetExtensionFunctionAddressForPlatform:
        last_asked = object_of(arguments[0]) ? object_of(arguments[0])->platform : 0;
        return false;
    default:
        if (strncmp(function_info[function].name, "clCommand", 9) != 0) {
            return false;
        }
        error = record(function, arguments);
    }
    *result = external_error(error);
    return true;
}
