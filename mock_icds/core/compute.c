/* SPDX-License-Identifier: Apache-2.0 */
/* Programs, kernels and memory that hold something: a device with the feature `compiler` knows the kernels of
 * harness/check/icd/compute.py by their names, takes every source that does not say `clharness_undeclared`, and does
 * each command at once. */
#include "core/compute.h"

#include "base/arena.h"
#include "base/config.h"
#include "base/platforms.h"
#include "calls.h"

#include <string.h>

enum { MAX_ARGUMENTS = 4, MOST_MEMORY = 1 << 12, MOST_SOURCE = 1 << 13, GROUP_SIZE = 64, PIXEL = 4 };

struct compute {
    unsigned char *memory; /* of a buffer or an image, or NULL */
    size_t size;
    const struct object *written_by; /* the queue that wrote the memory last */
    char *text;                      /* the source of a program, the name of a kernel */
    bool broken;                     /* a program that could not be built */
    uint64_t values[MAX_ARGUMENTS];  /* of a kernel's arguments */
};

static struct compute *compute_of(struct object *object)
{
    if (!object->compute) {
        object->compute = arena_keep(sizeof *object->compute);
    }
    return object->compute;
}

static struct object *able(uint64_t handle, enum handle_kind kind)
{
    struct object *object = object_live(handle, kind);
    return object && platform_has_feature(object->platform, "compiler") ? object : NULL;
}

static struct compute *memory_of(uint64_t handle)
{
    struct object *object = able(handle, HANDLE_cl_mem);
    return object && object->compute && object->compute->memory ? object->compute : NULL;
}

/* --- programs, kernels and memory --- */

static void make_memory(uint64_t handle, size_t size, cl_mem_flags flags, uint64_t from)
{
    struct object *object = able(handle, HANDLE_cl_mem);
    if (!object || size > MOST_MEMORY || (flags & CL_MEM_USE_HOST_PTR)) {
        return;
    }
    struct compute *compute = compute_of(object);
    compute->memory = arena_keep(size);
    compute->size = size;
    if (from && (flags & CL_MEM_COPY_HOST_PTR)) {
        memcpy(compute->memory, (const void *)(uintptr_t)from, size);
    }
}

static void keep_source(struct object *program, const uint64_t *arguments)
{
    const char *const *strings = (const char *const *)(uintptr_t)arguments[2];
    const size_t *lengths = (const size_t *)(uintptr_t)arguments[3];
    struct compute *compute = compute_of(program);
    size_t used = 0;
    compute->text = arena_keep(MOST_SOURCE);
    for (cl_uint i = 0; i < (cl_uint)arguments[1]; i++) {
        size_t length = lengths && lengths[i] ? lengths[i] : strlen(strings[i]);
        size_t room = MOST_SOURCE - 1 - used;
        memcpy(compute->text + used, strings[i], length < room ? length : room);
        used += length < room ? length : room;
    }
}

static void keep_name(struct object *kernel, uint64_t name)
{
    const char *text = (const char *)(uintptr_t)name;
    struct compute *compute = compute_of(kernel);
    compute->text = arena_keep(strlen(text) + 1);
    memcpy(compute->text, text, strlen(text) + 1);
}

static void build(struct object *program, uint64_t *result)
{
    struct compute *compute = compute_of(program);
    compute->broken = compute->text && strstr(compute->text, "clharness_undeclared") != NULL;
    if (compute->broken && !fault(FAULT_build_takes_errors, ANY_PLATFORM)) {
        *result = (uint64_t)(int64_t)CL_BUILD_PROGRAM_FAILURE;
    }
}

static void keep_argument(struct object *kernel, const uint64_t *arguments)
{
    cl_uint index = (cl_uint)arguments[1];
    size_t size = arguments[2];
    if (index < MAX_ARGUMENTS && arguments[3] && size <= sizeof(uint64_t)) {
        compute_of(kernel)->values[index] = 0;
        memcpy(&compute_of(kernel)->values[index], (const void *)(uintptr_t)arguments[3], size);
    }
}

