/* SPDX-License-Identifier: Apache-2.0 */
/* Reads declarations such as `kernel void name(global const int *from, local int *own, int4 number)`. */
#include "core/sources.h"

#include "base/config.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    size_t size;
} sizes[] = {
    {"char", 1},  {"uchar", 1}, {"short", 2},  {"ushort", 2}, {"int", 4},    {"uint", 4},      {"long", 8},
    {"ulong", 8}, {"float", 4}, {"double", 8}, {"half", 2},   {"size_t", 8}, {"sampler_t", 8}, {"struct pair", 8},
};

/* "int", "uchar16": a vector of 3 is as large as one of 4. */
static size_t size_of(const char *type)
{
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t length = strlen(sizes[i].name);
        if (strncmp(type, sizes[i].name, length) == 0 &&
            (type[length] == '\0' || isdigit((unsigned char)type[length]))) {
            long width = type[length] ? strtol(type + length, NULL, 10) : 1;
            return sizes[i].size * (size_t)(width == 3 ? 4 : width);
        }
    }
    return 0;
}

static void append(char *to, const char *word, size_t length, const char *before)
{
    size_t used = strlen(to);
    snprintf(to + used, MOST_NAME - used, "%s%.*s", used ? before : "", (int)length, word);
}

/* A word of a declaration that is a qualifier. */
static bool qualify(struct kernel_parameter *parameter, const char *word, size_t length)
{
    while (length > 2 && word[0] == '_') { /* __global */
        word++;
        length--;
    }
    const struct {
        const char *name;
        cl_uint address;
        cl_uint access;
        cl_ulong qualifier;
    } known[] = {
        {"global", CL_KERNEL_ARG_ADDRESS_GLOBAL, 0, 0},
        {"local", CL_KERNEL_ARG_ADDRESS_LOCAL, 0, 0},
        {"constant", CL_KERNEL_ARG_ADDRESS_CONSTANT, 0, CL_KERNEL_ARG_TYPE_CONST},
        {"read_only", 0, CL_KERNEL_ARG_ACCESS_READ_ONLY, 0},
        {"write_only", 0, CL_KERNEL_ARG_ACCESS_WRITE_ONLY, 0},
        {"const", 0, 0, CL_KERNEL_ARG_TYPE_CONST},
        {"restrict", 0, 0, CL_KERNEL_ARG_TYPE_RESTRICT},
        {"volatile", 0, 0, CL_KERNEL_ARG_TYPE_VOLATILE},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strlen(known[i].name) == length && strncmp(word, known[i].name, length) == 0) {
            parameter->address = known[i].address ? known[i].address : parameter->address;
            parameter->access = known[i].access ? known[i].access : parameter->access;
            parameter->qualifiers |= known[i].qualifier;
            return true;
        }
    }
    return false;
}

static void finish(struct kernel_parameter *parameter, bool pointer)
{
    static const char plain[] = "unsigned ";
    parameter->is_image = strncmp(parameter->type, "image", strlen("image")) == 0;
    parameter->address = parameter->is_image ? CL_KERNEL_ARG_ADDRESS_GLOBAL : parameter->address;
    bool local = parameter->address == CL_KERNEL_ARG_ADDRESS_LOCAL;
    if (strncmp(parameter->type, plain, strlen(plain)) == 0 && !fault(FAULT_unsigned_is_spelled_out, ANY_PLATFORM)) {
        memmove(parameter->type + 1, parameter->type + strlen(plain), strlen(parameter->type + strlen(plain)) + 1);
    }
    if (parameter->is_image && fault(FAULT_images_are_not_accessed, ANY_PLATFORM)) {
        parameter->access = CL_KERNEL_ARG_ACCESS_NONE;
    }
    parameter->is_memory = parameter->is_image || (pointer && !local);
    parameter->size = pointer || parameter->is_image ? (local ? 0 : sizeof(cl_mem)) : size_of(parameter->type);
    if (pointer) {
        append(parameter->type, "*", 1, "");
        bool forgets = fault(FAULT_qualifiers_are_forgotten, ANY_PLATFORM);
        parameter->qualifiers &= forgets ? CL_KERNEL_ARG_TYPE_CONST : ~(cl_ulong)0;
    } else {
        parameter->qualifiers = 0; /* of a value, they say nothing to the caller */
    }
}

/* One parameter, up to `end`: the last word is its name. */
static void read_parameter(struct kernel_parameter *parameter, const char *at, const char *end)
{
    bool pointer = false;
    *parameter =
        (struct kernel_parameter){.address = CL_KERNEL_ARG_ADDRESS_PRIVATE, .access = CL_KERNEL_ARG_ACCESS_NONE};
    while (at < end) {
        size_t length = 0;
        while (at + length < end && (isalnum((unsigned char)at[length]) || at[length] == '_')) {
            length++;
        }
        pointer = pointer || *at == '*';
        if (length == 0) {
            at++;
            continue;
        }
        const char *next = at + length + strspn(at + length, " \n");
        if (next >= end) {
            append(parameter->name, at, length, "");
        } else if (!qualify(parameter, at, length)) {
            append(parameter->type, at, length, " ");
        }
        at += length;
    }
    finish(parameter, pointer);
}

static const char *read_kernel(struct kernel_declaration *kernel, const char *at)
{
    const char *open = strchr(at, '(');
    const char *required = strstr(at, "reqd_work_group_size(");
    *kernel = (struct kernel_declaration){0};
    if (required && required < strstr(at, "void")) {
        required = strchr(required, '(');
        for (size_t d = 0; d < 3; d++) {
            char *end;
            kernel->required[d] = (size_t)strtoull(required + 1, &end, 10);
            required = end;
        }
        at = strstr(at, "void");
        open = strchr(at, '(');
    }
    const char *end = open ? strchr(open, ')') : NULL;
    if (!end) {
        return at + strlen(at);
    }
    const char *name = open;
    while (name > at && (isalnum((unsigned char)name[-1]) || name[-1] == '_')) {
        name--;
    }
    append(kernel->name, name, (size_t)(open - name), "");
    for (at = open + 1; at < end && kernel->count < MOST_PARAMETERS;) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        const char *stop = comma ? comma : end;
        read_parameter(&kernel->parameters[kernel->count++], at, stop);
        at = stop + 1;
    }
    return end;
}

unsigned sources_read(const char *text, struct kernel_declaration *kernels)
{
    unsigned count = 0;
    const char *at = text;
    while (count < MOST_KERNELS && (at = strstr(at, "kernel ")) != NULL) {
        at = read_kernel(&kernels[count++], at);
    }
    return count;
}
