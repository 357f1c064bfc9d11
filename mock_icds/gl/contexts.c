/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts that are tied to OpenGL, and clGetGLContextInfoKHR.
 *
 * Sources: OpenCL-Docs, api/opencl_platform_layer.asciidoc (clCreateContext), api/opencl_runtime_layer.asciidoc.
 */
#include "gl/contexts.h"

#include "base/config.h"
#include "base/errors.h"
#include "base/platforms.h"
#include "calls.h"
#include "core/core.h"
#include "gl/links.h"

#include <string.h>

enum context_state { CONTEXT_USABLE, CONTEXT_WITHOUT_BUFFERS, CONTEXT_FOREIGN, CONTEXT_WITHOUT_DEVICES };

struct known_context {
    uint64_t number;
    enum context_state state;
};

static const struct known_context contexts[] = {
#define CONTEXT(name, number, state) {number, state},
#include "gl_world.h"
#undef CONTEXT
};

#define DISPLAY(name, number) static const uint64_t name##_display = number;
#define SHARE_GROUP(name, number) static const uint64_t name##_share_group = number;
#include "gl_world.h"
#undef DISPLAY
#undef SHARE_GROUP

/* The attributes of a list that are not their defaults, which are all 0. */
struct attributes {
    uint64_t context;
    uint64_t egl;
    uint64_t glx;
    uint64_t wgl;
    uint64_t cgl;
    bool user_sync;
    bool unknown;
    bool repeated;
    bool platform;
    bool named; /* there is one of OpenGL's, be it a default */
};

static bool is_repeated(const uintptr_t *list, const uintptr_t *at)
{
    for (; list < at; list += 2) {
        if (list[0] == at[0]) {
            return true;
        }
    }
    return false;
}

static struct attributes read_attributes(const uintptr_t *list)
{
    struct attributes attributes = {0};
    for (const uintptr_t *at = list; at && at[0]; at += 2) {
        attributes.repeated |= is_repeated(list, at);
        attributes.named |= at[0] >= CL_GL_CONTEXT_KHR && at[0] <= CL_CGL_SHAREGROUP_KHR;
        switch (at[0]) {
        case CL_GL_CONTEXT_KHR:
            attributes.context = at[1];
            break;
        case CL_EGL_DISPLAY_KHR:
            attributes.egl = at[1];
            break;
        case CL_GLX_DISPLAY_KHR:
            attributes.glx = at[1];
            break;
        case CL_WGL_HDC_KHR:
            attributes.wgl = at[1];
            break;
        case CL_CGL_SHAREGROUP_KHR:
            attributes.cgl = at[1];
            break;
        case CL_CONTEXT_PLATFORM:
            attributes.platform = true;
            break;
        case CL_CONTEXT_INTEROP_USER_SYNC:
            attributes.user_sync = true;
            break;
        default:
            attributes.unknown = true;
        }
    }
    return attributes;
}

static bool is_given(const struct attributes *attributes)
{
    return attributes->context || attributes->egl || attributes->glx || attributes->wgl || attributes->cgl;
}

/* The state of the context that the attributes denote, or -1. */
static int state_of(const struct attributes *attributes)
{
    bool display = attributes->egl == egl_display || attributes->glx == glx_display;
    for (size_t i = 0; display && i < sizeof contexts / sizeof *contexts; i++) {
        if (contexts[i].number == attributes->context) {
            return (int)contexts[i].state;
        }
    }
    return -1;
}

static cl_int check_context(const struct attributes *attributes, int platform)
{
    int state = state_of(attributes);
    if (state < 0) {
        return (cl_int)fault_value(FAULT_gl_bogus_context_answers, platform, CL_INVALID_GL_SHAREGROUP_REFERENCE_KHR);
    }
    if (state == CONTEXT_WITHOUT_BUFFERS) {
        return (cl_int)fault_value(FAULT_gl_context_without_buffers_answers, platform,
                                   CL_INVALID_GL_SHAREGROUP_REFERENCE_KHR);
    }
    if (state == CONTEXT_FOREIGN) {
        return (cl_int)fault_value(FAULT_gl_foreign_context_answers, platform, CL_INVALID_GL_SHAREGROUP_REFERENCE_KHR);
    }
    bool egl = attributes->egl != 0;
    return (cl_int)fault_value(egl ? FAULT_gl_egl_context_answers : FAULT_gl_glx_context_answers, platform, CL_SUCCESS);
}

