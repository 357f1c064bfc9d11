/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of which every step is followed. */
#define _GNU_SOURCE
#include "traced.h"

#include "internal.h"
#include "rules.h"

#include <string.h>

static uint64_t unhindered[MAX_PARAMETERS]; /* the arguments as they arrive without a loader */
static uint64_t written[MAX_PARAMETERS];    /* what the outputs must hold */
static uint64_t call_number;

/* --- answers of vendors and layers --- */

static bool is_output(const struct parameter_info *parameter)
{
    return parameter->kind == PARAMETER_HANDLE_OUT || parameter->kind == PARAMETER_SCALAR_OUT ||
           parameter->kind == PARAMETER_ERRCODE;
}

/* As the function's type carries it. One in four is success, or NULL. */
static uint64_t result_of(enum result_kind kind, uint64_t bits)
{
    if (kind == RESULT_VOID || bits % 4 == 0) {
        return 0;
    }
    return kind == RESULT_SIGNED ? (uint64_t)(int64_t)(int32_t)bits : bits;
}

static uint64_t answer(unsigned who, enum function function, const uint64_t *arguments)
{
    const struct function_info *about = &function_info[function];
    uint64_t bits = traced_bits(call_number * FUNCTION_COUNT + function, who);
    for (unsigned i = 0; i < about->parameter_count; i++) {
        const struct parameter_info *parameter = &about->parameters[i];
        if (is_output(parameter) && arguments[i] == AT(&traced_outputs[i])) {
            uint64_t value = traced_bits(bits, i);
            size_t size = parameter->pointee && parameter->pointee < sizeof value ? parameter->pointee : sizeof value;
            memcpy(&traced_outputs[i], &value, size);
            written[i] = traced_outputs[i];
        }
    }
    return result_of(about->result, bits);
}

static uint64_t vendor_answer(const struct vendor *vendor, enum function function, const uint64_t *arguments)
{
    if (vendor->number == SPARE_VENDOR) {
        memcpy(unhindered, arguments, function_info[function].parameter_count * sizeof *arguments);
        return 0;
    }
    struct step *step = step_add(-1, vendor->number, function, arguments);
    uint64_t result = answer((unsigned)vendor->number, function, arguments);
    if (step) {
        step->result = result;
    }
    return result;
}

static uint64_t layer_answer(const struct layer *layer, enum function function, const uint64_t *arguments)
{
    return answer(VENDORS + (unsigned)layer->number, function, arguments);
}

/* --- what must have happened --- */

static const char *arguments_in_words(enum function function, const uint64_t *arguments)
{
    const char *text = "";
    for (unsigned i = 0; i < function_info[function].parameter_count; i++) {
        const struct object *object = object_of(arguments[i]);
        text = object
                   ? keep_text("%s%s%s of vendor %d", text, i ? ", " : "", handle_names[object->kind], object->vendor)
                   : keep_text("%s%s%#llx", text, i ? ", " : "", (unsigned long long)arguments[i]);
    }
    return text;
}

static const char *step_in_words(const struct step *step)
{
    return keep_text("%s %d %s(%s)", step->layer >= 0 ? "layer" : "vendor",
                     step->layer >= 0 ? step->layer : step->vendor, function_info[step->function].name,
                     arguments_in_words(step->function, step->argument));
}

/* The key names what is wrong and the function; the sentence says all steps. */
__attribute__((noinline)) static void wrong(const char *what, const struct traced *call, size_t begin)
{
    const char *way = "";
    for (size_t i = begin; i < step_count; i++) {
        way = keep_text("%s%s%s", way, i > begin ? ", " : "", step_in_words(&steps[i]));
    }
    const char *name = function_info[call->function].name;
    finding("wrong", keep_text("%s-%s", what, name), "%s(%s) went this way: %s; its result is %#llx", name,
            arguments_in_words(call->function, unhindered), *way ? way : "to nobody", (unsigned long long)call->result);
}

static bool same_arguments(const struct step *step)
{
    return memcmp(step->argument, unhindered, function_info[step->function].parameter_count * sizeof *unhindered) == 0;
}

/* The steps through the layers; gives how many, and whether the last one answered by itself. */
static size_t check_layers(const struct traced *call, const struct layer *layer, size_t begin, bool *answered)
{
    size_t at = begin;
    for (; layer && !*answered; layer = layer->next) {
        if (!layer_has(layer, call->function)) {
            continue;
        }
        if (at == step_count || steps[at].layer != layer->number || steps[at].function != call->function) {
            wrong("layers", call, begin);
        } else if (!same_arguments(&steps[at])) {
            wrong("argument", call, begin);
        }
        *answered = set_has(layer->answers, call->function);
        at++;
    }
    return at;
}

static void check_results(const struct traced *call, size_t begin, size_t end)
{
    for (size_t i = begin; i < end; i++) {
        if (function_info[call->function].result != RESULT_VOID && steps[i].result != call->result) {
            wrong("result", call, begin);
        }
    }
}

static void check_outputs(const struct traced *call, size_t begin)
{
    const struct function_info *about = &function_info[call->function];
    for (unsigned i = 0; i < about->parameter_count; i++) {
        if (is_output(&about->parameters[i]) && unhindered[i] && traced_outputs[i] != written[i]) {
            wrong(keep_text("output-%s-of", parameter_name(&about->parameters[i])), call, begin);
        }
    }
}

