/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of devices, versions, image formats. */
#include "core/device_info.h"

#include "base/config.h"
#include "base/platforms.h"
#include "calls.h"

#include <stdlib.h>
#include <string.h>

/* --- numbers --- */

static const struct {
    cl_uint query;
    cl_uint size;
    cl_ulong value;
} numbers[] = {
    {CL_DEVICE_VENDOR_ID, 4, 0x10000},
    {CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS, 4, 3},
    {CL_DEVICE_MAX_WORK_GROUP_SIZE, 8, 64},
    {CL_DEVICE_PREFERRED_VECTOR_WIDTH_CHAR, 4, 1},
    {CL_DEVICE_PREFERRED_VECTOR_WIDTH_SHORT, 4, 1},
    {CL_DEVICE_PREFERRED_VECTOR_WIDTH_INT, 4, 1},
    {CL_DEVICE_PREFERRED_VECTOR_WIDTH_LONG, 4, 1},
    {CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT, 4, 1},
    {CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE, 4, 0},
    {CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF, 4, 0},
    {CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR, 4, 1},
    {CL_DEVICE_NATIVE_VECTOR_WIDTH_SHORT, 4, 1},
    {CL_DEVICE_NATIVE_VECTOR_WIDTH_INT, 4, 1},
    {CL_DEVICE_NATIVE_VECTOR_WIDTH_LONG, 4, 1},
    {CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, 4, 1},
    {CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE, 4, 0},
    {CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF, 4, 0},
    {CL_DEVICE_MAX_CLOCK_FREQUENCY, 4, 1000},
    {CL_DEVICE_ADDRESS_BITS, 4, 64},
    {CL_DEVICE_MAX_MEM_ALLOC_SIZE, 8, 1 << 28},
    {CL_DEVICE_GLOBAL_MEM_SIZE, 8, 1 << 30},
    {CL_DEVICE_GLOBAL_MEM_CACHE_TYPE, 4, CL_READ_WRITE_CACHE},
    {CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE, 4, 64},
    {CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, 8, 1 << 16},
    {CL_DEVICE_MAX_READ_IMAGE_ARGS, 4, 128},
    {CL_DEVICE_MAX_WRITE_IMAGE_ARGS, 4, 64},
    {CL_DEVICE_MAX_READ_WRITE_IMAGE_ARGS, 4, 64},
    {CL_DEVICE_IMAGE2D_MAX_WIDTH, 8, 16384},
    {CL_DEVICE_IMAGE2D_MAX_HEIGHT, 8, 16384},
    {CL_DEVICE_IMAGE3D_MAX_WIDTH, 8, 2048},
    {CL_DEVICE_IMAGE3D_MAX_HEIGHT, 8, 2048},
    {CL_DEVICE_IMAGE3D_MAX_DEPTH, 8, 2048},
    {CL_DEVICE_IMAGE_MAX_BUFFER_SIZE, 8, 65536},
    {CL_DEVICE_IMAGE_MAX_ARRAY_SIZE, 8, 2048},
    {CL_DEVICE_MAX_SAMPLERS, 4, 16},
    {CL_DEVICE_MAX_PARAMETER_SIZE, 8, 1024},
    {CL_DEVICE_MEM_BASE_ADDR_ALIGN, 4, 1024},
    {CL_DEVICE_MIN_DATA_TYPE_ALIGN_SIZE, 4, 128},
    {CL_DEVICE_SINGLE_FP_CONFIG, 8, CL_FP_ROUND_TO_NEAREST | CL_FP_INF_NAN},
    {CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE, 8, 1 << 16},
    {CL_DEVICE_MAX_CONSTANT_ARGS, 4, 8},
    {CL_DEVICE_LOCAL_MEM_TYPE, 4, CL_LOCAL},
    {CL_DEVICE_LOCAL_MEM_SIZE, 8, 1 << 15},
    {CL_DEVICE_PROFILING_TIMER_RESOLUTION, 8, 1},
    {CL_DEVICE_ENDIAN_LITTLE, 4, CL_TRUE},
    {CL_DEVICE_AVAILABLE, 4, CL_TRUE},
    {CL_DEVICE_EXECUTION_CAPABILITIES, 8, CL_EXEC_KERNEL | CL_EXEC_NATIVE_KERNEL},
    {CL_DEVICE_PRINTF_BUFFER_SIZE, 8, 1 << 20},
    {CL_DEVICE_PREFERRED_INTEROP_USER_SYNC, 4, CL_TRUE},
    {CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT, 4, CL_TRUE},
    {CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES, 8, CL_DEVICE_ATOMIC_ORDER_RELAXED | CL_DEVICE_ATOMIC_SCOPE_WORK_GROUP},
    {CL_DEVICE_ATOMIC_FENCE_CAPABILITIES, 8,
     CL_DEVICE_ATOMIC_ORDER_RELAXED | CL_DEVICE_ATOMIC_ORDER_ACQ_REL | CL_DEVICE_ATOMIC_SCOPE_WORK_GROUP},
};

