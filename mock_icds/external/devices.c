/* SPDX-License-Identifier: Apache-2.0 */
/* Devices of contexts and queues, on platforms that have one of the extensions. */
#include "external/devices.h"

#include "base/platforms.h"
#include "core/contents.h"
#include "external/attachments.h"

bool devices_can(int platform, uint32_t devices)
{
    struct object *device;
    for (int i = 0; (device = platform_device(platform, i)) != NULL; i++) {
        if (devices >> i & 1 && device->device_type == CL_DEVICE_TYPE_ACCELERATOR) {
            return false;
        }
    }
    return true;
}

bool devices_matter(const struct object *object)
{
    return platform_has_extension(object->platform, "cl_khr_external_memory") ||
           platform_has_extension(object->platform, "cl_khr_semaphore") ||
           platform_has_extension(object->platform, "cl_khr_command_buffer") || contents_kept(object->platform);
}

static uint32_t devices_of_type(int platform, cl_device_type type)
{
    struct object *device;
    uint32_t devices = 0;
    for (int i = 0; (device = platform_device(platform, i)) != NULL; i++) {
        devices |= platform_device_matches(device, type, i) ? UINT32_C(1) << i : 0;
    }
    return devices;
}

static uint64_t queue_flags(const uint64_t *list)
{
    for (; list && list[0]; list += 2) {
        if (list[0] == CL_QUEUE_PROPERTIES) {
            return list[1];
        }
    }
    return 0;
}

/* Notes the devices of a new context or queue, and whether the queue is in order. */
static void note(struct object *object, enum function function, const uint64_t *arguments)
{
    const uintptr_t *list;
    struct attachment *attachment = attachment_of(object);
    switch (function) {
    case FUNCTION_clCreateContext:
        list = (const uintptr_t *)(uintptr_t)arguments[2];
        for (cl_uint i = 0; i < (cl_uint)arguments[1]; i++) {
            attachment->devices |= platform_device_bit(object_find(list[i]));
        }
        break;
    case FUNCTION_clCreateContextFromType:
        attachment->devices = devices_of_type(object->platform, arguments[1]);
        break;
    case FUNCTION_clCreateCommandQueue:
    case FUNCTION_clCreateCommandQueueWithProperties:
        attachment->devices = platform_device_bit(object_find(arguments[1]));
        attachment->out_of_order =
            (function == FUNCTION_clCreateCommandQueue ? arguments[2]
                                                       : queue_flags((const uint64_t *)(uintptr_t)arguments[2])) &
            CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
        break;
    default:
        break;
    }
}

void devices_follow(enum function function, const uint64_t *arguments, uint64_t *result)
{
    struct object *object = function_info[function].result == RESULT_HANDLE ? object_find(*result) : NULL;
    if (object && devices_matter(object)) {
        note(object, function, arguments);
    }
}
