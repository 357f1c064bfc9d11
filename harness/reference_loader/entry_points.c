/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that need more than one handle to find their vendor. */
#include "entry_points.h"

#include "dispatch.h"

#include <string.h>

/* API clGetPlatformIDs; CL_PLATFORM_NOT_FOUND_KHR is from ICD "New Enums". Spare elements are left alone. */
cl_int loader_clGetPlatformIDs(cl_uint num_entries, cl_platform_id *platforms, cl_uint *num_platforms)
{
    cl_uint count = 0;
    if ((!platforms && !num_platforms) || (platforms && num_entries == 0)) {
        return CL_INVALID_VALUE;
    }
    for (struct platform *platform = first_platform; platform; platform = platform->next) {
        if (platforms && count < num_entries) {
            platforms[count] = platform->id;
        }
        count++;
    }
    if (num_platforms) {
        *num_platforms = count;
    }
    return count > 0 ? CL_SUCCESS : CL_PLATFORM_NOT_FOUND_KHR;
}

static void set_error(cl_int *errcode_ret, cl_int error)
{
    if (errcode_ret) {
        *errcode_ret = error;
    }
}

/* The vendor's function, or NULL with an error set. */
static entry find(const void *object, int function, cl_int *errcode_ret)
{
    entry forward = vendor_entry(object, function_info[function].slot);
    if (!forward) {
        set_error(errcode_ret, CL_INVALID_OPERATION);
    }
    return forward;
}

static bool is_offered(cl_platform_id id)
{
    for (struct platform *platform = first_platform; platform; platform = platform->next) {
        if (platform->id == id) {
            return true;
        }
    }
    return false;
}

/* The platform that a property list names. Without one the choice is the implementation's (API clCreateContext):
 * the first. A platform that no vendor offers is not an object to be looked into: NULL. */
static cl_platform_id platform_of(const cl_context_properties *properties)
{
    for (; properties && properties[0]; properties += 2) {
        if (properties[0] == CL_CONTEXT_PLATFORM) {
            cl_platform_id id = (cl_platform_id)properties[1];
            return is_offered(id) ? id : NULL;
        }
    }
    return first_platform ? first_platform->id : NULL;
}

/* The vendor is that of the devices (ICD "Inferring Vendors"). */
cl_context loader_clCreateContext(const cl_context_properties *properties, cl_uint num_devices,
                                  const cl_device_id *devices, context_notify notify, void *user_data,
                                  cl_int *errcode_ret)
{
    if (num_devices == 0 || !devices) {
        set_error(errcode_ret, CL_INVALID_VALUE);
        return NULL;
    }
    if (!devices[0]) {
        set_error(errcode_ret, CL_INVALID_DEVICE);
        return NULL;
    }
    entry forward = find(devices[0], FUNCTION_clCreateContext, errcode_ret);
    return forward ? ((cl_context(CL_API_CALL *)(const cl_context_properties *, cl_uint, const cl_device_id *,
                                                 context_notify, void *, cl_int *))forward)(
                         properties, num_devices, devices, notify, user_data, errcode_ret)
                   : NULL;
}

cl_context loader_clCreateContextFromType(const cl_context_properties *properties, cl_device_type device_type,
                                          context_notify notify, void *user_data, cl_int *errcode_ret)
{
    cl_platform_id platform = platform_of(properties);
    if (!platform) {
        set_error(errcode_ret, CL_INVALID_PLATFORM);
        return NULL;
    }
    entry forward = find(platform, FUNCTION_clCreateContextFromType, errcode_ret);
    return forward
               ? ((cl_context(CL_API_CALL *)(const cl_context_properties *, cl_device_type, context_notify, void *,
                                             cl_int *))forward)(properties, device_type, notify, user_data, errcode_ret)
               : NULL;
}

cl_int loader_clGetGLContextInfoKHR(const cl_context_properties *properties, cl_gl_context_info param_name,
                                    size_t param_value_size, void *param_value, size_t *param_value_size_ret)
{
    cl_int error = CL_INVALID_PLATFORM;
    cl_platform_id platform = platform_of(properties);
    entry forward = platform ? find(platform, FUNCTION_clGetGLContextInfoKHR, &error) : NULL;
    return forward ? ((cl_int(CL_API_CALL *)(const cl_context_properties *, cl_gl_context_info, size_t, void *,
                                             size_t *))forward)(properties, param_name, param_value_size, param_value,
                                                                param_value_size_ret)
                   : error;
}