/* --- commands --- */

static void write_memory(uint64_t handle, uint64_t queue, size_t offset, size_t size, uint64_t from)
{
    struct compute *to = memory_of(handle);
    if (to && offset <= to->size && size <= to->size - offset) {
        memcpy(to->memory + offset, (const void *)(uintptr_t)from, size);
        to->written_by = object_find(queue);
    }
}

static void read_memory(uint64_t handle, size_t offset, size_t size, uint64_t target)
{
    const struct compute *from = memory_of(handle);
    if (from && offset <= from->size && size <= from->size - offset) {
        memcpy((void *)(uintptr_t)target, from->memory + offset, size);
    }
}

static size_t pixels(uint64_t region)
{
    const size_t *size = (const size_t *)(uintptr_t)region;
    return size ? size[0] * size[1] * PIXEL : 0;
}

static void add(const struct compute *kernel, struct compute *const *memory, size_t items)
{
    const cl_int *one = (const cl_int *)(void *)memory[0]->memory;
    const cl_int *other = (const cl_int *)(void *)memory[1]->memory;
    cl_int *sum = (cl_int *)(void *)memory[2]->memory;
    size_t done = fault(FAULT_kernel_leaves_last_item, ANY_PLATFORM) ? items - 1 : items;
    for (size_t i = 0; i < done; i++) {
        sum[i] = one[i] + (cl_int)kernel->values[3] * other[i];
    }
}

/* Turns the items of each group around. */
static void turn(struct compute *const *memory, size_t items, size_t group)
{
    const cl_int *from = (const cl_int *)(void *)memory[0]->memory;
    cl_int *to = (cl_int *)(void *)memory[1]->memory;
    for (size_t i = 0; i < items; i++) {
        size_t mirrored = i / group * group + group - 1 - i % group;
        to[i] = from[fault(FAULT_kernel_ignores_local_memory, ANY_PLATFORM) ? i : mirrored];
    }
}

/* The first channel of each pixel. */
static void look(struct compute *const *memory, size_t items)
{
    cl_int *to = (cl_int *)(void *)memory[1]->memory;
    for (size_t i = 0; i < items; i++) {
        to[i] = memory[0]->memory[fault(FAULT_kernel_reads_first_pixel, ANY_PLATFORM) ? 0 : PIXEL * i];
    }
}

static void run(struct object *object, const uint64_t *arguments)
{
    struct compute *kernel = object->compute;
    const size_t *global = (const size_t *)(uintptr_t)arguments[4];
    const size_t *local = (const size_t *)(uintptr_t)arguments[5];
    struct compute *memory[MAX_ARGUMENTS] = {NULL};
    if (!kernel || !kernel->text || !global) {
        return;
    }
    for (int i = 0; i < MAX_ARGUMENTS; i++) {
        memory[i] = memory_of(kernel->values[i]);
        bool of_other_queue = memory[i] && memory[i]->written_by && memory[i]->written_by != object_find(arguments[0]);
        if (of_other_queue && fault(FAULT_queues_share_no_memory, ANY_PLATFORM)) {
            return;
        }
    }
    if (!memory[0] || !memory[1]) {
        return;
    }
    if (strcmp(kernel->text, "clharness_add") == 0 && memory[2]) {
        add(kernel, memory, global[0]);
    } else if (strcmp(kernel->text, "clharness_turn") == 0 && local) {
        turn(memory, global[0], local[0]);
    } else if (strcmp(kernel->text, "clharness_look") == 0 && arguments[2] == 2) {
        look(memory, global[0] * global[1]);
    }
}

static void follow_kernel(struct object *kernel, enum function function, const uint64_t *arguments)
{
    if (kernel && function == FUNCTION_clSetKernelArg) {
        keep_argument(kernel, arguments);
    } else if (kernel) {
        run(kernel, arguments);
    }
}

