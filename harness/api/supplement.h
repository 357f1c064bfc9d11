/* Declarations that older OpenCL-Headers lack. Each is used only where the installed headers do not have it.
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
