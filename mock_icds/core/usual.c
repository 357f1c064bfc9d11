/* SPDX-License-Identifier: Apache-2.0 */
/* What a function does that no part of the mock treats in its own way: makes what it is to make, and succeeds. */
#include "core/usual.h"

#include "base/arguments.h"
#include "base/config.h"
#include "base/errors.h"
#include "base/platforms.h"
#include "calls.h"
#include "core/creation.h"
#include "core/events.h"

#include <string.h>

enum { CREATED_IN_LISTS = 2 };

struct object *usual_parent(enum function function, const uint64_t *arguments)
{
    const struct function_info *about = &function_info[function];
    struct object *parent = argument_first_object(function, arguments);
    for (unsigned i = 0; !parent && i < about->parameter_count; i++) {
        const uint64_t *list = argument_properties(function, arguments);
        if (about->parameters[i].kind != PARAMETER_PROPERTIES || !list) {
            continue;
        }
        for (; list[0] && !parent; list += 2) {
            parent = list[0] == CL_CONTEXT_PLATFORM ? object_find(list[1]) : NULL;
        }
    }
    return parent ? parent : platform_object(0);
}

static uint64_t change_references(uint64_t handle, int by)
{
    struct object *object = object_find(handle);
    bool image = object && object->is_image && fault(FAULT_retains_of_images_are_not_counted, ANY_PLATFORM);
    if (by > 0 && (image || fault(FAULT_retains_not_counted, ANY_PLATFORM))) {
        return CL_SUCCESS;
    }
    if (by < 0 && fault(FAULT_children_die_with_parents, ANY_PLATFORM)) {
        object_release_children(object);
    }
    bool root_device = object && object->kind == HANDLE_cl_device_id && object->parent->kind == HANDLE_cl_platform_id;
    if (object && object->kind == HANDLE_cl_device_id &&
        fault(root_device ? FAULT_root_devices_counted : FAULT_sub_devices_not_counted, ANY_PLATFORM)) {
        root_device = !root_device;
    }
    if (!root_device && !object_count_reference(object, by)) {
        log_event("bad reference", by > 0 ? "retain" : "release");
        return error_result(CL_INVALID_VALUE);
    }
    return CL_SUCCESS;
}

/* How many handles an output has room for: a list has an integer in front of it that says so. */
static uint64_t room_for_handles(const struct function_info *about, const uint64_t *arguments, unsigned index)
{
    const struct parameter_info *before = index > 0 ? &about->parameters[index - 1] : NULL;
    bool list =
        before && before->kind == PARAMETER_INTEGER && strncmp(parameter_name(before), "num_", strlen("num_")) == 0;
    return list ? arguments[index - 1] : 1;
}

struct object *usual_object(enum function function, const uint64_t *arguments, enum handle_kind kind,
                            struct object *parent)
{
    const struct function_config *settings = &config.function[function];
    struct object *object = object_make(kind, parent);
    object_strip(object, settings->without_dispatch, settings->without_data);
    object->is_image = argument_function_begins(function, "clCreateImage");
    object->is_buffer = argument_function_begins(function, "clCreateBuffer") || function == FUNCTION_clCreateSubBuffer;
    if (config.refuses && kind == HANDLE_cl_event) {
        events_remember(object, function, arguments);
    }
    if (config.validates) {
        creation_remember(object, function, arguments);
    }
    return object;
}

static void *new_handle(enum function function, const uint64_t *arguments, enum handle_kind kind, struct object *parent)
{
    return object_handle(usual_object(function, arguments, kind, parent));
}

/* Lists get two objects. */
static uint64_t make(enum function function, const uint64_t *arguments)
{
    const struct function_info *about = &function_info[function];
    struct object *parent = usual_parent(function, arguments);
    for (unsigned i = 0; i < about->parameter_count; i++) {
        void *out = (void *)(uintptr_t)arguments[i];
        if (out && about->parameters[i].kind == PARAMETER_HANDLE_OUT) {
            uint64_t room = room_for_handles(about, arguments, i);
            for (uint64_t count = 0; count < room && count < CREATED_IN_LISTS; count++) {
                ((void **)out)[count] = new_handle(function, arguments, about->parameters[i].handle, parent);
            }
        } else if (out && about->parameters[i].kind == PARAMETER_ERRCODE) {
            *(cl_int *)out = CL_SUCCESS;
        } else if (out && about->parameters[i].kind == PARAMETER_SCALAR_OUT) {
            memset(out, 0, about->parameters[i].pointee);
        }
    }
    if (about->result == RESULT_HANDLE) {
        return (uint64_t)(uintptr_t)new_handle(function, arguments, about->result_handle, parent);
    }
    return CL_SUCCESS;
}

uint64_t usual_call(enum function function, const uint64_t *arguments)
{
    if (argument_function_begins(function, "clRetain")) {
        return change_references(arguments[0], 1);
    }
    if (argument_function_begins(function, "clRelease")) {
        return change_references(arguments[0], -1);
    }
    return make(function, arguments);
}

uint64_t usual_checked_call(enum function function, const uint64_t *arguments)
{
    cl_int error = creation_check(function, arguments);
    if (error == CL_SUCCESS) {
        return usual_call(function, arguments);
    }
    bool spoils = fault(FAULT_properties_error_with_object, ANY_PLATFORM);
    uint64_t object = spoils ? usual_call(function, arguments) : 0;
    uint64_t result = error_refuse(function, arguments, error);
    return function_info[function].result == RESULT_HANDLE ? object : result;
}