static cl_int check_attributes(const struct attributes *attributes, int platform)
{
    bool mac = platform_has_extension(platform, "cl_APPLE_gl_sharing");
    int displays = !!attributes->egl + !!attributes->glx + !!attributes->wgl + !!attributes->cgl;
    cl_int error;
    if (displays > 1) {
        error = (cl_int)fault_value(FAULT_gl_two_displays_answer, platform, CL_INVALID_OPERATION);
        if (error) {
            return error;
        }
    }
    if (attributes->cgl && attributes->context) {
        error = (cl_int)fault_value(FAULT_gl_share_group_and_context_answer, platform, CL_INVALID_OPERATION);
        if (error) {
            return error;
        }
    }
    if (displays == 1 && (attributes->wgl || (attributes->cgl && !mac))) {
        return (cl_int)fault_value(FAULT_gl_missing_binding_answers, platform, CL_INVALID_OPERATION);
    }
    if (displays > 1 || (attributes->cgl && attributes->context)) {
        return CL_SUCCESS; /* by a fault */
    }
    if (attributes->cgl) {
        return attributes->cgl == usable_share_group
                   ? (cl_int)fault_value(FAULT_gl_share_group_answers, platform, CL_SUCCESS)
                   : (cl_int)fault_value(FAULT_gl_bogus_share_group_answers, platform,
                                         CL_INVALID_GL_SHAREGROUP_REFERENCE_KHR);
    }
    return check_context(attributes, platform);
}

/* The error of the OpenGL attributes of a list, or CL_SUCCESS; `*tied` says whether there are any. */
static cl_int check_list(const uintptr_t *list, int platform, bool *tied)
{
    struct attributes attributes = read_attributes(list);
    *tied = is_given(&attributes);
    if (!*tied) {
        return attributes.named ? (cl_int)fault_value(FAULT_gl_default_attributes_answer, platform, CL_SUCCESS)
                                : CL_SUCCESS;
    }
    cl_int error = CL_SUCCESS;
    if (attributes.user_sync) {
        error = (cl_int)fault_value(FAULT_gl_user_sync_answers, platform, CL_INVALID_PROPERTY);
    }
    return error ? error : check_attributes(&attributes, platform);
}

/* --- contexts --- */

static bool all_listed_share(const uint64_t *arguments)
{
    const uintptr_t *list = (const uintptr_t *)(uintptr_t)arguments[2];
    for (cl_uint i = 0; list && i < (cl_uint)arguments[1]; i++) {
        struct object *device = object_find(list[i]);
        if (device && !platform_device_shares_gl(device)) {
            return false;
        }
    }
    return true;
}

static bool all_of_type_share(cl_device_type type, int platform)
{
    struct object *device;
    for (int i = 0; (device = platform_device(platform, i)) != NULL; i++) {
        if ((type == CL_DEVICE_TYPE_ALL || (type & device->device_type)) && !platform_device_shares_gl(device)) {
            return false;
        }
    }
    return true;
}

/* The platform that a list names, or -1. */
static int platform_in(const uintptr_t *list)
{
    for (; list && list[0]; list += 2) {
        struct object *object = list[0] == CL_CONTEXT_PLATFORM ? object_find(list[1]) : NULL;
        if (object) {
            return object->platform;
        }
    }
    return -1;
}

static int platform_of_call(enum function function, const uint64_t *arguments)
{
    const uintptr_t *devices = (const uintptr_t *)(uintptr_t)arguments[2];
    if (function == FUNCTION_clCreateContext && devices && (cl_uint)arguments[1] > 0 && object_find(devices[0])) {
        return object_find(devices[0])->platform;
    }
    int named = platform_in((const uintptr_t *)(uintptr_t)arguments[0]);
    return named < 0 ? 0 : named;
}

static bool create_context(enum function function, const uint64_t *arguments, uint64_t *result)
{
    const uintptr_t *list = (const uintptr_t *)(uintptr_t)arguments[0];
    int platform = platform_of_call(function, arguments);
    bool by_type = function == FUNCTION_clCreateContextFromType;
    bool tied = false;
    if (!platform_has_extension(platform, "cl_khr_gl_sharing")) {
        return false;
    }
    cl_int error = check_list(list, platform, &tied);
    bool unchecked = by_type && fault(FAULT_gl_attributes_unchecked_from_type, platform);
    if (!error && tied && !(by_type ? all_of_type_share(arguments[1], platform) : all_listed_share(arguments))) {
        error = (cl_int)fault_value(FAULT_gl_other_device_answers, platform, CL_INVALID_OPERATION);
    }
    if (error && !unchecked) {
        *result = error_refuse(function, arguments, error);
        return true;
    }
    *result = core_call(function, arguments);
    if (*result && tied) {
        gl_link_make(object_find(*result), GL_IS_CONTEXT);
    }
    return true;
}

/* --- clGetGLContextInfoKHR --- */

