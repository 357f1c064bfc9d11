/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that acquire and release, commands on what is acquired, and events of OpenGL's and EGL's syncs.
 *
 * Source: OpenCL-Docs, api/opencl_runtime_layer.asciidoc.
 */
#include "gl/commands.h"

#include "base/arguments.h"
#include "base/config.h"
#include "base/errors.h"
#include "base/platforms.h"
#include "calls.h"
#include "core/core.h"
#include "gl/links.h"

#include <string.h>

struct sync {
    uint64_t number;
    cl_int status;
};

#define GL_SYNC(name, number, state) {number, state},
static const struct sync gl_syncs[] = {
#include "gl_world.h"
};
#undef GL_SYNC
#define EGL_SYNC(name, number, fence) {number, (fence) ? CL_SUBMITTED : CL_QUEUED},
static const struct sync egl_syncs[] = {
/* CL_QUEUED: no fence */
#include "gl_world.h"
};
#undef EGL_SYNC
#define DISPLAY(name, number) static const uint64_t name##_display = number;
#include "gl_world.h"
#undef DISPLAY

/* --- acquire and release --- */

/* What differs between the commands of OpenGL and those of EGL. */
struct api {
    bool egl;
    cl_int bad_object;
    enum fault nothing;
    enum fault zero_with_list;
    enum fault null_list;
    enum fault other_object;
};

static const struct api gl_api = {.bad_object = CL_INVALID_GL_OBJECT,
                                  .nothing = FAULT_gl_acquire_nothing_answers,
                                  .zero_with_list = FAULT_gl_acquire_zero_with_list_answers,
                                  .null_list = FAULT_gl_acquire_null_list_answers,
                                  .other_object = FAULT_gl_acquire_of_others_answers};
static const struct api egl_api = {.egl = true,
                                   .bad_object = CL_INVALID_EGL_OBJECT_KHR,
                                   .nothing = FAULT_egl_acquire_nothing_answers,
                                   .zero_with_list = FAULT_egl_acquire_zero_with_list_answers,
                                   .null_list = FAULT_egl_acquire_null_list_answers,
                                   .other_object = FAULT_egl_acquire_of_others_answers};

/* Queues of a context that is tied to OpenGL know their device, so that it can be compared with the others. */
static bool create_queue(enum function function, const uint64_t *arguments, uint64_t *result)
{
    if (!gl_link_of_context(object_find(arguments[0]))) {
        return false;
    }
    *result = core_call(function, arguments);
    struct object *queue = object_find(*result);
    if (queue) {
        gl_link_make(queue, GL_IS_QUEUE)->device = object_find(arguments[1]);
    }
    return true;
}

static cl_int check_lists(const uint64_t *arguments, struct object *queue, const struct api *api)
{
    cl_uint count = (cl_uint)arguments[1];
    if (count == 0 && arguments[2]) {
        return error_or_fault(api->zero_with_list, queue, CL_INVALID_VALUE);
    }
    return count > 0 && !arguments[2] ? error_or_fault(api->null_list, queue, CL_INVALID_VALUE) : CL_SUCCESS;
}

static cl_int check_objects(const uint64_t *arguments, struct object *queue, const struct api *api)
{
    const uintptr_t *list = (const uintptr_t *)(uintptr_t)arguments[2];
    for (cl_uint i = 0; list && i < (cl_uint)arguments[1]; i++) {
        struct object *object = object_find(list[i]);
        if (!object || object->kind != HANDLE_cl_mem) {
            return CL_INVALID_MEM_OBJECT;
        }
        bool right = object->gl && (object->gl->kind == GL_IS_EGL_IMAGE) == api->egl;
        cl_int error = right ? CL_SUCCESS : error_or_fault(api->other_object, queue, api->bad_object);
        if (error) {
            return error;
        }
    }
    return CL_SUCCESS;
}

