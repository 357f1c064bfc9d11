/* SPDX-License-Identifier: Apache-2.0 */
/* Commands of the mock ICD that wait: for events, for what is before them in their queue, for semaphores. */
#include "external/commands.h"

#include "base/arguments.h"
#include "base/config.h"
#include "base/errors.h"
#include "base/lock.h"
#include "calls.h"
#include "core/core.h"
#include "core/events.h"
#include "core/usual.h"
#include "external/attachments.h"

enum { MAX_COMMANDS = 512 };

static struct command commands[MAX_COMMANDS]; /* in the order in which they were enqueued */
static size_t command_count;

/* --- wait lists --- */

static cl_uint wait_list(enum function function, const uint64_t *arguments, const uintptr_t **list)
{
    bool old = function == FUNCTION_clEnqueueWaitForEvents;
    *list = (const uintptr_t *)(uintptr_t)argument_named(function, arguments, old ? "event_list" : "event_wait_list");
    return (cl_uint)argument_named(function, arguments, old ? "num_events" : "num_events_in_wait_list");
}

static cl_int check_event(uint64_t handle, struct object *queue)
{
    struct object *event = object_live(handle, HANDLE_cl_event);
    if (!event) {
        return error_unless_fault(FAULT_wait_list_takes_any_event, CL_INVALID_EVENT_WAIT_LIST);
    }
    if (object_context(event) != object_context(queue)) {
        return error_unless_fault(FAULT_wait_list_takes_other_context, CL_INVALID_CONTEXT);
    }
    bool failed = event->external && event->external->status < 0;
    return error_unless_fault(FAULT_wait_list_takes_failed_event,
                              failed ? CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST : CL_SUCCESS);
}

cl_int commands_check_wait_list(enum function function, const uint64_t *arguments, struct object *queue)
{
    const uintptr_t *list;
    cl_uint count = wait_list(function, arguments, &list);
    if ((count > 0) != (list != NULL)) {
        return error_unless_fault(FAULT_wait_list_takes_any_count, CL_INVALID_EVENT_WAIT_LIST);
    }
    for (cl_uint i = 0; i < count; i++) {
        cl_int error = check_event(list[i], queue);
        if (error) {
            return error;
        }
    }
    return CL_SUCCESS;
}

/* --- when commands run --- */

/* 1: complete, 0: not yet, -1: one failed. */
static int dependencies(const struct command *command)
{
    int state = 1;
    bool lost =
        command->used && !object_live(command->used, HANDLE_cl_mem) && !object_live(command->used, HANDLE_cl_kernel);
    if (lost && fault(FAULT_commands_lose_what_is_released, ANY_PLATFORM)) {
        return -1;
    }
    for (size_t i = 0; i < MAX_ITEMS && command->waits_for[i]; i++) {
        const struct attachment *event = command->waits_for[i]->external;
        bool of_user = event && event->type == CL_COMMAND_USER;
        if (event && event->status < 0 && (of_user || !fault(FAULT_failures_end_one_command, ANY_PLATFORM))) {
            return -1;
        }
        state = event && event->status > 0 ? 0 : state;
    }
    return state;
}

/* Whether a barrier holds nothing, by a fault. */
static bool lets_through(const struct command *barrier)
{
    return fault(FAULT_barrier_orders_nothing, ANY_PLATFORM) ||
           (barrier->waits_for[0] && fault(FAULT_barriers_with_lists_hold_nothing, ANY_PLATFORM));
}

/* Whether a command does not care for one before it, by a fault. */
static bool overtakes(const struct command *command, const struct command *before)
{
    return (command->type == CL_COMMAND_FILL_BUFFER && fault(FAULT_fills_overtake, ANY_PLATFORM)) ||
           (command->marker && before->type == CL_COMMAND_NDRANGE_KERNEL &&
            fault(FAULT_markers_overtake_kernels, ANY_PLATFORM));
}

/* Whether a command has to wait for one before it in its queue that is not done. */
static bool waits_in_queue(size_t index)
{
    const struct command *command = &commands[index];
    bool in_order = !attachment_of(command->queue)->out_of_order && !fault(FAULT_queues_keep_no_order, ANY_PLATFORM);
    for (size_t i = 0; i < index; i++) {
        const struct command *before = &commands[i];
        bool orders = in_order || (before->barrier && !lets_through(before)) ||
                      ((command->barrier || command->marker) && !command->waits_for[0] &&
                       !fault(FAULT_markers_wait_for_nothing, ANY_PLATFORM));
        if (!before->done && before->queue == command->queue && orders && !overtakes(command, before)) {
            return true;
        }
    }
    return false;
}

