/* SPDX-License-Identifier: Apache-2.0 */
/* The loader's own end of the calls that need more than one handle to find their vendor; called by generated code. */
#ifndef CLHARNESS_REFERENCE_ENTRY_POINTS_H
#define CLHARNESS_REFERENCE_ENTRY_POINTS_H

#include "loader.h"

typedef void(CL_CALLBACK *context_notify)(const char *, const void *, size_t, void *);

cl_int loader_clGetPlatformIDs(cl_uint num_entries, cl_platform_id *platforms, cl_uint *num_platforms);
cl_context loader_clCreateContext(const cl_context_properties *properties, cl_uint num_devices,
                                  const cl_device_id *devices, context_notify notify, void *user_data,
                                  cl_int *errcode_ret);
cl_context loader_clCreateContextFromType(const cl_context_properties *properties, cl_device_type device_type,
                                          context_notify notify, void *user_data, cl_int *errcode_ret);
cl_int loader_clGetGLContextInfoKHR(const cl_context_properties *properties, cl_gl_context_info param_name,
                                    size_t param_value_size, void *param_value, size_t *param_value_size_ret);
cl_int loader_clWaitForEvents(cl_uint num_events, const cl_event *event_list);
cl_int loader_clUnloadCompiler(void);
void *loader_clGetExtensionFunctionAddress(const char *func_name);
void *loader_clGetExtensionFunctionAddressForPlatform(cl_platform_id platform, const char *func_name);
void *loader_clSVMAlloc(cl_context context, cl_svm_mem_flags flags, size_t size, cl_uint alignment);
void loader_clSVMFree(cl_context context, void *svm_pointer);

/* The loader's function for a slot that an extension brought, or NULL: what the address queries give. */
entry queried_function(int slot);

/* The version of OpenCL of the latest function that is exported: "OpenCL 3.0". Generated. */
extern const char loader_opencl_version[];

#endif