/* The wait list of a function that enqueues: its place is that before the event. */
static cl_int check_wait_list(const uint64_t *arguments, struct object *queue, bool egl)
{
    cl_uint count = (cl_uint)arguments[3];
    const uintptr_t *list = (const uintptr_t *)(uintptr_t)arguments[4];
    if ((count > 0) != (list != NULL)) {
        enum fault which = count > 0 ? FAULT_gl_null_wait_list_answers : FAULT_gl_empty_wait_list_answers;
        return error_or_fault(which, queue, CL_INVALID_EVENT_WAIT_LIST);
    }
    for (cl_uint i = 0; i < count; i++) {
        struct object *event = object_find(list[i]);
        if (!event || event->kind != HANDLE_cl_event) {
            return error_or_fault(FAULT_gl_bad_event_answers, queue, CL_INVALID_EVENT_WAIT_LIST);
        }
        if (event->gl) {
            enum fault which =
                event->gl->kind == GL_IS_SYNC ? FAULT_gl_sync_acquire_answers : FAULT_egl_sync_acquire_answers;
            cl_int error =
                error_or_fault(which, queue, egl && event->gl->kind == GL_IS_SYNC ? CL_INVALID_EVENT : CL_SUCCESS);
            if (error) {
                return error;
            }
        }
    }
    return CL_SUCCESS;
}

static void hand_over(const uint64_t *arguments, struct object *queue, bool acquire)
{
    const uintptr_t *list = (const uintptr_t *)(uintptr_t)arguments[2];
    for (cl_uint i = 0; list && i < (cl_uint)arguments[1]; i++) {
        struct gl_link *link = gl_link_find(list[i]);
        if (!link) {
            continue;
        }
        if (acquire == (link->queue != NULL)) {
            log_event(acquire ? "acquired twice" : "released without acquire", NULL);
        }
        link->queue = acquire ? queue : NULL;
        link->store_lost |= !acquire && fault(FAULT_gl_store_dies_at_release, queue->platform);
    }
}

static bool acquire_or_release(enum function function, const uint64_t *arguments, const struct api *api, bool acquire,
                               uint64_t *result)
{
    struct object *queue = object_find(arguments[0]);
    cl_int error = CL_SUCCESS;
    if (queue->kind != HANDLE_cl_command_queue) {
        *result = error_result(CL_INVALID_COMMAND_QUEUE);
        return true;
    }
    if (!api->egl && !gl_link_of_context(queue)) {
        error = error_or_fault(FAULT_gl_plain_queue_answers, queue, CL_INVALID_CONTEXT);
    }
    if (!error && !arguments[1] && !arguments[2]) {
        error = error_or_fault(api->nothing, queue, CL_SUCCESS);
    }
    error = error ? error : check_lists(arguments, queue, api);
    error = error ? error : check_objects(arguments, queue, api);
    error = error ? error : check_wait_list(arguments, queue, api->egl);
    if (!error && queue->gl && queue->gl->device != platform_device(queue->platform, 0)) {
        error = error_or_fault(FAULT_gl_acquire_on_other_device_answers, queue, CL_SUCCESS);
    }
    if (error) {
        *result = error_result(error);
        return true;
    }
    hand_over(arguments, queue, acquire);
    *result = core_call(function, arguments);
    return true;
}

/* --- commands on what may be OpenGL's --- */

static bool is_image_command(enum function function)
{
    switch (function) {
    case FUNCTION_clEnqueueReadImage:
    case FUNCTION_clEnqueueWriteImage:
    case FUNCTION_clEnqueueCopyImage:
    case FUNCTION_clEnqueueCopyImageToBuffer:
    case FUNCTION_clEnqueueCopyBufferToImage:
    case FUNCTION_clEnqueueMapImage:
    case FUNCTION_clEnqueueFillImage:
        return true;
    default:
        return false;
    }
}

static cl_int check_memory(enum function function, struct object *queue, const struct gl_link *link)
{
    if (!link->queue) {
        log_event("not acquired", function_info[function].name);
    }
    if (link->queue && link->queue != queue && fault(FAULT_gl_acquired_for_one_queue, queue->platform)) {
        return CL_INVALID_OPERATION;
    }
    if (is_image_command(function) && (link->depth_stencil || link->samples > 1)) {
        enum fault which =
            link->depth_stencil ? FAULT_gl_depth_stencil_command_answers : FAULT_gl_multisample_command_answers;
        return error_or_fault(which, queue, CL_INVALID_OPERATION);
    }
    return CL_SUCCESS;
}

