/* SPDX-License-Identifier: Apache-2.0 */
/* Events and memory objects from beginning to end: status, callbacks, and who waits for whom. */
#include "core/events.h"

#include "base/arena.h"
#include "base/config.h"
#include "base/errors.h"
#include "calls.h"
#include "core/contents.h"
#include "core/creation.h"
#include "core/property_rules.h"
#include "core/rules.h"
#include "core/within.h"

#include <stdatomic.h>
#include <string.h>
#include <time.h>

enum { MAX_CALLBACKS = 8 };

struct callback {
    uint64_t function;
    uint64_t user_data;
    cl_int type;
    bool called;
};

/* The life of an event or of a memory object. */
struct life {
    cl_int status;
    bool is_user;
    bool is_set;
    cl_command_type command;
    struct object *waits_for;
    int callback_count;
    struct callback callbacks[MAX_CALLBACKS];
    bool managed;      /* its status is as events_progress says */
    cl_ulong times[4]; /* queued, submitted, started, ended */
};

static struct life *life_of(struct object *object)
{
    if (!object->life) {
        object->life = arena_keep(sizeof *object->life);
    }
    return object->life;
}

static cl_int status_of(struct object *event)
{
    bool waits = false;
    while (!life_of(event)->managed && life_of(event)->waits_for &&
           !fault(FAULT_commands_wait_for_nothing, ANY_PLATFORM)) {
        event = life_of(event)->waits_for;
        waits = true;
    }
    cl_int status = life_of(event)->status;
    return waits && status > CL_COMPLETE ? CL_QUEUED : status;
}

/* The handle that a callback gets. */
static void *reported_object(const struct object *object)
{
    if (fault(FAULT_callbacks_get_the_first_object, ANY_PLATFORM)) {
        static const struct object *_Atomic firsts[HANDLE_COUNT];
        firsts[object->kind] = firsts[object->kind] ? firsts[object->kind] : object;
        object = firsts[object->kind];
    }
    return object_handle(fault(FAULT_callbacks_get_other_objects, ANY_PLATFORM) ? object->parent : object);
}

static void call_event(struct object *event, const struct callback *callback, cl_int status)
{
    void(CL_CALLBACK * notify)(cl_event, cl_int, void *) =
        (void(CL_CALLBACK *)(cl_event, cl_int, void *))(uintptr_t)callback->function;
    status = status > CL_COMPLETE && fault(FAULT_callbacks_say_complete, ANY_PLATFORM) ? CL_COMPLETE : status;
    within_enter(FUNCTION_clSetEventCallback);
    notify((cl_event)reported_object(event), status, (void *)(uintptr_t)callback->user_data);
    within_leave();
}

/* Calls each callback whose status has been reached, once. */
static void call_waiting(struct object *event)
{
    struct life *life = life_of(event);
    bool forgets = fault(FAULT_event_callbacks_forgotten, ANY_PLATFORM) ||
                   (life->status < 0 && !life->is_user && fault(FAULT_callbacks_of_failures_forgotten, ANY_PLATFORM));
    for (int i = 0; i < life->callback_count && !forgets; i++) {
        struct callback *callback = &life->callbacks[i];
        bool late = callback->type > CL_COMPLETE && fault(FAULT_callbacks_of_states_are_forgotten, ANY_PLATFORM);
        if (life->status <= callback->type && !callback->called && !late) {
            callback->called = !fault(FAULT_callbacks_are_repeated, ANY_PLATFORM);
            call_event(event, callback, life->status < 0 ? life->status : callback->type);
        }
    }
}

static cl_int set_user_event(struct object *event, cl_int status)
{
    struct life *life = life_of(event);
    if (!life->is_user && !fault(FAULT_status_of_any_event, ANY_PLATFORM)) {
        return CL_INVALID_EVENT;
    }
    if (life->is_set && !fault(FAULT_user_event_set_twice, ANY_PLATFORM)) {
        return CL_INVALID_OPERATION;
    }
    life->is_set = true;
    life->status = status;
    call_waiting(event);
    return CL_SUCCESS;
}

/* Nanoseconds, more with each call. */
static cl_ulong now(void)
{
    static _Atomic cl_ulong last;
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    cl_ulong time_now = (cl_ulong)time.tv_sec * 1000000000 + (cl_ulong)time.tv_nsec;
    cl_ulong before = last;
    cl_ulong after;
    do {
        after = time_now > before + 10 ? time_now : before + 10;
    } while (!atomic_compare_exchange_weak(&last, &before, after));
    return after;
}

