/* SPDX-License-Identifier: Apache-2.0 */
/* Programs, kernels, and their arguments. Every kernel is harmless whatever its arguments and its range are. */
#include "icd.h"

#include <string.h>

#define HARMLESS \
    "__kernel void k(__global char *a, int n, __local int *l) { if (a && get_global_id(0) == 0) a[0] = (char)n; }\n"
#define SIMPLE "__kernel void k(__global char *a, long n) { }\n"
#define FIXED "__kernel __attribute__((reqd_work_group_size(2, 1, 1))) void fixed(void) { }\n"

static const char *const sources[] = {HARMLESS, SIMPLE FIXED, "__kernel void broken(int\n", ""};
static const char *const options[] = {"",
                                      "-cl-std=CL1.2",
                                      "-cl-kernel-arg-info",
                                      "-DX=1",
                                      "-I",
                                      "-D",
                                      "-cl-nothing",
                                      "-cl-std=",
                                      "-g -w",
                                      "-cl-std=CL1.2 -cl-kernel-arg-info"};
static const char *const names[] = {"k", "fixed", "", "broken", "main"};

/* A compiler is slow: an input may use it so often. */
enum { BUILDS = 2 };
static unsigned builds_left;

void begin_programs(void)
{
    builds_left = BUILDS;
}

static uint64_t guarded_text(const char *text, bool terminated)
{
    size_t size = strlen(text) + terminated;
    return AT(memcpy(guarded(size), text, size));
}

static uint64_t with_source(struct object *context, cl_int *code)
{
    unsigned count = take_chance(8) ? take_below(4) : 1;
    uint64_t *strings = guarded(count * sizeof *strings);
    uint64_t *lengths = take_chance(2) ? guarded(count * sizeof *lengths) : NULL;
    for (unsigned i = 0; i < count; i++) {
        unsigned which = take_below(5);
        const char *text = which < 4 ? sources[which] : take_text(64);
        bool terminated = !lengths || take_chance(2);
        strings[i] = take_chance(32) ? 0 : guarded_text(text, terminated);
        if (lengths) {
            lengths[i] = terminated ? 0 : strlen(text); /* 0: up to the end */
        }
        if (lengths && lengths[i] == 0 && !terminated) {
            strings[i] = guarded_text("", true);
        }
    }
    return ICD_OF(clCreateProgramWithSource, context->handle, count, take_chance(32) ? 0 : AT(strings), AT(lengths),
                  AT(code));
}

static uint64_t with_binary(struct object *context, cl_int *code)
{
    uint64_t count;
    uint64_t devices = list_of(KIND_DEVICE, 2, &count);
    uint64_t *lengths = guarded(2 * sizeof *lengths);
    uint64_t *binaries = guarded(2 * sizeof *binaries);
    for (int i = 0; i < 2; i++) {
        const uint8_t *bytes;
        lengths[i] = take_bytes(&bytes, take_below(512));
        binaries[i] = take_chance(32) ? 0 : AT(memcpy(guarded(lengths[i]), bytes, lengths[i]));
    }
    uint64_t status = take_chance(4) ? 0 : AT(guarded(2 * sizeof(cl_int)));
    return ICD_OF(clCreateProgramWithBinary, context->handle, count, devices, take_chance(32) ? 0 : AT(lengths),
                  take_chance(32) ? 0 : AT(binaries), status, AT(code));
}

static uint64_t with_il(struct object *context, cl_int *code)
{
    const uint8_t *bytes;
    size_t size = take_bytes(&bytes, take_below(256));
    return ICD_OF(clCreateProgramWithIL, context->handle, take_chance(32) ? 0 : AT(memcpy(guarded(size), bytes, size)),
                  size, AT(code));
}

static uint64_t with_built_in_kernels(struct object *context, cl_int *code)
{
    uint64_t count;
    uint64_t devices = list_of(KIND_DEVICE, 2, &count);
    return ICD_OF(clCreateProgramWithBuiltInKernels, context->handle, count, devices,
                  take_chance(32) ? 0 : guarded_text(take_text(32), true), AT(code));
}

void create_program(void)
{
    static const struct {
        enum function function;
        uint64_t (*create)(struct object *context, cl_int *code);
    } ways[] = {
        {FUNCTION_clCreateProgramWithSource, with_source},
        {FUNCTION_clCreateProgramWithBinary, with_binary},
        {FUNCTION_clCreateProgramWithIL, with_il},
        {FUNCTION_clCreateProgramWithBuiltInKernels, with_built_in_kernels},
    };
    struct object *context = one_of(KIND_CONTEXT);
    unsigned way = take_chance(3) ? take_below(4) : 0;
    if (context && icd_has(ways[way].function)) {
        cl_int *code = place_for_code();
        add_object(ways[way].function, KIND_PROGRAM, ways[way].create(context, code), code);
    }
}

