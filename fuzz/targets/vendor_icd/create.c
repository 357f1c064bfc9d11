/* SPDX-License-Identifier: Apache-2.0 */
/* Creation of everything but programs and kernels. */
#include "icd.h"

#include <string.h>

static void CL_CALLBACK nothing_of_event(cl_event event, cl_int status, void *data)
{
    (void)event;
    (void)status;
    (void)data;
}

static void CL_CALLBACK nothing_of_mem(cl_mem mem, void *data)
{
    (void)mem;
    (void)data;
}

static void CL_CALLBACK nothing_of_context(cl_context context, void *data)
{
    (void)context;
    (void)data;
}

static void CL_CALLBACK nothing_of_error(const char *text, const void *data, size_t size, void *user)
{
    (void)text;
    (void)data;
    (void)size;
    (void)user;
}

/* A list of names and values with its end, which lies before an unreadable page; no list at all at times. */
static uint64_t properties(const uint64_t *names, unsigned count, uint64_t only_value)
{
    size_t pairs = take_below(4);
    if (pairs == 0 && take_chance(2)) {
        return 0;
    }
    uint64_t *list = guarded((2 * pairs + 1) * sizeof *list);
    for (size_t i = 0; i < pairs; i++) {
        bool known = !take_chance(6);
        list[2 * i] = known ? names[take_below(count)] : 0xabc00000U + take_byte();
        /* Where the value is a handle nothing but that one and NULL is legal. */
        list[2 * i + 1] = only_value       ? (take_chance(12) ? 0 : only_value)
                          : take_chance(4) ? take_long()
                                           : take_below(8);
    }
    return AT(list);
}

void create_context(void)
{
    static const uint64_t names[] = {CL_CONTEXT_PLATFORM};
    uint64_t list = properties(names, 1, icd_platform);
    cl_int *code = place_for_code();
    uint64_t callback = take_chance(4) ? AT(nothing_of_error) : 0;
    if (take_chance(4)) {
        uint64_t type = take_chance(4) ? take_long() : CL_DEVICE_TYPE_ALL;
        add_object(FUNCTION_clCreateContextFromType, KIND_CONTEXT,
                   ICD_OF(clCreateContextFromType, list, type, callback, take_chance(8), AT(code)), code);
        return;
    }
    uint64_t count;
    uint64_t devices = list_of(KIND_DEVICE, 4, &count);
    if (!devices) {
        struct object *device = one_of(KIND_DEVICE);
        devices = take_chance(8) || !device ? 0 : AT(memcpy(guarded(8), &device->handle, 8));
        count = 1;
    }
    add_object(
        FUNCTION_clCreateContext, KIND_CONTEXT,
        ICD_OF(clCreateContext, list, count, devices, callback, callback ? take_chance(2) : take_chance(8), AT(code)),
        code);
}

void create_queue(void)
{
    static const uint64_t names[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_SIZE};
    struct object *context = one_of(KIND_CONTEXT);
    if (!context) {
        return;
    }
    cl_int *code = place_for_code();
    bool with_list = take_chance(2) && icd_has(FUNCTION_clCreateCommandQueueWithProperties);
    enum function function = with_list ? FUNCTION_clCreateCommandQueueWithProperties : FUNCTION_clCreateCommandQueue;
    uint64_t how = with_list ? properties(names, 2, 0) : take_chance(8) ? take_long() : take_below(4);
    add_object(function, KIND_QUEUE, ICD(function, context->handle, some(KIND_DEVICE), how, AT(code)), code);
}

static uint64_t memory_flags(void)
{
    static const uint64_t usual[] = {CL_MEM_READ_WRITE,     CL_MEM_READ_ONLY,      CL_MEM_WRITE_ONLY,    0,
                                     CL_MEM_HOST_NO_ACCESS, CL_MEM_HOST_READ_ONLY, CL_MEM_ALLOC_HOST_PTR};
    return take_chance(16) ? take_long() & ~(uint64_t)(CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR)
                           : usual[take_below(7)];
}

/* Host memory of the size, and the flag that it is for; one without the other at times. */
static uint64_t host_memory(size_t size, uint64_t *flags)
{
    unsigned what = take_below(8);
    if (what == 1 || what == 3) {
        *flags |= CL_MEM_COPY_HOST_PTR;
    } else if (what == 2 || what == 4) {
        *flags |= CL_MEM_USE_HOST_PTR;
    }
    return what == 0 || what > 5 || take_chance(24) ? 0 : AT(guarded(size));
}

static size_t allocation_size(void)
{
    if (take_chance(12)) {
        return take_chance(2) ? icd_too_large : SIZE_MAX - take_byte();
    }
    return take_below(take_chance(4) ? 4097 : 65);
}