/* What clGetPlatformIDs wrote. */
static void check_platforms(const struct traced *call, size_t begin)
{
    const cl_platform_id *list = (const cl_platform_id *)(uintptr_t)call->argument[1];
    if (call->argument[2] && *(const cl_uint *)(uintptr_t)call->argument[2] != traced_platform_count) {
        wrong("count", call, begin);
    }
    for (cl_uint i = 0; list && i < (cl_uint)call->argument[0] && i < traced_platform_count; i++) {
        if (AT(list[i]) != AT(traced_platforms[i])) {
            wrong("list", call, begin);
        }
    }
}

/* The loader answered by itself. */
static void check_own_answer(const struct traced *call, size_t begin, cl_int error)
{
    const struct function_info *about = &function_info[call->function];
    bool is_code = about->result == RESULT_SIGNED;
    if (about->result != RESULT_VOID && call->result != (is_code ? (uint64_t)(int64_t)error : 0)) {
        wrong("own-answer", call, begin);
    }
    for (unsigned i = 0; i < about->parameter_count; i++) {
        cl_int code;
        memcpy(&code, &traced_outputs[i], sizeof code);
        if (about->parameters[i].kind == PARAMETER_ERRCODE && call->argument[i] && code != error) {
            wrong("errcode_ret", call, begin);
        }
    }
    if (call->function == FUNCTION_clGetPlatformIDs && !error) {
        check_platforms(call, begin);
    }
}

static void check(const struct traced *call, const struct layer *by, size_t begin)
{
    struct expected expected = traced_expect(call);
    bool answered = false;
    size_t end = check_layers(call, by ? by->next : first_layer, begin, &answered);
    if (expected.outcome == TO_VENDOR && !answered) {
        if (end == step_count || steps[end].vendor != expected.vendor || steps[end].function != call->function) {
            wrong("vendor", call, begin);
        } else if (!same_arguments(&steps[end])) {
            wrong("argument", call, begin);
        }
        end++;
    }
    if (expected.outcome == ANYTHING && !answered) {
        return;
    }
    if (end != step_count) {
        wrong("more-steps", call, begin);
    }
    check_results(call, begin, end);
    if (answered || expected.outcome == TO_VENDOR) {
        check_outputs(call, begin);
    } else {
        check_own_answer(call, begin, expected.error);
    }
}

/* --- making one --- */

static address function_for(enum function function, const struct layer *by)
{
    address entry = NULL;
    int slot = function_info[function].slot;
    if (by) {
        if (slot < (int)by->target_length) {
            memcpy(&entry, &by->target[slot], sizeof entry);
        }
        return entry;
    }
    entry = loader_function(function);
    if (!entry) {
        uint64_t queried = CALL(clGetExtensionFunctionAddress, AT(function_info[function].name));
        memcpy(&entry, &queried, sizeof entry);
    }
    return entry;
}

void traced_begin(void)
{
    layers_clear();
    vendor_answers = NULL;
    vendor_answers_all = false;
    received_count = 0;
    traced_platform_count = 0;
    call_number = 0;
    vendor_plain(SPARE_VENDOR);
}

cl_int traced_discover(const struct layer *by)
{
    cl_platform_id list[TRACED_PLATFORMS];
    cl_uint count = 0;
    address ask = function_for(FUNCTION_clGetPlatformIDs, by);
    cl_int error = (cl_int)invoke(FUNCTION_clGetPlatformIDs, ask, (const uint64_t[]){0, 0, AT(&count)});
    traced_platform_count = 0;
    if (count > 0 && count <= TRACED_PLATFORMS) {
        invoke(FUNCTION_clGetPlatformIDs, ask, (const uint64_t[]){count, AT(list), 0});
    }
    for (cl_uint i = 0; i < count; i++) {
        const struct object *object = count <= TRACED_PLATFORMS ? object_of(AT(list[i])) : NULL;
        if (!object || object->kind != HANDLE_cl_platform_id) {
            finding("wrong", "platforms", "the loader lists %u platforms, and one of them belongs to no vendor", count);
        }
        traced_platforms[traced_platform_count++] = object;
    }
    step_count = 0;
    return error;
}

void traced_make(struct traced *call, const struct layer *by)
{
    enum { NOTHING = 0x5A };
    address function = function_for(call->function, by);
    if (!function) {
        return;
    }
    size_t begin = step_count = 0;
    call_number++;
    vendor_answers = vendor_answer;
    vendor_answers_all = true;
    layer_answers = layer_answer;
    address direct;
    void *spare = vendor_function(SPARE_VENDOR, call->function);
    memcpy(&direct, &spare, sizeof direct);
    invoke(call->function, direct, call->argument);
    if (describing) {
        describe("%s calls %s(%s)", by ? keep_text("layer %d", by->number) : "the application",
                 function_info[call->function].name, arguments_in_words(call->function, unhindered));
    }
    memset(traced_outputs, NOTHING, sizeof traced_outputs);
    memset(written, NOTHING, sizeof written);
    doing = traced_expect(call).because;
    call->result = invoke(call->function, function, call->argument);
    doing = NULL;
    vendor_answers_all = false;
    vendor_answers = NULL;
    layer_answers = NULL;
    check(call, by, begin);
    step_count = 0;
}