/* Whether a number is one of images, which is 0 on a device that has none. */
static bool is_of_images(cl_uint query)
{
    switch (query) {
    case CL_DEVICE_MAX_READ_IMAGE_ARGS:
    case CL_DEVICE_MAX_WRITE_IMAGE_ARGS:
    case CL_DEVICE_MAX_READ_WRITE_IMAGE_ARGS:
    case CL_DEVICE_IMAGE2D_MAX_WIDTH:
    case CL_DEVICE_IMAGE2D_MAX_HEIGHT:
    case CL_DEVICE_IMAGE3D_MAX_WIDTH:
    case CL_DEVICE_IMAGE3D_MAX_HEIGHT:
    case CL_DEVICE_IMAGE3D_MAX_DEPTH:
    case CL_DEVICE_IMAGE_MAX_BUFFER_SIZE:
    case CL_DEVICE_IMAGE_MAX_ARRAY_SIZE:
    case CL_DEVICE_MAX_SAMPLERS:
        return !fault(FAULT_images_have_limits_where_there_are_none, ANY_PLATFORM);
    default:
        return false;
    }
}

/* The number, or a wrong one where a fault says so. */
static cl_ulong reported(cl_uint query, cl_ulong value)
{
    if (query == CL_DEVICE_LOCAL_MEM_SIZE && fault(FAULT_devices_have_little_local_memory, ANY_PLATFORM)) {
        return 1024;
    }
    if (query == CL_DEVICE_MAX_MEM_ALLOC_SIZE && fault(FAULT_allocations_exceed_the_memory, ANY_PLATFORM)) {
        return value * 8;
    }
    if (query == CL_DEVICE_EXECUTION_CAPABILITIES && fault(FAULT_devices_run_no_kernels, ANY_PLATFORM)) {
        return CL_EXEC_NATIVE_KERNEL;
    }
    if (query == CL_DEVICE_SINGLE_FP_CONFIG && fault(FAULT_devices_round_to_zero, ANY_PLATFORM)) {
        return CL_FP_ROUND_TO_ZERO;
    }
    if (query == CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR && fault(FAULT_native_vectors_have_no_width, ANY_PLATFORM)) {
        return 0;
    }
    return query == CL_DEVICE_AVAILABLE && fault(FAULT_truth_is_seven, ANY_PLATFORM) ? 7 : value;
}

bool device_info_number(const struct object *device, cl_uint query, const uint64_t *rest, cl_int *result)
{
    if (query == CL_DEVICE_MAX_WORK_ITEM_SIZES) {
        const size_t sizes[] = {64, 64, 64};
        *result = answer_info(rest, sizes, sizeof sizes - (fault(FAULT_dimensions_are_cut, ANY_PLATFORM) ? 8 : 0));
        return true;
    }
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (numbers[i].query == query) {
            bool absent = is_of_images(query) && !platform_has_feature(device->platform, "images");
            cl_ulong value = absent ? 0 : reported(query, numbers[i].value);
            *result = answer_info(rest, &value, numbers[i].size);
            return true;
        }
    }
    return false;
}

/* --- versions --- */

static cl_version version_of(const char *text, const char *start)
{
    char *end;
    cl_version major = (cl_version)strtoul(text + strlen(start), &end, 10);
    cl_version minor = *end == '.' ? (cl_version)strtoul(end + 1, NULL, 10) : 0;
    return CL_MAKE_VERSION(major, minor, 0);
}

static void name(cl_name_version *entry, const char *text, size_t length, cl_version version)
{
    memset(entry, 0, sizeof *entry);
    memcpy(entry->name, text, length);
    entry->version = version;
}

