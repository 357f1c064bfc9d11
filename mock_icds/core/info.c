/* SPDX-License-Identifier: Apache-2.0 */
/* Queries of the mock ICD: platforms, devices, and what every object knows about its relatives. */
#include "core/info.h"

#include "base/config.h"
#include "base/errors.h"
#include "base/loader.h"
#include "base/platforms.h"
#include "calls.h"
#include "core/abilities.h"
#include "core/compute.h"
#include "core/contents_info.h"
#include "core/creation.h"
#include "core/creation_info.h"
#include "core/device_info.h"
#include "core/events.h"
#include "core/info_faults.h"
#include "core/intermediate.h"
#include "core/validity.h"

#include <stdio.h>
#include <string.h>

static cl_int answer_text(const uint64_t *arguments, const char *text)
{
    return answer_info(arguments, text, strlen(text) + 1);
}

/* The faults of one of the two strings that a loader reads from a platform. */
struct string_faults {
    enum fault size_fails;
    enum fault data_fails;
    enum fault size_is;
    enum fault unterminated;
    enum fault size_unset;
};

static const struct string_faults extension_faults = {FAULT_extensions_size_fails, FAULT_extensions_data_fails,
                                                      FAULT_extensions_size_is, FAULT_extensions_unterminated,
                                                      FAULT_extensions_size_unset};
static const struct string_faults suffix_faults = {FAULT_suffix_size_fails, FAULT_suffix_data_fails,
                                                   FAULT_suffix_size_is, FAULT_suffix_unterminated,
                                                   FAULT_suffix_size_unset};

static cl_int answer_string(const uint64_t *arguments, const char *text, const struct string_faults *faults,
                            int platform)
{
    bool asks_size = arguments[1] == 0;
    size_t room = (size_t)arguments[0];
    char *to = (char *)(uintptr_t)arguments[1];
    if (asks_size && fault(faults->size_fails, platform)) {
        return (cl_int)fault_value(faults->size_fails, platform, CL_OUT_OF_HOST_MEMORY);
    }
    if (!asks_size && fault(faults->data_fails, platform)) {
        return (cl_int)fault_value(faults->data_fails, platform, CL_OUT_OF_HOST_MEMORY);
    }
    if (asks_size && fault(faults->size_unset, platform)) {
        return CL_SUCCESS;
    }
    if (fault(faults->size_is, platform)) {
        size_t size = (size_t)fault_value(faults->size_is, platform, 0);
        size_t *size_ret = (size_t *)(uintptr_t)arguments[2];
        if (!asks_size && room > 0) {
            strncpy(to, text, room);
        }
        if (size_ret) {
            *size_ret = size;
        }
        return CL_SUCCESS;
    }
    if (to && fault(FAULT_strings_are_cut, platform) && room < strlen(text) + 1) {
        strncpy(to, text, room);
        return CL_SUCCESS;
    }
    if (to && fault(FAULT_strings_fill_memory, platform)) {
        memset(to, 0, room);
    }
    if (fault(faults->unterminated, platform)) {
        return answer_info(arguments, text, strlen(text));
    }
    return answer_text(arguments, text);
}

/* A query of no interest here: zeros of the right size; CL_INVALID_VALUE where the function has no such query. */
static cl_int answer_anything(enum function function, cl_uint query, const uint64_t *rest)
{
    static const char zeros[128];
    unsigned size = validity_query_size(function, query);
    if (!config.refuses || (size == 0 && fault(FAULT_info_takes_unknown_queries, ANY_PLATFORM))) {
        return answer_info(rest, zeros, sizeof(uint64_t));
    }
    return size ? answer_info(rest, zeros, size) : CL_INVALID_VALUE;
}

static cl_int answer_profile(const uint64_t *rest, const struct platform_config *about)
{
    return answer_text(rest, fault(FAULT_profiles_are_in_lower_case, ANY_PLATFORM) ? "full_profile" : about->profile);
}

static cl_int answer_unloadable(const uint64_t *arguments, const struct platform_config *about, int platform)
{
    cl_bool unloadable = about->unloadable ? CL_TRUE : CL_FALSE;
    if (fault(FAULT_unloadable_fails_after_writing, platform)) {
        unloadable = CL_TRUE;
        answer_info(arguments, &unloadable, sizeof unloadable);
        return (cl_int)fault_value(FAULT_unloadable_fails_after_writing, platform, CL_INVALID_VALUE);
    }
    if (fault(FAULT_unloadable_fails, platform)) {
        return (cl_int)fault_value(FAULT_unloadable_fails, platform, CL_INVALID_VALUE);
    }
    if (!strstr(about->extensions, "cl_khr_icd_unloadable")) {
        return CL_INVALID_VALUE;
    }
    uint64_t wide = unloadable;
    return answer_info(arguments, &wide, fault(FAULT_unloadable_is_long, platform) ? sizeof wide : sizeof unloadable);
}