void create_buffer(void)
{
    struct object *context = one_of(KIND_CONTEXT);
    if (!context) {
        return;
    }
    uint64_t flags = memory_flags();
    size_t size = allocation_size();
    uint64_t host = size && size < 4097 ? host_memory(size, &flags) : 0;
    cl_int *code = place_for_code();
    struct object *buffer;
    if (take_chance(3) && icd_has(FUNCTION_clCreateBufferWithProperties)) {
        static const uint64_t names[] = {CL_MEM_PROPERTIES};
        buffer = add_object(
            FUNCTION_clCreateBufferWithProperties, KIND_MEM,
            ICD_OF(clCreateBufferWithProperties, context->handle, properties(names, 1, 0), flags, size, host, AT(code)),
            code);
    } else {
        buffer = add_object(FUNCTION_clCreateBuffer, KIND_MEM,
                            ICD_OF(clCreateBuffer, context->handle, flags, size, host, AT(code)), code);
    }
    if (buffer) {
        buffer->size = size;
    }
}

void create_sub_buffer(void)
{
    struct object *buffer = one_of(KIND_MEM);
    if (!buffer) {
        return;
    }
    size_t *region = guarded(2 * sizeof *region);
    region[0] = take_chance(2) ? 0 : number((unsigned)buffer->size);
    region[1] = number((unsigned)buffer->size);
    uint64_t flags = take_chance(2) ? 0 : memory_flags();
    cl_int *code = place_for_code();
    uint64_t type = take_chance(16) ? take_word() : CL_BUFFER_CREATE_TYPE_REGION;
    struct object *part = add_object(
        FUNCTION_clCreateSubBuffer, KIND_MEM,
        ICD_OF(clCreateSubBuffer, buffer->handle, flags, type, take_chance(24) ? 0 : AT(region), AT(code)), code);
    if (part) {
        part->size = region[1];
    }
}

/* Elements of formats that are small and known: the size of an image's host memory is known. */
static const struct {
    cl_channel_order order;
    cl_channel_type type;
    size_t bytes;
} formats[] = {
    {CL_RGBA, CL_UNORM_INT8, 4}, {CL_R, CL_UNSIGNED_INT8, 1}, {CL_RGBA, CL_FLOAT, 16},
    {CL_RG, CL_SIGNED_INT16, 4}, {CL_A, CL_UNORM_INT8, 1},    {CL_BGRA, CL_UNORM_INT8, 4},
    {CL_INTENSITY, CL_FLOAT, 4}, {CL_RGBA, CL_HALF_FLOAT, 8}, {CL_RGB, CL_UNORM_SHORT_565, 2},
};

static size_t extent(void)
{
    return take_chance(16) ? (take_chance(2) ? icd_too_large : number(1)) : take_below(17);
}

/* Host memory is given where the image is legal, so that it is as large as it must be. */
static bool is_small(const cl_image_desc *desc)
{
    return desc->image_width < 17 && desc->image_height < 17 && desc->image_depth < 17 && desc->image_array_size < 17 &&
           desc->image_row_pitch == 0 && desc->image_slice_pitch == 0;
}

static size_t bytes_of(const cl_image_desc *desc, size_t element)
{
    size_t bytes = desc->image_width * element;
    bytes *= desc->image_height ? desc->image_height : 1;
    bytes *= desc->image_depth ? desc->image_depth : 1;
    return bytes * (desc->image_array_size ? desc->image_array_size : 1);
}

void create_image(void)
{
    struct object *context = one_of(KIND_CONTEXT);
    if (!context) {
        return;
    }
    cl_image_format *format = guarded(sizeof *format);
    unsigned known = take_below(sizeof formats / sizeof *formats);
    bool usual = !take_chance(8);
    format->image_channel_order = usual ? formats[known].order : 0x10B0 + take_below(20);
    format->image_channel_data_type = usual ? formats[known].type : 0x10D0 + take_below(20);
    cl_image_desc *desc = guarded(sizeof *desc);
    desc->image_type = take_chance(12) ? take_word() : 0x10F1 + take_below(6);
    desc->image_width = extent();
    desc->image_height = extent();
    desc->image_depth = extent();
    desc->image_array_size = take_chance(2) ? extent() : 0;
    desc->image_row_pitch = take_chance(6) ? number(128) : 0;
    desc->image_slice_pitch = take_chance(6) ? number(4096) : 0;
    desc->num_mip_levels = take_chance(12) ? take_byte() : 0;
    desc->num_samples = take_chance(12) ? take_byte() : 0;
    struct object *of = take_chance(6) ? one_of(KIND_MEM) : NULL;
    desc->buffer = of ? (cl_mem)(uintptr_t)of->handle : NULL;
    uint64_t flags = memory_flags();
    uint64_t host = usual && is_small(desc) ? host_memory(bytes_of(desc, formats[known].bytes), &flags) : 0;
    cl_int *code = place_for_code();
    struct object *image = add_object(FUNCTION_clCreateImage, KIND_MEM,
                                      ICD_OF(clCreateImage, context->handle, flags, take_chance(24) ? 0 : AT(format),
                                             take_chance(24) ? 0 : AT(desc), host, AT(code)),
                                      code);
    if (image) {
        image->element = usual ? formats[known].bytes : 16;
    }
}

