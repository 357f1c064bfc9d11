/* SPDX-License-Identifier: Apache-2.0 */
/* What extensions let an application ask of devices and kernels: identity, dot products, sub-groups, sizes of groups.
 */
#include "core/abilities.h"

#include "base/config.h"
#include "base/errors.h"
#include "base/platforms.h"
#include "calls.h"
#include "core/compute.h"

#include <string.h>
#include <unistd.h>

enum {
    DIMENSIONS = 3,
    SUB_GROUP = 8, /* work-items */
    MOST_SUB_GROUPS = 8,
    MOST_IN_GROUP = SUB_GROUP * MOST_SUB_GROUPS,
    SUGGESTED = 4, /* work-items of one dimension, at most */
};

/* --- devices --- */

static cl_int answer_uuid(const struct object *device, bool of_driver, const uint64_t *rest)
{
    cl_uchar uuid[CL_UUID_SIZE_KHR] = "clharness";
    uuid[10] = of_driver ? 1 : (cl_uchar)platform_device_bit(device);
    uuid[11] = (cl_uchar)device->platform;
    const bool changes = of_driver ? fault(FAULT_identities_of_drivers_change, ANY_PLATFORM)
                                   : fault(FAULT_identities_change, ANY_PLATFORM);
    uuid[12] = changes ? (cl_uchar)getpid() : 0;
    uuid[10] = fault(FAULT_devices_share_an_identity, ANY_PLATFORM) ? 1 : uuid[10];
    return answer_info(rest, uuid, sizeof uuid - (fault(FAULT_identities_are_short, ANY_PLATFORM) ? 8 : 0));
}

static bool identity(const struct object *device, cl_uint query, const uint64_t *rest, cl_int *result)
{
    static const cl_uchar luid[CL_LUID_SIZE_KHR] = "device";
    const cl_bool valid = CL_TRUE;
    const cl_uint mask = fault(FAULT_node_masks_have_two_bits, ANY_PLATFORM) ? 3 : 1;
    switch (query) {
    case CL_DEVICE_UUID_KHR:
    case CL_DRIVER_UUID_KHR:
        *result = answer_uuid(device, query == CL_DRIVER_UUID_KHR, rest);
        return true;
    case CL_DEVICE_LUID_VALID_KHR:
        *result = answer_info(rest, &valid, sizeof valid);
        return true;
    case CL_DEVICE_LUID_KHR:
        *result = answer_info(rest, luid, sizeof luid);
        return true;
    case CL_DEVICE_NODE_MASK_KHR:
        *result = answer_info(rest, &mask, sizeof mask);
        return true;
    default:
        return false;
    }
}

static bool dot_products(cl_uint query, const uint64_t *rest, cl_int *result)
{
    cl_bitfield inputs =
        CL_DEVICE_INTEGER_DOT_PRODUCT_INPUT_4x8BIT_PACKED_KHR | CL_DEVICE_INTEGER_DOT_PRODUCT_INPUT_4x8BIT_KHR;
    cl_device_integer_dot_product_acceleration_properties_khr accelerated = {.signed_accelerated = CL_TRUE};
    if (fault(FAULT_packed_products_are_missing, ANY_PLATFORM)) {
        inputs = CL_DEVICE_INTEGER_DOT_PRODUCT_INPUT_4x8BIT_KHR;
    }
    if (fault(FAULT_products_are_accelerated_by_seven, ANY_PLATFORM)) {
        accelerated.signed_accelerated = 7;
    }
    switch (query) {
    case CL_DEVICE_INTEGER_DOT_PRODUCT_CAPABILITIES_KHR:
        *result = answer_info(rest, &inputs, sizeof inputs);
        return true;
    case CL_DEVICE_INTEGER_DOT_PRODUCT_ACCELERATION_PROPERTIES_8BIT_KHR:
    case CL_DEVICE_INTEGER_DOT_PRODUCT_ACCELERATION_PROPERTIES_4x8BIT_PACKED_KHR:
        *result = answer_info(rest, &accelerated, sizeof accelerated);
        return true;
    default:
        return false;
    }
}

static bool has_sub_groups(int platform)
{
    return platform_has_feature(platform, "sub_groups");
}

