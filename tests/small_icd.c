/* SPDX-License-Identifier: Apache-2.0 */
/* An ICD with a platform, a device, contexts, queues and buffers. WRONG names the one thing that it does wrong. */
#define _GNU_SOURCE
#include <CL/cl.h>
#include <CL/cl_icd.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    none,
    overruns,
    too_little_room,
    another_size,
    wrote_less,
    wrote_more,
    no_size,
    room_refused,
    positive_code,
    strange_code,
    object_with_error,
    success_without_object,
    no_code,
    crashes,
    ends,
    aborts,
    outside,
    reads_list,
    maps_low,
    sends
};
#define IS(name) (WRONG == (name))

struct object {
    struct _cl_icd_dispatch *table;
    int references;
    size_t size;
    char *memory;
};
static struct _cl_icd_dispatch table;
static struct object platform = {&table, 1, 0, 0}, device = {&table, 1, 0, 0};

static cl_int answer(const void *what, size_t length, size_t room, void *to, size_t *needed)
{
    static int asked;
    if (to && room < length)
        return IS(too_little_room) ? CL_SUCCESS : CL_INVALID_VALUE;
    if (to && IS(room_refused) && room == length + 1)
        return CL_INVALID_VALUE;
    if (to) {
        memcpy(to, what, IS(wrote_less) && length > 1 ? length - 1 : length);
        if (IS(overruns))
            ((volatile char *)to)[length] = 0;
        if (IS(wrote_more) && room > length)
            ((char *)to)[length] = 0;
    }
    if (needed && !IS(no_size))
        *needed = length + (IS(another_size) && to);
    return IS(positive_code) && ++asked > 9 ? 5 : IS(strange_code) && ++asked > 9 ? -500 : CL_SUCCESS;
}

static void *object(size_t size, cl_int *code)
{
    static int made;
    struct object *o = calloc(1, sizeof *o);
    *o = (struct object){&table, 1, size, size ? calloc(1, size) : NULL};
    made++;
    if (code && !IS(no_code))
        *code = IS(object_with_error) && made > 9 ? CL_INVALID_VALUE : CL_SUCCESS;
    if (IS(success_without_object) && made > 9 && code) {
        free(o->memory);
        free(o);
        return NULL;
    }
    return o;
}

static void *refused(cl_int *code, cl_int why)
{
    if (code)
        *code = why;
    return NULL;
}

static cl_int release(void *of)
{
    struct object *o = of;
    if (--o->references == 0) {
        free(o->memory);
        free(o);
    }
    return CL_SUCCESS;
}

static cl_int retain(void *of)
{
    ((struct object *)of)->references++;
    return CL_SUCCESS;
}

#define TEXT(text) answer(text, sizeof text, room, to, needed)

static cl_int CL_API_CALL get_platform_info(cl_platform_id p, cl_platform_info name, size_t room, void *to,
                                            size_t *needed)
{
    (void)p;
    return name == CL_PLATFORM_VERSION ? TEXT("OpenCL 1.1 small")
           : name == CL_PLATFORM_NAME  ? TEXT("small")
                                       : CL_INVALID_VALUE;
}

static cl_int CL_API_CALL get_device_ids(cl_platform_id p, cl_device_type type, cl_uint room, cl_device_id *to,
                                         cl_uint *count)
{
    (void)p;
    if (!(type & (CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_DEFAULT)))
        return type ? CL_DEVICE_NOT_FOUND : CL_INVALID_DEVICE_TYPE;
    if ((to && !room) || (!to && !count))
        return CL_INVALID_VALUE;
    if (to)
        *to = (cl_device_id)&device;
    if (count)
        *count = 1;
    return CL_SUCCESS;
}

static cl_int CL_API_CALL get_device_info(cl_device_id d, cl_device_info name, size_t room, void *to, size_t *needed)
{
    cl_ulong most = 65536;
    if (!d)
        return CL_INVALID_DEVICE;
    if (name == CL_DEVICE_MAX_MEM_ALLOC_SIZE)
        return answer(&most, sizeof most, room, to, needed);
    if (IS(crashes) && name == CL_DEVICE_EXTENSIONS)
        *(volatile int *)8 = 1;
    if (IS(ends) && name == CL_DEVICE_EXTENSIONS)
        exit(0);
    if (IS(aborts) && name == CL_DEVICE_EXTENSIONS)
        abort();
    return name == CL_DEVICE_NAME ? TEXT("one") : CL_INVALID_VALUE;
}

