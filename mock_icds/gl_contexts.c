/* Contexts that are tied to OpenGL, and clGetGLContextInfoKHR.
 *
 * Sources: OpenCL-Docs, api/opencl_platform_layer.asciidoc (clCreateContext), api/opencl_runtime_layer.asciidoc.
 */
#define _GNU_SOURCE
#include "gl.h"

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

static bool is_repeated(const uint64_t *list, const uint64_t *at)
{
    for (; list < at; list += 2) {
        if (list[0] == at[0]) {
            return true;
        }
    }
    return false;
}

static struct attributes read_attributes(const uint64_t *list)
{
    struct attributes found = {0};
    for (const uint64_t *at = list; at && at[0]; at += 2) {
        found.repeated |= is_repeated(list, at);
        found.named |= at[0] >= CL_GL_CONTEXT_KHR && at[0] <= CL_CGL_SHAREGROUP_KHR;
        switch (at[0]) {
        case CL_GL_CONTEXT_KHR:
            found.context = at[1];
            break;
        case CL_EGL_DISPLAY_KHR:
            found.egl = at[1];
            break;
        case CL_GLX_DISPLAY_KHR:
            found.glx = at[1];
            break;
        case CL_WGL_HDC_KHR:
            found.wgl = at[1];
            break;
        case CL_CGL_SHAREGROUP_KHR:
            found.cgl = at[1];
            break;
        case CL_CONTEXT_PLATFORM:
            found.platform = true;
            break;
        case CL_CONTEXT_INTEROP_USER_SYNC:
            found.user_sync = true;
            break;
        default:
            found.unknown = true;
        }
    }
    return found;
}

static bool is_given(const struct attributes *found)
{
    return found->context || found->egl || found->glx || found->wgl || found->cgl;
}

/* The state of the context that the attributes denote, or -1. */
static int state_of(const struct attributes *found)
{
    bool display = found->egl == egl_display || found->glx == glx_display;
    for (size_t i = 0; display && i < sizeof contexts / sizeof *contexts; i++) {
        if (contexts[i].number == found->context) {
            return (int)contexts[i].state;
        }
    }
    return -1;
}

static cl_int check_context(const struct attributes *found, int platform)
{
    int state = state_of(found);
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
    bool egl = found->egl != 0;
    return (cl_int)fault_value(egl ? FAULT_gl_egl_context_answers : FAULT_gl_glx_context_answers, platform, CL_SUCCESS);
}

static cl_int check_attributes(const struct attributes *found, int platform)
{
    bool mac = has_extension(platform, "cl_APPLE_gl_sharing");
    int displays = !!found->egl + !!found->glx + !!found->wgl + !!found->cgl;
    cl_int error;
    if (displays > 1) {
        error = (cl_int)fault_value(FAULT_gl_two_displays_answer, platform, CL_INVALID_OPERATION);
        if (error) {
            return error;
        }
    }
    if (found->cgl && found->context) {
        error = (cl_int)fault_value(FAULT_gl_share_group_and_context_answer, platform, CL_INVALID_OPERATION);
        if (error) {
            return error;
        }
    }
    if (displays == 1 && (found->wgl || (found->cgl && !mac))) {
        return (cl_int)fault_value(FAULT_gl_missing_binding_answers, platform, CL_INVALID_OPERATION);
    }
    if (displays > 1 || (found->cgl && found->context)) {
        return CL_SUCCESS; /* by a fault */
    }
    if (found->cgl) {
        return found->cgl == usable_share_group
                   ? (cl_int)fault_value(FAULT_gl_share_group_answers, platform, CL_SUCCESS)
                   : (cl_int)fault_value(FAULT_gl_bogus_share_group_answers, platform,
                                         CL_INVALID_GL_SHAREGROUP_REFERENCE_KHR);
    }
    return check_context(found, platform);
}

cl_int gl_check_attributes(const uint64_t *list, int platform, bool *tied)
{
    struct attributes found = read_attributes(list);
    *tied = is_given(&found);
    if (!*tied) {
        return found.named ? (cl_int)fault_value(FAULT_gl_default_attributes_answer, platform, CL_SUCCESS) : CL_SUCCESS;
    }
    cl_int error = CL_SUCCESS;
    if (found.user_sync) {
        error = (cl_int)fault_value(FAULT_gl_user_sync_answers, platform, CL_INVALID_PROPERTY);
    }
    return error ? error : check_attributes(&found, platform);
}

struct gl_link *gl_context_of(struct object *object)
{
    for (; object; object = object->parent) {
        if (object->kind == HANDLE_cl_context) {
            return object->gl;
        }
    }
    return NULL;
}

static bool can_share(const struct object *device)
{
    while (device->parent->kind == HANDLE_cl_device_id) {
        device = device->parent;
    }
    return device->device_type == CL_DEVICE_TYPE_GPU;
}

cl_int gl_answer_extensions(const struct object *device, const uint64_t *rest)
{
    char text[1024] = "";
    const char *at = config.platform[device->platform].extensions;
    size_t length = 0;
    while (*(at += strspn(at, " "))) {
        size_t word = strcspn(at, " ");
        bool shared = strncmp(at, "cl_khr_gl_", 10) == 0 || strncmp(at, "cl_khr_egl_", 11) == 0;
        if ((!shared || can_share(device)) && length + word + 2 < sizeof text) {
            memcpy(text + length, at, word);
            length += word;
            text[length++] = ' ';
        }
        at += word;
    }
    text[length > 0 ? length - 1 : 0] = '\0';
    return answer_info(rest, text, strlen(text) + 1);
}

