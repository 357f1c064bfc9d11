/* SPDX-License-Identifier: Apache-2.0 */
/* Calls about programs and kernels: their errors, what is remembered of them, and their queries. */
#include "core/compute.h"

#include "base/arena.h"
#include "base/arguments.h"
#include "base/config.h"
#include "base/errors.h"
#include "base/lock.h"
#include "base/platforms.h"
#include "calls.h"
#include "core/contents.h"
#include "core/creation.h"
#include "core/intermediate.h"
#include "core/programs.h"
#include "core/usual.h"

#include <string.h>

/* --- errors --- */

/* The type of the image that a parameter is declared as. */
static cl_mem_object_type declared_image(const char *type)
{
    static const struct {
        const char *declared;
        cl_mem_object_type type;
    } types[] = {
        {"image1d_t", CL_MEM_OBJECT_IMAGE1D},
        {"image2d_t", CL_MEM_OBJECT_IMAGE2D},
        {"image3d_t", CL_MEM_OBJECT_IMAGE3D},
        {"image1d_array_t", CL_MEM_OBJECT_IMAGE1D_ARRAY},
        {"image2d_array_t", CL_MEM_OBJECT_IMAGE2D_ARRAY},
        {"image1d_buffer_t", CL_MEM_OBJECT_IMAGE1D_BUFFER},
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (strcmp(type, types[i].declared) == 0) {
            return types[i].type;
        }
    }
    return 0;
}

/* Whether a memory object is one that a parameter can have. */
static bool fits(const struct kernel_parameter *parameter, uint64_t handle)
{
    const struct object *object = object_find(handle);
    const struct contents *contents = contents_of(handle);
    if (!parameter->is_image) {
        return !object->is_image || fault(FAULT_images_are_taken_for_pointers, ANY_PLATFORM);
    }
    cl_mem_object_type declared = declared_image(parameter->type);
    if (object->is_buffer) {
        return fault(FAULT_buffers_are_taken_for_images, ANY_PLATFORM);
    }
    bool other = declared && contents && contents->pixel && contents->image.image_type != declared;
    return !other || fault(FAULT_images_of_any_type_are_arguments, ANY_PLATFORM);
}

static bool may_access(const struct kernel_parameter *parameter, uint64_t handle)
{
    const struct contents *contents = contents_of(handle);
    cl_mem_flags flags = contents ? contents->flags : 0;
    bool reads = parameter->access == CL_KERNEL_ARG_ACCESS_READ_ONLY;
    bool writes = parameter->access == CL_KERNEL_ARG_ACCESS_WRITE_ONLY;
    return !(reads && flags & CL_MEM_WRITE_ONLY) && !(writes && flags & CL_MEM_READ_ONLY);
}

static bool is_of_context(const struct object *context, uint64_t handle)
{
    return object_context(object_find(handle)) == context || fault(FAULT_arguments_are_of_any_context, ANY_PLATFORM);
}

static uint64_t handle_at(uint64_t value)
{
    uint64_t handle = 0;
    if (value) {
        memcpy(&handle, (const void *)(uintptr_t)value, sizeof handle);
    }
    return handle;
}

static cl_int check_memory_value(const struct kernel_parameter *parameter, const struct object *context, uint64_t value)
{
    uint64_t handle = handle_at(value);
    if (!handle) {
        bool needed = parameter->is_image && !fault(FAULT_images_may_be_null, ANY_PLATFORM);
        return needed ? CL_INVALID_MEM_OBJECT : CL_SUCCESS;
    }
    if (!object_of_kind(handle, HANDLE_cl_mem)) {
        return error_unless_fault(FAULT_any_object_is_an_argument, CL_INVALID_MEM_OBJECT);
    }
    if (!is_of_context(context, handle)) {
        return CL_INVALID_CONTEXT;
    }
    if (!fits(parameter, handle)) {
        return CL_INVALID_MEM_OBJECT;
    }
    bool accessible = !parameter->is_image || may_access(parameter, handle);
    return error_unless_fault(FAULT_images_are_accessed_in_any_way, accessible ? CL_SUCCESS : CL_INVALID_ARG_VALUE);
}

static cl_int check_sampler_value(const struct object *context, uint64_t value)
{
    uint64_t handle = handle_at(value);
    if (!handle) {
        return error_unless_fault(FAULT_samplers_may_be_null, CL_INVALID_SAMPLER);
    }
    if (!object_of_kind(handle, HANDLE_cl_sampler)) {
        return error_unless_fault(FAULT_any_object_is_an_argument, CL_INVALID_SAMPLER);
    }
    return is_of_context(context, handle) ? CL_SUCCESS : CL_INVALID_CONTEXT;
}