/* Whether a command waits for more than the text says, by a fault. */
static bool is_held(const struct command *command)
{
    if (!command->issued && fault(FAULT_commands_lose_what_is_released, ANY_PLATFORM)) {
        return true; /* which is legal, and leaves time for the release */
    }
    return command->type == CL_COMMAND_FILL_BUFFER && !command->issued &&
           (fault(FAULT_fills_are_not_flushed, ANY_PLATFORM) ||
            fault(FAULT_released_queues_are_not_flushed, ANY_PLATFORM));
}

static void issue(const struct object *queue)
{
    for (size_t i = 0; i < command_count; i++) {
        commands[i].issued = commands[i].issued || commands[i].queue == queue;
    }
}

static void finish(struct command *command, cl_int status)
{
    command->done = true;
    attachment_of(command->event)->status = status;
    events_progress(command->event, status);
}

void commands_end(const struct object *context, cl_int status)
{
    for (size_t i = 0; i < command_count; i++) {
        if (!commands[i].done && object_context(commands[i].event) == context) {
            finish(&commands[i], status);
        }
    }
}

static bool try(size_t index)
{
    struct command *command = &commands[index];
    int state = dependencies(command);
    if (command->done || command->running || (state >= 0 && (waits_in_queue(index) || is_held(command)))) {
        return false;
    }
    if (state < 0) {
        bool passes = (command->marker || command->barrier) && fault(FAULT_failures_pass_markers_by, ANY_PLATFORM);
        finish(command, passes ? CL_COMPLETE : CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
        return true;
    }
    if (state == 0 || (command->ready && !command->ready(command))) {
        return false;
    }
    command->running = true; /* what it calls back may flush the queue, or release it */
    events_progress(command->event, CL_RUNNING);
    if (command->run) {
        command->run(command);
    }
    finish(command, CL_COMPLETE);
    return true;
}

static void run_all(void)
{
    for (bool progress = true; progress;) {
        progress = false;
        for (size_t i = 0; i < command_count; i++) {
            progress = try(i) || progress;
        }
    }
    while (command_count > 0 && commands[command_count - 1].done) {
        command_count--;
    }
}

/* Until a command has ended. */
static void wait_for(struct object *event);

cl_int commands_enqueue(enum function function, const uint64_t *arguments, struct command command)
{
    const uintptr_t *list;
    cl_uint count = wait_list(function, arguments, &list);
    uintptr_t *event = (uintptr_t *)(uintptr_t)argument_named(function, arguments, "event");
    command.event = usual_object(function, arguments, HANDLE_cl_event, command.queue);
    attachment_of(command.event)->type = command.type;
    attachment_of(command.event)->status = CL_SUBMITTED;
    events_progress(command.event, CL_SUBMITTED);
    bool unmaps = command.type == CL_COMMAND_UNMAP_MEM_OBJECT;
    bool native = command.type == CL_COMMAND_NATIVE_KERNEL;
    bool waits = list && !fault(FAULT_wait_list_not_waited_for, ANY_PLATFORM) &&
                 !(unmaps && fault(FAULT_unmapping_waits_for_nothing, ANY_PLATFORM)) &&
                 !(native && fault(FAULT_native_kernels_wait_for_nothing, ANY_PLATFORM));
    count = count > 1 && fault(FAULT_wait_lists_end_after_first, ANY_PLATFORM) ? 1 : count;
    cl_uint from = count > 1 && fault(FAULT_wait_lists_begin_with_second, ANY_PLATFORM) ? 1 : 0;
    for (cl_uint i = from, n = 0; waits && i < count && n < MAX_ITEMS; i++) {
        struct object *other = object_live(list[i], HANDLE_cl_event);
        command.waits_for[n] = other;
        n += other != NULL;
    }
    if (event) {
        *event = (uint64_t)(uintptr_t)object_handle(command.event);
    }
    if (command_count == MAX_COMMANDS) {
        log_event("too many commands", NULL);
        return CL_OUT_OF_RESOURCES;
    }
    command.unseen = !event;
    commands[command_count++] = command;
    if (command.blocks) {
        issue(command.queue);
    }
    run_all();
    if (command.blocks) {
        wait_for(command.event);
    }
    if (!event) { /* nobody has it who could release it */
        object_count_reference(command.event, -1);
    }
    return attachment_of(command.event)->status;
}

/* --- calls that wait --- */

static bool list_is_pending(const uint64_t *arguments)
{
    const uintptr_t *list = (const uintptr_t *)(uintptr_t)arguments[1];
    cl_uint count = (cl_uint)arguments[0];
    cl_uint from = count && fault(FAULT_waiting_looks_at_last_event, ANY_PLATFORM) ? count - 1 : 0;
    for (cl_uint i = from; list && i < count; i++) {
        const struct object *event = object_live(list[i], HANDLE_cl_event);
        if (event && event->external && event->external->status > 0) {
            return true;
        }
    }
    return false;
}

static bool queue_is_busy(const uint64_t *arguments)
{
    const struct object *queue = object_live(arguments[0], HANDLE_cl_command_queue);
    for (size_t i = 0; queue && i < command_count; i++) {
        bool passed = (commands[i].unseen && fault(FAULT_finishing_waits_for_events_only, ANY_PLATFORM)) ||
                      (commands[i].type == CL_COMMAND_FILL_IMAGE &&
                       fault(FAULT_finishing_passes_fills_of_images_by, ANY_PLATFORM));
        if (commands[i].queue == queue && !commands[i].done && !passed) {
            return true;
        }
    }
    return false;
}

/* What clFlush, clFinish and clReleaseCommandQueue do for the commands of their queue before anything else. */
static void flush(enum function function, const uint64_t *arguments)
{
    bool releases = function == FUNCTION_clReleaseCommandQueue;
    bool nothing = (function == FUNCTION_clFlush && fault(FAULT_fills_are_not_flushed, ANY_PLATFORM)) ||
                   (releases && fault(FAULT_released_queues_are_not_flushed, ANY_PLATFORM));
    struct object *queue = object_live(arguments[0], HANDLE_cl_command_queue);
    if (queue && !nothing) {
        issue(queue);
        run_all();
    }
}

static void issue_awaited(const uint64_t *arguments)
{
    const uintptr_t *list = (const uintptr_t *)(uintptr_t)arguments[1];
    for (cl_uint i = 0; list && i < (cl_uint)arguments[0]; i++) {
        const struct object *event = object_live(list[i], HANDLE_cl_event);
        if (event) {
            issue(event->parent);
        }
    }
    run_all();
}

/* Lets other threads end what a call waits for. Not for ever: what nobody ends must not hold a check that looks for it.
 */
static void wait_while(bool (*holds)(const uint64_t *), const uint64_t *arguments, enum fault ignored)
{
    enum { PATIENCE = 2000 };
    for (int i = 0; config.refuses && i < PATIENCE && !fault(ignored, ANY_PLATFORM) && holds(arguments); i++) {
        lock_pause();
    }
}

static bool event_is_pending(const uint64_t *event)
{
    return ((const struct object *)(uintptr_t)*event)->external->status > 0;
}

static void wait_for(struct object *event)
{
    const uint64_t arguments[] = {(uint64_t)(uintptr_t)event};
    wait_while(event_is_pending, arguments, FAULT_blocking_calls_do_not_block);
}

/* --- events, and commands that do nothing here --- */

static cl_int set_user_event(const uint64_t *arguments)
{
    struct object *event = object_live(arguments[0], HANDLE_cl_event);
    cl_int status = (cl_int)arguments[1];
    if (config.refuses) { /* then core/events.c checks the call and calls the callbacks */
        cl_int result = (cl_int)core_call(FUNCTION_clSetUserEventStatus, arguments);
        if (event && event->external && result == CL_SUCCESS) {
            event->external->status = status;
            run_all();
        }
        return result;
    }
    if (!event || !event->external || event->external->type != CL_COMMAND_USER) {
        return CL_INVALID_EVENT;
    }
    if (status > 0) {
        return CL_INVALID_VALUE;
    }
    if (event->external->status <= 0) {
        return CL_INVALID_OPERATION;
    }
    event->external->status = status;
    run_all();
    return CL_SUCCESS;
}

static bool event_info(const uint64_t *arguments, uint64_t *result)
{
    struct object *event = object_live(arguments[0], HANDLE_cl_event);
    cl_uint query = (cl_uint)arguments[1];
    if (!event || !event->external || fault(FAULT_commands_wait_for_nothing, ANY_PLATFORM)) {
        return false;
    }
    cl_uint type = event->external->type;
    cl_int status = event->external->status;
    bool unmaps = type == CL_COMMAND_UNMAP_MEM_OBJECT;
    type = unmaps && fault(FAULT_unmapping_is_mapping, ANY_PLATFORM) ? CL_COMMAND_MAP_BUFFER : type;
    status = unmaps && fault(FAULT_unmapping_never_ends, ANY_PLATFORM) ? CL_RUNNING : status;
    if (query == CL_EVENT_COMMAND_TYPE) {
        *result = error_result(answer_info(arguments + 2, &type, sizeof type));
    } else if (query == CL_EVENT_COMMAND_EXECUTION_STATUS) {
        *result = error_result(answer_info(arguments + 2, &status, sizeof status));
    }
    return query == CL_EVENT_COMMAND_TYPE || query == CL_EVENT_COMMAND_EXECUTION_STATUS;
}

static bool any_failed(const uint64_t *arguments)
{
    const uintptr_t *list = (const uintptr_t *)(uintptr_t)arguments[1];
    cl_uint count = (cl_uint)arguments[0];
    cl_uint first = count && fault(FAULT_last_event_decides, ANY_PLATFORM) ? count - 1 : 0;
    for (cl_uint i = first; list && i < count; i++) {
        const struct object *event = object_live(list[i], HANDLE_cl_event);
        if (event && event->external && event->external->status < 0) {
            return true;
        }
    }
    return false;
}

static const struct {
    enum function function;
    cl_uint type;
    bool barrier;
} plain[] = {
    {FUNCTION_clEnqueueMarkerWithWaitList, CL_COMMAND_MARKER, false},
    {FUNCTION_clEnqueueBarrierWithWaitList, CL_COMMAND_BARRIER, true},
    {FUNCTION_clEnqueueNDRangeKernel, CL_COMMAND_NDRANGE_KERNEL, false},
};

static bool enqueue_plain(enum function function, const uint64_t *arguments, uint64_t *result)
{
    struct object *queue = object_live(arguments[0], HANDLE_cl_command_queue);
    for (size_t i = 0; queue && i < sizeof plain / sizeof *plain; i++) {
        if (plain[i].function == function) {
            cl_int error = commands_check_wait_list(function, arguments, queue);
            if (!error) {
                struct command command = {.type = plain[i].type, .queue = queue, .barrier = plain[i].barrier};
                commands_enqueue(function, arguments, command);
            }
            *result = error_result(error);
            return true;
        }
    }
    return false;
}

/* By a fault, a command does not keep the events that it waits for. */
static void lose(const struct object *event)
{
    for (size_t i = 0; event && i < command_count; i++) {
        if (!commands[i].done && commands[i].waits_for[0] == event) {
            finish(&commands[i], CL_OUT_OF_RESOURCES);
        }
    }
}

bool commands_handle(enum function function, const uint64_t *arguments, uint64_t *result)
{
    struct object *event;
    switch (function) {
    case FUNCTION_clCreateUserEvent:
        *result = core_call(function, arguments);
        event = object_find(*result);
        if (event) {
            attachment_of(event)->type = CL_COMMAND_USER;
            attachment_of(event)->status = CL_SUBMITTED;
        }
        return true;
    case FUNCTION_clSetUserEventStatus:
        *result = error_result(set_user_event(arguments));
        return true;
    case FUNCTION_clReleaseEvent:
        if (fault(FAULT_commands_lose_released_events, ANY_PLATFORM)) {
            lose(object_find(arguments[0]));
        }
        return false;
    case FUNCTION_clFlush:
    case FUNCTION_clReleaseCommandQueue:
        flush(function, arguments);
        return false;
    case FUNCTION_clFinish:
        flush(function, arguments);
        run_all(); /* others may have signalled meanwhile, by their side of a semaphore */
        wait_while(queue_is_busy, arguments, FAULT_finishing_only_flushes);
        return false;
    case FUNCTION_clGetEventInfo:
        run_all(); /* others may have signalled meanwhile, by their side of a semaphore */
        return event_info(arguments, result);
    case FUNCTION_clWaitForEvents:
        issue_awaited(arguments);
        wait_while(list_is_pending, arguments, FAULT_waiting_ends_at_once);
        *result = error_result(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
        return !fault(FAULT_failed_events_forgotten, ANY_PLATFORM) && any_failed(arguments);
    default:
        return enqueue_plain(function, arguments, result);
    }
}