static cl_int answer_extensions(const char *extensions, const uint64_t *rest)
{
    enum { MOST = 64 };
    cl_name_version listed[MOST];
    size_t count = 0;
    for (const char *at = extensions; *(at += strspn(at, " ")) && count < MOST;) {
        size_t length = strcspn(at, " ");
        name(&listed[count++], at, length, CL_MAKE_VERSION(1, 0, 0));
        at += length;
    }
    count -= count > 0 && fault(FAULT_extensions_lack_the_last_version, ANY_PLATFORM);
    if (count > 0 && count < MOST && fault(FAULT_extensions_are_listed_twice, ANY_PLATFORM)) {
        listed[count++] = listed[0];
    }
    return answer_info(rest, listed, count * sizeof *listed);
}

static cl_int answer_languages(const uint64_t *rest)
{
    static const cl_version versions[] = {CL_MAKE_VERSION(1, 0, 0), CL_MAKE_VERSION(1, 1, 0), CL_MAKE_VERSION(1, 2, 0),
                                          CL_MAKE_VERSION(3, 0, 0)};
    cl_name_version listed[4];
    size_t first = fault(FAULT_old_languages_are_not_listed, ANY_PLATFORM) ? 3 : 0;
    for (size_t i = 0; i < 4; i++) {
        name(&listed[i], "OpenCL C", strlen("OpenCL C"), versions[i]);
    }
    return answer_info(rest, listed + first, (4 - first) * sizeof *listed);
}

/* The optional features of OpenCL C, which are those of what the platform can do. */
static cl_int answer_features(int platform, const uint64_t *rest)
{
    const bool images = platform_has_feature(platform, "images");
    const bool pipes = platform_has_feature(platform, "pipes");
    const bool queues = platform_has_feature(platform, "device_queues");
    const struct {
        const char *name;
        bool has;
    } features[] = {
        {"__opencl_c_int64", true},
        {"__opencl_c_images", images && !fault(FAULT_images_are_no_feature, ANY_PLATFORM)},
        {"__opencl_c_read_write_images", images},
        {"__opencl_c_pipes", pipes || fault(FAULT_pipes_are_a_feature_without_pipes, ANY_PLATFORM)},
        {"__opencl_c_device_enqueue", queues},
        {"__opencl_c_generic_address_space", pipes || queues},
        {"__opencl_c_program_scope_global_variables", queues},
        {"__opencl_c_subgroups", platform_has_feature(platform, "sub_groups")},
    };
    cl_name_version listed[sizeof features / sizeof *features];
    size_t count = 0;
    for (size_t i = 0; i < sizeof features / sizeof *features; i++) {
        if (features[i].has) {
            name(&listed[count++], features[i].name, strlen(features[i].name), CL_MAKE_VERSION(3, 0, 0));
        }
    }
    return answer_info(rest, listed, platform_has_feature(platform, "compiler") ? count * sizeof *listed : 0);
}

/* Devices have no built-in kernels and take no intermediate language, but by faults in one of the two lists. */
static cl_int answer_no_names(const char *by_fault, bool faulty, const uint64_t *rest)
{
    cl_name_version listed;
    name(&listed, by_fault, strlen(by_fault), CL_MAKE_VERSION(1, 2, 0));
    return answer_info(rest, &listed, faulty ? sizeof listed : 0);
}

bool device_info_version(const struct object *object, cl_uint query, const uint64_t *rest, cl_int *result)
{
    const struct platform_config *about = &config.platform[object->platform];
    cl_version version = version_of(about->version, "OpenCL ");
    if (fault(FAULT_numeric_versions_are_older, ANY_PLATFORM)) {
        version = CL_MAKE_VERSION(1, 0, 0);
    }
    switch (query) {
    case CL_PLATFORM_NUMERIC_VERSION:
    case CL_DEVICE_NUMERIC_VERSION:
        *result = answer_info(rest, &version, sizeof version);
        return true;
    case CL_PLATFORM_EXTENSIONS_WITH_VERSION:
        *result = answer_extensions(about->extensions, rest);
        return true;
    case CL_DEVICE_OPENCL_C_NUMERIC_VERSION_KHR:
        version = CL_MAKE_VERSION(1, 2, 0);
        *result = answer_info(rest, &version, sizeof version);
        return true;
    case CL_DEVICE_OPENCL_C_ALL_VERSIONS:
        *result = answer_languages(rest);
        return true;
    case CL_DEVICE_OPENCL_C_FEATURES:
        *result = answer_features(object->platform, rest);
        return true;
    case CL_DEVICE_BUILT_IN_KERNELS_WITH_VERSION:
        *result = answer_no_names("clharness", fault(FAULT_kernels_are_listed_by_version_only, ANY_PLATFORM), rest);
        return true;
    case CL_DEVICE_ILS_WITH_VERSION:
        *result = answer_no_names("SPIR-V", fault(FAULT_languages_are_listed_by_version_only, ANY_PLATFORM), rest);
        return true;
    case CL_DEVICE_BUILT_IN_KERNELS:
    case CL_DEVICE_IL_VERSION:
        *result = answer_info(rest, "", 1);
        return true;
    default:
        return false;
    }
}

