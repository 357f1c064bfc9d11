/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a context by clTerminateContextKHR, and what is left of it. */
#include "external/termination.h"

#include "base/config.h"
#include "base/errors.h"
#include "base/objects.h"
#include "base/platforms.h"
#include "clharness_cl.h"
#include "core/creation.h"
#include "core/property_rules.h"
#include "external/commands.h"

#include <string.h>

static bool may_be_terminated(const struct object *context)
{
    const struct property_rules *rules = property_rules_of(FUNCTION_clCreateContext);
    return fault(FAULT_any_context_is_terminated, ANY_PLATFORM) ||
           (context->creation &&
            properties_value(context->creation->properties_seen, rules, CL_CONTEXT_TERMINATE_KHR, CL_FALSE));
}

/* Calls the function that was given when the context was made. */
static void notify(const struct object *context)
{
    typedef void(CL_CALLBACK * notification)(const char *, const void *, size_t, void *);
    const struct creation *creation = context->creation;
    unsigned at = creation && creation->function == FUNCTION_clCreateContextFromType ? 2 : 3;
    if (creation && creation->arguments[at] && !fault(FAULT_terminations_are_not_told, ANY_PLATFORM)) {
        ((notification)(uintptr_t)creation->arguments[at])("the context was terminated", NULL, 0,
                                                           (void *)(uintptr_t)creation->arguments[at + 1]);
    }
}

static cl_int terminate(struct object *context)
{
    if (!context || context->references <= 0) {
        return CL_INVALID_CONTEXT;
    }
    if (!may_be_terminated(context)) {
        return CL_INVALID_OPERATION;
    }
    if (context->is_terminated) {
        return error_unless_fault(FAULT_contexts_are_terminated_twice, CL_CONTEXT_TERMINATED_KHR);
    }
    context->is_terminated = true;
    bool complete = fault(FAULT_terminated_commands_complete, ANY_PLATFORM);
    commands_end(context, complete ? CL_COMPLETE : CL_CONTEXT_TERMINATED_KHR);
    notify(context);
    return CL_SUCCESS;
}

static bool begins(const char *name, const char *start)
{
    return strncmp(name, start, strlen(start)) == 0;
}

/* Whether a function makes an object, enqueues a command, or uses a context otherwise than to query or count it. */
static bool is_refused(enum function function)
{
    const char *name = function_info[function].name;
    if (begins(name, "clEnqueue")) {
        return !fault(FAULT_terminated_queues_take_commands, ANY_PLATFORM);
    }
    if (begins(name, "clCreate") || function == FUNCTION_clLinkProgram || function == FUNCTION_clCloneKernel) {
        return !fault(FAULT_terminated_contexts_make_objects, ANY_PLATFORM);
    }
    if (function == FUNCTION_clGetContextInfo && fault(FAULT_terminated_contexts_answer_nothing, ANY_PLATFORM)) {
        return true;
    }
    return (function == FUNCTION_clGetSupportedImageFormats || function == FUNCTION_clSetContextDestructorCallback) &&
           !fault(FAULT_terminated_contexts_are_used, ANY_PLATFORM);
}

bool termination_handle(enum function function, const uint64_t *arguments, uint64_t *result)
{
    const struct function_info *about = &function_info[function];
    bool handle = about->parameter_count > 0 && about->parameters[0].kind == PARAMETER_HANDLE;
    struct object *object = config.refuses && handle ? object_find(arguments[0]) : NULL;
    if (config.refuses && function == FUNCTION_clTerminateContextKHR) {
        *result = error_result(terminate(object && object->kind == HANDLE_cl_context ? object : NULL));
        return true;
    }
    const struct object *context = object ? object_context(object) : NULL;
    if (!context || !context->is_terminated || !is_refused(function)) {
        return false;
    }
    *result = error_refuse(function, arguments, CL_CONTEXT_TERMINATED_KHR);
    return true;
}