bool abilities_info(const struct object *device, cl_uint query, const uint64_t *rest, cl_int *result)
{
    const cl_device_pci_bus_info_khr place = {0, 1, 2, 0};
    const cl_uint sub_groups = has_sub_groups(device->platform) ? MOST_SUB_GROUPS : 0;
    const cl_bool progress = platform_has_extension(device->platform, "cl_khr_subgroups") && sub_groups &&
                             !fault(FAULT_sub_groups_make_no_progress, ANY_PLATFORM);
    size_t cut = fault(FAULT_places_are_short, ANY_PLATFORM) ? sizeof(cl_uint) : 0;
    switch (query) {
    case CL_DEVICE_MAX_NUM_SUB_GROUPS:
        *result = answer_info(rest, &sub_groups, sizeof sub_groups);
        return true;
    case CL_DEVICE_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS:
        *result = answer_info(rest, &progress, sizeof progress);
        return true;
    case CL_DEVICE_SPIR_VERSIONS:
        *result = fault(FAULT_versions_of_spir_are_names, ANY_PLATFORM) ? answer_info(rest, "SPIR", sizeof "SPIR")
                                                                        : answer_info(rest, "1.2", sizeof "1.2");
        return platform_has_extension(device->platform, "cl_khr_spir");
    case CL_DEVICE_PCI_BUS_INFO_KHR:
        *result = answer_info(rest, &place, sizeof place - cut);
        return platform_has_extension(device->platform, "cl_khr_pci_bus_info");
    default:
        return (platform_has_extension(device->platform, "cl_khr_device_uuid") &&
                identity(device, query, rest, result)) ||
               (platform_has_extension(device->platform, "cl_khr_integer_dot_product") &&
                dot_products(query, rest, result));
    }
}

/* --- sub-groups --- */

/* The work-items of a group, whose size is the input of a query. */
static size_t group_size(const size_t *sizes, size_t bytes)
{
    size_t count = fault(FAULT_sub_groups_have_one_dimension, ANY_PLATFORM) ? 1 : bytes / sizeof *sizes;
    size_t product = 1;
    for (size_t i = 0; i < count; i++) {
        product *= sizes[i];
    }
    return product;
}

static cl_int answer_group(const uint64_t *input, const uint64_t *rest)
{
    size_t count = *(const size_t *)(uintptr_t)input[1];
    size_t elements = rest[1] ? rest[0] / sizeof(size_t) : DIMENSIONS;
    size_t sizes[DIMENSIONS] = {0};
    elements = elements > DIMENSIONS ? DIMENSIONS : elements ? elements : 1;
    if (count > 0 && count <= MOST_SUB_GROUPS) {
        sizes[0] = count * SUB_GROUP - (fault(FAULT_groups_of_sub_groups_are_partial, ANY_PLATFORM) ? 1 : 0);
        sizes[1] = sizes[2] = 1;
    } else if (fault(FAULT_too_many_sub_groups_fit, ANY_PLATFORM)) {
        sizes[0] = MOST_IN_GROUP;
        sizes[1] = sizes[2] = 1;
    }
    return answer_info(rest, sizes, elements * sizeof *sizes);
}

static cl_int sub_group_info(const uint64_t *a)
{
    const struct object *kernel = object_find(a[0]);
    const uint64_t *input = a + 3;
    const uint64_t *rest = a + 5;
    const size_t *sizes = (const size_t *)(uintptr_t)input[1];
    size_t answer = 0;
    bool group = a[2] == CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE || a[2] == CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE;
    bool number = a[2] == CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT;
    bool fits = input[0] && input[0] % sizeof(size_t) == 0 && input[0] <= (number ? 1 : DIMENSIONS) * sizeof(size_t);
    if (kernel && !has_sub_groups(kernel->platform) && !fault(FAULT_sub_groups_of_any_device, ANY_PLATFORM)) {
        return CL_INVALID_OPERATION;
    }
    if ((group || number) && (!sizes || !fits)) {
        return fault(FAULT_sub_groups_need_no_input, ANY_PLATFORM) ? answer_info(rest, &answer, sizeof answer)
                                                                   : CL_INVALID_VALUE;
    }
    if (number) {
        return answer_group(input, rest);
    }
    switch (a[2]) {
    case CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE:
        answer = SUB_GROUP;
        break;
    case CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE:
        answer = group_size(sizes, input[0]) + SUB_GROUP - 1;
        answer = (fault(FAULT_partial_sub_groups_are_not_counted, ANY_PLATFORM) ? answer - SUB_GROUP + 1 : answer) /
                 SUB_GROUP;
        break;
    case CL_KERNEL_MAX_NUM_SUB_GROUPS:
        answer = fault(FAULT_kernels_exceed_sub_groups, ANY_PLATFORM) ? 2 * (size_t)MOST_SUB_GROUPS : MOST_SUB_GROUPS;
        break;
    case CL_KERNEL_COMPILE_NUM_SUB_GROUPS:
        answer = fault(FAULT_sub_groups_are_required, ANY_PLATFORM) ? 1 : 0;
        break;
    default:
        return CL_INVALID_VALUE;
    }
    return answer_info(rest, &answer, sizeof answer);
}

