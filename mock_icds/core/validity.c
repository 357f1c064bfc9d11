/* SPDX-License-Identifier: Apache-2.0 */
/* Improper calls: NULL in the place of objects, wait lists, objects that do not belong together, and the rules of
 * harness/api/contract/rules.toml. */
#include "core/validity.h"

#include "base/arguments.h"
#include "base/errors.h"
#include "base/platforms.h"
#include "core/compute.h"
#include "core/rules.h"
#include "core/states.h"

#include <signal.h>
#include <string.h>

static const struct {
    enum handle_kind kind;
    int error;
} invalid[] = {
    {HANDLE_cl_platform_id, CL_INVALID_PLATFORM}, {HANDLE_cl_device_id, CL_INVALID_DEVICE},
    {HANDLE_cl_context, CL_INVALID_CONTEXT},      {HANDLE_cl_command_queue, CL_INVALID_COMMAND_QUEUE},
    {HANDLE_cl_mem, CL_INVALID_MEM_OBJECT},       {HANDLE_cl_sampler, CL_INVALID_SAMPLER},
    {HANDLE_cl_program, CL_INVALID_PROGRAM},      {HANDLE_cl_kernel, CL_INVALID_KERNEL},
    {HANDLE_cl_event, CL_INVALID_EVENT},
};

static int error_of_kind(enum handle_kind kind)
{
    for (size_t i = 0; i < sizeof invalid / sizeof *invalid; i++) {
        if (invalid[i].kind == kind) {
            return invalid[i].error;
        }
    }
    return CL_SUCCESS;
}

/* NULL means the only device there. */
static bool may_be_null(enum function function, unsigned parameter)
{
    return parameter == 1 && !fault(FAULT_only_device_must_be_named, ANY_PLATFORM) &&
           (function == FUNCTION_clGetKernelWorkGroupInfo || function == FUNCTION_clGetKernelSubGroupInfo);
}

static int null_error(enum function function, const uint64_t *arguments)
{
    const struct function_info *about = &function_info[function];
    for (unsigned i = 0; i < about->parameter_count; i++) {
        if (about->parameters[i].kind == PARAMETER_HANDLE && !arguments[i] && !may_be_null(function, i)) {
            int error = error_of_kind(about->parameters[i].handle);
            if (error && fault(FAULT_null_is_looked_at, ANY_PLATFORM)) {
                raise(SIGSEGV); /* what the look would do */
            }
            if (error) {
                return error;
            }
        }
    }
    return CL_SUCCESS;
}

static int wait_list_error(const struct function_info *about, const uint64_t *arguments, struct object *context)
{
    for (unsigned i = 0; i + 1 < about->parameter_count; i++) {
        if (strcmp(parameter_name(&about->parameters[i]), "num_events_in_wait_list") != 0) {
            continue;
        }
        const uintptr_t *list = (const uintptr_t *)(uintptr_t)arguments[i + 1];
        uint32_t count = (uint32_t)arguments[i];
        if ((count > 0) != (list != NULL)) {
            return CL_INVALID_EVENT_WAIT_LIST;
        }
        for (uint32_t event = 0; event < count; event++) {
            struct object *object = object_find(list[event]);
            if (!list[event]) {
                return CL_INVALID_EVENT_WAIT_LIST;
            }
            bool passed = event > 0 && fault(FAULT_later_events_are_of_anybody, ANY_PLATFORM);
            if (object && context && object_context(object) != context && !passed) {
                return CL_INVALID_CONTEXT;
            }
        }
    }
    return CL_SUCCESS;
}

/* Objects of another context than the first one's, and memory objects of another type than the parameter's name says.
 */
static int belonging_error(const struct function_info *about, const uint64_t *arguments, struct object *context)
{
    for (unsigned i = 1; i < about->parameter_count && !fault(FAULT_objects_of_anybody, ANY_PLATFORM); i++) {
        enum handle_kind kind = about->parameters[i].handle;
        struct object *object = about->parameters[i].kind == PARAMETER_HANDLE ? object_find(arguments[i]) : NULL;
        if (!object || (kind != HANDLE_cl_mem && kind != HANDLE_cl_kernel)) {
            continue;
        }
        if (context && object_context(object) != context) {
            return CL_INVALID_CONTEXT;
        }
        if ((strstr(parameter_name(&about->parameters[i]), "buffer") && object->is_image) ||
            (strstr(parameter_name(&about->parameters[i]), "image") && object->is_buffer)) {
            return CL_INVALID_MEM_OBJECT;
        }
    }
    return CL_SUCCESS;
}

/* The host's commands are for queues of the host. */
static cl_int host_queue_error(uint64_t queue)
{
    const struct object *object = object_find(queue);
    bool on_device = object && object->is_on_device;
    return on_device && !fault(FAULT_device_queues_take_commands, ANY_PLATFORM) ? CL_INVALID_COMMAND_QUEUE : CL_SUCCESS;
}

