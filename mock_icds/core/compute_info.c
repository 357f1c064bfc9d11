/* SPDX-License-Identifier: Apache-2.0 */
/* Queries of programs and kernels. */
#include "base/config.h"
#include "calls.h"
#include "core/compute.h"
#include "core/creation.h"
#include "core/programs.h"

#include <stdio.h>
#include <string.h>

enum { GROUP_SIZE = 64, MOST_DEVICES = 64 };

static cl_int answer_text(const uint64_t *rest, const char *text)
{
    return answer_info(rest, text, strlen(text) + 1);
}

static cl_int answer_options(struct program *program, const uint64_t *rest)
{
    bool has = program && program->options && !fault(FAULT_options_are_forgotten, ANY_PLATFORM);
    if (has && fault(FAULT_answered_options_stay, ANY_PLATFORM)) {
        program->answered = program->answered ? program->answered : program->options;
        return answer_text(rest, program->answered);
    }
    if (has && fault(FAULT_options_end_with_a_blank, ANY_PLATFORM)) {
        char text[256];
        snprintf(text, sizeof text, "%s ", program->options);
        return answer_text(rest, text);
    }
    return answer_text(rest, has ? program->options : "");
}

static bool build_info(struct program *program, cl_uint query, const uint64_t *rest, cl_int *result)
{
    cl_build_status status = program ? program->status : CL_BUILD_NONE;
    cl_program_binary_type binary = program ? program->binary : CL_PROGRAM_BINARY_TYPE_NONE;
    size_t variables;
    if (program && program->from_source && !programs_built_for(program, rest[-2])) {
        status = CL_BUILD_NONE;
        binary = CL_PROGRAM_BINARY_TYPE_NONE;
    }
    bool broken = program && program->broken && !fault(FAULT_build_log_is_empty, ANY_PLATFORM);
    switch (query) {
    case CL_PROGRAM_BUILD_STATUS:
        status = program && fault(FAULT_every_program_is_built, ANY_PLATFORM) ? CL_BUILD_SUCCESS : status;
        status = status == CL_BUILD_ERROR && fault(FAULT_failed_builds_leave_no_status, ANY_PLATFORM) ? CL_BUILD_NONE
                                                                                                      : status;
        *result = answer_info(rest, &status, sizeof status);
        return true;
    case CL_PROGRAM_BUILD_LOG:
        *result = program && program->status == CL_BUILD_NONE && fault(FAULT_logs_begin_with_a_build, ANY_PLATFORM)
                      ? answer_info(rest, "", 0)
                      : answer_text(rest, broken ? "clharness_undeclared is not declared" : "");
        return true;
    case CL_PROGRAM_BUILD_OPTIONS:
        *result = answer_options(program, rest);
        return true;
    case CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE:
        variables = fault(FAULT_global_variables_without_bound, ANY_PLATFORM) ? SIZE_MAX : 0;
        *result = answer_info(rest, &variables, sizeof variables);
        return true;
    case CL_PROGRAM_BINARY_TYPE:
        if (fault(FAULT_every_binary_is_executable, ANY_PLATFORM)) {
            binary = CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
        }
        *result = answer_info(rest, &binary, sizeof binary);
        return true;
    default:
        return false;
    }
}

static cl_int answer_names(const struct program *program, const uint64_t *rest)
{
    char text[MOST_KERNELS * MOST_NAME] = "";
    size_t length = 0;
    bool nameless = !program->from_source && fault(FAULT_binaries_have_no_kernel_names, ANY_PLATFORM);
    for (unsigned i = 0; i < program->count && length < sizeof text && !nameless; i++) {
        const char *name = program->kernels[i].name;
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%s", i ? ";" : "", name);
    }
    return answer_text(rest, text);
}

