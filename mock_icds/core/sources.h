/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels of a source, as far as their declarations go: names, and what their parameters are. */
#ifndef CLHARNESS_MOCK_SOURCES_H
#define CLHARNESS_MOCK_SOURCES_H

#include "clharness_cl.h"

#include <stdbool.h>
#include <stddef.h>

enum { MOST_KERNELS = 16, MOST_PARAMETERS = 24, MOST_NAME = 48 };

struct kernel_parameter {
    char name[MOST_NAME];
    char type[MOST_NAME]; /* as the query has it: "int*" */
    cl_kernel_arg_address_qualifier address;
    cl_kernel_arg_access_qualifier access;
    cl_kernel_arg_type_qualifier qualifiers;
    size_t size;    /* bytes of its value; of a local pointer: 0 */
    bool is_memory; /* a buffer or an image */
    bool is_image;
};

struct kernel_declaration {
    char name[MOST_NAME];
    unsigned count;
    struct kernel_parameter parameters[MOST_PARAMETERS];
    size_t required[3]; /* reqd_work_group_size, or zeros */
};

/* Reads the kernels of a source; gives their number. */
unsigned sources_read(const char *text, struct kernel_declaration *kernels);

#endif