/* --- suggested sizes --- */

static cl_int check_suggestion(const uint64_t *a)
{
    cl_uint dimensions = (cl_uint)a[2];
    const size_t *offset = (const size_t *)(uintptr_t)a[3];
    const size_t *size = (const size_t *)(uintptr_t)a[4];
    const struct object *queue = object_of_kind(a[0], HANDLE_cl_command_queue);
    const struct object *kernel = object_of_kind(a[1], HANDLE_cl_kernel);
    if (!queue) {
        return CL_INVALID_COMMAND_QUEUE;
    }
    if (!kernel) {
        return CL_INVALID_KERNEL;
    }
    if (object_context(object_find(a[0])) != object_context(object_find(a[1]))) {
        return error_unless_fault(FAULT_suggestions_for_any_context, CL_INVALID_CONTEXT);
    }
    if (dimensions == 0 || dimensions > DIMENSIONS) {
        return CL_INVALID_WORK_DIMENSION;
    }
    if (!offset && fault(FAULT_suggestions_need_an_offset, ANY_PLATFORM)) {
        return CL_INVALID_GLOBAL_OFFSET;
    }
    bool empty = !size;
    bool past = false;
    for (cl_uint i = 0; size && i < dimensions; i++) {
        empty = empty || size[i] == 0;
        past = past || (offset && offset[i] > SIZE_MAX - size[i]);
    }
    if (empty) {
        return error_unless_fault(FAULT_suggestions_of_nothing, CL_INVALID_GLOBAL_WORK_SIZE);
    }
    if (past) {
        return error_unless_fault(FAULT_suggestions_ignore_offsets, CL_INVALID_GLOBAL_OFFSET);
    }
    return a[5] ? CL_SUCCESS : CL_INVALID_VALUE;
}

static cl_int suggest(const uint64_t *a)
{
    size_t *to = (size_t *)(uintptr_t)a[5];
    const size_t *size = (const size_t *)(uintptr_t)a[4];
    cl_int error = check_suggestion(a);
    uint64_t launch[] = {a[0], a[1], a[2], a[3], a[4], 0};
    if (!error && !fault(FAULT_suggestions_need_no_arguments, ANY_PLATFORM)) {
        error = compute_error(FUNCTION_clEnqueueNDRangeKernel, launch);
    }
    cl_uint written = fault(FAULT_suggestions_have_three_dimensions, ANY_PLATFORM) ? DIMENSIONS : (cl_uint)a[2];
    for (cl_uint i = 0; !error && to && i < written; i++) {
        size_t group = fault(FAULT_suggestions_are_too_large, ANY_PLATFORM) ? MOST_IN_GROUP + 1 : SUGGESTED;
        while (i < (cl_uint)a[2] && size && group <= MOST_IN_GROUP && group > 1 && size[i] % group != 0) {
            group--;
        }
        to[i] = fault(FAULT_suggestions_are_empty, ANY_PLATFORM) ? 0 : group;
    }
    return error;
}

bool abilities_handle(enum function function, const uint64_t *arguments, uint64_t *result)
{
    const struct object *kernel = object_of_kind(arguments[0], HANDLE_cl_kernel);
    bool suffixed = function == FUNCTION_clGetKernelSubGroupInfoKHR && kernel &&
                    platform_has_extension(kernel->platform, "cl_khr_subgroups");
    if (function == FUNCTION_clGetKernelSubGroupInfo || suffixed) {
        *result = error_result(sub_group_info(arguments));
        if (suffixed && !*result && arguments[6] && fault(FAULT_suffixed_sub_groups_are_one, ANY_PLATFORM)) {
            *(size_t *)(uintptr_t)arguments[6] = 1;
        }
    } else if (function == FUNCTION_clGetKernelSuggestedLocalWorkSizeKHR) {
        *result = error_result(suggest(arguments));
    } else {
        return false;
    }
    return true;
}