/* The clock of the host, and that of the device, of which profiling speaks. */
static cl_int read_timers(enum function function, const uint64_t *arguments)
{
    enum { SECOND = 1000000000 };
    bool pair = function == FUNCTION_clGetDeviceAndHostTimer;
    cl_ulong host = now();
    cl_ulong device = now();
    if (fault(FAULT_device_timers_stand_still, ANY_PLATFORM)) {
        static _Atomic cl_ulong first;
        first = first ? first : device;
        device = first;
    }
    device += fault(FAULT_device_timers_are_another_clock, ANY_PLATFORM) ? (cl_ulong)1000 * SECOND : 0;
    host = fault(FAULT_host_timers_run_backwards, ANY_PLATFORM) && !pair ? (cl_ulong)0 - host : host;
    if (pair) {
        *(cl_ulong *)(uintptr_t)arguments[1] = device;
    }
    *(cl_ulong *)(uintptr_t)arguments[pair ? 2 : 1] = host;
    return CL_SUCCESS;
}

void events_progress(struct object *event, cl_int status)
{
    struct life *life = life_of(event);
    cl_ulong clock = now();
    life->managed = !fault(FAULT_commands_wait_for_nothing, ANY_PLATFORM);
    life->times[0] = life->times[0] ? life->times[0] : clock;
    int index = status == CL_SUBMITTED ? 1 : status == CL_RUNNING ? 2 : 3;
    life->times[index] = clock + (index == 1 ? 5 : 0);
    life->status = status;
    call_waiting(event);
}

static cl_int set_event_callback(struct object *event, const uint64_t *arguments)
{
    struct life *life = life_of(event);
    uint64_t data = fault(FAULT_user_data_of_events_is_cut, ANY_PLATFORM) ? (uint32_t)arguments[3] : arguments[3];
    struct callback callback = {arguments[2], data, (cl_int)arguments[1], false};
    cl_int status = status_of(event);
    bool late = callback.type > CL_COMPLETE && fault(FAULT_callbacks_of_states_are_forgotten, ANY_PLATFORM);
    if (status <= callback.type && !fault(FAULT_event_callbacks_forgotten, ANY_PLATFORM) && !late) {
        bool failed = status < 0 && !fault(FAULT_late_callbacks_are_told_completion, ANY_PLATFORM);
        call_event(event, &callback, failed ? status : callback.type);
    } else if (life->callback_count < MAX_CALLBACKS) {
        life->callbacks[life->callback_count++] = callback;
    }
    return CL_SUCCESS;
}

static cl_int error_of_list(const uintptr_t *list, cl_uint count)
{
    cl_uint first = count && fault(FAULT_last_event_decides, ANY_PLATFORM) ? count - 1 : 0;
    for (cl_uint i = first; list && i < count; i++) {
        struct object *event = object_find(list[i]);
        if (event && status_of(event) < 0 && !fault(FAULT_failed_events_forgotten, ANY_PLATFORM)) {
            return CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
        }
    }
    return CL_SUCCESS;
}

static void call_destructors(struct object *memory)
{
    struct life *life = life_of(memory);
    bool forwards = fault(FAULT_destructor_callbacks_forwards, ANY_PLATFORM);
    bool is_deep = memory->contents && memory->contents->image.image_type == CL_MEM_OBJECT_IMAGE3D;
    if (is_deep && fault(FAULT_deep_images_end_silently, ANY_PLATFORM)) {
        return;
    }
    for (int i = 0; i < life->callback_count; i++) {
        const struct callback *callback = &life->callbacks[forwards ? i : life->callback_count - 1 - i];
        void(CL_CALLBACK * notify)(cl_mem, void *) = (void(CL_CALLBACK *)(cl_mem, void *))(uintptr_t)callback->function;
        within_enter(FUNCTION_clSetMemObjectDestructorCallback);
        notify((cl_mem)reported_object(memory), (void *)(uintptr_t)callback->user_data);
        within_leave();
    }
}