static cl_int check_value(const struct kernel_parameter *parameter, const struct object *context, size_t size,
                          uint64_t value)
{
    if (parameter->address == CL_KERNEL_ARG_ADDRESS_LOCAL) {
        return size == 0 ? CL_INVALID_ARG_SIZE : value ? CL_INVALID_ARG_VALUE : CL_SUCCESS;
    }
    if (parameter->size && size != parameter->size) {
        return error_unless_fault(FAULT_kernels_take_any_size, CL_INVALID_ARG_SIZE);
    }
    if (parameter->is_memory) {
        return check_memory_value(parameter, context, value);
    }
    if (strcmp(parameter->type, "sampler_t") == 0) {
        return check_sampler_value(context, value);
    }
    return value ? CL_SUCCESS : CL_INVALID_ARG_VALUE;
}

static cl_int check_index(const uint64_t *arguments)
{
    const struct kernel *kernel = programs_kernel(arguments[0]);
    bool past = kernel && kernel->declaration && (cl_uint)arguments[1] >= kernel->declaration->count;
    return past ? CL_INVALID_ARG_INDEX : CL_SUCCESS;
}

static cl_int check_argument(const uint64_t *arguments)
{
    const struct kernel *kernel = programs_kernel(arguments[0]);
    cl_int error = check_index(arguments);
    if (error || !kernel || !kernel->declaration) {
        return error;
    }
    const struct object *context = object_context(object_find(arguments[0]));
    return check_value(&kernel->declaration->parameters[(cl_uint)arguments[1]], context, arguments[2], arguments[3]);
}

/* Whether group sizes are those that a kernel requires; none are given where the driver is to choose. */
static bool are_required(const size_t *required, const size_t *local, unsigned dimensions)
{
    for (unsigned i = 0; required[0] && local && i < 3; i++) {
        if (required[i] != (i < dimensions ? local[i] : 1)) {
            return false;
        }
    }
    return true;
}

/* Whether the program of a kernel has no executable for the device of a queue. */
static bool is_built_elsewhere(uint64_t handle, uint64_t queue)
{
    const struct program *program = programs_of_kernel(handle);
    const struct object *object = object_of_kind(queue, HANDLE_cl_command_queue);
    uint64_t device = object && object->creation ? object->creation->arguments[1] : 0;
    return program && device && !programs_built_for(program, device);
}

/* Whether work-groups of a kernel must have one size: its program was built for an OpenCL C before 2.0, or says so. */
static bool are_uniform(uint64_t handle)
{
    const struct program *program = programs_of_kernel(handle);
    const char *options = program && program->options ? program->options : "";
    bool newer = strstr(options, "-cl-std=CL2") || strstr(options, "-cl-std=CL3");
    bool asked =
        strstr(options, "-cl-uniform-work-group-size") && !fault(FAULT_uniform_option_is_overlooked, ANY_PLATFORM);
    return program && program->from_source && (!newer || asked);
}

static cl_int check_division(const uint64_t *arguments)
{
    const size_t *global = (const size_t *)(uintptr_t)arguments[4];
    const size_t *local = (const size_t *)(uintptr_t)arguments[5];
    for (uint64_t i = 0; global && local && i < arguments[2]; i++) {
        if (local[i] && global[i] % local[i] && are_uniform(arguments[1])) {
            return error_unless_fault(FAULT_uniform_ranges_run_uneven, CL_INVALID_WORK_GROUP_SIZE);
        }
    }
    return CL_SUCCESS;
}

static cl_int check_launch(uint64_t queue, uint64_t handle, unsigned dimensions, uint64_t local)
{
    const struct kernel *kernel = programs_kernel(handle);
    if (!kernel || !kernel->declaration) {
        return CL_SUCCESS;
    }
    if (is_built_elsewhere(handle, queue) && !fault(FAULT_kernels_run_on_every_device, ANY_PLATFORM)) {
        return CL_INVALID_PROGRAM_EXECUTABLE;
    }
    for (unsigned i = 0; i < kernel->declaration->count; i++) {
        if (!kernel->arguments[i].is_set) {
            return error_unless_fault(FAULT_kernels_run_without_arguments, CL_INVALID_KERNEL_ARGS);
        }
    }
    bool fits = are_required(kernel->declaration->required, (const size_t *)(uintptr_t)local, dimensions);
    return error_unless_fault(FAULT_required_size_is_ignored, fits ? CL_SUCCESS : CL_INVALID_WORK_GROUP_SIZE);
}

