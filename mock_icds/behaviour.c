/* One dispatched call: logs it, does what the API says (or what a fault says), and logs what came of it. */
#define _GNU_SOURCE
#include "compute.h"
#include "creation.h"
#include "distinct.h"
#include "external.h"
#include "gl.h"
#include "icd.h"
#include "validity.h"

#include <string.h>

enum { CREATED_IN_LISTS = 2, SOME_MEMORY = 64 };

static void log_foreign_handles(const struct function_info *about, const uint64_t *arguments)
{
    for (unsigned i = 0; i < about->parameter_count; i++) {
        if (about->parameters[i].kind == PARAMETER_HANDLE && arguments[i] && !object_of(arguments[i])) {
            log_event("foreign handle", about->parameters[i].name);
        }
    }
}

/* The object that a created one belongs to: the first of our handles among the arguments, else the first platform. */
static struct object *parent_of_new(const struct function_info *about, const uint64_t *arguments)
{
    for (unsigned i = 0; i < about->parameter_count; i++) {
        uint64_t handle = arguments[i];
        if (about->parameters[i].kind == PARAMETER_HANDLES && handle) {
            handle = first_word((const void *)(uintptr_t)handle, sizeof handle);
        } else if (about->parameters[i].kind != PARAMETER_HANDLE) {
            continue;
        }
        if (object_of(handle)) {
            return object_of(handle);
        }
    }
    for (unsigned i = 0; i < about->parameter_count; i++) {
        const uint64_t *list = (const uint64_t *)(uintptr_t)arguments[i];
        if (about->parameters[i].kind != PARAMETER_PROPERTIES || !list) {
            continue;
        }
        for (; list[0]; list += 2) {
            if (list[0] == CL_CONTEXT_PLATFORM && object_of(list[1])) {
                return object_of(list[1]);
            }
        }
    }
    return platform_object(0);
}

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

static uint64_t change_references(uint64_t handle, int by)
{
    struct object *object = object_of(handle);
    if (by > 0 && fault(FAULT_retains_not_counted, ANY_PLATFORM)) {
        return CL_SUCCESS;
    }
    if (by < 0 && fault(FAULT_children_die_with_parents, ANY_PLATFORM)) {
        objects_die_with(object);
    }
    bool root_device = object && object->kind == HANDLE_cl_device_id && object->parent->kind == HANDLE_cl_platform_id;
    if (object && object->kind == HANDLE_cl_device_id &&
        fault(root_device ? FAULT_root_devices_counted : FAULT_sub_devices_not_counted, ANY_PLATFORM)) {
        root_device = !root_device;
    }
    if (!root_device && !object_count_reference(object, by)) {
        log_event("bad reference", by > 0 ? "retain" : "release");
        return (uint64_t)(int64_t)CL_INVALID_VALUE;
    }
    return CL_SUCCESS;
}

/* How many handles an output has room for: a list has an integer in front of it that says so. */
static uint64_t room_for_handles(const struct function_info *about, const uint64_t *arguments, unsigned index)
{
    const struct parameter_info *before = index > 0 ? &about->parameters[index - 1] : NULL;
    bool list = before && before->kind == PARAMETER_INTEGER && starts_with(before->name, "num_");
    return list ? arguments[index - 1] : 1;
}

/* What a function makes, with what it was told to leave out. */
static void *made_object(const struct function_info *about, enum handle_kind kind, struct object *parent,
                         const uint64_t *arguments)
{
    enum function function = (enum function)(about - function_info);
    const struct function_config *told = &config.function[function];
    struct object *object = object_make(kind, parent);
    object_strip(object, told->without_dispatch, told->without_data);
    object->is_image = starts_with(about->name, "clCreateImage");
    object->is_buffer = starts_with(about->name, "clCreateBuffer") || function == FUNCTION_clCreateSubBuffer;
    if (config.refuses && kind == HANDLE_cl_event) {
        life_remember(object, function, arguments);
    }
    if (config.validates) {
        creation_remember(object, function, arguments);
    }
    return object_handle(object);
}

struct object *make_as_told(enum function function, const uint64_t *arguments, enum handle_kind kind,
                            struct object *parent)
{
    void *handle = made_object(&function_info[function], kind, parent, arguments);
    return object_of((uint64_t)(uintptr_t)handle);
}

/* Whatever no part of the mock does in its own way: creates what is to be created and answers CL_SUCCESS. Lists get
 * two objects. */
