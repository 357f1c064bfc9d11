/* SPDX-License-Identifier: Apache-2.0 */
/* The print layer with mistakes that are easily made; `clharness layer` names each of them. README.md lists them. */
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl_icd.h>
#include <CL/cl_layer.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORTED __attribute__((visibility("default"))) CL_API_ENTRY

/* What is below this layer: the only way by which it may call OpenCL. */
static const cl_icd_dispatch *target;

static cl_int CL_API_CALL get_platform_ids(cl_uint num_entries, cl_platform_id *platforms, cl_uint *num_platforms)
{
    fprintf(stderr, "clGetPlatformIDs(%u)\n", num_entries);
    return target->clGetPlatformIDs(num_entries, platforms, num_platforms);
}

static cl_mem CL_API_CALL create_buffer(cl_context context, cl_mem_flags flags, size_t size, void *host_ptr,
                                        cl_int *errcode_ret)
{
    fprintf(stderr, "clCreateBuffer(%zu bytes)\n", size);
    cl_int error; /* 5: the application's errcode_ret stays as it was */
    (void)errcode_ret;
    return target->clCreateBuffer(context, flags, (cl_uint)size, host_ptr, &error); /* 6: beyond 4 GiB bits are lost */
}

static cl_int CL_API_CALL enqueue_kernel(cl_command_queue queue, cl_kernel kernel, cl_uint work_dim,
                                         const size_t *global_offset, const size_t *global_size,
                                         const size_t *local_size, cl_uint num_events, const cl_event *events,
                                         cl_event *event)
{
    fprintf(stderr, "clEnqueueNDRangeKernel(%u dimensions)\n", work_dim);
    /* 7: two arguments of the same type are exchanged */
    return target->clEnqueueNDRangeKernel(queue, kernel, work_dim, global_size, global_offset, local_size, num_events,
                                          events, event);
}

/* Entries that stay NULL are filled in by the loader, from the target. */
static const cl_icd_dispatch table = {
    .clGetPlatformIDs = get_platform_ids,
    .clCreateBuffer = create_buffer,
    .clEnqueueNDRangeKernel = enqueue_kernel,
};
enum { ENTRIES = sizeof table / sizeof table.clGetPlatformIDs };

EXPORTED cl_int CL_API_CALL clGetLayerInfo(cl_layer_info name, size_t size, void *value, size_t *size_ret)
{
    static const cl_layer_api_version version = CL_LAYER_API_VERSION_100;
    static const char layer_name[] = "faulty example";
    const void *answer = name == CL_LAYER_API_VERSION ? (const void *)&version : layer_name;
    /* 1: the terminating zero belongs to the name */
    size_t length = name == CL_LAYER_API_VERSION ? sizeof version : strlen(layer_name);
    if (value && size < length) { /* 2: an unknown name is answered like CL_LAYER_NAME */
        return CL_INVALID_VALUE;
    }
    if (value) {
        memcpy(value, answer, length);
    }
    if (size_ret) {
        *size_ret = length;
    }
    return CL_SUCCESS;
}

EXPORTED cl_int CL_API_CALL clInitLayer(cl_uint num_entries, const cl_icd_dispatch *target_dispatch,
                                        cl_uint *num_entries_ret, const cl_icd_dispatch **layer_dispatch_ret)
{
    (void)num_entries;
    if (!target_dispatch || !num_entries_ret || !layer_dispatch_ret) { /* 3: num_entries is ignored */
        return CL_INVALID_VALUE;
    }
    target = target_dispatch;
    *num_entries_ret = ENTRIES;
    *layer_dispatch_ret = &table;
    return CL_SUCCESS;
}

static void at_exit(void)
{
    cl_uint count = 0;
    target->clGetPlatformIDs(0, NULL, &count);
    fprintf(stderr, "%u platforms at the end\n", count);
}

EXPORTED cl_int CL_API_CALL clInitLayerWithProperties(cl_uint num_entries, const cl_icd_dispatch *target_dispatch,
                                                      cl_uint *num_entries_ret,
                                                      const cl_icd_dispatch **layer_dispatch_ret,
                                                      const cl_properties *properties)
{
    (void)properties; /* 4: unknown properties are not refused */
    atexit(at_exit);  /* 8: a loader that calls this function may be gone by then */
    return clInitLayer(num_entries, target_dispatch, num_entries_ret, layer_dispatch_ret);
}