static cl_context CL_API_CALL create_context(const cl_context_properties *list, cl_uint count,
                                             const cl_device_id *devices,
                                             void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *),
                                             void *data, cl_int *code)
{
    if (!count || !devices || (!notify && data))
        return refused(code, CL_INVALID_VALUE);
    for (cl_uint i = 0; i < count; i++)
        if (!devices[i])
            return refused(code, CL_INVALID_DEVICE);
    for (; list && *list; list += 2)
        if (*list != CL_CONTEXT_PLATFORM)
            return refused(code, CL_INVALID_PROPERTY);
    if (list && IS(reads_list))
        (void)*(volatile const cl_context_properties *)(list + 1);
    return object(0, code);
}

static cl_context CL_API_CALL create_context_from_type(const cl_context_properties *list, cl_device_type type,
                                                       void(CL_CALLBACK *notify)(const char *, const void *, size_t,
                                                                                 void *),
                                                       void *data, cl_int *code)
{
    cl_device_id one = (cl_device_id)&device;
    return type & CL_DEVICE_TYPE_GPU ? create_context(list, 1, &one, notify, data, code)
                                     : refused(code, CL_DEVICE_NOT_FOUND);
}

static cl_command_queue CL_API_CALL create_queue(cl_context c, cl_device_id d, cl_command_queue_properties flags,
                                                 cl_int *code)
{
    (void)c;
    return !d ? refused(code, CL_INVALID_DEVICE) : flags > 3 ? refused(code, CL_INVALID_VALUE) : object(0, code);
}

static cl_mem CL_API_CALL create_buffer(cl_context c, cl_mem_flags flags, size_t size, void *host, cl_int *code)
{
    (void)c;
    if (!size || size > 65536)
        return refused(code, CL_INVALID_BUFFER_SIZE);
    if (!host != !(flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR)))
        return refused(code, CL_INVALID_HOST_PTR);
    struct object *o = object(size, code);
    if (o && host)
        memcpy(o->memory, host, size);
    return (cl_mem)o;
}

static cl_int CL_API_CALL read_buffer(cl_command_queue q, cl_mem mem, cl_bool blocks, size_t offset, size_t size,
                                      void *to, cl_uint waits, const cl_event *list, cl_event *event)
{
    struct object *o = (struct object *)mem;
    (void)q;
    (void)blocks;
    (void)waits;
    (void)list;
    (void)event;
    if (event || waits || list)
        return CL_OUT_OF_RESOURCES; /* it has no events */
    if (!to || !size || (IS(outside) ? offset + size > o->size : offset > o->size || size > o->size - offset))
        return CL_INVALID_VALUE;
    memcpy(to, o->memory + offset, size);
    return CL_SUCCESS;
}

static cl_int CL_API_CALL flush(cl_command_queue q)
{
    (void)q;
    return CL_SUCCESS;
}

/* Memory of its own at an address that drivers of GPUs choose. */
static int has_low_memory(void)
{
    static void *memory;
    void *wanted = (void *)0x10000000000;
    if (!memory)
        memory =
            mmap(wanted, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    return memory == wanted;
}

static cl_int CL_API_CALL list_platforms(cl_uint room, cl_platform_id *to, cl_uint *count)
{
    if ((IS(maps_low) && !has_low_memory()) || (IS(sends) && !kill(atoi(getenv("RECEIVER")), SIGKILL)))
        return CL_PLATFORM_NOT_FOUND_KHR;
    if (to && room)
        *to = (cl_platform_id)&platform;
    if (count)
        *count = 1;
    return CL_SUCCESS;
}

void *CL_API_CALL clGetExtensionFunctionAddress(const char *name)
{
    table.clGetPlatformInfo = get_platform_info;
    table.clGetDeviceIDs = get_device_ids;
    table.clGetDeviceInfo = get_device_info;
    table.clCreateContext = create_context;
    table.clCreateContextFromType = create_context_from_type;
    table.clRetainContext = (void *)retain;
    table.clReleaseContext = (void *)release;
    table.clCreateCommandQueue = create_queue;
    table.clRetainCommandQueue = (void *)retain;
    table.clReleaseCommandQueue = (void *)release;
    table.clCreateBuffer = create_buffer;
    table.clRetainMemObject = (void *)retain;
    table.clReleaseMemObject = (void *)release;
    table.clEnqueueReadBuffer = read_buffer;
    table.clFlush = flush;
    table.clFinish = flush;
    return strcmp(name, "clIcdGetPlatformIDsKHR") ? NULL : (void *)list_platforms;
}