static uint64_t usual_behaviour(const struct function_info *about, const uint64_t *arguments)
{
    if (starts_with(about->name, "clRetain")) {
        return change_references(arguments[0], 1);
    }
    if (starts_with(about->name, "clRelease")) {
        return change_references(arguments[0], -1);
    }
    struct object *parent = parent_of_new(about, arguments);
    for (unsigned i = 0; i < about->parameter_count; i++) {
        void *out = (void *)(uintptr_t)arguments[i];
        if (out && about->parameters[i].kind == PARAMETER_HANDLE_OUT) {
            uint64_t room = room_for_handles(about, arguments, i);
            for (uint64_t made = 0; made < room && made < CREATED_IN_LISTS; made++) {
                ((void **)out)[made] = made_object(about, about->parameters[i].handle, parent, arguments);
            }
        } else if (out && about->parameters[i].kind == PARAMETER_ERRCODE) {
            *(cl_int *)out = CL_SUCCESS;
        } else if (out && about->parameters[i].kind == PARAMETER_SCALAR_OUT) {
            memset(out, 0, about->parameters[i].pointee);
        }
    }
    if (about->result == RESULT_HANDLE) {
        return (uint64_t)(uintptr_t)made_object(about, about->result_handle, parent, arguments);
    }
    return CL_SUCCESS;
}

/* Refuses what the specification does, where the mock validates. The object comes from usual_behaviour. */
static uint64_t validated_behaviour(enum function function, const uint64_t *arguments)
{
    const struct function_info *about = &function_info[function];
    cl_int error = creation_check(function, arguments);
    if (error == CL_SUCCESS) {
        return usual_behaviour(about, arguments);
    }
    bool spoils = fault(FAULT_properties_error_with_object, ANY_PLATFORM);
    uint64_t result = spoils ? usual_behaviour(about, arguments) : 0;
    for (unsigned i = 0; i < about->parameter_count; i++) {
        if (about->parameters[i].kind == PARAMETER_ERRCODE && arguments[i]) {
            *(cl_int *)(uintptr_t)arguments[i] = error;
        }
    }
    return about->result == RESULT_HANDLE ? result : (uint64_t)(int64_t)error;
}

static bool is_info_query(const struct function_info *about)
{
    unsigned count = about->parameter_count;
    return count >= 5 && strcmp(about->parameters[count - 1].name, "param_value_size_ret") == 0 &&
           strcmp(about->parameters[count - 4].name, "param_name") == 0 &&
           about->parameters[0].kind == PARAMETER_HANDLE;
}

/* The device of the GL context is the first one of the platform that the property list names. */
static cl_int get_gl_context_info(const uint64_t *arguments)
{
    struct object *platform = parent_of_new(&function_info[FUNCTION_clGetGLContextInfoKHR], arguments);
    struct object *device = device_object(platform->platform, 0);
    void *handle = device ? object_handle(device) : NULL;
    return answer_info(arguments + 2, &handle, sizeof handle);
}

static uint64_t set_dispatch_data(const uint64_t *arguments)
{
    struct object *platform = object_of(arguments[0]);
    if (!platform) {
        bool success = fault(FAULT_icd2_set_takes_any_platform, ANY_PLATFORM);
        return success ? CL_SUCCESS : (uint64_t)(int64_t)CL_INVALID_PLATFORM;
    }
    if (fault(FAULT_icd2_reads_data, platform->platform)) {
        log_event("dispatch data", *(const char *)(uintptr_t)arguments[1] ? "read" : "read, empty");
    }
    if (fault(FAULT_icd2_set_dispatch_data_fails, platform->platform)) {
        return (uint64_t)fault_value(FAULT_icd2_set_dispatch_data_fails, platform->platform, CL_INVALID_PLATFORM);
    }
    objects_set_dispatch_data(platform->platform, (void *)(uintptr_t)arguments[1]);
    return CL_SUCCESS;
}

static cl_int CL_API_CALL no_devices(cl_platform_id platform, cl_device_type type, cl_uint room, cl_device_id *devices,
                                     cl_uint *count)
{
    (void)platform, (void)type, (void)room, (void)devices;
    if (count) {
        *count = 0;
    }
    return CL_DEVICE_NOT_FOUND;
}

static uint64_t function_address_for_platform(const uint64_t *arguments)
{
    const char *name = (const char *)(uintptr_t)arguments[1];
    int function = name ? function_by_name(name) : -1;
    struct object *platform = object_of(arguments[0]);
    if (platform && name && function < 0 && fault(FAULT_icd2_get_answers_anything, platform->platform)) {
        return (uint64_t)(uintptr_t)dispatch_entry(FUNCTION_clGetPlatformInfo);
    }
    if (!platform && function >= 0 && fault(FAULT_icd2_get_takes_any_platform, ANY_PLATFORM)) {
        return (uint64_t)(uintptr_t)dispatch_entry(function);
    }
    if (!platform || function < 0 || config.function[function].lacks ||
        config.function[function].lacks_on >> platform->platform & 1) {
        return 0;
    }
    if (function == FUNCTION_clGetDeviceIDs && fault(FAULT_icd2_get_answers_other_functions, platform->platform)) {
        return (uint64_t)(uintptr_t)no_devices;
    }
    return (uint64_t)(uintptr_t)dispatch_entry(function);
}

