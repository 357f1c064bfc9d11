/* SPDX-License-Identifier: Apache-2.0 */
/* Programs in an intermediate language: what SPIR-V says of its entry point and of its specialization constants. */
#include "core/intermediate.h"

#include "base/arena.h"
#include "base/config.h"
#include "base/errors.h"
#include "base/platforms.h"
#include "calls.h"
#include "core/programs.h"

#include <stdio.h>
#include <string.h>

/* Numbers of SPIR-V. */
enum {
    MAGIC = 0x07230203,
    HEADER = 5, /* words */
    OP_ENTRY_POINT = 15,
    OP_DECORATE = 71,
    DECORATION_SPEC_ID = 1,
    NAME = 3, /* the word of an entry point at which its name begins */
};

static bool is_able(const struct object *object)
{
    return object && platform_has_feature(object->platform, "il");
}

/* --- modules --- */

static uint32_t word(const unsigned char *module, size_t index)
{
    uint32_t value;
    memcpy(&value, module + index * sizeof value, sizeof value);
    return value;
}

/* The index of the next instruction with a number, from one on; 0 where there is none. */
static size_t find(const unsigned char *module, size_t bytes, size_t from, unsigned operation)
{
    size_t count = bytes / sizeof(uint32_t);
    for (size_t at = from; at < count;) {
        size_t length = word(module, at) >> 16;
        if (length == 0 || length > count - at) {
            return 0;
        }
        if ((word(module, at) & 0xFFFF) == operation) {
            return at;
        }
        at += length;
    }
    return 0;
}

static bool is_module(const unsigned char *module, size_t bytes)
{
    return bytes >= HEADER * sizeof(uint32_t) && bytes % sizeof(uint32_t) == 0 && word(module, 0) == MAGIC;
}

static bool has_constant(const struct program *program, uint32_t id)
{
    size_t at = HEADER;
    while ((at = find(program->il, program->il_size, at, OP_DECORATE)) != 0) {
        if (word(program->il, at + 2) == DECORATION_SPEC_ID && word(program->il, at + 3) == id) {
            return true;
        }
        at += word(program->il, at) >> 16;
    }
    return false;
}

/* --- calls --- */

static cl_int check_module(const uint64_t *arguments)
{
    const unsigned char *module = (const unsigned char *)(uintptr_t)arguments[1];
    if (!is_able(object_find(arguments[0]))) {
        return error_unless_fault(FAULT_languages_of_any_device, CL_INVALID_OPERATION);
    }
    return error_unless_fault(FAULT_any_bytes_are_a_module,
                              is_module(module, arguments[2]) ? CL_SUCCESS : CL_INVALID_VALUE);
}

static cl_int check_constant(const uint64_t *arguments)
{
    const struct program *program = programs_program(arguments[0]);
    if (!is_able(object_find(arguments[0]))) {
        return error_unless_fault(FAULT_constants_of_any_program, CL_INVALID_OPERATION);
    }
    if (!program || !program->il) {
        return error_unless_fault(FAULT_constants_of_any_program, CL_INVALID_PROGRAM);
    }
    if (!has_constant(program, (uint32_t)arguments[1])) {
        return error_unless_fault(FAULT_constants_of_any_number, CL_INVALID_SPEC_ID);
    }
    bool fits = arguments[2] == sizeof(cl_uint);
    return error_unless_fault(FAULT_constants_of_any_size, fits && arguments[3] ? CL_SUCCESS : CL_INVALID_VALUE);
}

cl_int intermediate_error(enum function function, const uint64_t *arguments)
{
    switch (function) {
    case FUNCTION_clCreateProgramWithIL:
        return check_module(arguments);
    case FUNCTION_clSetProgramSpecializationConstant:
        return check_constant(arguments);
    default:
        return CL_SUCCESS;
    }
}

void intermediate_keep(uint64_t handle, const uint64_t *arguments)
{
    enum { ROOM = 128 };
    unsigned char *given = (unsigned char *)(uintptr_t)arguments[1];
    struct program *program = programs_program(handle);
    if (!program || !is_module(given, arguments[2])) {
        return;
    }
    program->il_size = arguments[2];
    program->il = arena_keep(program->il_size);
    memcpy(program->il, given, program->il_size);
    size_t at = find(program->il, program->il_size, HEADER, OP_ENTRY_POINT);
    program->text = arena_keep(ROOM);
    if (at) {
        const char *name = (const char *)program->il + (at + NAME) * sizeof(uint32_t);
        snprintf(program->text, ROOM, "kernel void %.64s() {}\n", name);
    }
    if (fault(FAULT_modules_stay_where_they_are, ANY_PLATFORM)) {
        program->il = given;
    }
}

bool intermediate_info(const struct object *device, cl_uint query, const uint64_t *rest, cl_int *result)
{
    static const char text[] = "SPIR-V_1.0";
    cl_name_version listed = {.version = CL_MAKE_VERSION(1, 0, 0), .name = "SPIR-V"};
    bool asked = is_able(device) && (query == CL_DEVICE_IL_VERSION || query == CL_DEVICE_ILS_WITH_VERSION);
    if (asked && query == CL_DEVICE_IL_VERSION) {
        bool lacks = fault(FAULT_languages_are_listed_by_version_only, ANY_PLATFORM);
        *result = lacks ? answer_info(rest, "", 1) : answer_info(rest, text, sizeof text);
    } else if (asked) {
        *result = answer_info(rest, &listed, sizeof listed);
    }
    return asked;
}
