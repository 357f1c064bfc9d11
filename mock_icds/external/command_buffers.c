/* SPDX-License-Identifier: Apache-2.0 */
/* cl_khr_command_buffer of the mock ICD, in the revision of the OpenCL-Headers, for one queue. */
#include "external/command_buffers.h"

#include "base/arena.h"
#include "base/arguments.h"
#include "base/config.h"
#include "base/errors.h"
#include "base/platforms.h"
#include "calls.h"
#include "core/launches.h"
#include "core/usual.h"
#include "core/validity.h"
#include "execution/transfers.h"
#include "external/attachments.h"
#include "external/commands.h"
#include "external/memory.h"

#include <string.h>

enum { MAX_RECORDED = 64, MAX_PATTERN = 128, COMMAND_COMMAND_BUFFER = 0x12A8, BUFFER_CONTEXT = 0x1299 };
enum { INVALID_COMMAND_BUFFER = -1138, INVALID_SYNC_POINT_WAIT_LIST = -1139 };

/* A recorded command: a fill of a buffer, what another one moves, or the kernel that it runs. */
struct recorded {
    struct object *buffer;
    uint64_t numbers[3]; /* offset, size, size of pattern */
    unsigned char pattern[MAX_PATTERN];
    bool moves;
    struct transfer transfer;
    struct launch *launch;
};

struct command_buffer {
    struct object *queue;
    bool executable;
    cl_uint executed;
    cl_uint count;
    struct recorded recorded[MAX_RECORDED];
};

static const struct property_rule flags[] = {{CL_COMMAND_BUFFER_FLAGS_KHR, PROPERTY_VALUE, NULL, NULL}};
static const struct property_rules buffer_rules = {flags, 1, CL_INVALID_VALUE, CL_INVALID_VALUE, false};

static int last_queried; /* of which platform an address was last queried */

static struct command_buffer *command_buffer_of(uint64_t handle)
{
    struct object *object = object_live(handle, HANDLE_cl_command_buffer_khr);
    return object && object->external ? object->external->command_buffer : NULL;
}