void build_program(void)
{
    struct object *program = one_of(KIND_PROGRAM);
    if (!program || builds_left == 0) {
        return;
    }
    builds_left--;
    uint64_t count;
    uint64_t devices = list_of(KIND_DEVICE, 2, &count);
    unsigned which = take_below(12);
    uint64_t text = which == 0 ? 0 : guarded_text(which < 11 ? options[which - 1] : take_text(32), true);
    if (take_chance(4) && icd_has(FUNCTION_clCompileProgram)) {
        checked(FUNCTION_clCompileProgram,
                ICD_OF(clCompileProgram, program->handle, count, devices, text, 0, 0, 0, 0, 0));
        return;
    }
    checked(FUNCTION_clBuildProgram, ICD_OF(clBuildProgram, program->handle, count, devices, text, 0, 0));
}

void create_kernel(void)
{
    struct object *program = one_of(KIND_PROGRAM);
    if (!program) {
        return;
    }
    cl_int *code = place_for_code();
    const char *name = take_chance(12) ? take_text(32) : names[take_chance(3) ? take_below(5) : 0];
    add_object(FUNCTION_clCreateKernel, KIND_KERNEL,
               ICD_OF(clCreateKernel, program->handle, take_chance(32) ? 0 : guarded_text(name, true), AT(code)), code);
}

void create_kernels(void)
{
    struct object *program = one_of(KIND_PROGRAM);
    if (!program) {
        return;
    }
    cl_uint room = take_below(4);
    uint64_t *kernels = guarded(room * sizeof *kernels);
    cl_uint *count = guarded(sizeof *count);
    cl_int code = checked(FUNCTION_clCreateKernelsInProgram,
                          ICD_OF(clCreateKernelsInProgram, program->handle, room, room ? AT(kernels) : 0, AT(count)));
    for (cl_uint i = 0; code == CL_SUCCESS && i < room && i < *count; i++) {
        written(FUNCTION_clCreateKernelsInProgram, KIND_KERNEL, kernels[i], code);
    }
}

void set_kernel_argument(void)
{
    struct object *kernel = one_of(KIND_KERNEL);
    if (!kernel) {
        return;
    }
    unsigned index = take_chance(16) ? take_word() : take_below(3);
    if (index == 0) {
        /* A buffer: an own one or NULL, so that the kernel may write to its first byte; or a size that is refused. */
        struct object *mem = take_chance(8) ? NULL : one_of(KIND_MEM);
        uint64_t *value = guarded(sizeof *value);
        *value = mem && mem->size ? mem->handle : 0;
        if (mem && mem->size) {
            mem->in_kernel = true;
        }
        bool refused = take_chance(16);
        checked(FUNCTION_clSetKernelArg,
                ICD_OF(clSetKernelArg, kernel->handle, 0, refused ? 4 : sizeof *value, AT(value)));
        return;
    }
    size_t size = take_chance(3) ? number(64) : index == 1 ? sizeof(cl_int) : 64;
    bool local = index == 2 || take_chance(16);
    uint64_t value = local || size > 4096 ? 0 : AT(guarded(size));
    checked(FUNCTION_clSetKernelArg, ICD_OF(clSetKernelArg, kernel->handle, index, size, value));
}

void clone_kernel(void)
{
    struct object *kernel = one_of(KIND_KERNEL);
    if (kernel) {
        cl_int *code = place_for_code();
        add_object(FUNCTION_clCloneKernel, KIND_KERNEL, ICD_OF(clCloneKernel, kernel->handle, AT(code)), code);
    }
}

/* Sizes of a range, as many as it has dimensions, so that nothing larger than 16 x 16 x 16 is ever run. */
static uint64_t range(unsigned dimensions, unsigned most)
{
    size_t *sizes = guarded(dimensions * sizeof *sizes);
    for (unsigned i = 0; i < dimensions; i++) {
        sizes[i] = most ? take_below(most + 1) : number(16);
    }
    return take_chance(3) ? 0 : AT(sizes);
}

void enqueue_kernel(void)
{
    struct object *queue = one_of(KIND_QUEUE);
    if (!queue) {
        return;
    }
    unsigned dimensions = take_chance(12) ? take_below(7) : 1 + take_below(3);
    uint64_t offset = range(dimensions, 0);
    uint64_t global = range(dimensions, 16);
    uint64_t local = range(dimensions, 0);
    uint64_t count;
    uint64_t waits = list_of(KIND_EVENT, 3, &count);
    uint64_t *event = take_chance(2) ? guarded(sizeof *event) : NULL;
    cl_int code =
        checked(FUNCTION_clEnqueueNDRangeKernel, ICD_OF(clEnqueueNDRangeKernel, queue->handle, some(KIND_KERNEL),
                                                        dimensions, offset, global, local, count, waits, AT(event)));
    if (event) {
        written(FUNCTION_clEnqueueNDRangeKernel, KIND_EVENT, *event, code);
    }
}
