/* SPDX-License-Identifier: Apache-2.0 */
/* Calls from the input: four bytes each say the function, the object that it is for, and the shape of the rest. */
#include "rules.h"
#include "traced.h"

#include <string.h>

uint64_t traced_outputs[MAX_PARAMETERS];

/* The finaliser of splitmix64. */
uint64_t traced_bits(uint64_t a, uint64_t b)
{
    uint64_t bits = a * 0x9E3779B97F4A7C15U + b + 1;
    bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9U;
    bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBU;
    return bits ^ (bits >> 31);
}

struct drawing {
    struct traced *call;
    const struct object *platform; /* whose objects the call is for; NULL: it gets NULL */
    unsigned object;               /* which of them */
    uint64_t shape;
};

static uint64_t bits_for(const struct drawing *drawing, unsigned index)
{
    return traced_bits(drawing->shape, index);
}

static uint64_t object_for(const struct drawing *drawing, enum handle_kind kind)
{
    if (!drawing->platform) {
        return 0;
    }
    struct platform *platform = &vendors[drawing->platform->vendor].platform[drawing->platform->platform];
    return kind == HANDLE_cl_device_id ? AT(&platform->device[drawing->object % DEVICES]) : AT(&platform->object[kind]);
}

/* NULL, something small, an object of whatever class, or just bits: the loader has no business with it. */
static uint64_t anything(const struct drawing *drawing, unsigned index)
{
    uint64_t bits = bits_for(drawing, index);
    switch (bits % 8) {
    case 0:
        return 0;
    case 1:
        return bits >> 3 & 7;
    case 2:
        return object_for(drawing, (enum handle_kind)(bits >> 8 & 7));
    case 3:
        return 1ULL << (bits >> 3 & 63);
    default:
        return bits;
    }
}

static uint64_t output(const struct drawing *drawing, unsigned index)
{
    return bits_for(drawing, index) & 3 ? AT(&traced_outputs[index]) : 0;
}

/* A list that the loader looks into: its first object decides, and nothing is to be read of the others. */
static void list(const struct drawing *drawing, unsigned index, enum handle_kind kind)
{
    uint64_t bits = bits_for(drawing, index);
    unsigned count = bits & 8 ? 1 + (bits >> 4) % 3 : 1;
    uint64_t *objects = guarded(count * sizeof *objects);
    objects[0] = object_for(drawing, kind);
    for (unsigned i = 1; i < count; i++) {
        uint64_t other = traced_bits(bits, i);
        objects[i] = other & 3 ? other : 0;
    }
    drawing->call->argument[index] = bits & 0x700 ? AT(objects) : 0;
    drawing->call->argument[index - 1] = bits & 0x7000 ? count : 0;
}

/* No name that a loader knows, and some that look like one or like the end in their lower half. */
static uint64_t other_name(uint64_t bits)
{
    static const uint64_t names[] = {CL_CONTEXT_INTEROP_USER_SYNC, 1ULL << 32, CL_CONTEXT_PLATFORM | 1ULL << 63, 1};
    return names[bits % 4];
}

/* Properties that the loader looks into; the platform stands anywhere among others, or not at all. */
static uint64_t properties(const struct drawing *drawing, unsigned index)
{
    uint64_t bits = bits_for(drawing, index);
    unsigned others = bits >> 8 & 3;
    unsigned before = others ? (bits >> 10) % (others + 1) : 0;
    bool with_platform = drawing->platform && bits & 0x7000;
    if (!(bits & 0x70000)) {
        return 0;
    }
    uint64_t *words = guarded((2 * (others + with_platform) + 1) * sizeof *words);
    uint64_t *to = words;
    for (unsigned i = 0; i <= others; i++) {
        if (i == before && with_platform) {
            *to++ = CL_CONTEXT_PLATFORM;
            *to++ = object_for(drawing, HANDLE_cl_platform_id);
        }
        if (i < others) {
            *to++ = other_name(bits >> (20 + 2 * i));
            *to++ = bits >> (30 + i) & 1 ? CL_CONTEXT_PLATFORM : bits >> (40 + i) & 1;
        }
    }
    return AT(words);
}

static void argument(const struct drawing *drawing, unsigned index)
{
    const struct rule *rule = &rules[drawing->call->function];
    const struct parameter_info *about = &function_info[drawing->call->function].parameters[index];
    uint64_t *to = &drawing->call->argument[index];
    if (index == rule->argument && rule->kind == RULE_OBJECT) {
        *to = object_for(drawing, about->handle);
    } else if (index == rule->argument && rule->kind == RULE_LIST) {
        list(drawing, index, about->handle);
    } else if (about->kind == PARAMETER_PROPERTIES && (rule->kind == RULE_LIST || rule->kind == RULE_PROPERTIES)) {
        *to = properties(drawing, index);
    } else if (about->kind == PARAMETER_HANDLE_OUT || about->kind == PARAMETER_SCALAR_OUT ||
               about->kind == PARAMETER_ERRCODE) {
        *to = output(drawing, index);
    } else {
        *to = anything(drawing, index);
    }
}

/* Functions that the loader answers by rules of its own, so that it looks at their arguments. */
static void own_arguments(const struct drawing *drawing)
{
    static const char *const names[] = {NULL, "", "clFinish", "clNobodyHasThis1"};
    uint64_t bits = bits_for(drawing, 0);
    uint64_t *to = drawing->call->argument;
    unsigned count = bits >> 4 & 7;
    switch (drawing->call->function) {
    case FUNCTION_clGetPlatformIDs:
        to[0] = count;
        to[1] = bits & 3 ? AT(guarded(count * sizeof(cl_platform_id))) : 0;
        to[2] = output(drawing, 2);
        break;
    case FUNCTION_clGetExtensionFunctionAddress:
        to[0] = AT(names[bits & 3]);
        break;
    case FUNCTION_clGetExtensionFunctionAddressForPlatform:
        to[0] = object_for(drawing, HANDLE_cl_platform_id);
        to[1] = AT(names[bits & 1 ? 3 : 0]);
        break;
    default:
        break;
    }
}

bool traced_draw(struct traced *call)
{
    int function = function_of_slot[take_byte() % TABLE_LENGTH];
    unsigned which = take_byte();
    unsigned shape = take_byte() | (unsigned)take_byte() << 8;
    if (function < 0 || !rules[function].here) {
        return false;
    }
    *call = (struct traced){.function = (enum function)function};
    struct drawing drawing = {call, NULL, which >> 5, traced_bits(shape, (uint64_t)function)};
    if (traced_platform_count && (which & 31) != 31) {
        drawing.platform = traced_platforms[(which & 31) % traced_platform_count];
    }
    if (rules[function].kind == RULE_LOADER) {
        own_arguments(&drawing);
    }
    for (unsigned i = 0; i < function_info[function].parameter_count && rules[function].kind != RULE_LOADER; i++) {
        argument(&drawing, i);
    }
    return traced_expect(call).outcome != UNDEFINED;
}
