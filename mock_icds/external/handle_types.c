/* SPDX-License-Identifier: Apache-2.0 */
/* Queries of handle types and semaphore types: what each device can do, and a platform where all its devices can. */
#include "external/handle_types.h"

#include "base/config.h"
#include "base/platforms.h"
#include "calls.h"
#include "external/devices.h"

enum { MAX_TYPES = 8 };

_Static_assert(CL_EXTERNAL_MEMORY_HANDLE_OPAQUE_FD_KHR == 0x2060 &&
                   CL_EXTERNAL_MEMORY_HANDLE_OPAQUE_WIN32_KHR == 0x2061 &&
                   CL_EXTERNAL_MEMORY_HANDLE_OPAQUE_WIN32_KMT_KHR == 0x2062 &&
                   CL_EXTERNAL_MEMORY_HANDLE_DMA_BUF_KHR == 0x2067 &&
                   CL_EXTERNAL_MEMORY_HANDLE_OPAQUE_WIN32_NAME_KHR == 0x2069 && CL_MEM_DEVICE_HANDLE_LIST_KHR == 0x2051,
               "handle types of memory");

/* A type, and the extension that it comes with. */
struct handle_type {
    cl_uint type;
    const char *extension;
};

static const struct handle_type memory_types[] = {
    {CL_EXTERNAL_MEMORY_HANDLE_OPAQUE_FD_KHR, "cl_khr_external_memory_opaque_fd"},
    {CL_EXTERNAL_MEMORY_HANDLE_DMA_BUF_KHR, "cl_khr_external_memory_dma_buf"},
    {CL_EXTERNAL_MEMORY_HANDLE_OPAQUE_WIN32_KHR, "cl_khr_external_memory_win32"},
    {CL_EXTERNAL_MEMORY_HANDLE_OPAQUE_WIN32_KMT_KHR, "cl_khr_external_memory_win32"},
    {CL_EXTERNAL_MEMORY_HANDLE_OPAQUE_WIN32_NAME_KHR, "cl_khr_external_memory_win32"},
    {0, NULL}};
static const struct handle_type linear_types[] = {
    {CL_EXTERNAL_MEMORY_HANDLE_DMA_BUF_KHR, "cl_khr_external_memory_dma_buf"}, {0, NULL}};
static const struct handle_type semaphore_types[] = {{CL_SEMAPHORE_TYPE_BINARY_KHR, "cl_khr_semaphore"}, {0, NULL}};
static const struct handle_type semaphore_handles[] = {
    {CL_SEMAPHORE_HANDLE_OPAQUE_FD_KHR, "cl_khr_external_semaphore_opaque_fd"},
    {CL_SEMAPHORE_HANDLE_SYNC_FD_KHR, "cl_khr_external_semaphore_sync_fd"},
    {0, NULL}};

/* A query of platforms, the same of devices, and the fault that leaves its answer empty. */
static const struct {
    cl_uint of_platform;
    cl_uint of_device;
    const char *extension;
    const struct handle_type *types;
    enum fault empty;
} queries[] = {
    {CL_PLATFORM_EXTERNAL_MEMORY_IMPORT_HANDLE_TYPES_KHR, CL_DEVICE_EXTERNAL_MEMORY_IMPORT_HANDLE_TYPES_KHR,
     "cl_khr_external_memory", memory_types, FAULT_memory_types_are_none},
    {0, CL_DEVICE_EXTERNAL_MEMORY_IMPORT_ASSUME_LINEAR_IMAGES_HANDLE_TYPES_KHR, "cl_khr_external_memory", linear_types,
     FAULT_memory_types_are_none},
    {CL_PLATFORM_SEMAPHORE_TYPES_KHR, CL_DEVICE_SEMAPHORE_TYPES_KHR, "cl_khr_semaphore", semaphore_types,
     FAULT_semaphore_types_are_none},
    {CL_PLATFORM_SEMAPHORE_IMPORT_HANDLE_TYPES_KHR, CL_DEVICE_SEMAPHORE_IMPORT_HANDLE_TYPES_KHR,
     "cl_khr_external_semaphore", semaphore_handles, FAULT_semaphore_handle_types_are_none},
    {CL_PLATFORM_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR, CL_DEVICE_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR,
     "cl_khr_external_semaphore", semaphore_handles, FAULT_semaphore_handle_types_are_none},
};

static uint32_t all_devices(int platform)
{
    uint32_t devices = 0;
    for (int i = 0; platform_device(platform, i); i++) {
        devices |= UINT32_C(1) << i;
    }
    return devices;
}

/* The types that all these devices support. */
static size_t list_types(const struct handle_type *types, int platform, uint32_t devices, cl_uint *to)
{
    size_t count = 0;
    for (; types->type && devices_can(platform, devices); types++) {
        if (platform_has_extension(platform, types->extension)) {
            to[count++] = types->type;
        }
    }
    return count;
}

bool handle_types_answer(struct object *object, cl_uint query, const uint64_t *rest, cl_int *result)
{
    cl_uint types[MAX_TYPES];
    int platform = object->platform;
    bool of_platform = object->kind == HANDLE_cl_platform_id;
    uint32_t devices = of_platform ? all_devices(platform) : platform_device_bit(object);
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
        cl_uint own = of_platform ? queries[i].of_platform : queries[i].of_device;
        if (own != query || !own || !platform_has_extension(platform, queries[i].extension)) {
            continue;
        }
        bool some = of_platform && fault(FAULT_platform_types_of_any_device, ANY_PLATFORM);
        size_t count = list_types(queries[i].types, platform, some ? UINT32_C(1) : devices, types);
        if (fault(queries[i].empty, ANY_PLATFORM)) {
            count = 0;
        }
        if (queries[i].types == linear_types && fault(FAULT_linear_types_beyond_import, ANY_PLATFORM)) {
            types[count++] = CL_EXTERNAL_MEMORY_HANDLE_OPAQUE_WIN32_KHR;
        }
        if (queries[i].types == memory_types && count > 0 &&
            fault(FAULT_memory_types_without_extension, ANY_PLATFORM)) {
            types[count++] = CL_EXTERNAL_MEMORY_HANDLE_OPAQUE_WIN32_KHR;
        }
        for (size_t j = 0; j < count; j++) {
            if (types[j] == CL_EXTERNAL_MEMORY_HANDLE_DMA_BUF_KHR && fault(FAULT_dma_buf_is_win32_name, ANY_PLATFORM)) {
                types[j] = CL_EXTERNAL_MEMORY_HANDLE_OPAQUE_WIN32_NAME_KHR;
            }
        }
        *result = answer_info(rest, types, count * sizeof *types);
        return true;
    }
    return false;
}
