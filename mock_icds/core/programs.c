/* SPDX-License-Identifier: Apache-2.0 */
/* What is kept of programs and kernels. A binary is the source after a mark. */
#include "core/programs.h"

#include "base/arena.h"
#include "base/config.h"
#include "base/lock.h"
#include "base/platforms.h"

#include <stdio.h>
#include <string.h>

enum { MOST_SOURCE = 1 << 14 };

static const char mark[] = "clharness binary:";

static struct object *able(uint64_t handle, enum handle_kind kind)
{
    struct object *object = object_of_kind(handle, kind);
    return object && platform_has_feature(object->platform, "compiler") ? object : NULL;
}

struct program *programs_program(uint64_t handle)
{
    struct object *object = able(handle, HANDLE_cl_program);
    if (object && !object->program) {
        object->program = arena_keep(sizeof *object->program);
        object->program->status = CL_BUILD_NONE;
    }
    return object ? object->program : NULL;
}

struct kernel *programs_kernel(uint64_t handle)
{
    struct object *object = able(handle, HANDLE_cl_kernel);
    if (object && !object->running) {
        object->running = arena_keep(sizeof *object->running);
    }
    return object ? object->running : NULL;
}

struct program *programs_of_kernel(uint64_t kernel)
{
    struct object *object = able(kernel, HANDLE_cl_kernel);
    return object ? programs_program((uint64_t)(uintptr_t)object_handle(object->parent)) : NULL;
}

/* Keeps the options of a build, a compilation or a link. */
static void keep_options(struct program *program, uint64_t options)
{
    const char *text = options ? (const char *)(uintptr_t)options : "";
    program->options = arena_keep(strlen(text) + 1);
    memcpy(program->options, text, strlen(text) + 1);
}

bool programs_executable(const struct program *program)
{
    return program->status == CL_BUILD_SUCCESS && program->binary == CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
}

const struct kernel_declaration *programs_declared(const struct program *program, const char *name)
{
    for (unsigned i = 0; i < program->count; i++) {
        const char *own = program->kernels[i].name;
        bool longer = strncmp(own, name, strlen(own)) == 0 && fault(FAULT_kernel_names_may_go_on, ANY_PLATFORM);
        bool shorter =
            *name && strncmp(own, name, strlen(name)) == 0 && fault(FAULT_kernel_names_may_be_cut, ANY_PLATFORM);
        if (strcmp(own, name) == 0 || longer || shorter) {
            return &program->kernels[i];
        }
    }
    return NULL;
}

/* --- what they are made of --- */

static void append(struct program *program, const char *text, size_t length)
{
    size_t used = strlen(program->text);
    size_t room = MOST_SOURCE - 1 - used;
    memcpy(program->text + used, text, length < room ? length : room);
}

void programs_keep_source(uint64_t handle, const uint64_t *arguments)
{
    const char *const *strings = (const char *const *)(uintptr_t)arguments[2];
    const size_t *lengths = (const size_t *)(uintptr_t)arguments[3];
    struct program *program = programs_program(handle);
    if (!program) {
        return;
    }
    program->text = arena_keep(MOST_SOURCE);
    program->from_source = true;
    for (cl_uint i = 0; i < (cl_uint)arguments[1]; i++) {
        bool first_only = i > 0 && fault(FAULT_source_is_first_string, ANY_PLATFORM);
        if (!first_only) {
            bool ignored = (cl_uint)arguments[1] == 1 && fault(FAULT_length_of_one_string_is_ignored, ANY_PLATFORM);
            append(program, strings[i], lengths && lengths[i] && !ignored ? lengths[i] : strlen(strings[i]));
        }
    }
}

static bool is_binary(const unsigned char *binary, size_t length)
{
    return length > sizeof mark - 1 && memcmp(binary, mark, sizeof mark - 1) == 0;
}

void programs_keep_binary(uint64_t handle, const uint64_t *arguments)
{
    const size_t *lengths = (const size_t *)(uintptr_t)arguments[3];
    const unsigned char *const *binaries = (const unsigned char *const *)(uintptr_t)arguments[4];
    struct program *program = programs_program(handle);
    size_t start = sizeof mark - 1;
    if (program && is_binary(binaries[0], lengths[0])) {
        static char *first;
        program->text = arena_keep(MOST_SOURCE);
        append(program, (const char *)binaries[0] + start, lengths[0] - start);
        first = first && fault(FAULT_binaries_are_those_of_the_first, ANY_PLATFORM) ? first : program->text;
        program->text = first;
        program->binary = CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
    }
}

