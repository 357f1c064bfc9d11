/* SPDX-License-Identifier: Apache-2.0 */
/* What calls the deeds of a hostile library: it is a loader, an ICD (AS_ICD) or a layer (AS_LAYER) that does one DEED
 * when it is first called, and then says that there is no platform.
 */
#include <CL/cl.h>
#include <CL/cl_layer.h>
#include <stdlib.h>
#include <string.h>

struct deed {
    const char *name;
    void (*act)(void);
};
extern const struct deed deeds[]; /* the last has no name */

#define DEED(name)  \
    {               \
#name, name \
    }

static cl_int act(void)
{
    const char *wanted = getenv("DEED");
    for (const struct deed *deed = deeds; wanted && deed->name; deed++) {
        if (strcmp(deed->name, wanted) == 0) {
            deed->act();
        }
    }
    return -1001; /* CL_PLATFORM_NOT_FOUND_KHR */
}

#if defined AS_ICD
CL_API_ENTRY cl_int CL_API_CALL clIcdGetPlatformIDsKHR(cl_uint count, cl_platform_id *platforms, cl_uint *found)
{
    (void)count;
    (void)platforms;
    (void)found;
    return act();
}

CL_API_ENTRY cl_int CL_API_CALL clGetPlatformInfo(cl_platform_id platform, cl_platform_info name, size_t size, void *to,
                                                  size_t *needed)
{
    (void)platform;
    (void)name;
    (void)size;
    (void)to;
    (void)needed;
    return CL_INVALID_VALUE;
}

CL_API_ENTRY void *CL_API_CALL clGetExtensionFunctionAddress(const char *name)
{
    return strcmp(name, "clIcdGetPlatformIDsKHR") == 0 ? (void *)clIcdGetPlatformIDsKHR : NULL;
}
#elif defined AS_LAYER
CL_API_ENTRY cl_int CL_API_CALL clGetLayerInfo(cl_layer_info name, size_t size, void *to, size_t *needed)
{
    cl_layer_api_version version = CL_LAYER_API_VERSION_100;
    if (name != CL_LAYER_API_VERSION) {
        return CL_INVALID_VALUE;
    }
    if (to && size >= sizeof version) {
        memcpy(to, &version, sizeof version);
    }
    if (needed) {
        *needed = sizeof version;
    }
    return CL_SUCCESS;
}

/* Both functions that a layer may have; it does not want to be part of the chain. */
CL_API_ENTRY cl_int CL_API_CALL clInitLayer(cl_uint entries, const struct _cl_icd_dispatch *target, cl_uint *own,
                                            const struct _cl_icd_dispatch **table)
{
    (void)entries;
    (void)target;
    (void)own;
    (void)table;
    act();
    return CL_INVALID_VALUE;
}

CL_API_ENTRY cl_int CL_API_CALL clInitLayerWithProperties(cl_uint entries, const struct _cl_icd_dispatch *target,
                                                          cl_uint *own, const struct _cl_icd_dispatch **table,
                                                          const void *properties);

CL_API_ENTRY cl_int CL_API_CALL clInitLayerWithProperties(cl_uint entries, const struct _cl_icd_dispatch *target,
                                                          cl_uint *own, const struct _cl_icd_dispatch **table,
                                                          const void *properties)
{
    (void)properties;
    return clInitLayer(entries, target, own, table);
}
#else
CL_API_ENTRY cl_int CL_API_CALL clGetPlatformIDs(cl_uint count, cl_platform_id *platforms, cl_uint *found)
{
    (void)count;
    (void)platforms;
    if (found) {
        *found = 0;
    }
    return act();
}
#endif
