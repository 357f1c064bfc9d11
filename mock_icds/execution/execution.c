/* SPDX-License-Identifier: Apache-2.0 */
/* From a call to a command of a queue. */
#include "execution/execution.h"

#include "base/arena.h"
#include "base/arguments.h"
#include "base/config.h"
#include "base/errors.h"
#include "base/lock.h"
#include "core/contents.h"
#include "core/launches.h"
#include "core/rules.h"
#include "core/within.h"
#include "execution/native.h"
#include "execution/transfers.h"
#include "external/attachments.h"
#include "external/commands.h"

#include <string.h>

enum { LONG_WHILE = 1 << 20, LONG_MAPPING = 1 << 12 }; /* bytes */

/* What a command does when it runs. */
struct work {
    bool moves;
    struct transfer transfer;
    struct launch *launch;
    struct native *native;
    const struct object *queue;
    /* clEnqueueSVMFree's */
    uint64_t callback;
    cl_uint count;
    void **pointers;
    void *user_data;
};

static void call_free(const struct work *work)
{
    typedef void(CL_CALLBACK * function)(cl_command_queue, cl_uint, void **, void *);
    cl_uint times = fault(FAULT_shared_memory_is_freed_twice, ANY_PLATFORM) ? 2 : 1;
    for (cl_uint i = 0; i < times; i++) {
        within_enter(FUNCTION_clEnqueueSVMFree);
        ((function)(uintptr_t)work->callback)((cl_command_queue)object_handle(work->queue), work->count, work->pointers,
                                              work->user_data);
        within_leave();
    }
}

static void run(const struct command *command)
{
    const struct work *work = command->data;
    if (work->moves) {
        transfers_run(&work->transfer);
    }
    if (work->moves && work->transfer.written) {
        work->transfer.written->written_by = work->queue;
    }
    if (work->launch) {
        launches_run(work->launch);
    }
    if (work->native) {
        native_run(work->native);
    }
    if (work->callback) {
        call_free(work);
    }
}

/* --- mappings --- */

static unsigned char *map_image(const struct contents *contents, const uint64_t *a)
{
    static const size_t start[3];
    bool first = fault(FAULT_mapped_images_begin_at_first_pixel, ANY_PLATFORM);
    const struct view view = contents_image_view(contents, first ? start : (const size_t *)(uintptr_t)a[4]);
    size_t *row = (size_t *)(uintptr_t)a[6];
    size_t *slice = (size_t *)(uintptr_t)a[7];
    cl_mem_object_type type = contents->image.image_type;
    bool flat = type == CL_MEM_OBJECT_IMAGE2D || type == CL_MEM_OBJECT_IMAGE1D || type == CL_MEM_OBJECT_IMAGE1D_BUFFER;
    bool none = type == CL_MEM_OBJECT_IMAGE1D_ARRAY && fault(FAULT_mapped_lines_have_no_slice_pitch, ANY_PLATFORM);
    *row = view.row;
    if (slice) {
        *slice = flat || none ? 0 : view.slice;
    }
    return view.bytes;
}

static uint64_t map(enum function function, const uint64_t *a)
{
    struct contents *contents = contents_of(a[1]);
    size_t offset = fault(FAULT_mappings_ignore_offset, ANY_PLATFORM) ? 0 : a[4];
    unsigned char *at = function == FUNCTION_clEnqueueMapImage ? map_image(contents, a) : contents->bytes + offset;
    size_t size = function == FUNCTION_clEnqueueMapImage ? 0 : a[5];
    bool writes = a[3] & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION);
    bool lost = fault(FAULT_writes_to_mappings_are_lost, ANY_PLATFORM) ||
                (size >= LONG_MAPPING && fault(FAULT_writes_to_long_mappings_are_lost, ANY_PLATFORM));
    if (size && writes && lost) {
        unsigned char *copy = arena_keep(size);
        memcpy(copy, at, size);
        at = copy;
    }
    bool invalid = !size && (a[3] & CL_MAP_WRITE_INVALIDATE_REGION);
    if (invalid && fault(FAULT_invalid_regions_are_lost, ANY_PLATFORM)) {
        at = arena_keep(contents->size);
    }
    contents_map(contents, at);
    return (uint64_t)(uintptr_t)at;
}

/* --- commands --- */