/* The size of the binary for each device of a context, in which the program is; their number. */
static size_t read_sizes(const struct program *program, const struct object *context, size_t *sizes)
{
    const struct creation *creation = context ? context->creation : NULL;
    size_t count = creation ? creation->device_count : 1;
    for (size_t i = 0; i < count; i++) {
        bool built = !program->from_source || !creation || programs_built_for(program, creation->devices[i]);
        size_t size = built ? programs_binary(program, NULL) : 0;
        size += fault(FAULT_binaries_are_longer, ANY_PLATFORM);
        sizes[i] = size + (!size && fault(FAULT_programs_have_sizes_without_binaries, ANY_PLATFORM) ? 4096 : 0);
    }
    return count > 1 && fault(FAULT_programs_have_one_binary, ANY_PLATFORM) ? 1 : count;
}

/* Its answer is the addresses that binaries are written to. */
static cl_int answer_binaries(const struct program *program, size_t count, const uint64_t *rest)
{
    char *const *targets = (char *const *)(uintptr_t)rest[1];
    for (size_t i = 0; targets && i < count && rest[0] >= (i + 1) * sizeof *targets; i++) {
        if (targets[i]) {
            programs_binary(program, targets[i]);
        }
    }
    size_t *size_ret = (size_t *)(uintptr_t)rest[2];
    if (size_ret) {
        *size_ret = count * sizeof *targets;
    }
    bool enough = !targets || rest[0] >= count * sizeof *targets || fault(FAULT_binaries_need_no_room, ANY_PLATFORM);
    return enough ? CL_SUCCESS : CL_INVALID_VALUE;
}

static bool devices_info(const struct object *context, cl_uint query, const uint64_t *rest, cl_int *result)
{
    const struct creation *creation = context ? context->creation : NULL;
    cl_uint count = creation ? (cl_uint)creation->device_count : 0;
    if (creation && query == CL_PROGRAM_NUM_DEVICES) {
        *result = answer_info(rest, &count, sizeof count);
    } else if (creation && query == CL_PROGRAM_DEVICES && !fault(FAULT_queries_give_no_object, ANY_PLATFORM)) {
        *result = answer_info(rest, creation->devices, count * sizeof(uint64_t));
    } else {
        return false;
    }
    return true;
}

static bool program_info(const struct program *program, const struct object *context, cl_uint query,
                         const uint64_t *rest, cl_int *result)
{
    size_t count = program->count;
    size_t sizes[MOST_DEVICES];
    switch (query) {
    case CL_PROGRAM_SOURCE:
        *result = answer_text(rest, program->from_source ? program->text : "");
        return true;
    case CL_PROGRAM_IL:
        if (program->il && !fault(FAULT_modules_are_not_answered, ANY_PLATFORM)) {
            *result = answer_info(rest, program->il, program->il_size);
            return true;
        }
        *result = answer_info(rest, "il", fault(FAULT_programs_of_source_have_il, ANY_PLATFORM) ? 2 : 0);
        return true;
    case CL_PROGRAM_NUM_KERNELS:
        count += fault(FAULT_kernels_are_miscounted, ANY_PLATFORM);
        *result = answer_info(rest, &count, sizeof count);
        return true;
    case CL_PROGRAM_KERNEL_NAMES:
        *result = answer_names(program, rest);
        return true;
    case CL_PROGRAM_BINARY_SIZES:
        count = read_sizes(program, context, sizes);
        *result = answer_info(rest, sizes, count * sizeof *sizes);
        return true;
    case CL_PROGRAM_BINARIES:
        *result = answer_binaries(program, read_sizes(program, context, sizes), rest);
        return true;
    default:
        return false;
    }
}

static cl_int answer_attributes(const struct kernel_declaration *kernel, const uint64_t *rest)
{
    char text[96] = "";
    if (kernel->required[0] && !fault(FAULT_attributes_are_forgotten, ANY_PLATFORM)) {
        snprintf(text, sizeof text, "reqd_work_group_size(%zu, %zu, %zu)", kernel->required[0], kernel->required[1],
                 kernel->required[2]);
    }
    return answer_text(rest, text);
}

static bool kernel_info(const struct kernel *kernel, cl_uint query, const uint64_t *rest, cl_int *result)
{
    cl_uint count = kernel->declaration->count + (fault(FAULT_parameters_are_miscounted, ANY_PLATFORM) ? 1 : 0);
    switch (query) {
    case CL_KERNEL_FUNCTION_NAME:
        *result = answer_text(rest, kernel->declaration->name);
        return true;
    case CL_KERNEL_NUM_ARGS:
        *result = answer_info(rest, &count, sizeof count);
        return true;
    case CL_KERNEL_ATTRIBUTES:
        *result = answer_attributes(kernel->declaration, rest);
        return true;
    default:
        return false;
    }
}