static cl_int create(const uint64_t *arguments, struct object **object)
{
    const uintptr_t *queues = (const uintptr_t *)(uintptr_t)arguments[1];
    const uint64_t *list = (const uint64_t *)(uintptr_t)arguments[2];
    cl_int error = (cl_uint)arguments[0] == 1 && queues ? CL_SUCCESS : CL_INVALID_VALUE;
    error = error_unless_fault(FAULT_command_buffer_count_answers, error);
    struct object *queue = error || !queues ? NULL : object_live(queues[0], HANDLE_cl_command_queue);
    if (!error && !queue) {
        error = error_unless_fault(FAULT_command_buffer_bad_queue_answers, CL_INVALID_COMMAND_QUEUE);
        queue = platform_object(0);
    }
    if (!error &&
        ((fault(FAULT_command_buffers_for_first_device, ANY_PLATFORM) && attachment_of(queue)->devices != 1) ||
         (fault(FAULT_command_buffers_for_last_platform, ANY_PLATFORM) && queue->platform != last_queried))) {
        error = CL_INVALID_COMMAND_QUEUE;
    }
    if (!error) {
        struct property_rules rules = buffer_rules;
        rules.repeated_name =
            (cl_int)fault_value(FAULT_command_buffer_repeated_name_gives, ANY_PLATFORM, CL_INVALID_VALUE);
        rules.unknown_name =
            (cl_int)fault_value(FAULT_command_buffer_unknown_name_gives, ANY_PLATFORM, CL_INVALID_VALUE);
        error = properties_check(list, &rules, queue->platform, NULL);
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
    *object = usual_object(FUNCTION_clCreateCommandBufferKHR, arguments, HANDLE_cl_command_buffer_khr, queue);
    struct attachment *attachment = attachment_of(*object);
    attachment->command_buffer = arena_keep(sizeof *attachment->command_buffer);
    attachment->command_buffer->queue = queue;
    attachment->command_buffer->executable = fault(FAULT_command_buffer_is_executable_at_once, ANY_PLATFORM);
    attachment_keep_list(attachment, list, &buffer_rules);
    return CL_SUCCESS;
}

static cl_int finalize(uint64_t handle)
{
    struct command_buffer *buffer = command_buffer_of(handle);
    if (!buffer) {
        return error_unless_fault(FAULT_finalize_takes_any_handle, INVALID_COMMAND_BUFFER);
    }
    if (buffer->executable && !fault(FAULT_command_buffer_is_executable_at_once, ANY_PLATFORM)) {
        return error_unless_fault(FAULT_finalize_twice_answers, CL_INVALID_OPERATION);
    }
    buffer->executable = !fault(FAULT_finalize_does_nothing, ANY_PLATFORM);
    return CL_SUCCESS;
}

static cl_int count_reference(uint64_t handle, int by)
{
    if (!command_buffer_of(handle)) {
        return error_unless_fault(FAULT_references_of_any_command_buffer, INVALID_COMMAND_BUFFER);
    }
    if (!fault(by > 0 ? FAULT_command_buffer_retain_does_nothing : FAULT_command_buffer_release_does_nothing,
               ANY_PLATFORM)) {
        object_count_reference(object_find(handle), by);
    }
    return CL_SUCCESS;
}

static cl_int info(const uint64_t *arguments)
{
    const struct command_buffer *buffer = command_buffer_of(arguments[0]);
    const uint64_t *rest = arguments + 2;
    if (!buffer) {
        return error_unless_fault(FAULT_command_buffer_query_takes_any_handle, INVALID_COMMAND_BUFFER);
    }
    const struct object *object = object_find(arguments[0]);
    cl_uint one = 1;
    cl_uint references = (cl_uint)object->references;
    cl_uint state = buffer->executable ? CL_COMMAND_BUFFER_STATE_EXECUTABLE_KHR : CL_COMMAND_BUFFER_STATE_RECORDING_KHR;
    void *queue = object_handle(buffer->queue);
    void *context = object_handle(object_context(buffer->queue));
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
        return attachment_answer_list(object->external, rest);
    case BUFFER_CONTEXT:
        return answer_info(rest, &context, sizeof context);
    default:
        return error_unless_fault(FAULT_command_buffer_unknown_query_answers, CL_INVALID_VALUE);
    }
}

/* --- recording --- */

static cl_int check_sync_points(const struct command_buffer *buffer, enum function function, const uint64_t *arguments)
{
    const cl_uint *list = (const cl_uint *)(uintptr_t)argument_named(function, arguments, "sync_point_wait_list");
    cl_uint count = (cl_uint)argument_named(function, arguments, "num_sync_points_in_wait_list");
    if ((list != NULL) != (count > 0)) {
        return error_unless_fault(FAULT_sync_points_answer, INVALID_SYNC_POINT_WAIT_LIST);
    }
    for (cl_uint i = 0; i < count; i++) {
        if (list[i] == 0 || list[i] > buffer->count) {
            return error_unless_fault(FAULT_sync_points_are_of_anybody, INVALID_SYNC_POINT_WAIT_LIST);
        }
    }
    return CL_SUCCESS;
}

/* Commands of queues that are like recorded ones. */
static const struct {
    enum function recorded;
    enum function like;
} commands[] = {
    {FUNCTION_clCommandCopyBufferKHR, FUNCTION_clEnqueueCopyBuffer},
    {FUNCTION_clCommandCopyBufferRectKHR, FUNCTION_clEnqueueCopyBufferRect},
    {FUNCTION_clCommandCopyBufferToImageKHR, FUNCTION_clEnqueueCopyBufferToImage},
    {FUNCTION_clCommandCopyImageKHR, FUNCTION_clEnqueueCopyImage},
    {FUNCTION_clCommandCopyImageToBufferKHR, FUNCTION_clEnqueueCopyImageToBuffer},
    {FUNCTION_clCommandFillBufferKHR, FUNCTION_clEnqueueFillBuffer},
    {FUNCTION_clCommandFillImageKHR, FUNCTION_clEnqueueFillImage},
    {FUNCTION_clCommandNDRangeKernelKHR, FUNCTION_clEnqueueNDRangeKernel},
};

