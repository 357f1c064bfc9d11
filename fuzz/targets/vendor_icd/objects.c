/* SPDX-License-Identifier: Apache-2.0 */
/* The objects that an input has made, and the references that it owns. */
#include "icd.h"

#include <string.h>

enum { ROOM = 8, CODE_BEFORE = 0x5a5a5a5a };

static const struct {
    enum function retain;
    enum function release;
} counting[KINDS] = {
    [KIND_DEVICE] = {FUNCTION_clRetainDevice, FUNCTION_clReleaseDevice},
    [KIND_CONTEXT] = {FUNCTION_clRetainContext, FUNCTION_clReleaseContext},
    [KIND_QUEUE] = {FUNCTION_clRetainCommandQueue, FUNCTION_clReleaseCommandQueue},
    [KIND_MEM] = {FUNCTION_clRetainMemObject, FUNCTION_clReleaseMemObject},
    [KIND_SAMPLER] = {FUNCTION_clRetainSampler, FUNCTION_clReleaseSampler},
    [KIND_PROGRAM] = {FUNCTION_clRetainProgram, FUNCTION_clReleaseProgram},
    [KIND_KERNEL] = {FUNCTION_clRetainKernel, FUNCTION_clReleaseKernel},
    [KIND_EVENT] = {FUNCTION_clRetainEvent, FUNCTION_clReleaseEvent},
};

static struct object objects[KINDS][ROOM];
static size_t counts[KINDS];

static struct {
    struct object *mem;
    uint64_t queue;
    uint64_t address;
} mappings[ROOM];
static size_t mapping_count;

static struct {
    uint64_t context;
    uint64_t address;
    size_t size;
} svm[ROOM];
static size_t svm_count;

struct object *one_of(enum kind kind)
{
    return counts[kind] ? &objects[kind][take_below((unsigned)counts[kind])] : NULL;
}

uint64_t some(enum kind kind)
{
    struct object *object = take_chance(24) ? NULL : one_of(kind);
    return object ? object->handle : 0;
}

uint64_t list_of(enum kind kind, unsigned most, uint64_t *count)
{
    uint64_t real = counts[kind] ? take_below(most + 1) : 0;
    *count = real;
    if (real == 0) {
        *count = take_chance(24); /* NULL, and a count */
        return 0;
    }
    uint64_t *list = guarded(real * sizeof *list);
    for (uint64_t i = 0; i < real; i++) {
        list[i] = some(kind);
    }
    *count = take_chance(24) ? 0 : real;
    return AT(list);
}

cl_int *place_for_code(void)
{
    if (take_chance(16)) {
        return NULL;
    }
    cl_int *code = guarded(sizeof *code);
    *code = CODE_BEFORE;
    return code;
}

static struct object *add(enum kind kind, uint64_t handle)
{
    if (counts[kind] == ROOM) {
        ICD(counting[kind].release, handle);
        return NULL;
    }
    struct object *object = &objects[kind][counts[kind]++];
    *object = (struct object){.kind = kind, .handle = handle, .references = 1};
    return object;
}

struct object *add_object(enum function function, enum kind kind, uint64_t handle, const cl_int *code)
{
    if (code && *code == CODE_BEFORE) {
        wrong(function, "no-code", "it wrote nothing to errcode_ret");
    } else if (code && checked(function, (uint64_t)*code) == CL_SUCCESS && !handle) {
        wrong(function, "success-without-object", "it answered NULL together with CL_SUCCESS");
    } else if (code && *code != CL_SUCCESS && handle) {
        wrong(function, "object-with-error", "it answered an object together with an error");
        return NULL;
    }
    return handle ? add(kind, handle) : NULL;
}

struct object *written(enum function function, enum kind kind, uint64_t handle, cl_int code)
{
    if (code == CL_SUCCESS && !handle) {
        wrong(function, "success-without-object", "it wrote no object and answered CL_SUCCESS");
    }
    return code == CL_SUCCESS && handle ? add(kind, handle) : NULL;
}

void note_mapping(struct object *mem, uint64_t queue, uint64_t address)
{
    if (mapping_count == ROOM) {
        ICD_OF(clEnqueueUnmapMemObject, queue, mem->handle, address, 0, 0, 0);
        return;
    }
    mappings[mapping_count].mem = mem;
    mappings[mapping_count].queue = queue;
    mappings[mapping_count++].address = address;
}

void note_svm(uint64_t context, uint64_t address, size_t size)
{
    if (svm_count == ROOM) {
        ICD_OF(clSVMFree, context, address);
        return;
    }
    svm[svm_count].context = context;
    svm[svm_count].address = address;
    svm[svm_count++].size = size;
}

bool one_svm(uint64_t *address, size_t *size)
{
    if (svm_count == 0) {
        return false;
    }
    unsigned which = take_below((unsigned)svm_count);
    *address = svm[which].address;
    *size = svm[which].size;
    return true;
}

static void settle_event(struct object *event, cl_int status)
{
    if (event->user_event && !event->settled) {
        event->settled = true;
        checked(FUNCTION_clSetUserEventStatus, ICD_OF(clSetUserEventStatus, event->handle, (uint64_t)(int64_t)status));
    }
}