uint64_t behave_otherwise(enum function function, const uint64_t *a)
{
    const struct function_info *about = &function_info[function];
    uint64_t result;
    int error;
    if (config.refuses && !config.function[function].takes_anything && is_improper(function, a, &error)) {
        return refuse(function, a, error);
    }
    if (config.refuses && life_behave(function, a, &result)) {
        return result;
    }
    if (function == FUNCTION_clFlush && fault(FAULT_flush_fails, ANY_PLATFORM)) {
        return (uint64_t)(int64_t)CL_OUT_OF_RESOURCES;
    }
    if (function == FUNCTION_clBuildProgram && a[3] && strstr((const char *)(uintptr_t)a[3], "-cl-kernel-arg-info") &&
        fault(FAULT_argument_information_fails, ANY_PLATFORM)) {
        return (uint64_t)(int64_t)CL_BUILD_PROGRAM_FAILURE;
    }
    switch (function) {
    case FUNCTION_clIcdGetPlatformIDsKHR:
    case FUNCTION_clGetPlatformIDs:
        return (uint64_t)(int64_t)get_platform_ids((cl_uint)a[0], (cl_platform_id *)(uintptr_t)a[1],
                                                   (cl_uint *)(uintptr_t)a[2]);
    case FUNCTION_clGetPlatformInfo:
        return (uint64_t)(int64_t)get_platform_info(a, false);
    case FUNCTION_clGetDeviceIDs:
        return (uint64_t)(int64_t)get_device_ids(a);
    case FUNCTION_clGetGLContextInfoKHR:
        return (uint64_t)(int64_t)get_gl_context_info(a);
    case FUNCTION_clGetExtensionFunctionAddress:
        return (uint64_t)(uintptr_t)address_query((const char *)(uintptr_t)a[0]);
    case FUNCTION_clGetExtensionFunctionAddressForPlatform:
        return object_of(a[0]) || fault(FAULT_address_query_takes_any_platform, ANY_PLATFORM)
                   ? (uint64_t)(uintptr_t)address_query((const char *)(uintptr_t)a[1])
                   : 0;
    case FUNCTION_clIcdGetFunctionAddressForPlatformKHR:
        return function_address_for_platform(a);
    case FUNCTION_clIcdSetPlatformDispatchDataKHR:
        return set_dispatch_data(a);
    default:
        break;
    }
    if (is_info_query(about)) {
        return (uint64_t)(int64_t)answer_query(get_info, function, a);
    }
    if (config.validates && function == FUNCTION_clCreateSubDevices) {
        return (uint64_t)(int64_t)create_sub_devices(a);
    }
    if (config.refuses && about->result == RESULT_POINTER) { /* memory: shared, or what is mapped */
        usual_behaviour(about, a);
        return (uint64_t)(uintptr_t)objects_memory(SOME_MEMORY);
    }
    result = config.validates ? validated_behaviour(function, a) : usual_behaviour(about, a);
    if (about->result == RESULT_HANDLE) {
        external_note_devices(function, a, result);
    }
    return result;
}

static uint64_t behave(enum function function, const uint64_t *arguments)
{
    uint64_t result;
    if (!gl_behave(function, arguments, &result) && !external_behave(function, arguments, &result)) {
        result = behave_otherwise(function, arguments);
    }
    compute_follow(function, arguments, &result);
    if (config.refuses && function == FUNCTION_clBuildProgram &&
        (result == CL_SUCCESS || (cl_int)result == CL_BUILD_PROGRAM_FAILURE)) {
        life_program_built(arguments);
    }
    return result;
}

/* Whether a function that was told to answer anything is asked what a loader or an application has to know. */
static bool is_plain_question(enum function function, const uint64_t *arguments)
{
    switch (function) {
    case FUNCTION_clGetPlatformInfo:
    case FUNCTION_clGetDeviceInfo:
        return arguments[1] < 0x10000;
    case FUNCTION_clGetDeviceIDs:
        return arguments[1] <= CL_DEVICE_TYPE_ALL;
    default:
        return false;
    }
}

/* Calls through the table, through returned addresses and through exported symbols. */
uint64_t component_call(enum function function, const uint64_t *arguments)
{
    const struct function_info *about = &function_info[function];
    const struct function_config *told = &config.function[function];
    if ((told->answers || told->silent) && !is_plain_question(function, arguments)) {
        return distinct_answer(&mock_log, mock_name, function, arguments, told->silent);
    }
    log_call(about, arguments);
    log_foreign_handles(about, arguments);
    if (told->waits_at || told->arrives_at) {
        meet(told);
    }
    uint64_t result = behave(function, arguments);
    if (told->calls_back || told->calls_back_threaded) {
        call_back(function, arguments, result);
    }
    log_return(about, arguments, result);
    return result;
}