cl_int programs_judge_binaries(const uint64_t *arguments, bool tells)
{
    const size_t *lengths = (const size_t *)(uintptr_t)arguments[3];
    const unsigned char *const *binaries = (const unsigned char *const *)(uintptr_t)arguments[4];
    cl_int *status = (cl_int *)(uintptr_t)arguments[5];
    cl_int worst = CL_SUCCESS;
    for (cl_uint i = 0; lengths && binaries && i < (cl_uint)arguments[1]; i++) {
        bool given = lengths[i] && binaries[i];
        cl_int error = !given ? CL_INVALID_VALUE : is_binary(binaries[i], lengths[i]) ? CL_SUCCESS : CL_INVALID_BINARY;
        worst = error ? error : worst;
        if (status && tells) {
            status[i] = fault(FAULT_refused_binaries_are_taken, ANY_PLATFORM) ? CL_SUCCESS : error;
        }
    }
    return worst;
}

size_t programs_binary(const struct program *program, char *to)
{
    size_t size = program->text && program->binary ? sizeof mark - 1 + strlen(program->text) : 0;
    if (to && size) {
        memcpy(to, mark, sizeof mark - 1);
        memcpy(to + sizeof mark - 1, program->text, size - (sizeof mark - 1));
    }
    return size;
}

void programs_keep_kernel(uint64_t handle, const struct kernel_declaration *declaration)
{
    struct kernel *kernel = programs_kernel(handle);
    if (kernel) {
        kernel->declaration = declaration;
    }
}

void programs_keep_clone(uint64_t handle, uint64_t from)
{
    struct kernel *original = programs_kernel(from);
    struct kernel *kernel = programs_kernel(handle);
    if (kernel && original) {
        *kernel = *original;
        kernel->original = original;
        object_find(handle)->parent = object_find(from)->parent;
        if (fault(FAULT_clone_has_no_arguments, ANY_PLATFORM)) {
            memset(kernel->arguments, 0, sizeof kernel->arguments);
        }
    }
}

/* --- building --- */

static const uint32_t all_devices = UINT32_MAX;

static uint32_t devices_of(const uint64_t *arguments)
{
    const uintptr_t *devices = (const uintptr_t *)(uintptr_t)arguments[2];
    uint32_t bits = 0;
    for (cl_uint i = 0; devices && i < (cl_uint)arguments[1]; i++) {
        bits |= platform_device_bit(object_find(devices[i]));
    }
    return bits && !fault(FAULT_programs_are_built_for_all, ANY_PLATFORM) ? bits : all_devices;
}

bool programs_built_for(const struct program *program, uint64_t device)
{
    return program->status != CL_BUILD_NONE && (program->devices & platform_device_bit(object_find(device)));
}

/* A kernel whose name is a macro of the options has the macro's value as its name. */
static void rename_kernel(struct kernel_declaration *kernel, struct program *program)
{
    const char *at = program->definitions ? strstr(program->definitions, kernel->name) : NULL;
    const char *value = at ? at + strlen(kernel->name) : NULL;
    if (value && *value == '=') {
        bool stays = fault(FAULT_kernels_of_first_build_stay, ANY_PLATFORM);
        program->renamed = program->renamed && stays ? program->renamed : value + 1;
        snprintf(kernel->name, sizeof kernel->name, "%.*s", (int)strcspn(program->renamed, " "), program->renamed);
    }
}

/* A source with an error, or with "#error NAME" where the options define NAME, which is the one condition that it has.
 */
static bool has_error(const struct program *program)
{
    static const char directive[] = "#error ";
    const char *at = program->text ? strstr(program->text, directive) : NULL;
    char name[MOST_NAME];
    snprintf(name, sizeof name, "%.*s", at ? (int)strcspn(at + strlen(directive), "\n") : 0,
             at ? at + strlen(directive) : "");
    bool asked_for = *name && program->definitions && strstr(program->definitions, name);
    return asked_for || (program->text && strstr(program->text, "clharness_undeclared"));
}