/* All events are of one context (API), so the first tells the vendor. */
cl_int loader_clWaitForEvents(cl_uint num_events, const cl_event *event_list)
{
    cl_int error = CL_SUCCESS;
    if (num_events == 0 || !event_list) {
        return CL_INVALID_VALUE;
    }
    if (!event_list[0]) {
        return CL_INVALID_EVENT;
    }
    entry forward = find(event_list[0], FUNCTION_clWaitForEvents, &error);
    return forward ? ((cl_int(CL_API_CALL *)(cl_uint, const cl_event *))forward)(num_events, event_list) : error;
}

/* No argument tells a vendor, and the function promises nothing (API, deprecated by 1.2). */
cl_int loader_clUnloadCompiler(void)
{
    return CL_SUCCESS;
}

/* cl_loader_info: 1 OpenCL version, 2 loader version, 3 name, 4 vendor. */
static cl_int CL_API_CALL loader_info(cl_uint query, size_t size, void *value, size_t *size_ret)
{
    static const char *const answers[] = {loader_opencl_version, CLHARNESS_VERSION, "clharness reference loader",
                                          "clharness"};
    if (query < 1 || query > sizeof answers / sizeof *answers) {
        return CL_INVALID_VALUE;
    }
    const char *answer = answers[query - 1];
    if (value && size < strlen(answer) + 1) {
        return CL_INVALID_VALUE;
    }
    if (value) {
        memcpy(value, answer, strlen(answer) + 1);
    }
    if (size_ret) {
        *size_ret = strlen(answer) + 1;
    }
    return CL_SUCCESS;
}

/* The loader's own function of an extension, by its name: what it says of itself, and those that have a slot. Functions
 * of the core are not to be had by queries (API "Extension Function Pointers"). */
static void *extension_function(const char *name)
{
    if (strcmp(name, "clGetICDLoaderInfoOCLICD") == 0) {
        return (void *)(uintptr_t)loader_info;
    }
    int function = function_by_name(name);
    int slot = function < 0 ? -1 : function_info[function].slot;
    return slot < 0 ? NULL : (void *)(uintptr_t)queried_function(slot);
}

/* ICD "Extension functions": a name that ends in the suffix of a platform is that vendor's. The longest suffix wins,
 * so that one suffix that ends another one takes nothing away; an empty suffix claims no name. */
void *loader_clGetExtensionFunctionAddress(const char *func_name)
{
    struct platform *best = NULL;
    if (!func_name) {
        return NULL;
    }
    void *known = extension_function(func_name);
    size_t length = strlen(func_name);
    for (struct platform *platform = first_platform; !known && platform; platform = platform->next) {
        size_t suffix = strlen(platform->suffix);
        if (suffix > 0 && suffix <= length && strcmp(func_name + length - suffix, platform->suffix) == 0 &&
            (!best || suffix > strlen(best->suffix))) {
            best = platform;
        }
    }
    return known || !best ? known : best->extension_address(func_name);
}

/* What vendors have for the loader alone: an application could disturb dispatch with it (grey area 34). */
static bool is_for_loaders(const char *name)
{
    static const char *const names[] = {"clIcdGetPlatformIDsKHR", "clIcdGetFunctionAddressForPlatformKHR",
                                        "clIcdSetPlatformDispatchDataKHR"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(name, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* ICD "Issues": the way to functions of extensions. What the loader has serves every platform, so it needs none. */
void *loader_clGetExtensionFunctionAddressForPlatform(cl_platform_id platform, const char *func_name)
{
    if (!func_name) {
        return NULL;
    }
    void *known = extension_function(func_name);
    if (known || !platform || is_for_loaders(func_name)) {
        return known;
    }
    entry forward = find(platform, FUNCTION_clGetExtensionFunctionAddressForPlatform, NULL);
    return forward ? ((void *(CL_API_CALL *)(cl_platform_id, const char *))forward)(platform, func_name) : NULL;
}

void *loader_clSVMAlloc(cl_context context, cl_svm_mem_flags flags, size_t size, cl_uint alignment)
{
    entry forward = context ? find(context, FUNCTION_clSVMAlloc, NULL) : NULL;
    return forward ? ((void *(CL_API_CALL *)(cl_context, cl_svm_mem_flags, size_t, cl_uint))forward)(context, flags,
                                                                                                     size, alignment)
                   : NULL;
}

void loader_clSVMFree(cl_context context, void *svm_pointer)
{
    entry forward = context ? find(context, FUNCTION_clSVMFree, NULL) : NULL;
    if (forward) {
        ((void(CL_API_CALL *)(cl_context, void *))forward)(context, svm_pointer);
    }
}