/* A buffer is deleted with the last of its parts, which may be what is released now. */
static void release_memory(struct object *memory)
{
    struct object *whole = memory->parent;
    bool part = whole && whole->kind == HANDLE_cl_mem;
    if (!part && fault(FAULT_parts_lose_content_with_their_buffer, ANY_PLATFORM)) {
        contents_clear(memory);
    }
    if (object_count_children(memory, HANDLE_cl_mem) == 0 ||
        fault(FAULT_buffers_end_before_their_parts, ANY_PLATFORM)) {
        call_destructors(memory);
    }
    if (part && whole->references == 0 && object_count_children(whole, HANDLE_cl_mem) == 1 &&
        !fault(FAULT_buffers_end_before_their_parts, ANY_PLATFORM) &&
        !fault(FAULT_parts_keep_their_buffers_for_ever, ANY_PLATFORM)) {
        call_destructors(whole);
    }
}

/* A context is deleted with the last of what was made in it. */
void events_end_context(struct object *context)
{
    struct life *life = life_of(context);
    bool forwards = fault(FAULT_context_destructors_forwards, ANY_PLATFORM);
    int count = fault(FAULT_context_destructors_forgotten, ANY_PLATFORM) ? 0 : life->callback_count;
    for (int i = 0; i < count; i++) {
        const struct callback *callback = &life->callbacks[forwards ? i : count - 1 - i];
        void(CL_CALLBACK * notify)(cl_context, void *) =
            (void(CL_CALLBACK *)(cl_context, void *))(uintptr_t)callback->function;
        within_enter(FUNCTION_clSetContextDestructorCallback);
        notify((cl_context)object_handle(context), (void *)(uintptr_t)callback->user_data);
        within_leave();
    }
    life->callback_count = 0;
}

/* Calls the callback of a build, a compilation or a linking that has ended: the argument with this number. */
static void report_build(const struct object *program, const uint64_t *arguments, unsigned number)
{
    void(CL_CALLBACK * notify)(cl_program, void *) =
        (void(CL_CALLBACK *)(cl_program, void *))(uintptr_t)arguments[number];
    bool build = number == 4;
    bool forgets = !build && fault(FAULT_compilers_forget_data, ANY_PLATFORM);
    for (int i = 0; program && notify && i < (fault(FAULT_builds_end_twice, ANY_PLATFORM) ? 2 : 1); i++) {
        within_enter(FUNCTION_clBuildProgram);
        notify((cl_program)reported_object(program), forgets ? NULL : (void *)(uintptr_t)arguments[number + 1]);
        within_leave();
    }
}

void events_follow(enum function function, const uint64_t *arguments, uint64_t *result)
{
    cl_int error = (cl_int)*result;
    bool failed = (error == CL_BUILD_PROGRAM_FAILURE || error == CL_COMPILE_PROGRAM_FAILURE) &&
                  !fault(FAULT_failed_builds_call_nobody, ANY_PLATFORM);
    bool ended = error == CL_SUCCESS || failed;
    if (!config.refuses || config.function[function].calls_back) {
        return;
    }
    if (function == FUNCTION_clBuildProgram && ended) {
        report_build(object_find(arguments[0]), arguments, 4);
    } else if (function == FUNCTION_clCompileProgram && ended) {
        report_build(object_find(arguments[0]), arguments, 7);
    } else if (function == FUNCTION_clLinkProgram && *result) {
        report_build(object_find(*result), arguments, 6);
    }
}

/* Keeps a destructor callback of a memory object or a context. */
static void keep_destructor(struct object *object, const uint64_t *arguments)
{
    struct life *life = life_of(object);
    bool buffer = !object->creation || object->creation->function == FUNCTION_clCreateBuffer;
    bool forgets =
        object->kind == HANDLE_cl_mem && !buffer && fault(FAULT_destructors_are_those_of_buffers, ANY_PLATFORM);
    if (life->callback_count < MAX_CALLBACKS && !forgets) {
        life->callbacks[life->callback_count++] = (struct callback){arguments[1], arguments[2], 0, false};
    }
}

