/* SPDX-License-Identifier: Apache-2.0 */
/* What calls do to the references of the objects that they are given. */
#include "core/references.h"

#include "base/config.h"
#include "base/objects.h"
#include "core/events.h"

#include <string.h>

static bool is_counted(const struct object *object)
{
    return object && object->kind != HANDLE_cl_platform_id && object->kind != HANDLE_cl_device_id;
}

static void keep_arguments(const struct function_info *about, const uint64_t *arguments)
{
    for (unsigned i = 0; i < about->parameter_count; i++) {
        struct object *object = about->parameters[i].kind == PARAMETER_HANDLE ? object_find(arguments[i]) : NULL;
        if (is_counted(object)) {
            object_count_reference(object, 1);
        }
    }
}

static void follow_release(struct object *object, bool keeps_the_last)
{
    struct object *context = object_context(object);
    if (object->references == 0 && keeps_the_last) {
        object->references = 1;
    }
    if (context && context->references == 0 && !object_is_held(context)) {
        events_end_context(context);
    }
}

void references_follow(enum function function, const uint64_t *arguments, uint64_t *result)
{
    const struct function_info *about = &function_info[function];
    const struct function_config *settings = &config.function[function];
    struct object *first = about->parameter_count > 0 ? object_find(arguments[0]) : NULL;
    if (!config.refuses || !is_counted(first)) {
        return;
    }
    if (settings->keeps_references) {
        keep_arguments(about, arguments);
    }
    if (function == FUNCTION_clCreateImage && *result &&
        fault(FAULT_images_take_the_reference_to_their_buffer, ANY_PLATFORM)) {
        const cl_image_desc *image = (const cl_image_desc *)(uintptr_t)arguments[3];
        object_count_reference(object_find((uint64_t)(uintptr_t)image->mem_object), -1);
    }
    if (settings->keeps_its_context) {
        object_count_reference(object_context(first), 1);
    }
    if (strncmp(about->name, "clRelease", strlen("clRelease")) == 0) {
        follow_release(first, settings->keeps_the_last_reference);
    }
}