/* --- contexts --- */

static bool all_listed_share(const uint64_t *arguments)
{
    const uint64_t *list = (const uint64_t *)(uintptr_t)arguments[2];
    for (cl_uint i = 0; list && i < (cl_uint)arguments[1]; i++) {
        struct object *device = object_of(list[i]);
        if (device && !can_share(device)) {
            return false;
        }
    }
    return true;
}

static bool all_of_type_share(cl_device_type type, int platform)
{
    struct object *device;
    for (int i = 0; (device = device_object(platform, i)) != NULL; i++) {
        if ((type == CL_DEVICE_TYPE_ALL || (type & device->device_type)) && !can_share(device)) {
            return false;
        }
    }
    return true;
}

/* The platform that a list names, or -1. */
static int platform_in(const uint64_t *list)
{
    for (; list && list[0]; list += 2) {
        struct object *object = list[0] == CL_CONTEXT_PLATFORM ? object_of(list[1]) : NULL;
        if (object) {
            return object->platform;
        }
    }
    return -1;
}

static int platform_of_call(enum function function, const uint64_t *arguments)
{
    const uint64_t *devices = (const uint64_t *)(uintptr_t)arguments[2];
    if (function == FUNCTION_clCreateContext && devices && (cl_uint)arguments[1] > 0 && object_of(devices[0])) {
        return object_of(devices[0])->platform;
    }
    int named = platform_in((const uint64_t *)(uintptr_t)arguments[0]);
    return named < 0 ? 0 : named;
}

static bool create_context(enum function function, const uint64_t *arguments, uint64_t *result)
{
    const uint64_t *list = (const uint64_t *)(uintptr_t)arguments[0];
    int platform = platform_of_call(function, arguments);
    bool by_type = function == FUNCTION_clCreateContextFromType;
    bool tied = false;
    if (!has_extension(platform, "cl_khr_gl_sharing")) {
        return false;
    }
    cl_int error = gl_check_attributes(list, platform, &tied);
    bool unchecked = by_type && fault(FAULT_gl_attributes_unchecked_from_type, platform);
    if (!error && tied && !(by_type ? all_of_type_share(arguments[1], platform) : all_listed_share(arguments))) {
        error = (cl_int)fault_value(FAULT_gl_other_device_answers, platform, CL_INVALID_OPERATION);
    }
    if (error && !unchecked) {
        *result = gl_refuse(function, arguments, error);
        return true;
    }
    *result = behave_otherwise(function, arguments);
    if (*result && tied) {
        gl_tie(object_of(*result), GL_IS_CONTEXT);
    }
    return true;
}

/* --- clGetGLContextInfoKHR --- */

static cl_int check_info_list(const struct attributes *found, const uint64_t *list, int platform)
{
    bool tied;
    cl_int error = CL_SUCCESS;
    if (found->unknown) {
        error = (cl_int)fault_value(FAULT_gl_info_unknown_attribute_answers, platform, CL_INVALID_VALUE);
    }
    if (!error && found->repeated) {
        error = (cl_int)fault_value(FAULT_gl_info_repeated_attribute_answers, platform, CL_INVALID_VALUE);
    }
    if (!error && found->platform) {
        error = (cl_int)fault_value(FAULT_gl_info_platform_answers, platform, CL_SUCCESS);
    }
    if (error || fault(FAULT_gl_info_attributes_unchecked, platform)) {
        return error;
    }
    error = gl_check_attributes(list, platform, &tied);
    return error || tied ? error : CL_INVALID_GL_SHAREGROUP_REFERENCE_KHR;
}

static size_t sharing_devices(int platform, void **to, size_t room)
{
    struct object *device;
    size_t count = 0;
    for (int i = 0; count < room && (device = device_object(platform, i)) != NULL; i++) {
        if (can_share(device)) {
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
    if (fault(FAULT_gl_devices, platform) && count > 0) { /* more of the same: who else is not asked here */
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
        devices[0] = object_handle(device_object(platform, (int)count));
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
    const uint64_t *list = (const uint64_t *)(uintptr_t)arguments[0];
    int named = platform_in(list);
    int platform = named < 0 ? 0 : named;
    if (!has_extension(platform, "cl_khr_gl_sharing")) {
        return false;
    }
    struct attributes found = read_attributes(list);
    cl_int error = check_info_list(&found, list, platform);
    bool current = (cl_uint)arguments[1] == CL_CURRENT_DEVICE_FOR_GL_CONTEXT_KHR;
    if (!error && !current && (cl_uint)arguments[1] != CL_DEVICES_FOR_GL_CONTEXT_KHR) {
        error = (cl_int)fault_value(FAULT_gl_info_unknown_query_answers, platform, CL_INVALID_VALUE);
    }
    if (!error && state_of(&found) == CONTEXT_WITHOUT_DEVICES) {
        error = (cl_int)fault_value(FAULT_gl_info_without_device_answers, platform, CL_SUCCESS);
        error = error ? error : answer_info(arguments + 2, list, 0);
    } else if (!error) {
        error = answer_devices(arguments + 2, platform, current);
    }
    *result = (uint64_t)(int64_t)error;
    return true;
}

bool gl_behave_contexts(enum function function, const uint64_t *arguments, uint64_t *result)
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