/* The arguments of the queue's command that is like the recorded one: the same from the first object on. */
static bool translate(const struct command_buffer *buffer, enum function function, const uint64_t *arguments,
                      enum function *like, uint64_t *translated)
{
    const struct function_info *about = &function_info[function];
    unsigned first = 2; /* or 3, where headers have properties after the queue */
    while (first < about->parameter_count && about->parameters[first].kind != PARAMETER_HANDLE) {
        first++;
    }
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (commands[i].recorded == function) {
            enum { WAITING = 3 }; /* the parameters of a wait list and an event, which are last */
            unsigned count = function_info[commands[i].like].parameter_count;
            *like = commands[i].like;
            memset(translated, 0, sizeof(uint64_t) * MAX_PARAMETERS);
            translated[0] = (uint64_t)(uintptr_t)object_handle(buffer->queue);
            memcpy(translated + 1, arguments + first, (count - 1 - WAITING) * sizeof *translated);
            return true;
        }
    }
    return false;
}

/* What a queue's command does that is like the recorded one. */
static void plan(struct recorded *recorded, enum function like, uint64_t *translated)
{
    if (like == FUNCTION_clEnqueueNDRangeKernel) {
        if (fault(FAULT_recorded_kernels_have_no_offset, ANY_PLATFORM)) {
            translated[3] = 0;
        }
        bool runs = !fault(FAULT_recorded_kernels_do_not_run, ANY_PLATFORM);
        recorded->launch = runs ? launches_keep(like, translated) : NULL;
    } else if (like != FUNCTION_clEnqueueFillBuffer && !fault(FAULT_only_fills_are_recorded, ANY_PLATFORM)) {
        recorded->moves = transfers_plan(like, translated, &recorded->transfer);
    }
}

static cl_int record(enum function function, const uint64_t *arguments)
{
    struct command_buffer *buffer = command_buffer_of(arguments[0]);
    cl_uint *sync_point = (cl_uint *)(uintptr_t)argument_named(function, arguments, "sync_point");
    if (!buffer) {
        return error_unless_fault(FAULT_recording_takes_any_handle, INVALID_COMMAND_BUFFER);
    }
    if (argument_named(function, arguments, "command_queue") && !fault(FAULT_queues_are_recorded, ANY_PLATFORM)) {
        return CL_INVALID_COMMAND_QUEUE;
    }
    int error = error_unless_fault(FAULT_recording_when_executable_answers,
                                   buffer->executable ? CL_INVALID_OPERATION : CL_SUCCESS);
    if (!error && argument_named(function, arguments, "mutable_handle")) {
        error = error_unless_fault(FAULT_handles_of_commands_are_taken, CL_INVALID_VALUE);
    }
    error = error ? error : check_sync_points(buffer, function, arguments);
    uint64_t translated[MAX_PARAMETERS];
    enum function like = function;
    bool known = translate(buffer, function, arguments, &like, translated);
    if (!error && known && config.refuses && !fault(FAULT_anything_is_recorded, ANY_PLATFORM)) {
        validity_is_improper(like, translated, &error);
    }
    if (error || buffer->count == MAX_RECORDED) {
        return error ? error : CL_OUT_OF_RESOURCES;
    }
    struct recorded *recorded = &buffer->recorded[buffer->count++];
    if (known) {
        plan(recorded, like, translated);
    }
    if (function == FUNCTION_clCommandFillBufferKHR) {
        size_t size = (size_t)argument_named(function, arguments, "pattern_size");
        recorded->buffer = object_live(argument_named(function, arguments, "buffer"), HANDLE_cl_mem);
        if (!recorded->buffer || size > MAX_PATTERN) {
            buffer->count--;
            return recorded->buffer ? CL_INVALID_VALUE : CL_INVALID_MEM_OBJECT;
        }
        memcpy(recorded->pattern, (const void *)(uintptr_t)argument_named(function, arguments, "pattern"), size);
        bool start = fault(FAULT_recorded_fills_begin_at_0, ANY_PLATFORM);
        recorded->numbers[0] = start ? 0 : argument_named(function, arguments, "offset");
        recorded->numbers[1] = argument_named(function, arguments, "size");
        recorded->numbers[2] = size;
    }
    if (sync_point && !fault(FAULT_sync_points_are_not_written, ANY_PLATFORM)) {
        *sync_point = buffer->count;
    }
    return CL_SUCCESS;
}