static cl_int check_waited(const uintptr_t *list, cl_uint count, struct object *queue)
{
    for (cl_uint i = 0; list && i < count; i++) {
        const struct gl_link *link = gl_link_find(list[i]);
        if (link) {
            enum fault which =
                link->kind == GL_IS_SYNC ? FAULT_gl_sync_command_answers : FAULT_egl_sync_command_answers;
            cl_int error = error_or_fault(which, queue, CL_INVALID_EVENT);
            if (error) {
                return error;
            }
        }
    }
    return CL_SUCCESS;
}

static cl_int check_command(enum function function, const uint64_t *arguments, struct object *queue)
{
    const struct function_info *about = &function_info[function];
    cl_int error = CL_SUCCESS;
    for (unsigned i = 1; i < about->parameter_count && !error; i++) {
        const struct parameter_info *parameter = &about->parameters[i];
        if (parameter->kind == PARAMETER_HANDLE && parameter->handle == HANDLE_cl_mem && gl_link_find(arguments[i])) {
            error = check_memory(function, queue, gl_link_find(arguments[i]));
        } else if (parameter->kind == PARAMETER_HANDLES && parameter->handle == HANDLE_cl_event) {
            error = check_waited((const uintptr_t *)(uintptr_t)arguments[i], (cl_uint)arguments[i - 1], queue);
        }
    }
    return error;
}

/* The data of a buffer of OpenGL's, as the world of gl_world.h has it. */
static void read_buffer(const uint64_t *arguments, const struct gl_link *link, int platform)
{
    bool stale = link->store_lost || fault(FAULT_gl_acquire_does_not_wait, platform);
    memset((void *)(uintptr_t)arguments[5], stale ? 0 : GL_FILL, (size_t)arguments[4]);
}

static bool enqueue(enum function function, const uint64_t *arguments, uint64_t *result)
{
    struct object *queue = object_find(arguments[0]);
    cl_int error = check_command(function, arguments, queue);
    if (error) {
        *result = error_refuse(function, arguments, error);
        return true;
    }
    struct gl_link *link = function == FUNCTION_clEnqueueReadBuffer ? gl_link_find(arguments[1]) : NULL;
    if (link && arguments[5]) {
        read_buffer(arguments, link, queue->platform);
        *result = core_call(function, arguments);
    }
    return link && arguments[5];
}

/* --- events of syncs --- */

static const struct sync *find_sync(const struct sync *list, size_t count, uint64_t number)
{
    for (size_t i = 0; i < count; i++) {
        if (list[i].number == number) {
            return &list[i];
        }
    }
    return NULL;
}

static void make_event(enum function function, const uint64_t *arguments, const struct sync *sync, uint64_t *result)
{
    bool egl = function == FUNCTION_clCreateEventFromEGLSyncKHR;
    struct object *context = object_find(arguments[0]);
    struct gl_link *link = gl_link_create(function, arguments, egl ? GL_IS_EGL_SYNC : GL_IS_SYNC, result);
    cl_uint type = egl ? CL_COMMAND_EGL_FENCE_SYNC_OBJECT_KHR : CL_COMMAND_GL_FENCE_SYNC_OBJECT_KHR;
    int platform = context->platform;
    link->type = (cl_uint)fault_value(FAULT_gl_sync_event_type_is, platform, (long)type);
    link->status = (cl_int)fault_value(FAULT_gl_sync_event_status_is, platform, sync ? sync->status : CL_COMPLETE);
    object_find(*result)->references = (int)fault_value(FAULT_gl_sync_event_references_are, platform, 1);
}

static bool create_event(const uint64_t *arguments, uint64_t *result)
{
    struct object *context = object_find(arguments[0]);
    const struct sync *sync = find_sync(gl_syncs, sizeof gl_syncs / sizeof *gl_syncs, arguments[1]);
    cl_int error = context->kind == HANDLE_cl_context ? CL_SUCCESS : CL_INVALID_CONTEXT;
    if (!error && !context->gl) {
        error = error_or_fault(FAULT_gl_sync_plain_context_answers, context, CL_INVALID_CONTEXT);
    }
    if (!error && !sync) {
        error = error_or_fault(FAULT_gl_unknown_sync_answers, context, CL_INVALID_GL_OBJECT);
    }
    if (error) {
        *result = error_refuse(FUNCTION_clCreateEventFromGLsyncKHR, arguments, error);
    } else {
        make_event(FUNCTION_clCreateEventFromGLsyncKHR, arguments, sync, result);
    }
    return true;
}

