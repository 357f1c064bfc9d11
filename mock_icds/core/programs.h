/* SPDX-License-Identifier: Apache-2.0 */
/* What is kept of programs and kernels. */
#ifndef CLHARNESS_MOCK_PROGRAMS_H
#define CLHARNESS_MOCK_PROGRAMS_H

#include "base/objects.h"
#include "core/sources.h"

enum { MOST_VALUE = 128 };

struct argument {
    bool is_set;
    bool is_pointer; /* shared virtual memory */
    size_t size;
    unsigned char value[MOST_VALUE];
};

struct program {
    char *text;           /* its source */
    const char *included; /* what is compiled in its place: the header that it consists of */
    unsigned char *il;    /* the module that it was made of; NULL: none */
    size_t il_size;       /* bytes */
    char *options;
    const char *definitions; /* the options that its source was compiled with */
    const char *renamed;     /* the name in the options that its kernel got */
    char *answered;          /* the first options that were answered */
    bool from_source;
    bool broken; /* cannot be built */
    cl_build_status status;
    cl_program_binary_type binary;
    uint32_t devices; /* it is built for, as platform_device_bit() has them */
    unsigned count;
    struct kernel_declaration *kernels;
};

struct kernel {
    const struct kernel_declaration *declaration; /* NULL: not known */
    struct argument arguments[MOST_PARAMETERS];
    struct kernel *original; /* what it is a clone of, or NULL */
};

/* What is kept of the object of a handle; NULL where it is none, or of a platform without a compiler. */
struct program *programs_program(uint64_t handle);
struct kernel *programs_kernel(uint64_t handle);
/* The program of a kernel. */
struct program *programs_of_kernel(uint64_t kernel);
/* Whether a program has an executable. */
bool programs_executable(const struct program *program);
/* The kernel of a program that has a name, or NULL. */
const struct kernel_declaration *programs_declared(const struct program *program, const char *name);
/* What a program is made of: its source, or its binary. */
void programs_keep_source(uint64_t handle, const uint64_t *arguments);
void programs_keep_binary(uint64_t handle, const uint64_t *arguments);
/* Whether the binaries of clCreateProgramWithBinary are programs: the worst error; `tells`: each status is written. */
cl_int programs_judge_binaries(const uint64_t *arguments, bool tells);
void programs_keep_kernel(uint64_t handle, const struct kernel_declaration *declaration);
void programs_keep_clone(uint64_t handle, uint64_t from);
/* Whether a program is built for a device. */
bool programs_built_for(const struct program *program, uint64_t device);
/* Builds, compiles or links; the result of the function. */
cl_int programs_build(uint64_t handle, const uint64_t *arguments);
cl_int programs_compile(uint64_t handle, const uint64_t *arguments);
void programs_link(uint64_t handle, const uint64_t *arguments);
/* The bytes that a binary has. */
size_t programs_binary(const struct program *program, char *to);

#endif
