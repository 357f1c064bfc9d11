/* SPDX-License-Identifier: Apache-2.0 */
/* Queries of every kind: what a vendor says of a size must be so, whatever room it is given. */
#include "icd.h"

#include <string.h>

enum { NEVER_WRITTEN = 0x7b1d, FIRST_FILL = 0x5a, SECOND_FILL = 0xc3 };

/* What stands between the object and the name. */
enum extra { EXTRA_NONE, EXTRA_DEVICE, EXTRA_INDEX };

static const struct query {
    enum function function;
    int kind; /* of the object; -1 for the platform */
    enum extra extra;
    cl_uint first; /* names: the first, and how many follow it */
    unsigned names;
} queries[] = {
    {FUNCTION_clGetPlatformInfo, -1, EXTRA_NONE, CL_PLATFORM_PROFILE, 8},
    {FUNCTION_clGetDeviceInfo, KIND_DEVICE, EXTRA_NONE, CL_DEVICE_TYPE, 0x75},
    {FUNCTION_clGetContextInfo, KIND_CONTEXT, EXTRA_NONE, CL_CONTEXT_REFERENCE_COUNT, 4},
    {FUNCTION_clGetCommandQueueInfo, KIND_QUEUE, EXTRA_NONE, CL_QUEUE_CONTEXT, 9},
    {FUNCTION_clGetMemObjectInfo, KIND_MEM, EXTRA_NONE, CL_MEM_TYPE, 11},
    {FUNCTION_clGetImageInfo, KIND_MEM, EXTRA_NONE, CL_IMAGE_FORMAT, 11},
    {FUNCTION_clGetPipeInfo, KIND_MEM, EXTRA_NONE, 0x1120, 3},
    {FUNCTION_clGetSamplerInfo, KIND_SAMPLER, EXTRA_NONE, CL_SAMPLER_REFERENCE_COUNT, 9},
    {FUNCTION_clGetProgramInfo, KIND_PROGRAM, EXTRA_NONE, CL_PROGRAM_REFERENCE_COUNT, 12},
    {FUNCTION_clGetProgramBuildInfo, KIND_PROGRAM, EXTRA_DEVICE, CL_PROGRAM_BUILD_STATUS, 5},
    {FUNCTION_clGetKernelInfo, KIND_KERNEL, EXTRA_NONE, CL_KERNEL_FUNCTION_NAME, 6},
    {FUNCTION_clGetKernelArgInfo, KIND_KERNEL, EXTRA_INDEX, CL_KERNEL_ARG_ADDRESS_QUALIFIER, 5},
    {FUNCTION_clGetKernelWorkGroupInfo, KIND_KERNEL, EXTRA_DEVICE, CL_KERNEL_WORK_GROUP_SIZE, 6},
    {FUNCTION_clGetEventInfo, KIND_EVENT, EXTRA_NONE, CL_EVENT_COMMAND_QUEUE, 5},
    {FUNCTION_clGetEventProfilingInfo, KIND_EVENT, EXTRA_NONE, CL_PROFILING_COMMAND_QUEUED, 5},
};

struct request {
    const struct query *query;
    uint64_t object;
    uint64_t extra;
    uint64_t name;
};

static cl_int ask(const struct request *request, size_t size, void *value, size_t *needed)
{
    enum function function = request->query->function;
    uint64_t code = request->query->extra == EXTRA_NONE
                        ? ICD(function, request->object, request->name, size, AT(value), AT(needed))
                        : ICD(function, request->object, request->extra, request->name, size, AT(value), AT(needed));
    return checked(function, code);
}

static const char *key_of(const struct request *request, const char *what)
{
    return keep_text("%s-%#llx", what, (unsigned long long)request->name);
}

/* The room for a program's binaries is an input as well: addresses to write them to. NULL means none. */
static bool may_fill(const struct request *request)
{
    return request->name != CL_PROGRAM_BINARIES;
}

/* Asks with a room of `size` bytes, which ends on an unreadable page. Gives the room. */
static unsigned char *ask_with_room(const struct request *request, size_t needed, size_t size, int fill)
{
    enum function function = request->query->function;
    unsigned char *value = guarded(size);
    size_t *size_ret = take_chance(8) ? NULL : guarded(sizeof *size_ret);
    if (may_fill(request)) {
        memset(value, fill, size);
    }
    cl_int code = ask(request, size, value, size_ret);
    if (size < needed && code == CL_SUCCESS) {
        wrong(function, key_of(request, "too-little-room"),
              "it answered CL_SUCCESS to less room than it had asked for");
    } else if (size >= needed && code != CL_SUCCESS) {
        wrong(function, key_of(request, "room-refused"), "it refused the room that it had asked for");
    } else if (code == CL_SUCCESS && size_ret && *size_ret != needed) {
        wrong(function, key_of(request, "another-size"), "it said one size without room, and another with it");
    }
    for (size_t i = needed; code == CL_SUCCESS && may_fill(request) && i < size; i++) {
        if (value[i] != fill) {
            wrong(function, key_of(request, "wrote-more"), "it wrote more than the size that it said");
            break;
        }
    }
    return code == CL_SUCCESS && size >= needed ? value : NULL;
}