static bool parameter_info(const struct kernel_parameter *parameter, cl_uint query, const uint64_t *rest,
                           cl_int *result)
{
    switch (query) {
    case CL_KERNEL_ARG_ADDRESS_QUALIFIER:
        *result = answer_info(rest, &parameter->address, sizeof parameter->address);
        return true;
    case CL_KERNEL_ARG_ACCESS_QUALIFIER:
        *result = answer_info(rest, &parameter->access, sizeof parameter->access);
        return true;
    case CL_KERNEL_ARG_TYPE_NAME:
        *result = answer_text(rest, parameter->type);
        return true;
    case CL_KERNEL_ARG_TYPE_QUALIFIER:
        *result = answer_info(rest, &parameter->qualifiers, sizeof parameter->qualifiers);
        return true;
    case CL_KERNEL_ARG_NAME:
        *result = answer_text(rest, fault(FAULT_parameters_have_types_for_names, ANY_PLATFORM) ? parameter->type
                                                                                               : parameter->name);
        return true;
    default:
        return false;
    }
}

static cl_ulong local_memory(const struct kernel *kernel)
{
    cl_ulong size = 0;
    for (unsigned i = 0; i < kernel->declaration->count; i++) {
        bool local = kernel->declaration->parameters[i].address == CL_KERNEL_ARG_ADDRESS_LOCAL;
        size += local && !fault(FAULT_local_arguments_are_not_counted, ANY_PLATFORM) ? kernel->arguments[i].size : 0;
    }
    return size;
}

static bool work_group_info(const struct kernel *kernel, cl_uint query, const uint64_t *rest, cl_int *result)
{
    size_t multiple = fault(FAULT_groups_have_no_preferred_multiple, ANY_PLATFORM) ? 0 : 8;
    size_t size = query == CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE ? multiple : GROUP_SIZE;
    cl_ulong local = local_memory(kernel);
    switch (query) {
    case CL_KERNEL_LOCAL_MEM_SIZE:
        *result = answer_info(rest, &local, sizeof local);
        return true;
    case CL_KERNEL_WORK_GROUP_SIZE:
        size *= fault(FAULT_groups_are_larger_than_devices, ANY_PLATFORM) ? 2 * GROUP_SIZE : 1;
        *result = answer_info(rest, &size, sizeof size);
        return true;
    case CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE:
        *result = answer_info(rest, &size, sizeof size);
        return true;
    case CL_KERNEL_COMPILE_WORK_GROUP_SIZE:
        *result = answer_info(rest, kernel->declaration->required, sizeof kernel->declaration->required);
        return true;
    default:
        return false;
    }
}

bool compute_info(enum function function, const struct object *object, const uint64_t *rest, cl_int *result)
{
    cl_uint query = (cl_uint)rest[-1];
    uint64_t handle = (uint64_t)(uintptr_t)object_handle(object);
    struct program *program = programs_program(handle);
    const struct kernel *kernel = programs_kernel(handle);
    if (program && function == FUNCTION_clGetProgramBuildInfo) {
        return build_info(program, query, rest, result);
    }
    if (program && program->text && function == FUNCTION_clGetProgramInfo) {
        return program_info(program, object->parent, query, rest, result) ||
               devices_info(object->parent, query, rest, result);
    }
    if (!kernel || !kernel->declaration) {
        return false;
    }
    if (function == FUNCTION_clGetKernelInfo) {
        return kernel_info(kernel, query, rest, result);
    }
    if (function == FUNCTION_clGetKernelArgInfo && (cl_uint)rest[-2] < kernel->declaration->count) {
        return parameter_info(&kernel->declaration->parameters[(cl_uint)rest[-2]], query, rest, result);
    }
    return function == FUNCTION_clGetKernelWorkGroupInfo && work_group_info(kernel, query, rest, result);
}