static bool create_egl_event(const uint64_t *arguments, uint64_t *result)
{
    struct object *context = object_find(arguments[0]);
    const struct sync *sync = find_sync(egl_syncs, sizeof egl_syncs / sizeof *egl_syncs, arguments[1]);
    cl_int error = context->kind == HANDLE_cl_context ? CL_SUCCESS : CL_INVALID_CONTEXT;
    if (!error && !context->gl) {
        error = error_or_fault(FAULT_egl_sync_plain_context_answers, context, CL_INVALID_CONTEXT);
    }
    if (!error && (!sync || arguments[2] != egl_display)) {
        error = error_or_fault(FAULT_egl_unknown_sync_answers, context, CL_INVALID_EGL_OBJECT_KHR);
    }
    if (!error && sync && sync->status == CL_QUEUED) {
        error = error_or_fault(FAULT_egl_other_sync_answers, context, CL_INVALID_EGL_OBJECT_KHR);
    }
    if (error) {
        *result = error_refuse(FUNCTION_clCreateEventFromEGLSyncKHR, arguments, error);
    } else {
        make_event(FUNCTION_clCreateEventFromEGLSyncKHR, arguments, sync, result);
    }
    return true;
}

static bool get_event_info(const uint64_t *arguments, uint64_t *result)
{
    struct object *event = object_find(arguments[0]);
    struct gl_link *link = event ? event->gl : NULL;
    if (!link || event->kind != HANDLE_cl_event) {
        return false;
    }
    bool has_queue = fault(FAULT_gl_sync_event_has_queue, event->platform);
    void *queue = has_queue ? object_handle(event->parent) : NULL;
    switch ((cl_uint)arguments[1]) {
    case CL_EVENT_COMMAND_QUEUE:
        *result = error_result(answer_info(arguments + 2, &queue, sizeof queue));
        return true;
    case CL_EVENT_COMMAND_TYPE:
        *result = error_result(answer_info(arguments + 2, &link->type, sizeof link->type));
        return true;
    case CL_EVENT_COMMAND_EXECUTION_STATUS:
        if (link->store_lost) { /* asked before */
            *result = error_result(CL_INVALID_EVENT);
            return true;
        }
        link->store_lost = fault(FAULT_gl_sync_event_dies_with_sync, event->platform);
        *result = error_result(answer_info(arguments + 2, &link->status, sizeof link->status));
        return true;
    default:
        return false;
    }
}

bool gl_commands_handle(enum function function, const uint64_t *arguments, uint64_t *result)
{
    struct object *first = object_find(arguments[0]);
    if (!first || !platform_has_extension(first->platform, "cl_khr_gl_sharing")) {
        return false;
    }
    switch (function) {
    case FUNCTION_clCreateCommandQueue:
    case FUNCTION_clCreateCommandQueueWithProperties:
        return create_queue(function, arguments, result);
    case FUNCTION_clEnqueueAcquireGLObjects:
    case FUNCTION_clEnqueueReleaseGLObjects:
        return acquire_or_release(function, arguments, &gl_api, function == FUNCTION_clEnqueueAcquireGLObjects, result);
    case FUNCTION_clEnqueueAcquireEGLObjectsKHR:
    case FUNCTION_clEnqueueReleaseEGLObjectsKHR:
        return platform_has_extension(first->platform, "cl_khr_egl_image") &&
               acquire_or_release(function, arguments, &egl_api, function == FUNCTION_clEnqueueAcquireEGLObjectsKHR,
                                  result);
    case FUNCTION_clCreateEventFromGLsyncKHR:
        return platform_has_extension(first->platform, "cl_khr_gl_event") && create_event(arguments, result);
    case FUNCTION_clCreateEventFromEGLSyncKHR:
        return platform_has_extension(first->platform, "cl_khr_egl_event") && create_egl_event(arguments, result);
    case FUNCTION_clGetEventInfo:
        return get_event_info(arguments, result);
    default:
        return first->kind == HANDLE_cl_command_queue && argument_function_begins(function, "clEnqueue") &&
               enqueue(function, arguments, result);
    }
}