static cl_int check_info_list(const struct attributes *attributes, const uintptr_t *list, int platform)
{
    bool tied;
    cl_int error = CL_SUCCESS;
    if (attributes->unknown) {
        error = (cl_int)fault_value(FAULT_gl_info_unknown_attribute_answers, platform, CL_INVALID_VALUE);
    }
    if (!error && attributes->repeated) {
        error = (cl_int)fault_value(FAULT_gl_info_repeated_attribute_answers, platform, CL_INVALID_VALUE);
    }
    if (!error && attributes->platform) {
        error = (cl_int)fault_value(FAULT_gl_info_platform_answers, platform, CL_SUCCESS);
    }
    if (error || fault(FAULT_gl_info_attributes_unchecked, platform)) {
        return error;
    }
    error = check_list(list, platform, &tied);
    return error || tied ? error : CL_INVALID_GL_SHAREGROUP_REFERENCE_KHR;
}

static size_t sharing_devices(int platform, void **to, size_t room)
{
    struct object *device;
    size_t count = 0;
    for (int i = 0; count < room && (device = platform_device(platform, i)) != NULL; i++) {
        if (platform_device_shares_gl(device)) {
            to[count++] = object_handle(device);
        }
    }
    return count;
}

static cl_int answer_devices(const uint64_t *arguments, int platform, bool current)
{
    enum { ROOM = 64 };
    void *devices[ROOM] = {NULL};
    size_t count = sharing_devices(platform, devices, ROOM);
    if (fault(FAULT_gl_devices, platform) && count > 0) { /* more of the same: who else there is does not matter here */
        size_t wanted = (size_t)fault_value(FAULT_gl_devices, platform, 1);
        for (size_t i = count; i < wanted && i < ROOM; i++) {
            devices[i] = devices[i % count];
        }
        count = wanted < ROOM ? wanted : ROOM;
    }
    if (current && fault(FAULT_gl_info_gives_an_index, platform)) {
        memset(devices, 0, sizeof *devices);
    }
    if (current && fault(FAULT_gl_info_gives_the_platform, platform)) {
        devices[0] = object_handle(platform_object(platform));
    }
    if (!current && fault(FAULT_gl_info_lists_without_current, platform)) {
        devices[0] = object_handle(platform_device(platform, (int)count));
    }
    if (!current && fault(FAULT_gl_info_lists_twice, platform)) {
        devices[1] = devices[0];
        count = 2;
    }
    size_t size =
        current && count > 0 && !fault(FAULT_gl_devices, platform) ? sizeof *devices : count * sizeof *devices;
    void *to = (void *)(uintptr_t)arguments[1];
    if (to && (size_t)arguments[0] < size && fault(FAULT_gl_info_short_buffer_is_filled, platform)) {
        memcpy(to, devices, (size_t)arguments[0]);
        return CL_SUCCESS;
    }
    if (fault(FAULT_gl_info_needs_memory, platform) && !(to && arguments[2])) {
        return CL_INVALID_VALUE;
    }
    return answer_info(arguments, devices, size);
}

static bool get_context_info(const uint64_t *arguments, uint64_t *result)
{
    const uintptr_t *list = (const uintptr_t *)(uintptr_t)arguments[0];
    int named = platform_in(list);
    int platform = named < 0 ? 0 : named;
    if (!platform_has_extension(platform, "cl_khr_gl_sharing")) {
        return false;
    }
    struct attributes attributes = read_attributes(list);
    cl_int error = check_info_list(&attributes, list, platform);
    bool current = (cl_uint)arguments[1] == CL_CURRENT_DEVICE_FOR_GL_CONTEXT_KHR;
    if (!error && !current && (cl_uint)arguments[1] != CL_DEVICES_FOR_GL_CONTEXT_KHR) {
        error = (cl_int)fault_value(FAULT_gl_info_unknown_query_answers, platform, CL_INVALID_VALUE);
    }
    if (!error && state_of(&attributes) == CONTEXT_WITHOUT_DEVICES) {
        error = (cl_int)fault_value(FAULT_gl_info_without_device_answers, platform, CL_SUCCESS);
        error = error ? error : answer_info(arguments + 2, list, 0);
    } else if (!error) {
        error = answer_devices(arguments + 2, platform, current);
    }
    *result = error_result(error);
    return true;
}

bool gl_contexts_handle(enum function function, const uint64_t *arguments, uint64_t *result)
{
    switch (function) {
    case FUNCTION_clCreateContext:
    case FUNCTION_clCreateContextFromType:
        return create_context(function, arguments, result);
    case FUNCTION_clGetGLContextInfoKHR:
        return get_context_info(arguments, result);
    default:
        return false;
    }
}
