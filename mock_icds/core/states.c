/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that the state of memory objects and events does not allow. */
#include "core/states.h"

#include "base/config.h"
#include "base/errors.h"
#include "core/compute.h"
#include "core/contents.h"
#include "core/intermediate.h"

#include <stddef.h>
#include <string.h>

/* --- what the host may do with memory --- */

static cl_int check_access(uint64_t memory, bool reads, bool writes)
{
    const struct contents *contents = contents_of(memory);
    cl_mem_flags flags = contents ? contents->flags : 0;
    bool forbidden = flags & CL_MEM_HOST_NO_ACCESS || (reads && flags & CL_MEM_HOST_WRITE_ONLY) ||
                     (writes && flags & CL_MEM_HOST_READ_ONLY);
    return error_unless_fault(FAULT_host_access_is_ignored, forbidden ? CL_INVALID_OPERATION : CL_SUCCESS);
}

static cl_int check_map(uint64_t memory, cl_map_flags flags)
{
    return check_access(memory, flags & CL_MAP_READ, flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION));
}

static cl_int check_unmap(const uint64_t *arguments)
{
    struct contents *contents = contents_of(arguments[1]);
    const void *address = (const void *)(uintptr_t)arguments[2];
    for (int i = 0; contents && i < MAX_MAPPINGS; i++) {
        if (contents->mapped[i] == address) {
            return CL_SUCCESS;
        }
    }
    return error_unless_fault(FAULT_unmap_takes_any_address, contents ? CL_INVALID_VALUE : CL_SUCCESS);
}

/* --- offsets and sizes --- */

enum { USUAL_SIZE = 64 }; /* of the buffers that harness/api/contract/calls.toml makes */

bool states_bounds_known(enum function function, const uint64_t *arguments)
{
    const struct function_info *about = &function_info[function];
    bool memory = about->parameter_count > 1 && about->parameters[1].kind == PARAMETER_HANDLE &&
                  about->parameters[1].handle == HANDLE_cl_mem;
    const struct contents *contents = memory ? contents_of(arguments[1]) : NULL;
    return contents && contents->size != USUAL_SIZE;
}

static cl_int check_range(uint64_t memory, size_t offset, size_t size)
{
    const struct contents *contents = contents_of(memory);
    bool past = contents && (offset > contents->size || size > contents->size - offset);
    return past || size == 0 ? CL_INVALID_VALUE : CL_SUCCESS;
}

/* --- copies within one memory --- */

struct box {
    size_t start[3];
    size_t size[3];
};

static bool meet(const struct box *one, const struct box *other)
{
    for (int i = 0; i < 3; i++) {
        if (one->start[i] + one->size[i] <= other->start[i] || other->start[i] + other->size[i] <= one->start[i]) {
            return false;
        }
    }
    return true;
}

static cl_int overlap(const struct box *one, const struct box *other)
{
    return error_unless_fault(FAULT_overlaps_are_taken, meet(one, other) ? CL_MEM_COPY_OVERLAP : CL_SUCCESS);
}

static cl_int check_copy(const uint64_t *a)
{
    const struct contents *from = contents_of(a[1]);
    const struct contents *to = contents_of(a[2]);
    cl_int error = check_range(a[1], a[3], a[5]);
    error = error ? error : check_range(a[2], a[4], a[5]);
    if (error || !from || !to) {
        return error;
    }
    if ((from->flags | to->flags) & CL_MEM_HOST_NO_ACCESS && fault(FAULT_hidden_buffers_are_not_copied, ANY_PLATFORM)) {
        return CL_INVALID_OPERATION;
    }
    bool touching = a[1] == a[2] && fault(FAULT_copies_may_not_touch, ANY_PLATFORM);
    const struct box source = {{(size_t)(from->bytes + a[3]), 0, 0}, {a[5] + (touching ? 1 : 0), 1, 1}};
    const struct box target = {{(size_t)(to->bytes + a[4]), 0, 0}, {a[5] + (touching ? 1 : 0), 1, 1}};
    return overlap(&source, &target);
}