static const cl_ulong timer_resolution = 1;

cl_int info_platform(const uint64_t *arguments, bool exported)
{
    char text[256];
    struct object *object = object_find(arguments[0]);
    if (!object || object->kind != HANDLE_cl_platform_id) {
        return CL_INVALID_PLATFORM;
    }
    cl_int result;
    const char *text_of;
    int platform = object->platform;
    const struct platform_config *about = &config.platform[platform];
    const char *mark = exported && fault(FAULT_exported_info_differs, platform) ? "X" : "";
    if (fault(FAULT_info_calls_opencl, platform)) {
        loader_list_platforms("clGetPlatformInfo");
    }
    if (fault(FAULT_platform_info_fails, platform)) {
        return (cl_int)fault_value(FAULT_platform_info_fails, platform, CL_INVALID_PLATFORM);
    }
    if (config.refuses && device_info_version(object, (cl_uint)arguments[1], arguments + 2, &result)) {
        return result;
    }
    switch ((cl_platform_info)arguments[1]) {
    case CL_PLATFORM_PROFILE:
        return answer_profile(arguments + 2, about);
    case CL_PLATFORM_VERSION:
        return answer_text(arguments + 2, about->version);
    case CL_PLATFORM_NAME:
        snprintf(text, sizeof text, "%s%s", about->name, mark);
        return answer_text(arguments + 2, text);
    case CL_PLATFORM_VENDOR:
        return answer_text(arguments + 2, "clharness");
    case CL_PLATFORM_EXTENSIONS:
        text_of = about->extensions;
        if (fault(FAULT_platform_lacks_an_extension, platform)) {
            text_of += strcspn(text_of, " ");
        }
        return answer_string(arguments + 2, text_of, &extension_faults, platform);
    case CL_PLATFORM_ICD_SUFFIX_KHR:
        snprintf(text, sizeof text, "%s%s", about->suffix, mark);
        return answer_string(arguments + 2, text, &suffix_faults, platform);
    case CL_PLATFORM_UNLOADABLE_KHR:
        return answer_unloadable(arguments + 2, about, platform);
    case CL_PLATFORM_HOST_TIMER_RESOLUTION:
        return config.refuses ? answer_info(arguments + 2, &timer_resolution, sizeof timer_resolution)
                              : CL_INVALID_VALUE;
    default:
        return config.refuses ? answer_anything(FUNCTION_clGetPlatformInfo, (cl_uint)arguments[1], arguments + 2)
                              : CL_INVALID_VALUE;
    }
}