/* --- image formats --- */

static const cl_channel_order orders[] = {CL_R, CL_RG, CL_RGBA};
static const cl_channel_type types[] = {CL_UNORM_INT8,     CL_UNORM_INT16,    CL_SNORM_INT8,   CL_SNORM_INT16,
                                        CL_SIGNED_INT8,    CL_SIGNED_INT16,   CL_SIGNED_INT32, CL_UNSIGNED_INT8,
                                        CL_UNSIGNED_INT16, CL_UNSIGNED_INT32, CL_HALF_FLOAT,   CL_FLOAT};
enum { ORDERS = sizeof orders / sizeof *orders, TYPES = sizeof types / sizeof *types };
/* Those of some channel orders that have one or two types each; all but the first are of 2D images alone, and
 * kernels do not write those of the last. */
static const cl_image_format further[] = {
    {CL_BGRA, CL_UNORM_INT8}, {CL_DEPTH, CL_UNORM_INT16}, {CL_DEPTH, CL_FLOAT}, {CL_sRGBA, CL_UNORM_INT8}};
enum { FURTHER = sizeof further / sizeof *further };

/* How many of them there are for images of a type and with these flags. */
static cl_uint further_formats(cl_mem_flags flags, cl_mem_object_type type)
{
    bool flat = type == CL_MEM_OBJECT_IMAGE2D || type == CL_MEM_OBJECT_IMAGE2D_ARRAY;
    return !flat ? 1 : flags == CL_MEM_READ_ONLY ? FURTHER : FURTHER - 1;
}

cl_int device_info_formats(const uint64_t *arguments)
{
    const struct object *context = object_find(arguments[0]);
    cl_image_format *formats = (cl_image_format *)(uintptr_t)arguments[4];
    cl_uint *count_ret = (cl_uint *)(uintptr_t)arguments[5];
    bool images = context && platform_has_feature(context->platform, "images");
    const cl_uint usual = ORDERS * TYPES;
    cl_uint count = images ? usual + further_formats(arguments[1], (cl_mem_object_type)arguments[2]) : 0;
    bool twice = fault(FAULT_formats_are_listed_twice, ANY_PLATFORM);
    bool unknown = fault(FAULT_formats_have_unknown_orders, ANY_PLATFORM);
    for (cl_uint i = 0; formats && i < count && i < (cl_uint)arguments[3]; i++) {
        cl_uint at = twice ? i / 2 : i;
        formats[i] = (cl_image_format){orders[at / TYPES % ORDERS], types[at % TYPES]};
        if (i >= usual) {
            formats[i] = further[i - usual];
        }
        if (fault(FAULT_formats_lack_the_usual, ANY_PLATFORM) && formats[i].image_channel_order == CL_RGBA &&
            formats[i].image_channel_data_type == CL_UNORM_INT8) {
            formats[i].image_channel_order = CL_ARGB;
        }
        if (i == 0 && unknown) {
            formats[i].image_channel_order = 0x1234;
        }
    }
    if (count_ret && formats && (cl_uint)arguments[3] < count &&
        fault(FAULT_formats_past_the_list_are_not_counted, ANY_PLATFORM)) {
        *count_ret = (cl_uint)arguments[3];
    } else if (count_ret) {
        *count_ret = count + (count > 0 && fault(FAULT_formats_are_miscounted, ANY_PLATFORM));
    }
    return CL_SUCCESS;
}