static cl_int check_shared_copy(const uint64_t *a)
{
    const struct box target = {{a[2], 0, 0}, {a[4], 1, 1}};
    const struct box source = {{a[3], 0, 0}, {a[4], 1, 1}};
    return error_unless_fault(FAULT_shared_overlaps_are_taken,
                              meet(&source, &target) ? CL_MEM_COPY_OVERLAP : CL_SUCCESS);
}

static void read_box(struct box *box, uint64_t origin, uint64_t region)
{
    for (int i = 0; i < 3; i++) {
        box->start[i] = ((const size_t *)(uintptr_t)origin)[i];
        box->size[i] = ((const size_t *)(uintptr_t)region)[i];
    }
}

/* Whether a box has rows between those of another one, or would, were it wider. */
static bool share_rows(const struct box *one, struct box other)
{
    other.start[0] = one->start[0];
    return meet(one, &other);
}

/* Of rectangles with the same pitches, and of images. */
static cl_int check_copy_of_boxes(const uint64_t *a, bool same_pitches)
{
    struct box source;
    struct box target;
    if (a[1] != a[2] || !same_pitches || !contents_of(a[1])) {
        return CL_SUCCESS;
    }
    read_box(&source, a[3], a[5]);
    read_box(&target, a[4], a[5]);
    if (share_rows(&source, target) && fault(FAULT_rectangles_may_not_interleave, ANY_PLATFORM)) {
        return CL_MEM_COPY_OVERLAP;
    }
    bool slices = source.start[2] != target.start[2] && fault(FAULT_overlapping_slices_are_taken, ANY_PLATFORM);
    return slices ? CL_SUCCESS : overlap(&source, &target);
}

static cl_int check_formats(const uint64_t *a)
{
    const struct contents *source = contents_of(a[1]);
    const struct contents *target = contents_of(a[2]);
    bool differ = source && target && source->pixel && target->pixel &&
                  memcmp(&source->format, &target->format, sizeof source->format) != 0;
    return error_unless_fault(FAULT_images_of_two_formats_are_copied, differ ? CL_IMAGE_FORMAT_MISMATCH : CL_SUCCESS);
}

/* --- sub-buffers --- */

static cl_int check_part(const uint64_t *arguments)
{
    const struct object *whole = object_of_kind(arguments[0], HANDLE_cl_mem);
    const struct contents *contents = contents_of(arguments[0]);
    cl_mem_flags flags = arguments[1];
    bool of_part = whole && whole->parent && whole->parent->kind == HANDLE_cl_mem;
    cl_int error = error_unless_fault(FAULT_sub_buffers_of_sub_buffers, of_part ? CL_INVALID_MEM_OBJECT : CL_SUCCESS);
    if (error || !contents) {
        return error;
    }
    bool wider = (contents->flags & CL_MEM_READ_ONLY && flags & (CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY)) ||
                 (contents->flags & CL_MEM_WRITE_ONLY && flags & (CL_MEM_READ_WRITE | CL_MEM_READ_ONLY)) ||
                 (contents->flags & CL_MEM_HOST_WRITE_ONLY && flags & CL_MEM_HOST_READ_ONLY) ||
                 (contents->flags & CL_MEM_HOST_READ_ONLY && flags & CL_MEM_HOST_WRITE_ONLY) ||
                 (contents->flags & CL_MEM_HOST_NO_ACCESS && flags & (CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_WRITE_ONLY));
    return error_unless_fault(FAULT_sub_buffers_widen_access, wider ? CL_INVALID_VALUE : CL_SUCCESS);
}

/* --- events --- */

static cl_int check_events(const uint64_t *arguments)
{
    const uintptr_t *list = (const uintptr_t *)(uintptr_t)arguments[1];
    for (cl_uint i = 1; list && i < (cl_uint)arguments[0]; i++) {
        struct object *one = object_of_kind(list[0], HANDLE_cl_event);
        struct object *other = object_of_kind(list[i], HANDLE_cl_event);
        if (one && other && object_context(one) != object_context(other)) {
            return error_unless_fault(FAULT_waits_for_events_of_anybody, CL_INVALID_CONTEXT);
        }
    }
    return CL_SUCCESS;
}