void settle(void)
{
    for (size_t i = 0; i < counts[KIND_EVENT]; i++) {
        settle_event(&objects[KIND_EVENT][i], CL_COMPLETE);
    }
    for (size_t i = 0; i < counts[KIND_QUEUE]; i++) {
        ICD_OF(clFlush, objects[KIND_QUEUE][i].handle);
    }
}

void set_user_event(void)
{
    struct object *event = one_of(KIND_EVENT);
    if (event) {
        settle_event(event, take_chance(4) ? -(cl_int)take_byte() - 1 : CL_COMPLETE);
    }
}

static void unmap_all(const struct object *mem)
{
    for (size_t i = mapping_count; i-- > 0;) {
        if (!mem || mappings[i].mem == mem) {
            ICD_OF(clEnqueueUnmapMemObject, mappings[i].queue, mappings[i].mem->handle, mappings[i].address, 0, 0, 0);
            mappings[i] = mappings[--mapping_count];
        }
    }
}

/* SVM of a context is used by commands of its queues: they end before it is freed. */
static void free_svm(uint64_t context)
{
    for (size_t i = svm_count; i-- > 0;) {
        if (svm[i].context == context) {
            ICD_OF(clSVMFree, context, svm[i].address);
            svm[i] = svm[--svm_count];
        }
    }
}

static void finish_all(void)
{
    settle();
    for (size_t i = 0; i < counts[KIND_QUEUE]; i++) {
        checked(FUNCTION_clFinish, ICD_OF(clFinish, objects[KIND_QUEUE][i].handle));
    }
}

/* What has to be done before the last reference goes, so that nothing undefined is done after it. */
static void before_last(struct object *object)
{
    switch (object->kind) {
    case KIND_MEM:
        unmap_all(object);
        break;
    case KIND_QUEUE:
        unmap_all(NULL); /* mappings name their queue */
        finish_all();
        break;
    case KIND_CONTEXT:
        finish_all();
        free_svm(object->handle);
        break;
    case KIND_EVENT:
        settle_event(object, CL_COMPLETE);
        break;
    default:
        break;
    }
}

static void forget(struct object *object)
{
    struct object *last = &objects[object->kind][--counts[object->kind]];
    for (size_t i = 0; i < mapping_count; i++) {
        mappings[i].mem = mappings[i].mem == last ? object : mappings[i].mem;
    }
    *object = *last;
}

static void release(struct object *object)
{
    enum function function = counting[object->kind].release;
    if (object->references == 1) {
        before_last(object);
    }
    checked(function, ICD(function, object->handle));
    if (--object->references == 0) {
        forget(object);
    }
}

void retain_or_release(void)
{
    struct object *object = one_of(take_below(KINDS));
    if (!object || object->root) {
        return;
    }
    if (take_chance(3) && object->references < 4) {
        enum function function = counting[object->kind].retain;
        object->references += checked(function, ICD(function, object->handle)) == CL_SUCCESS;
    } else if (object->references > 1 || !(object->in_kernel && counts[KIND_KERNEL])) {
        release(object);
    }
}

void begin_objects(void)
{
    static bool has_devices;
    static size_t devices;
    static uint64_t list[ROOM / 2];
    if (!has_devices) {
        cl_uint count = 0;
        has_devices = true;
        ICD_OF(clGetDeviceIDs, icd_platform, CL_DEVICE_TYPE_ALL, ROOM / 2, AT(list), AT(&count));
        devices = count < ROOM / 2 ? count : ROOM / 2;
    }
    for (size_t i = 0; i < devices; i++) {
        objects[KIND_DEVICE][i] =
            (struct object){.kind = KIND_DEVICE, .handle = list[i], .references = 1, .root = true};
    }
    counts[KIND_DEVICE] = devices;
}

/* Kinds in one of two orders, since a vendor counts what an object needs by itself; kernels before their arguments. */
void end_objects(void)
{
    static const enum kind orders[][KINDS - 1] = {
        {KIND_EVENT, KIND_KERNEL, KIND_PROGRAM, KIND_SAMPLER, KIND_MEM, KIND_QUEUE, KIND_CONTEXT},
        {KIND_CONTEXT, KIND_PROGRAM, KIND_KERNEL, KIND_MEM, KIND_SAMPLER, KIND_EVENT, KIND_QUEUE},
    };
    const enum kind *order = orders[take_below(2)];
    finish_all();
    unmap_all(NULL);
    finish_all();
    for (size_t k = 0; k < KINDS - 1; k++) {
        while (counts[order[k]] > 0) {
            release(&objects[order[k]][counts[order[k]] - 1]);
        }
    }
    for (size_t i = counts[KIND_DEVICE]; i-- > 0;) {
        while (i < counts[KIND_DEVICE] && !objects[KIND_DEVICE][i].root) {
            release(&objects[KIND_DEVICE][i]);
        }
    }
}

uint64_t number(unsigned usual)
{
    static const uint64_t unusual[] = {UINT64_MAX,       UINT64_MAX - 1,   UINT64_MAX - 3, UINT64_MAX - 63,
                                       1ULL << 63,       (1ULL << 63) - 1, UINT32_MAX,     1ULL << 32,
                                       (1ULL << 32) + 1, INT32_MAX,        1ULL << 62,     UINT64_MAX / 3 + 1,
                                       1ULL << 31,       1ULL << 61};
    if (!take_chance(10)) {
        return take_below(usual + 1);
    }
    return unusual[take_below(sizeof unusual / sizeof *unusual)];
}