void create_sampler(void)
{
    static const uint64_t names[] = {CL_SAMPLER_NORMALIZED_COORDS, CL_SAMPLER_ADDRESSING_MODE, CL_SAMPLER_FILTER_MODE};
    struct object *context = one_of(KIND_CONTEXT);
    if (!context) {
        return;
    }
    cl_int *code = place_for_code();
    if (take_chance(2) && icd_has(FUNCTION_clCreateSamplerWithProperties)) {
        add_object(FUNCTION_clCreateSamplerWithProperties, KIND_SAMPLER,
                   ICD_OF(clCreateSamplerWithProperties, context->handle, properties(names, 3, 0), AT(code)), code);
        return;
    }
    add_object(FUNCTION_clCreateSampler, KIND_SAMPLER,
               ICD_OF(clCreateSampler, context->handle, take_below(3), 0x1130 + take_below(6), 0x1140 + take_below(3),
                      AT(code)),
               code);
}

void create_sub_devices(void)
{
    struct object *device = one_of(KIND_DEVICE);
    if (!device) {
        return;
    }
    bool by_counts = take_chance(2);
    unsigned values = by_counts ? take_below(5) : 1 + 2 * take_below(2); /* pairs, or else counts up to a 0 */
    uint64_t *list = guarded((values + 2 + by_counts) * sizeof *list);
    list[0] = take_chance(12) ? 0xabc00000U + take_byte()
              : by_counts     ? CL_DEVICE_PARTITION_BY_COUNTS
                              : 0x1086 + 2 * take_below(2);
    for (unsigned i = 0; i < values; i++) {
        list[1 + i] = by_counts ? 1 + take_below(2) : number(4);
    }
    cl_uint room = take_below(5);
    cl_uint *count = guarded(sizeof *count);
    uint64_t *devices = guarded(room * sizeof *devices);
    cl_int code =
        checked(FUNCTION_clCreateSubDevices, ICD_OF(clCreateSubDevices, device->handle, take_chance(24) ? 0 : AT(list),
                                                    room, room ? AT(devices) : 0, AT(count)));
    for (cl_uint i = 0; code == CL_SUCCESS && i < room && i < *count; i++) {
        written(FUNCTION_clCreateSubDevices, KIND_DEVICE, devices[i], code);
    }
}

void create_user_event(void)
{
    struct object *context = one_of(KIND_CONTEXT);
    if (!context) {
        return;
    }
    cl_int *code = place_for_code();
    struct object *event =
        add_object(FUNCTION_clCreateUserEvent, KIND_EVENT, ICD_OF(clCreateUserEvent, context->handle, AT(code)), code);
    if (event) {
        event->user_event = true;
    }
}

void create_pipe(void)
{
    struct object *context = one_of(KIND_CONTEXT);
    if (!context) {
        return;
    }
    cl_int *code = place_for_code();
    uint64_t list = take_chance(4) ? AT(guarded(sizeof(uint64_t))) : 0;
    add_object(FUNCTION_clCreatePipe, KIND_MEM,
               ICD_OF(clCreatePipe, context->handle, memory_flags(), take_below(65), take_below(65), list, AT(code)),
               code);
}

void allocate_svm(void)
{
    struct object *context = one_of(KIND_CONTEXT);
    if (!context) {
        return;
    }
    size_t size = allocation_size();
    uint64_t flags = take_chance(8) ? take_long() : CL_MEM_READ_WRITE;
    uint64_t alignment = take_chance(4) ? number(128) & UINT32_MAX : 0;
    uint64_t address = ICD_OF(clSVMAlloc, context->handle, flags, size, alignment);
    if (!address) {
        return;
    }
    if (size > 4097) {
        wrong(FUNCTION_clSVMAlloc, "too-large", "it allocated more than the device says it can");
        return;
    }
    note_svm(context->handle, address, size);
}

void set_callback(void)
{
    struct object *object = one_of(take_chance(3) ? KIND_CONTEXT : take_chance(2) ? KIND_MEM : KIND_EVENT);
    if (!object) {
        return;
    }
    if (object->kind == KIND_EVENT) {
        uint64_t status = take_chance(8) ? take_word() : take_below(4);
        checked(FUNCTION_clSetEventCallback,
                ICD_OF(clSetEventCallback, object->handle, status, take_chance(24) ? 0 : AT(nothing_of_event), 0));
    } else if (object->kind == KIND_MEM) {
        checked(FUNCTION_clSetMemObjectDestructorCallback,
                ICD_OF(clSetMemObjectDestructorCallback, object->handle, take_chance(24) ? 0 : AT(nothing_of_mem), 0));
    } else if (icd_has(FUNCTION_clSetContextDestructorCallback)) {
        checked(FUNCTION_clSetContextDestructorCallback, ICD_OF(clSetContextDestructorCallback, object->handle,
                                                                take_chance(24) ? 0 : AT(nothing_of_context), 0));
    }
}