static void follow_program(struct object *program, enum function function, const uint64_t *arguments, uint64_t *result)
{
    if (program && function == FUNCTION_clBuildProgram) {
        build(program, result);
    } else if (program) {
        keep_source(program, arguments);
    }
}

void compute_follow(enum function function, const uint64_t *a, uint64_t *result)
{
    struct object *kernel;
    if ((function_info[function].result == RESULT_HANDLE) != (*result != CL_SUCCESS)) {
        return; /* it was refused */
    }
    switch (function) {
    case FUNCTION_clCreateBuffer: /* what has no content is kept by external/memory.c, if at all */
        if (a[1] & CL_MEM_COPY_HOST_PTR) {
            make_memory(*result, a[2], a[1], a[3]);
        }
        break;
    case FUNCTION_clCreateImage2D:
        make_memory(*result, a[3] * a[4] * PIXEL, a[1], a[6]);
        break;
    case FUNCTION_clCreateProgramWithSource:
        follow_program(able(*result, HANDLE_cl_program), function, a, result);
        break;
    case FUNCTION_clBuildProgram:
        follow_program(able(a[0], HANDLE_cl_program), function, a, result);
        break;
    case FUNCTION_clCreateKernel:
        kernel = able(*result, HANDLE_cl_kernel);
        if (kernel) {
            keep_name(kernel, a[1]);
        }
        break;
    case FUNCTION_clSetKernelArg:
        follow_kernel(able(a[0], HANDLE_cl_kernel), function, a);
        break;
    case FUNCTION_clEnqueueNDRangeKernel:
        follow_kernel(able(a[1], HANDLE_cl_kernel), function, a);
        break;
    case FUNCTION_clEnqueueWriteBuffer:
        write_memory(a[1], a[0], a[3], a[4], a[5]);
        break;
    case FUNCTION_clEnqueueWriteImage:
        write_memory(a[1], a[0], 0, pixels(a[4]), a[7]);
        break;
    case FUNCTION_clEnqueueReadBuffer:
        read_memory(a[1], a[3], a[4], a[5]);
        break;
    default:
        break;
    }
}

bool compute_runs(enum function function, const uint64_t *arguments)
{
    bool second = function == FUNCTION_clEnqueueNDRangeKernel;
    struct object *kernel =
        second || function == FUNCTION_clSetKernelArg ? able(arguments[second ? 1 : 0], HANDLE_cl_kernel) : NULL;
    return kernel && kernel->compute && kernel->compute->text &&
           strncmp(kernel->compute->text, "clharness_", strlen("clharness_")) == 0;
}

bool compute_info(enum function function, const struct object *object, const uint64_t *rest, cl_int *result)
{
    cl_uint query = (cl_uint)rest[-1];
    if (!platform_has_feature(object->platform, "compiler")) {
        return false;
    }
    if (function == FUNCTION_clGetKernelWorkGroupInfo && query == CL_KERNEL_WORK_GROUP_SIZE) {
        size_t size = GROUP_SIZE;
        *result = answer_info(rest, &size, sizeof size);
        return true;
    }
    if (function == FUNCTION_clGetProgramBuildInfo && query == CL_PROGRAM_BUILD_STATUS) {
        cl_build_status status = object->compute && object->compute->broken ? CL_BUILD_ERROR : CL_BUILD_SUCCESS;
        *result = answer_info(rest, &status, sizeof status);
        return true;
    }
    if (function == FUNCTION_clGetProgramBuildInfo && query == CL_PROGRAM_BUILD_LOG) {
        bool broken = object->compute && object->compute->broken && !fault(FAULT_build_log_is_empty, ANY_PLATFORM);
        const char *log = broken ? "clharness_undeclared is not declared" : "";
        *result = answer_info(rest, log, strlen(log) + 1);
        return true;
    }
    return false;
}
