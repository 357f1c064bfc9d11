/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations and constants that older OpenCL-Headers lack. Each is used only where the installed headers lack it.
 *
 * The parser reads this file after the headers. `clharness_table_tail` lists the dispatch table entries that
 * follow the last one of the oldest supported headers (2023.02.06, 149 entries), in slot order.
 * Sources: OpenCL-Docs, api/cl_khr_icd.asciidoc 2.0.1, extensions/cl_loader_layers.asciidoc 1.0.1.
 */
cl_int clIcdGetPlatformIDsKHR(cl_uint num_entries, cl_platform_id *platforms, cl_uint *num_platforms);
void *clIcdGetFunctionAddressForPlatformKHR(cl_platform_id platform, const char *func_name);
cl_int clIcdSetPlatformDispatchDataKHR(cl_platform_id platform, void *dispatch_data);

struct clharness_table_tail {
    cl_int (*clGetKernelSuggestedLocalWorkSize)(cl_command_queue command_queue, cl_kernel kernel, cl_uint work_dim,
                                                const size_t *global_work_offset, const size_t *global_work_size,
                                                size_t *suggested_local_work_size);
};

/* What ocl-icd and the Khronos loader answer about themselves, by address query (ocl-icd's man page). */
cl_int clGetICDLoaderInfoOCLICD(cl_uint param_name, size_t param_value_size, void *param_value,
                                size_t *param_value_size_ret);

/* cl_khr_external_semaphore_sync_fd 1.0.0: OpenCL-Docs, api/cl_khr_external_semaphore_sync_fd.asciidoc. */
cl_int clReImportSemaphoreSyncFdKHR(cl_semaphore_khr sema_object, cl_properties *reimport_props, int fd);

/* Constants that older headers lack, and those of headers that declare no functions, grouped as the headers group
 * theirs (families.py reads the comments). Source: OpenCL-Docs, xml/cl.xml, and the documents of the extensions. */

/* cl_int - error codes */
#define CL_EGL_RESOURCE_NOT_ACQUIRED_KHR -1092
#define CL_INVALID_EGL_OBJECT_KHR -1093
#define CL_CONTEXT_TERMINATED_KHR -1121

/* cl_platform_info */
#define CL_PLATFORM_ICD_SUFFIX_KHR 0x0920
#define CL_PLATFORM_UNLOADABLE_KHR 0x0921

/* cl_device_info */
#define CL_DEVICE_EXTERNAL_MEMORY_IMPORT_ASSUME_LINEAR_IMAGES_HANDLE_TYPES_KHR 0x2052

/* cl_mem_properties */
#define CL_MEM_DEVICE_HANDLE_LIST_KHR 0x2051
#define CL_MEM_DEVICE_PRIVATE_ADDRESS_EXT 0x5000

/* cl_external_memory_handle_type_khr */
#define CL_EXTERNAL_MEMORY_HANDLE_OPAQUE_WIN32_NAME_KHR 0x2069
#define CL_EXTERNAL_MEMORY_HANDLE_ANDROID_HARDWARE_BUFFER_KHR 0x2070

/* cl_semaphore_info_khr or cl_semaphore_properties_khr */
#define CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR 0x2053

/* cl_semaphore_info_khr */
#define CL_SEMAPHORE_EXPORTABLE_KHR 0x2054

/* cl_external_semaphore_handle_type_khr */
#define CL_SEMAPHORE_HANDLE_D3D12_FENCE_KHR 0x2059
#define CL_SEMAPHORE_HANDLE_OPAQUE_WIN32_NAME_KHR 0x2068

/* cl_command_buffer_info_khr */
#define CL_COMMAND_BUFFER_CONTEXT_KHR 0x1299

/* cl_command_buffer_properties_khr */
#define CL_COMMAND_BUFFER_MUTABLE_DISPATCH_ASSERTS_KHR 0x12B7

/* cl_layer_info */
#define CL_LAYER_API_VERSION 0x4240
#define CL_LAYER_NAME 0x4241

/* Tag of cl_khr_icd 2.0 in a dispatch table: "OPENCL31" */
#define CL_ICD2_TAG_KHR 0x4F50454E434C3331