/* An executable cannot be exchanged while kernels are made of it. */
static cl_int check_attached(uint64_t handle)
{
    bool attached = object_count_children(object_find(handle), HANDLE_cl_kernel) > 0;
    return error_unless_fault(FAULT_programs_change_under_kernels, attached ? CL_INVALID_OPERATION : CL_SUCCESS);
}

static cl_int check_build(uint64_t handle)
{
    const struct program *program = programs_program(handle);
    bool again = program && program->text && !program->from_source && program->status == CL_BUILD_SUCCESS;
    return again && fault(FAULT_binaries_are_built_once, ANY_PLATFORM) ? CL_INVALID_OPERATION : check_attached(handle);
}

static cl_int check_executable(uint64_t handle, const char *name)
{
    const struct program *program = programs_program(handle);
    if (!program || !program->text) {
        return CL_SUCCESS;
    }
    if (!programs_executable(program)) {
        return error_unless_fault(FAULT_kernels_without_executable, CL_INVALID_PROGRAM_EXECUTABLE);
    }
    bool unknown = name && program->count > 0 && !programs_declared(program, name);
    return unknown ? CL_INVALID_KERNEL_NAME : CL_SUCCESS;
}

static cl_int check_compile(uint64_t handle)
{
    const struct program *program = programs_program(handle);
    bool without = program && program->text && !program->from_source;
    cl_int error = error_unless_fault(FAULT_binaries_are_compiled, without ? CL_INVALID_OPERATION : CL_SUCCESS);
    return error ? error : check_attached(handle);
}

/* All are compiled, or none is. */
static cl_int check_link(const uint64_t *arguments)
{
    const char *options = arguments[3] ? (const char *)(uintptr_t)arguments[3] : "";
    if ((strstr(options, "-cl-fast-relaxed-math") && fault(FAULT_relaxed_linking_is_refused, ANY_PLATFORM)) ||
        (strstr(options, "-enable-link-options") && fault(FAULT_libraries_with_options_are_refused, ANY_PLATFORM))) {
        return CL_INVALID_LINKER_OPTIONS;
    }
    const uintptr_t *inputs = (const uintptr_t *)(uintptr_t)arguments[5];
    cl_uint compiled = 0;
    cl_uint count = (cl_uint)arguments[4];
    for (cl_uint i = 0; i < count; i++) {
        const struct program *program = programs_program(inputs[i]);
        compiled += !program || program->binary == CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT ||
                    program->binary == CL_PROGRAM_BINARY_TYPE_LIBRARY;
    }
    return error_unless_fault(FAULT_anything_is_linked,
                              compiled > 0 && compiled < count ? CL_INVALID_OPERATION : CL_SUCCESS);
}

static cl_int check_kernel_list(const uint64_t *arguments)
{
    const struct program *program = programs_program(arguments[0]);
    cl_int error = check_executable(arguments[0], NULL);
    bool few = program && arguments[2] && (cl_uint)arguments[1] < program->count;
    return error ? error : error_unless_fault(FAULT_kernel_lists_are_cut, few ? CL_INVALID_VALUE : CL_SUCCESS);
}

/* The devices of an object's context are those that its programs and kernels are for. */
static cl_int check_device(uint64_t handle, uint64_t device)
{
    struct object *object = object_find(handle);
    const struct object *context = object ? object_context(object) : NULL;
    const struct creation *creation = context ? context->creation : NULL;
    for (size_t i = 0; creation && device && i < creation->device_count; i++) {
        if (creation->devices[i] == device) {
            return CL_SUCCESS;
        }
    }
    bool known = creation && creation->device_count > 0 && device;
    return error_unless_fault(FAULT_programs_are_for_any_device, known ? CL_INVALID_DEVICE : CL_SUCCESS);
}

/* Whether a compiler was unloaded and does not come back, by a fault. */
static bool compiler_is_gone(enum function function)
{
    static _Atomic bool unloaded;
    unloaded = unloaded || (function == FUNCTION_clUnloadPlatformCompiler && config.refuses);
    return unloaded && fault(FAULT_compilers_stay_unloaded, ANY_PLATFORM);
}

static cl_int check_devices(const uint64_t *arguments)
{
    const uintptr_t *devices = (const uintptr_t *)(uintptr_t)arguments[2];
    cl_int error = CL_SUCCESS;
    for (cl_uint i = 0; devices && !error && i < (cl_uint)arguments[1]; i++) {
        error = check_device(arguments[0], devices[i]);
    }
    return error;
}