bool events_handle(enum function function, const uint64_t *arguments, uint64_t *result)
{
    struct object *object = object_find(arguments[0]);
    cl_int answer = CL_SUCCESS;
    switch (function) {
    case FUNCTION_clSetUserEventStatus:
        answer = set_user_event(object, (cl_int)arguments[1]);
        break;
    case FUNCTION_clSetEventCallback:
        answer = set_event_callback(object, arguments);
        break;
    case FUNCTION_clGetHostTimer:
    case FUNCTION_clGetDeviceAndHostTimer:
        answer = read_timers(function, arguments);
        break;
    case FUNCTION_clWaitForEvents:
        answer = error_of_list((const uintptr_t *)(uintptr_t)arguments[1], (cl_uint)arguments[0]);
        break;
    case FUNCTION_clReleaseEvent:
        if (object && object->references == 1 && fault(FAULT_released_events_call_nobody, ANY_PLATFORM)) {
            life_of(object)->callback_count = 0;
        }
        return false;
    case FUNCTION_clSetMemObjectDestructorCallback:
    case FUNCTION_clSetContextDestructorCallback:
        keep_destructor(object, arguments);
        break;
    case FUNCTION_clReleaseMemObject:
        if (object && object->references == 1) {
            release_memory(object);
        }
        return false;
    default:
        return false;
    }
    *result = error_result(answer);
    return true;
}

void events_remember(struct object *event, enum function function, const uint64_t *arguments)
{
    struct life *life = life_of(event);
    const struct function_info *about = &function_info[function];
    life->is_user = function == FUNCTION_clCreateUserEvent;
    life->status = life->is_user ? CL_SUBMITTED : CL_COMPLETE;
    life->command = life->is_user ? CL_COMMAND_USER : rules_command_type(function);
    for (unsigned i = 0; i + 1 < about->parameter_count; i++) {
        const uintptr_t *list = (const uintptr_t *)(uintptr_t)arguments[i + 1];
        if (strcmp(parameter_name(&about->parameters[i]), "num_events_in_wait_list") == 0 && list && arguments[i] > 0) {
            life->waits_for = object_find(list[0]);
        }
    }
}

bool events_have_profiling(const struct object *event)
{
    const struct object *queue = event->parent;
    if (fault(FAULT_profiling_of_any_event, ANY_PLATFORM)) {
        return true;
    }
    if (!queue || queue->kind != HANDLE_cl_command_queue || !queue->creation) {
        return false;
    }
    bool ended = !event->life || event->life->status <= CL_COMPLETE || fault(FAULT_profiling_is_early, ANY_PLATFORM);
    const struct property_rules *rules = property_rules_of(FUNCTION_clCreateCommandQueueWithProperties);
    bool old = queue->creation->function == FUNCTION_clCreateCommandQueue;
    uint64_t bits = old ? queue->creation->arguments[2]
                        : properties_value(queue->creation->properties_seen, rules, CL_QUEUE_PROPERTIES, 0);
    bits = bits != CL_QUEUE_PROFILING_ENABLE && fault(FAULT_profiling_wants_no_other_property, ANY_PLATFORM) ? 0 : bits;
    bool terminated = event->life && event->life->status == CL_CONTEXT_TERMINATED_KHR;
    return ended && !terminated && (bits & CL_QUEUE_PROFILING_ENABLE);
}

bool events_time(struct object *event, cl_uint query, const uint64_t *rest, cl_int *result)
{
    const struct life *life = life_of(event);
    bool early = fault(FAULT_commands_finish_at_their_start, ANY_PLATFORM);
    unsigned index = query == CL_PROFILING_COMMAND_COMPLETE ? (early ? 2 : 3) : query - CL_PROFILING_COMMAND_QUEUED;
    bool known = index < sizeof life->times / sizeof *life->times;
    if (known) {
        index = fault(FAULT_times_run_backwards, ANY_PLATFORM) ? 3 - index : index;
        cl_ulong time = life->times[index] / (fault(FAULT_times_are_microseconds, ANY_PLATFORM) ? 1000 : 1);
        *result = answer_info(rest, &time, sizeof time);
    }
    return known;
}

bool events_info(struct object *event, cl_uint query, const uint64_t *rest, cl_int *result)
{
    cl_int status = status_of(event);
    cl_command_type command = fault(FAULT_event_type_unknown, ANY_PLATFORM) ? 0 : life_of(event)->command;
    if (query == CL_EVENT_COMMAND_EXECUTION_STATUS) {
        *result = answer_info(rest, &status, sizeof status);
    } else if (query == CL_EVENT_COMMAND_TYPE) {
        *result = answer_info(rest, &command, sizeof command);
    }
    return query == CL_EVENT_COMMAND_EXECUTION_STATUS || query == CL_EVENT_COMMAND_TYPE;
}
