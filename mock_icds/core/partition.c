/* SPDX-License-Identifier: Apache-2.0 */
/* Sub-devices: partition lists, and what the devices that they make are. */
#include "core/partition.h"

#include "base/arguments.h"
#include "base/config.h"
#include "base/errors.h"
#include "core/creation.h"
#include "core/property_rules.h"

enum { COMPUTE_UNITS = 8 }; /* of a whole device */

/* What a partition list asks for. */
struct partition {
    cl_uint count;
    cl_uint units[64];
};

cl_uint partition_units(const struct object *device)
{
    return device->creation ? device->creation->units : COMPUTE_UNITS;
}

static cl_int error_or(enum fault which, cl_int usual)
{
    return (cl_int)fault_value(which, ANY_PLATFORM, usual);
}

static cl_int split_equally(cl_uint units, uint64_t each, struct partition *partition)
{
    if (each == 0 || each > UINT32_MAX) {
        return CL_INVALID_VALUE;
    }
    partition->count = units / (cl_uint)each;
    for (cl_uint i = 0; i < partition->count; i++) {
        partition->units[i] = (cl_uint)each;
    }
    return partition->count ? CL_SUCCESS : error_or(FAULT_partition_failed_gives, CL_DEVICE_PARTITION_FAILED);
}

static cl_int split_by_counts(cl_uint units, const struct property *property, struct partition *partition)
{
    size_t step = fault(FAULT_partition_counts_by_two, ANY_PLATFORM) ? 2 : 1;
    uint64_t total = 0;
    for (size_t i = 0; i < property->count && total <= units; i += step) {
        total += property->values[i];
        if (total > units && !error_or(FAULT_partition_too_many_gives, CL_INVALID_DEVICE_PARTITION_COUNT)) {
            break;
        }
        if (total > units || partition->count == units) {
            return error_or(FAULT_partition_too_many_gives, CL_INVALID_DEVICE_PARTITION_COUNT);
        }
        partition->units[partition->count++] = (cl_uint)property->values[i];
    }
    return partition->count ? CL_SUCCESS : CL_INVALID_VALUE;
}

static cl_int read_partition(const struct object *device, const uint64_t *list, struct partition *partition)
{
    struct property first;
    cl_uint units = partition_units(device);
    if (!list || list[0] == 0) {
        return error_or(FAULT_partition_without_scheme_gives, CL_INVALID_VALUE);
    }
    if (list[0] != CL_DEVICE_PARTITION_EQUALLY && list[0] != CL_DEVICE_PARTITION_BY_COUNTS) {
        return error_or(FAULT_partition_unknown_gives, CL_INVALID_VALUE);
    }
    properties_find(list, property_rules_of(FUNCTION_clCreateSubDevices), list[0], &first);
    bool one = first.values[first.count] == 0 &&
               (list[0] == CL_DEVICE_PARTITION_EQUALLY || first.values[first.count + 1] == 0);
    if (!one && !fault(FAULT_partition_first_scheme_wins, ANY_PLATFORM)) {
        return CL_INVALID_VALUE;
    }
    if (units < 2) {
        return error_or(FAULT_partition_failed_gives, CL_DEVICE_PARTITION_FAILED);
    }
    return list[0] == CL_DEVICE_PARTITION_EQUALLY ? split_equally(units, first.values[0], partition)
                                                  : split_by_counts(units, &first, partition);
}

static void *make_sub_device(struct object *parent, const uint64_t *arguments, cl_uint units)
{
    struct object *device = object_make(HANDLE_cl_device_id, parent);
    const struct function_config *settings = &config.function[FUNCTION_clCreateSubDevices];
    object_strip(device, settings->without_dispatch, settings->without_data);
    creation_remember(device, FUNCTION_clCreateSubDevices, arguments);
    device->device_type = parent->device_type;
    device->creation->units = fault(FAULT_partition_keeps_units, ANY_PLATFORM) ? partition_units(parent) : units;
    return object_handle(device);
}

static cl_int create(const uint64_t *arguments)
{
    struct object *parent = object_find(arguments[0]);
    const uint64_t *list = argument_properties(FUNCTION_clCreateSubDevices, arguments);
    cl_uint room = (cl_uint)arguments[2];
    void **devices = (void **)(uintptr_t)arguments[3];
    cl_uint *count_ret = (cl_uint *)(uintptr_t)arguments[4];
    struct partition partition = {0};
    if (!parent || parent->kind != HANDLE_cl_device_id) {
        return CL_INVALID_DEVICE;
    }
    cl_int result =
        read_partition(parent, properties_seen(list, property_rules_of(FUNCTION_clCreateSubDevices)), &partition);
    if (result != CL_SUCCESS) {
        return result;
    }
    if (!devices && fault(FAULT_partition_without_size_query, ANY_PLATFORM)) {
        return CL_INVALID_VALUE;
    }
    if (devices && room < partition.count) {
        bool fills = fault(FAULT_partition_fills_small_array, ANY_PLATFORM);
        if (!fills && !fault(FAULT_partition_overflows_array, ANY_PLATFORM)) {
            return CL_INVALID_VALUE;
        }
        partition.count = fills ? room : partition.count;
    }
    for (cl_uint i = 0; devices && i < partition.count; i++) {
        devices[i] = make_sub_device(parent, arguments, partition.units[i]);
        object_strip(object_find((uint64_t)(uintptr_t)devices[i]),
                     i > 0 && fault(FAULT_later_objects_have_no_table, ANY_PLATFORM), false);
    }
    if (count_ret) {
        *count_ret = partition.count - (fault(FAULT_partition_says_one_fewer, ANY_PLATFORM) ? 1 : 0);
    }
    return CL_SUCCESS;
}

uint64_t partition_create(const uint64_t *arguments)
{
    return error_result(create(arguments));
}