/* Reads the declarations; false for a source with an error. */
static bool translate(struct program *program)
{
    bool had_kernels = program->count > 0;
    program->broken = has_error(program);
    program->count = 0;
    if (program->text && !program->kernels) {
        program->kernels = arena_keep(MOST_KERNELS * sizeof *program->kernels);
    }
    if (program->text && !program->broken) {
        program->count = sources_read(program->included ? program->included : program->text, program->kernels);
    }
    for (unsigned i = 0; i < program->count; i++) {
        rename_kernel(&program->kernels[i], program);
    }
    bool stays = had_kernels && fault(FAULT_builds_stay_successful, ANY_PLATFORM);
    program->status = program->broken && !stays ? CL_BUILD_ERROR : CL_BUILD_SUCCESS;
    return !program->broken;
}

cl_int programs_build(uint64_t handle, const uint64_t *arguments)
{
    struct program *program = programs_program(handle);
    if (!program) {
        return CL_SUCCESS;
    }
    if (fault(FAULT_threads_share_a_compiler, ANY_PLATFORM)) {
        static struct program *shared;
        shared = program;
        lock_pause();
        program = shared;
    }
    if (!program->options || !fault(FAULT_first_options_stay, ANY_PLATFORM)) {
        keep_options(program, arguments[3]);
    }
    if (arguments[3] || !fault(FAULT_definitions_stay_without_options, ANY_PLATFORM)) {
        program->definitions = program->options;
    }
    bool good = translate(program);
    if (!good && fault(FAULT_failed_builds_write_output, ANY_PLATFORM)) {
        puts("the build has failed");
    }
    program->devices = devices_of(arguments);
    program->binary = good ? CL_PROGRAM_BINARY_TYPE_EXECUTABLE : CL_PROGRAM_BINARY_TYPE_NONE;
    return good || fault(FAULT_build_takes_errors, ANY_PLATFORM) ? CL_SUCCESS : CL_BUILD_PROGRAM_FAILURE;
}

/* The texts of those headers that a program includes. */
static void include(struct program *program, const uint64_t *arguments)
{
    cl_uint count = (cl_uint)arguments[4];
    const uintptr_t *headers = (const uintptr_t *)(uintptr_t)arguments[5];
    const char *const *names = (const char *const *)(uintptr_t)arguments[6];
    bool exchanged = fault(FAULT_headers_are_exchanged, ANY_PLATFORM);
    for (cl_uint i = 0; i < count && program->text; i++) {
        const struct program *header = programs_program(headers[exchanged ? count - 1 - i : i]);
        if (header && header->text && strstr(program->text, names[i])) {
            program->included = header->text;
        }
    }
}

cl_int programs_compile(uint64_t handle, const uint64_t *arguments)
{
    struct program *program = programs_program(handle);
    if (!program) {
        return CL_SUCCESS;
    }
    include(program, arguments);
    if (!fault(FAULT_compilers_forget_options, ANY_PLATFORM)) {
        keep_options(program, arguments[3]);
    }
    program->definitions = program->options;
    bool good = translate(program);
    program->devices = devices_of(arguments);
    program->binary = good ? CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT : CL_PROGRAM_BINARY_TYPE_NONE;
    return good || fault(FAULT_compile_takes_errors, ANY_PLATFORM) ? CL_SUCCESS : CL_COMPILE_PROGRAM_FAILURE;
}

void programs_link(uint64_t handle, const uint64_t *arguments)
{
    const uintptr_t *inputs = (const uintptr_t *)(uintptr_t)arguments[5];
    struct program *program = programs_program(handle);
    if (!program) {
        return;
    }
    program->text = arena_keep(MOST_SOURCE);
    cl_uint count = fault(FAULT_first_program_is_linked, ANY_PLATFORM) ? 1 : (cl_uint)arguments[4];
    for (cl_uint i = 0; i < count; i++) {
        const struct program *input = programs_program(inputs[i]);
        if (input && input->text) {
            const char *text = input->included ? input->included : input->text;
            append(program, text, strlen(text));
            program->definitions = program->definitions ? program->definitions : input->definitions;
        }
    }
    translate(program);
    keep_options(program, arguments[3]);
    program->devices = all_devices;
    bool library = strstr(program->options, "-create-library") && !fault(FAULT_libraries_are_executable, ANY_PLATFORM);
    program->binary = library ? CL_PROGRAM_BINARY_TYPE_LIBRARY : CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
}