static cl_int get_device_info(struct object *device, cl_uint query, const uint64_t *arguments)
{
    char text[256];
    const struct platform_config *about = &config.platform[device->platform];
    static void *const nothing[16];
    void *platform = object_handle(platform_object(device->platform));
    void *parent;
    cl_device_type type;
    const cl_device_svm_capabilities shared = fault(FAULT_shared_memory_is_fine_only, ANY_PLATFORM)
                                                  ? CL_DEVICE_SVM_FINE_GRAIN_BUFFER
                                                  : CL_DEVICE_SVM_COARSE_GRAIN_BUFFER;
    cl_int result;
    if (fault(FAULT_queries_give_no_object, ANY_PLATFORM)) {
        platform = (void *)(uintptr_t)nothing;
    }
    if (config.refuses && intermediate_info(device, query, arguments, &result)) {
        return result;
    }
    if (config.refuses && device_info_version(device, query, arguments, &result)) {
        return result;
    }
    if (config.refuses && abilities_info(device, query, arguments, &result)) {
        return result;
    }
    if (config.validates && creation_info_device(device, query, arguments, &result)) {
        return result;
    }
    if (config.refuses && device_info_number(device, query, arguments, &result)) {
        return result;
    }
    switch (query) {
    case CL_DEVICE_TYPE:
        type = device->device_type | (fault(FAULT_devices_are_of_two_types, ANY_PLATFORM) ? CL_DEVICE_TYPE_CUSTOM : 0);
        return answer_info(arguments, &type, sizeof type);
    case CL_DEVICE_PARENT_DEVICE:
        parent = device->parent->kind == HANDLE_cl_device_id && !fault(FAULT_sub_devices_have_no_parent, ANY_PLATFORM)
                     ? object_handle(device->parent)
                     : NULL;
        if (device->parent->references == 0 && fault(FAULT_sub_devices_lose_their_parent, ANY_PLATFORM)) {
            parent = NULL;
        }
        return answer_info(arguments, &parent, sizeof parent);
    case CL_DEVICE_PLATFORM:
        return answer_info(arguments, &platform, sizeof platform);
    case CL_DEVICE_NAME:
        snprintf(text, sizeof text, "%s device", about->name);
        return answer_text(arguments, text);
    case CL_DEVICE_VENDOR:
        return answer_text(arguments, "clharness");
    case CL_DEVICE_VERSION:
        return answer_text(arguments, about->version);
    case CL_DRIVER_VERSION:
        return answer_text(arguments, "1.0");
    case CL_DEVICE_PROFILE:
        return answer_profile(arguments, about);
    case CL_DEVICE_EXTENSIONS:
        return answer_text(arguments, "");
    case CL_DEVICE_OPENCL_C_VERSION:
        return answer_text(arguments, fault(FAULT_languages_have_no_name, ANY_PLATFORM) ? "1.2" : "OpenCL C 1.2 mock");
    case CL_DEVICE_SVM_CAPABILITIES:
        return answer_info(arguments, &shared, sizeof shared);
    default:
        return config.refuses ? answer_anything(FUNCTION_clGetDeviceInfo, query, arguments) : CL_INVALID_VALUE;
    }
}

static struct object *relative(struct object *object, enum handle_kind kind)
{
    for (struct object *at = object->parent; at; at = at->parent) {
        if (at->kind == kind) {
            return at;
        }
    }
    return kind == HANDLE_cl_device_id ? platform_device(object->platform, 0) : NULL;
}

/* Queries that answer with another object, or with the reference count. */
static const struct {
    cl_uint query;
    enum handle_kind answer; /* HANDLE_none: the reference count */
} relations[] = {
    {CL_CONTEXT_DEVICES, HANDLE_cl_device_id},    {CL_CONTEXT_REFERENCE_COUNT, HANDLE_none},
    {CL_QUEUE_CONTEXT, HANDLE_cl_context},        {CL_QUEUE_DEVICE, HANDLE_cl_device_id},
    {CL_QUEUE_REFERENCE_COUNT, HANDLE_none},      {CL_MEM_CONTEXT, HANDLE_cl_context},
    {CL_MEM_ASSOCIATED_MEMOBJECT, HANDLE_cl_mem}, {CL_MEM_REFERENCE_COUNT, HANDLE_none},
    {CL_PROGRAM_CONTEXT, HANDLE_cl_context},      {CL_PROGRAM_DEVICES, HANDLE_cl_device_id},
    {CL_PROGRAM_REFERENCE_COUNT, HANDLE_none},    {CL_KERNEL_CONTEXT, HANDLE_cl_context},
    {CL_KERNEL_PROGRAM, HANDLE_cl_program},       {CL_KERNEL_REFERENCE_COUNT, HANDLE_none},
    {CL_EVENT_CONTEXT, HANDLE_cl_context},        {CL_EVENT_COMMAND_QUEUE, HANDLE_cl_command_queue},
    {CL_EVENT_REFERENCE_COUNT, HANDLE_none},      {CL_SAMPLER_CONTEXT, HANDLE_cl_context},
    {CL_SAMPLER_REFERENCE_COUNT, HANDLE_none},    {CL_QUEUE_DEVICE_DEFAULT, HANDLE_cl_command_queue},
};

/* Whether a fault has another object answered: the parent of the right one. */
static bool wrong_relation(cl_uint query, const struct object *object)
{
    bool clone = object->creation && object->creation->function == FUNCTION_clCloneKernel;
    return (query == CL_KERNEL_PROGRAM && clone && fault(FAULT_clones_name_no_program, ANY_PLATFORM)) ||
           (query == CL_EVENT_COMMAND_QUEUE && fault(FAULT_events_of_second_queue_name_another, ANY_PLATFORM) &&
            object->parent->creation && object_count_children(object->parent->parent, HANDLE_cl_command_queue) > 1);
}