static size_t room_for(size_t needed)
{
    switch (take_below(6)) {
    case 0:
        return needed;
    case 1:
        return needed ? needed - 1 : 0;
    case 2:
        return needed + 1;
    case 3:
        return take_below(needed < 4096 ? (unsigned)needed : 4096);
    case 4:
        return needed + 1000;
    default:
        return needed ? 1 : 0;
    }
}

static void ask_twice(const struct request *request)
{
    enum function function = request->query->function;
    size_t *needed = guarded(sizeof *needed);
    *needed = NEVER_WRITTEN;
    if (ask(request, 0, NULL, needed) != CL_SUCCESS) {
        return;
    }
    if (*needed == NEVER_WRITTEN) {
        wrong(function, key_of(request, "no-size"), "it answered CL_SUCCESS and wrote no size");
        return;
    }
    size_t size = room_for(*needed);
    if (size == 0) {
        return; /* without room it is another question */
    }
    const unsigned char *first = ask_with_room(request, *needed, size, FIRST_FILL);
    const unsigned char *second = first ? ask_with_room(request, *needed, size, SECOND_FILL) : NULL;
    size_t last = *needed - 1;
    if (second && *needed && may_fill(request) && first[last] == FIRST_FILL && second[last] == SECOND_FILL) {
        wrong(function, key_of(request, "wrote-less"), "it wrote less than the size that it said");
    }
}

void query_something(void)
{
    const struct query *query = &queries[take_below(sizeof queries / sizeof *queries)];
    struct request request = {.query = query, .object = icd_platform};
    if (!icd_has(query->function)) {
        return;
    }
    if (query->kind >= 0) {
        struct object *object = one_of((enum kind)query->kind);
        if (!object) {
            return;
        }
        request.object = take_chance(64) ? 0 : object->handle;
    }
    if (query->extra == EXTRA_DEVICE) {
        request.extra = some(KIND_DEVICE);
    } else if (query->extra == EXTRA_INDEX) {
        request.extra = number(4) & UINT32_MAX;
    }
    request.name = take_chance(24) ? take_word() : query->first + take_below(query->names);
    ask_twice(&request);
}

void query_subgroups(void)
{
    struct object *kernel = one_of(KIND_KERNEL);
    if (!kernel) {
        return;
    }
    static const cl_uint names[] = {0x2033, 0x2034, 0x11B8, 0x11B9, 0x11BA};
    size_t input_size = take_below(4) * sizeof(size_t);
    uint64_t *input = guarded(input_size);
    for (size_t i = 0; i < input_size / sizeof *input; i++) {
        input[i] = number(8);
    }
    size_t room = take_below(5) * sizeof(size_t);
    checked(FUNCTION_clGetKernelSubGroupInfo,
            ICD_OF(clGetKernelSubGroupInfo, kernel->handle, some(KIND_DEVICE), names[take_below(5)], input_size,
                   input_size ? AT(input) : 0, room, room ? AT(guarded(room)) : 0, AT(guarded(sizeof(size_t)))));
}

void list_devices(void)
{
    cl_uint room = take_below(5);
    cl_uint *count = take_chance(4) ? NULL : guarded(sizeof *count);
    uint64_t *list = guarded(room * sizeof *list);
    uint64_t type = take_chance(8) ? take_long() : 1U << take_below(6);
    cl_int code = checked(FUNCTION_clGetDeviceIDs,
                          ICD_OF(clGetDeviceIDs, icd_platform, take_chance(4) ? CL_DEVICE_TYPE_ALL : type, room,
                                 room ? AT(list) : 0, AT(count)));
    for (cl_uint i = 0; code == CL_SUCCESS && count && i < room && i < *count; i++) {
        if (!list[i]) {
            wrong(FUNCTION_clGetDeviceIDs, "success-without-object", "it counted a device that it did not write");
        }
    }
}

void list_image_formats(void)
{
    struct object *context = one_of(KIND_CONTEXT);
    if (!context) {
        return;
    }
    cl_uint room = take_below(200);
    cl_uint *count = take_chance(4) ? NULL : guarded(sizeof *count);
    uint64_t flags = take_chance(8) ? take_long() : 1U << take_below(4);
    checked(FUNCTION_clGetSupportedImageFormats,
            ICD_OF(clGetSupportedImageFormats, context->handle, flags, 0x10F0 + take_below(10), room,
                   room ? AT(guarded(room * sizeof(cl_image_format))) : 0, AT(count)));
}

void look_up_extension(void)
{
    static const char *const names[] = {"", "clIcdGetPlatformIDsKHR", "clGetPlatformInfo",
                                        "clCreateCommandQueueWithPropertiesKHR"};
    const char *name = take_chance(2) ? names[take_below(4)] : take_text(64);
    size_t size = strlen(name) + 1;
    ICD_OF(clGetExtensionFunctionAddressForPlatform, icd_platform, AT(memcpy(guarded(size), name, size)));
}
