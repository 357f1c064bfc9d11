/* SPDX-License-Identifier: Apache-2.0 */
/* A layer that prints what an application asks for: platforms, buffers, kernels. All else goes past it.
 *
 * Contract: OpenCL-Docs, extensions/cl_loader_layers.asciidoc 1.0.1. README.md explains each part.
 */
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl_icd.h>
#include <CL/cl_layer.h>

#include <stdio.h>
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
    return target->clCreateBuffer(context, flags, size, host_ptr, errcode_ret);
}

static cl_int CL_API_CALL enqueue_kernel(cl_command_queue queue, cl_kernel kernel, cl_uint work_dim,
                                         const size_t *global_offset, const size_t *global_size,
                                         const size_t *local_size, cl_uint num_events, const cl_event *events,
                                         cl_event *event)
{
    fprintf(stderr, "clEnqueueNDRangeKernel(%u dimensions)\n", work_dim);
    return target->clEnqueueNDRangeKernel(queue, kernel, work_dim, global_offset, global_size, local_size, num_events,
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
    static const char layer_name[] = "print example";
    const void *answer = name == CL_LAYER_API_VERSION ? (const void *)&version : layer_name;
    size_t length = name == CL_LAYER_API_VERSION ? sizeof version : sizeof layer_name;
    if ((name != CL_LAYER_API_VERSION && name != CL_LAYER_NAME) || (value && size < length)) {
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
    if (!target_dispatch || !num_entries_ret || !layer_dispatch_ret || num_entries < ENTRIES) {
        return CL_INVALID_VALUE;
    }
    target = target_dispatch;
    *num_entries_ret = ENTRIES;
    *layer_dispatch_ret = &table;
    return CL_SUCCESS;
}

/* Loaders of today call this one. No property exists yet, so that any at all is an unknown one. */
EXPORTED cl_int CL_API_CALL clInitLayerWithProperties(cl_uint num_entries, const cl_icd_dispatch *target_dispatch,
                                                      cl_uint *num_entries_ret,
                                                      const cl_icd_dispatch **layer_dispatch_ret,
                                                      const cl_properties *properties)
{
    if (properties && *properties) {
        return CL_INVALID_PROPERTY;
    }
    return clInitLayer(num_entries, target_dispatch, num_entries_ret, layer_dispatch_ret);
}