/* Gives up a reference that was held for a moment: that to the first linked program. */
static void let_go(struct object *object)
{
    static _Atomic bool done;
    if (!done && object->kind == HANDLE_cl_program && object->references == 2 &&
        fault(FAULT_linked_programs_are_held_a_moment, ANY_PLATFORM)) {
        object_count_reference(object, -1);
        done = true;
    }
}

/* Answers with a relative or with the reference count; false where the query is not for these. */
static bool relation_info(enum function function, struct object *object, const uint64_t *rest, cl_int *result)
{
    static void *const nothing[16];
    cl_uint query = (cl_uint)rest[-1];
    for (size_t i = 0; i < sizeof relations / sizeof *relations; i++) {
        if (relations[i].query != query || (config.refuses && !validity_query_size(function, query))) {
            continue;
        }
        if (relations[i].answer == HANDLE_none) {
            cl_uint references = (cl_uint)object->references;
            *result = answer_info(rest, &references, sizeof references);
            let_go(object);
            return true;
        }
        /* Each queue is the default queue of its device. */
        struct object *answer = query == CL_QUEUE_DEVICE_DEFAULT ? object : relative(object, relations[i].answer);
        if (query == CL_EVENT_COMMAND_QUEUE && !answer && fault(FAULT_user_events_have_queues, ANY_PLATFORM)) {
            answer = object->parent;
        }
        if (answer && wrong_relation(query, object)) {
            answer = answer->parent;
        }
        void *handle = answer ? object_handle(answer) : NULL;
        if (query == CL_MEM_ASSOCIATED_MEMOBJECT && answer && answer->references == 0 &&
            fault(FAULT_parts_forget_released_buffers, ANY_PLATFORM)) {
            handle = NULL;
        }
        if (handle && fault(FAULT_queries_give_no_object, ANY_PLATFORM)) {
            handle = (void *)(uintptr_t)nothing;
        }
        *result = answer_info(rest, &handle, sizeof handle);
        return true;
    }
    return false;
}

static cl_int get_object_info(enum function function, const uint64_t *arguments)
{
    const struct function_info *about = &function_info[function];
    const uint64_t *rest = arguments + about->parameter_count - 3;
    cl_uint query = (cl_uint)rest[-1];
    cl_int result;
    struct object *object = object_find(arguments[0]);
    if (!object) {
        return CL_INVALID_VALUE;
    }
    bool parent = object->kind == HANDLE_cl_context || object->kind == HANDLE_cl_program;
    if (parent && object->references == 0 && fault(FAULT_released_parents_answer_nothing, ANY_PLATFORM)) {
        return object->kind == HANDLE_cl_context ? CL_INVALID_CONTEXT : CL_INVALID_PROGRAM;
    }
    if (object->kind == HANDLE_cl_device_id) {
        return get_device_info(object, query, rest);
    }
    if (contents_info(function, object, rest, &result)) {
        return result;
    }
    if (object->creation && !fault(FAULT_queries_give_no_object, ANY_PLATFORM) &&
        creation_info_object(object, query, rest, &result)) {
        return result;
    }
    if (compute_info(function, object, rest, &result)) {
        return result;
    }
    if (config.refuses && function == FUNCTION_clGetEventProfilingInfo && !events_have_profiling(object)) {
        return CL_PROFILING_INFO_NOT_AVAILABLE;
    }
    if (config.refuses && function == FUNCTION_clGetEventProfilingInfo && events_time(object, query, rest, &result)) {
        return result;
    }
    if (config.refuses && object->kind == HANDLE_cl_event && function == FUNCTION_clGetEventInfo &&
        events_info(object, query, rest, &result)) {
        return result;
    }
    if (relation_info(function, object, rest, &result)) {
        return result;
    }
    return answer_anything(function, query, rest);
}

bool info_handle(enum function function, const uint64_t *arguments, uint64_t *result)
{
    const struct function_info *about = &function_info[function];
    unsigned count = about->parameter_count;
    bool asks = count >= 5 && strcmp(parameter_name(&about->parameters[count - 1]), "param_value_size_ret") == 0 &&
                strcmp(parameter_name(&about->parameters[count - 4]), "param_name") == 0 &&
                about->parameters[0].kind == PARAMETER_HANDLE;
    if (asks) {
        *result = error_result(info_faults_answer(get_object_info, function, arguments));
    }
    return asks;
}