static cl_int check_binaries(const uint64_t *arguments)
{
    const struct object *context = object_find(arguments[0]);
    bool able = context && platform_has_feature(context->platform, "compiler");
    return able ? programs_judge_binaries(arguments, false) : CL_SUCCESS;
}

static cl_int check_program_query(const uint64_t *arguments)
{
    const struct program *program = programs_program(arguments[0]);
    bool kernels = arguments[1] == CL_PROGRAM_NUM_KERNELS || arguments[1] == CL_PROGRAM_KERNEL_NAMES;
    bool without = kernels && program && program->text && !programs_executable(program);
    return error_unless_fault(FAULT_programs_list_kernels_unbuilt,
                              without ? CL_INVALID_PROGRAM_EXECUTABLE : CL_SUCCESS);
}

cl_int compute_error(enum function function, const uint64_t *arguments)
{
    cl_int error;
    bool gone = compiler_is_gone(function);
    switch (function) {
    case FUNCTION_clBuildProgram:
        error = gone ? CL_COMPILER_NOT_AVAILABLE : check_devices(arguments);
        return error ? error : check_build(arguments[0]);
    case FUNCTION_clGetProgramBuildInfo:
    case FUNCTION_clGetKernelWorkGroupInfo:
        return check_device(arguments[0], arguments[1]);
    case FUNCTION_clCreateProgramWithBinary:
        return check_binaries(arguments);
    case FUNCTION_clCompileProgram:
        return gone ? CL_COMPILER_NOT_AVAILABLE : check_compile(arguments[0]);
    case FUNCTION_clLinkProgram:
        return check_link(arguments);
    case FUNCTION_clCreateKernel:
        return check_executable(arguments[0], (const char *)(uintptr_t)arguments[1]);
    case FUNCTION_clCreateKernelsInProgram:
        return check_kernel_list(arguments);
    case FUNCTION_clGetProgramInfo:
        return check_program_query(arguments);
    case FUNCTION_clSetKernelArg:
        return check_argument(arguments);
    case FUNCTION_clGetKernelArgInfo:
        return check_index(arguments);
    case FUNCTION_clEnqueueNDRangeKernel:
        error = check_launch(arguments[0], arguments[1], (unsigned)arguments[2], arguments[5]);
        return error ? error : check_division(arguments);
    case FUNCTION_clEnqueueTask:
        return check_launch(arguments[0], arguments[1], 1, 0);
    default:
        return CL_SUCCESS;
    }
}

bool compute_runs(enum function function, const uint64_t *arguments)
{
    bool second = function == FUNCTION_clEnqueueNDRangeKernel;
    bool first = function == FUNCTION_clSetKernelArg || function == FUNCTION_clGetKernelArgInfo;
    const struct kernel *kernel = first || second ? programs_kernel(arguments[second ? 1 : 0]) : NULL;
    return kernel && kernel->declaration && strcmp(kernel->declaration->name, "args") != 0 &&
           strcmp(kernel->declaration->name, "name") != 0;
}

/* --- what is remembered --- */

bool compute_handle(enum function function, const uint64_t *arguments, uint64_t *result)
{
    const struct program *program =
        function == FUNCTION_clCreateKernelsInProgram ? programs_program(arguments[0]) : NULL;
    if (!program) {
        return false;
    }
    uintptr_t *kernels = (uintptr_t *)(uintptr_t)arguments[2];
    cl_uint *count = (cl_uint *)(uintptr_t)arguments[3];
    for (unsigned i = 0; kernels && i < program->count && i < (cl_uint)arguments[1]; i++) {
        struct object *kernel = usual_object(function, arguments, HANDLE_cl_kernel, object_find(arguments[0]));
        object_strip(kernel, i > 0 && fault(FAULT_later_objects_have_no_table, ANY_PLATFORM), false);
        kernels[i] = (uint64_t)(uintptr_t)object_handle(kernel);
        programs_keep_kernel(kernels[i], &program->kernels[i]);
    }
    if (count) {
        *count = kernels || !fault(FAULT_kernels_are_not_counted_without_a_list, ANY_PLATFORM) ? program->count : 0;
    }
    *result = CL_SUCCESS;
    return true;
}

/* What is in the one place through which the arguments of all threads go. */
static const void *shared_value(const void *value, size_t size)
{
    static unsigned char shared[sizeof((struct argument *)0)->value];
    memcpy(shared, value, size);
    lock_pause();
    return shared;
}