/* --- lists of memory objects --- */

static cl_int check_migration(const uint64_t *a)
{
    const uintptr_t *list = (const uintptr_t *)(uintptr_t)a[2];
    const struct object *context = object_context(object_find(a[0]));
    cl_uint count = fault(FAULT_migrations_look_at_the_first, ANY_PLATFORM) ? 1 : (cl_uint)a[1];
    if (a[3] & CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED && fault(FAULT_content_is_never_given_up, ANY_PLATFORM)) {
        return CL_INVALID_VALUE;
    }
    for (cl_uint i = 0; list && i < count; i++) {
        struct object *object = object_of_kind(list[i], HANDLE_cl_mem);
        if (!object) {
            return CL_INVALID_MEM_OBJECT;
        }
        if (context && object_context(object) != context) {
            return CL_INVALID_CONTEXT;
        }
    }
    return CL_SUCCESS;
}

cl_int states_error(enum function function, const uint64_t *a)
{
    cl_int error;
    switch (function) {
    case FUNCTION_clEnqueueReadBuffer:
    case FUNCTION_clEnqueueWriteBuffer:
        error = check_range(a[1], a[3], a[4]);
        return error ? error
                     : check_access(a[1], function == FUNCTION_clEnqueueReadBuffer,
                                    function == FUNCTION_clEnqueueWriteBuffer);
    case FUNCTION_clEnqueueReadBufferRect:
    case FUNCTION_clEnqueueReadImage:
        return check_access(a[1], true, false);
    case FUNCTION_clEnqueueWriteBufferRect:
    case FUNCTION_clEnqueueWriteImage:
        return check_access(a[1], false, true);
    case FUNCTION_clEnqueueMapBuffer:
        error = check_range(a[1], a[4], a[5]);
        return error ? error : check_map(a[1], a[3]);
    case FUNCTION_clEnqueueMapImage:
        return check_map(a[1], a[3]);
    case FUNCTION_clEnqueueFillBuffer:
        if (contents_of(a[1]) && contents_of(a[1])->origin && fault(FAULT_fills_leave_their_part, ANY_PLATFORM)) {
            return CL_SUCCESS;
        }
        return check_range(a[1], a[4], a[5] ? a[5] : 1);
    case FUNCTION_clEnqueueUnmapMemObject:
        return check_unmap(a);
    case FUNCTION_clEnqueueCopyBuffer:
        return check_copy(a);
    case FUNCTION_clEnqueueSVMMemcpy:
        return check_shared_copy(a);
    case FUNCTION_clEnqueueCopyBufferRect:
        return check_copy_of_boxes(a, a[6] == a[8] && a[7] == a[9]);
    case FUNCTION_clEnqueueCopyImage:
        error = check_formats(a);
        return error ? error : check_copy_of_boxes(a, true);
    case FUNCTION_clGetKernelWorkGroupInfo: /* no kernel is built in, and no device is custom */
        error = error_unless_fault(FAULT_any_kernel_has_a_global_size,
                                   a[2] == CL_KERNEL_GLOBAL_WORK_SIZE ? CL_INVALID_VALUE : CL_SUCCESS);
        return error ? error : compute_error(function, a);
    case FUNCTION_clEnqueueMigrateMemObjects:
        return check_migration(a);
    case FUNCTION_clCreateProgramWithIL:
    case FUNCTION_clSetProgramSpecializationConstant:
        return intermediate_error(function, a);
    case FUNCTION_clCreateSubBuffer:
        return check_part(a);
    case FUNCTION_clWaitForEvents:
        return check_events(a);
    case FUNCTION_clReleaseMemObject:
        return contents_of(a[0]) && contents_map_count(contents_of(a[0])) > 0 &&
                       fault(FAULT_mapped_memory_is_not_released, ANY_PLATFORM)
                   ? CL_INVALID_OPERATION
                   : CL_SUCCESS;
    default:
        return compute_error(function, a);
    }
}