/* --- executing --- */

static void execute(const struct command *command)
{
    struct command_buffer *buffer = attachment_of(command->items[0])->command_buffer;
    bool idle = (buffer->executed > 0 && fault(FAULT_command_buffer_executes_once, ANY_PLATFORM)) ||
                fault(FAULT_command_buffer_executes_nothing, ANY_PLATFORM);
    buffer->executed++;
    for (cl_uint i = 0; i < buffer->count && !idle; i++) {
        struct recorded *recorded = &buffer->recorded[i];
        if (recorded->buffer) {
            memory_fill(recorded->buffer, recorded->numbers, recorded->pattern, attachment_of(command->queue)->devices);
        }
        if (recorded->moves) {
            transfers_run(&recorded->transfer);
        }
        if (recorded->launch) {
            launches_run(recorded->launch);
        }
    }
}

static cl_int enqueue(enum function function, const uint64_t *arguments)
{
    cl_uint count = (cl_uint)arguments[0];
    const uintptr_t *queues = (const uintptr_t *)(uintptr_t)arguments[1];
    struct command_buffer *buffer = command_buffer_of(arguments[2]);
    if (!buffer) {
        return error_unless_fault(FAULT_enqueue_takes_any_command_buffer, INVALID_COMMAND_BUFFER);
    }
    cl_int error =
        error_unless_fault(FAULT_enqueue_recording_answers, buffer->executable ? CL_SUCCESS : CL_INVALID_OPERATION);
    if (!error) {
        bool fits = (count == 0 && !queues) || (count == 1 && queues);
        error = error_unless_fault(FAULT_enqueue_queues_answer, fits ? CL_SUCCESS : CL_INVALID_VALUE);
    }
    struct object *queue = count > 0 && queues ? object_live(queues[0], HANDLE_cl_command_queue) : buffer->queue;
    if (!error && !queue) {
        error = CL_INVALID_COMMAND_QUEUE;
    }
    if (!error && object_context(queue) != object_context(buffer->queue)) {
        error = CL_INVALID_CONTEXT;
    }
    error = error ? error : commands_check_wait_list(function, arguments, queue);
    if (!error) {
        struct command command = {.queue = queue, .run = execute, .count = 1, .items = {object_find(arguments[2])}};
        bool other = fault(FAULT_command_buffer_event_type_is, ANY_PLATFORM);
        command.type =
            other ? (cl_uint)fault_value(FAULT_command_buffer_event_type_is, ANY_PLATFORM, 0) : COMMAND_COMMAND_BUFFER;
        commands_enqueue(function, arguments, command);
    }
    return error;
}

bool command_buffers_handle(enum function function, const uint64_t *arguments, uint64_t *result)
{
    struct object *object = NULL;
    cl_int error;
    switch (function) {
    case FUNCTION_clCreateCommandBufferKHR:
        error = create(arguments, &object);
        *result = error_or_handle(function, arguments, object, error);
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
        last_queried = object_find(arguments[0]) ? object_find(arguments[0])->platform : 0;
        return false;
    default:
        if (!argument_function_begins(function, "clCommand")) {
            return false;
        }
        error = record(function, arguments);
    }
    *result = error_result(error);
    return true;
}