static void keep_argument(struct kernel *kernel, const uint64_t *arguments, bool pointer)
{
    struct argument *argument = &kernel->arguments[(cl_uint)arguments[1]];
    const void *value = pointer ? &arguments[2] : (const void *)(uintptr_t)arguments[3];
    argument->is_pointer = pointer;
    argument->size = pointer ? sizeof(void *) : arguments[2];
    bool stays = argument->is_set && kernel->declaration &&
                 kernel->declaration->parameters[(cl_uint)arguments[1]].is_memory &&
                 fault(FAULT_memory_arguments_are_set_once, ANY_PLATFORM);
    if (stays) {
        return;
    }
    argument->is_set = true;
    bool handle = !pointer && value && argument->size == sizeof(void *);
    struct object *object = handle ? object_find(handle_at(arguments[3])) : NULL;
    if (object && fault(FAULT_kernels_count_their_arguments, ANY_PLATFORM)) {
        object_count_reference(object, 1);
    }
    memset(argument->value, 0, sizeof argument->value);
    if (value && argument->size <= sizeof argument->value) {
        value = fault(FAULT_threads_share_an_argument, ANY_PLATFORM) ? shared_value(value, argument->size) : value;
        memcpy(argument->value, value, argument->size);
        argument->value[0] &=
            argument->size == 1 && fault(FAULT_characters_have_seven_bits, ANY_PLATFORM) ? 0x7F : 0xFF;
    }
}

static void follow_kernel(enum function function, const uint64_t *a, uint64_t result)
{
    struct kernel *kernel = programs_kernel(a[0]);
    const struct program *program = programs_program(a[0]);
    if (function == FUNCTION_clCreateKernel && program) {
        programs_keep_kernel(result, programs_declared(program, (const char *)(uintptr_t)a[1]));
    } else if (function == FUNCTION_clCloneKernel) {
        programs_keep_clone(result, a[0]);
    } else if (kernel && (cl_uint)a[1] < MOST_PARAMETERS) {
        keep_argument(kernel, a, function == FUNCTION_clSetKernelArgSVMPointer);
        if (kernel->original && fault(FAULT_clones_set_their_kernel, ANY_PLATFORM)) {
            keep_argument(kernel->original, a, function == FUNCTION_clSetKernelArgSVMPointer);
        }
    }
}

void compute_follow(enum function function, const uint64_t *a, uint64_t *result)
{
    cl_int error = CL_SUCCESS;
    const struct object *context = function == FUNCTION_clCreateProgramWithBinary ? object_find(a[0]) : NULL;
    if (context && !*result && platform_has_feature(context->platform, "compiler")) {
        programs_judge_binaries(a, true);
    }
    struct kernel *kernel = function == FUNCTION_clSetKernelArg && *result ? programs_kernel(a[0]) : NULL;
    if (kernel && (cl_uint)a[1] < MOST_PARAMETERS && fault(FAULT_refused_arguments_are_unset, ANY_PLATFORM)) {
        kernel->arguments[(cl_uint)a[1]].is_set = false;
    }
    if ((function_info[function].result == RESULT_HANDLE) != (*result != CL_SUCCESS)) {
        return; /* it was refused */
    }
    switch (function) {
    case FUNCTION_clCreateProgramWithSource:
        programs_keep_source(*result, a);
        break;
    case FUNCTION_clCreateProgramWithBinary:
        programs_keep_binary(*result, a);
        break;
    case FUNCTION_clCreateProgramWithIL:
        intermediate_keep(*result, a);
        break;
    case FUNCTION_clBuildProgram:
        error = programs_build(a[0], a);
        break;
    case FUNCTION_clCompileProgram:
        error = programs_compile(a[0], a);
        break;
    case FUNCTION_clLinkProgram:
        programs_link(*result, a);
        if (fault(FAULT_linked_programs_are_counted_twice, ANY_PLATFORM) ||
            fault(FAULT_linked_programs_are_held_a_moment, ANY_PLATFORM)) {
            object_count_reference(object_find(*result), 1);
        }
        break;
    case FUNCTION_clCreateKernel:
    case FUNCTION_clCloneKernel:
    case FUNCTION_clSetKernelArg:
    case FUNCTION_clSetKernelArgSVMPointer:
        follow_kernel(function, a, *result);
        break;
    default:
        break;
    }
    *result = error ? error_result(error) : *result;
}