static struct work *plan(enum function function, const uint64_t *a)
{
    static struct work shared;
    bool together = fault(FAULT_threads_share_a_command, ANY_PLATFORM);
    struct work *work = together ? &shared : arena_keep(sizeof *work);
    *work = (struct work){0};
    work->queue = object_find(a[0]);
    work->moves = transfers_plan(function, a, &work->transfer);
    if (function == FUNCTION_clEnqueueNDRangeKernel || function == FUNCTION_clEnqueueTask) {
        work->launch = launches_keep(function, a);
    }
    if (function == FUNCTION_clEnqueueNativeKernel) {
        work->native = native_keep(a);
    }
    if (function == FUNCTION_clEnqueueSVMFree && a[3]) {
        work->callback = a[3];
        work->count = (cl_uint)a[1];
        work->pointers = arena_keep(work->count * sizeof(void *));
        work->user_data = (void *)(uintptr_t)a[4];
        memcpy(work->pointers, (const void *)(uintptr_t)a[2], work->count * sizeof(void *));
    }
    if (together) {
        lock_pause();
    }
    return work;
}

/* Whether a command's first memory object holds something; that of external memory is another part's. */
static bool holds(const uint64_t *arguments, enum function function)
{
    const struct function_info *about = &function_info[function];
    bool memory = about->parameter_count > 1 && about->parameters[1].handle == HANDLE_cl_mem &&
                  about->parameters[1].kind == PARAMETER_HANDLE;
    const struct contents *contents = memory ? contents_of(arguments[1]) : NULL;
    return !memory || (contents && contents->bytes);
}

static const enum function barriers[] = {FUNCTION_clEnqueueBarrierWithWaitList, FUNCTION_clEnqueueBarrier,
                                         FUNCTION_clEnqueueWaitForEvents};

static bool is_barrier(enum function function)
{
    for (size_t i = 0; i < sizeof barriers / sizeof *barriers; i++) {
        if (barriers[i] == function) {
            bool older = function != FUNCTION_clEnqueueBarrierWithWaitList;
            return !(older && fault(FAULT_older_barriers_order_nothing, ANY_PLATFORM));
        }
    }
    return false;
}

static bool is_marker(enum function function)
{
    bool older = function == FUNCTION_clEnqueueMarker && !fault(FAULT_older_markers_wait_for_nothing, ANY_PLATFORM);
    return older || function == FUNCTION_clEnqueueMarkerWithWaitList;
}

/* The memory object or the kernel that a command is about. */
static uint64_t used(enum function function, const uint64_t *arguments)
{
    const struct parameter_info *second = &function_info[function].parameters[1];
    bool object =
        second->kind == PARAMETER_HANDLE && (second->handle == HANDLE_cl_mem || second->handle == HANDLE_cl_kernel);
    return function_info[function].parameter_count > 1 && object ? arguments[1] : 0;
}

static uint64_t enqueue(enum function function, const uint64_t *arguments, struct object *queue)
{
    bool maps = function == FUNCTION_clEnqueueMapBuffer || function == FUNCTION_clEnqueueMapImage;
    bool blocks =
        argument_named(function, arguments, "blocking_read") || argument_named(function, arguments, "blocking_write") ||
        argument_named(function, arguments, "blocking_map") || argument_named(function, arguments, "blocking_copy");
    struct command command = {.queue = queue,
                              .used = used(function, arguments),
                              .blocks = blocks,
                              .type = rules_command_type(function),
                              .run = run,
                              .data = plan(function, arguments),
                              .barrier = is_barrier(function),
                              .marker = is_marker(function)};
    if (fault(FAULT_event_type_unknown, ANY_PLATFORM)) {
        command.type = 0;
    }
    if (function == FUNCTION_clEnqueueUnmapMemObject) {
        contents_unmap(contents_of(arguments[1]), (const void *)(uintptr_t)arguments[2]);
    }
    const struct work *work = command.data;
    if (blocks && work->moves && work->transfer.region[0] >= LONG_WHILE) {
        lock_pause(); /* the device does this, and other threads go on */
    }
    cl_int status = commands_enqueue(function, arguments, command);
    bool failed = blocks && status < 0 && !fault(FAULT_blocking_calls_hide_failures, ANY_PLATFORM);
    cl_int error = failed ? CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST : CL_SUCCESS;
    if (!maps) {
        return error_result(error);
    }
    if (error) {
        return error_refuse(function, arguments, error);
    }
    cl_int *errcode_ret = (cl_int *)(uintptr_t)argument_named(function, arguments, "errcode_ret");
    if (errcode_ret) {
        *errcode_ret = CL_SUCCESS;
    }
    return map(function, arguments);
}

bool execution_handle(enum function function, const uint64_t *arguments, uint64_t *result)
{
    bool native = function == FUNCTION_clEnqueueNativeKernel;
    if (!argument_function_begins(function, "clEnqueue") || !(rules_judge(function) || native)) {
        return false;
    }
    struct object *queue = object_live(arguments[0], HANDLE_cl_command_queue);
    if (!queue || !contents_kept(queue->platform) || !holds(arguments, function)) {
        return false;
    }
    cl_int error = native ? native_error(arguments) : CL_SUCCESS;
    *result = error ? error_result(error) : enqueue(function, arguments, queue);
    return true;
}