static bool holds(const struct condition *condition, uint64_t argument)
{
    const void *at = (const void *)(uintptr_t)argument;
    switch (condition->must) {
    case MUST_BE:
        return (argument & condition->words[1]) == condition->words[0];
    case MUST_POINT:
        return argument != 0;
    case MUST_HOLD:
        for (int i = 0; at && i < condition->count; i++) { /* a list may end where it differs */
            if (((const uint64_t *)at)[i] != condition->words[i]) {
                return false;
            }
        }
        return at != NULL;
    case MUST_HOLD_NARROW:
        for (int i = 0; at && i < condition->count; i++) {
            if (((const uint32_t *)at)[i] != (uint32_t)condition->words[i]) {
                return false;
            }
        }
        return at != NULL;
    case MUST_READ:
        return at && strcmp(at, condition->text) == 0;
    }
    return false;
}

static bool applies(const struct rule *rule, const uint64_t *arguments)
{
    const struct object *first = rule->unless ? object_find(arguments[0]) : NULL;
    if (first && platform_has_extension(first->platform, rule->unless)) {
        return false;
    }
    const uint16_t *numbers = rule_conditions + rule->first;
    for (int i = 0; i < rule->count; i++) { /* numbers first: what a pointer points to is looked at last */
        const struct condition *condition = &rule_terms[numbers[i]];
        if (condition->must == MUST_BE && !holds(condition, arguments[condition->parameter])) {
            return false;
        }
    }
    for (int i = 0; i < rule->count; i++) {
        const struct condition *condition = &rule_terms[numbers[i]];
        if (condition->must != MUST_BE && !holds(condition, arguments[condition->parameter])) {
            return false;
        }
    }
    return true;
}

/* Whether a fault has the mock take what a rule forbids. */
static bool lets_pass(enum function function, const uint64_t *arguments)
{
    const char *name = function == FUNCTION_clCreateKernel ? (const char *)(uintptr_t)arguments[1] : NULL;
    return (name && *name &&
            (fault(FAULT_kernel_names_may_be_cut, ANY_PLATFORM) ||
             fault(FAULT_kernel_names_may_go_on, ANY_PLATFORM))) ||
           (function == FUNCTION_clEnqueueFillBuffer && arguments[3] == 2 &&
            fault(FAULT_short_patterns_fill_anywhere, ANY_PLATFORM)) ||
           (function == FUNCTION_clSetEventCallback && (cl_int)arguments[1] == CL_QUEUED &&
            fault(FAULT_callbacks_of_queued_are_taken, ANY_PLATFORM)) ||
           (function == FUNCTION_clEnqueueSVMMap && fault(FAULT_shared_maps_take_any_flags, ANY_PLATFORM) &&
            (arguments[2] & ~(cl_map_flags)(CL_MAP_READ | CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION)));
}

bool validity_is_improper(enum function function, const uint64_t *arguments, int *error)
{
    const struct function_info *about = &function_info[function];
    bool is_enqueue = argument_function_begins(function, "clEnqueue");
    struct object *context = is_enqueue ? object_context(object_find(arguments[0])) : NULL;
    bool native = function == FUNCTION_clEnqueueNativeKernel && config.refuses;
    if (!rules_judge(function) && !native) {
        return false;
    }
    if (native && fault(FAULT_native_kernels_are_not_judged, ANY_PLATFORM)) {
        return false;
    }
    *error = null_error(function, arguments);
    if (!*error && (is_enqueue || function == FUNCTION_clFlush || function == FUNCTION_clFinish)) {
        *error = host_queue_error(arguments[0]);
    }
    if (!*error && is_enqueue) {
        *error = wait_list_error(about, arguments, context);
    }
    if (!*error && is_enqueue) {
        *error = belonging_error(about, arguments, context);
    }
    /* The rules are about kernels of their own, and about buffers of one size. */
    bool judged = !compute_runs(function, arguments) && !states_bounds_known(function, arguments) &&
                  !lets_pass(function, arguments);
    for (int i = 0; judged && !*error && i < rule_count; i++) {
        if (rules[i].function == function && applies(&rules[i], arguments)) {
            *error = rules[i].error;
            return *error || about->result != RESULT_SIGNED;
        }
    }
    *error = *error ? *error : states_error(function, arguments);
    return *error != CL_SUCCESS;
}

uint64_t validity_refuse(enum function function, const uint64_t *arguments, int error)
{
    const struct function_info *about = &function_info[function];
    unsigned last = about->parameter_count - 1;
    bool null = about->parameter_count > 0 && about->parameters[last].kind == PARAMETER_ERRCODE && !arguments[last];
    bool size = error == CL_INVALID_BUFFER_SIZE && fault(FAULT_size_errors_written_to_null, ANY_PLATFORM);
    if (null && (size || fault(FAULT_errcode_written_to_null, ANY_PLATFORM))) {
        raise(SIGSEGV); /* what the write would do */
    }
    return error_refuse(function, arguments, error);
}

unsigned validity_query_size(enum function function, uint32_t number)
{
    for (int i = 0; i < rule_query_count; i++) {
        if (rule_queries[i].function == function && rule_queries[i].number == number) {
            return rule_queries[i].size;
        }
    }
    return 0;
}
