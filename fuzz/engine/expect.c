/* SPDX-License-Identifier: Apache-2.0 */
/* Where a call must go, and what the loader answers by itself. */
#include "rules.h"
#include "traced.h"

const struct object *traced_platforms[TRACED_PLATFORMS];
unsigned traced_platform_count;

static struct expected by_loader(cl_int error)
{
    return (struct expected){TO_LOADER, -1, error, NULL};
}

/* Whether the loader has a table of its own for an object (cl_khr_icd 2.0). */
static bool is_managed(const struct object *object)
{
    return vendors[object->vendor].platform[object->platform].icd2 && object->dispatch_data;
}

static struct expected by_object(uint64_t handle, enum function function)
{
    const struct object *object = object_of(handle);
    if (!object) {
        return (struct expected){.outcome = UNDEFINED};
    }
    const struct platform *platform = &vendors[object->vendor].platform[object->platform];
    bool lacks = set_has(platform->missing, function);
    bool is_managed_now = is_managed(object);
    unsigned length = platform->table_length ? platform->table_length : TABLE_LENGTH;
    bool is_outside = (unsigned)function_info[function].slot >= length;
    if (!is_managed_now && (is_outside || platform->bare)) {
        return (struct expected){.outcome = UNDEFINED};
    }
    if (lacks && (is_managed_now || rules[function].empty_is_answered)) {
        struct expected refused = by_loader(CL_INVALID_OPERATION);
        refused.because = is_managed_now ? NULL : "function-that-an-ICD-1-lacks";
        return refused;
    }
    return (struct expected){lacks ? UNDEFINED : TO_VENDOR, object->vendor, CL_SUCCESS, NULL};
}

/* The loader may choose a platform, or refuse; undefined where one of them lacks the function. */
static struct expected anything(enum function function)
{
    for (unsigned i = 0; i < traced_platform_count; i++) {
        if (by_object(AT(traced_platforms[i]), function).outcome == UNDEFINED) {
            return (struct expected){.outcome = UNDEFINED};
        }
    }
    return (struct expected){.outcome = ANYTHING};
}

/* Whether a property list names the platform: then loaders may take it from there, and leave the rest to the vendor
 * (DISP-ARG-011). */
static bool names_platform(const struct traced *call)
{
    const uint64_t *list = (const uint64_t *)(uintptr_t)call->argument[0];
    bool has_list = function_info[call->function].parameters[0].kind == PARAMETER_PROPERTIES;
    for (; has_list && list && list[0]; list += 2) {
        if (list[0] == CL_CONTEXT_PLATFORM) {
            return true;
        }
    }
    return false;
}

static struct expected by_list(const struct traced *call, unsigned index, cl_int null_answer)
{
    const uint64_t *list = (const uint64_t *)(uintptr_t)call->argument[index];
    bool decides = list && (cl_uint)call->argument[index - 1] && list[0];
    if (!decides && names_platform(call)) {
        return anything(call->function);
    }
    if (!list || (cl_uint)call->argument[index - 1] == 0) {
        return by_loader(CL_INVALID_VALUE);
    }
    return list[0] ? by_object(list[0], call->function) : by_loader(null_answer);
}

/* Without a platform in the list it is the implementation's choice, or none (DISP-CTX-006 to 008). */
static struct expected by_properties(const struct traced *call, unsigned index)
{
    const uint64_t *list = (const uint64_t *)(uintptr_t)call->argument[index];
    for (; list && list[0]; list += 2) {
        if (list[0] == CL_CONTEXT_PLATFORM) {
            return by_object(list[1], call->function);
        }
    }
    return anything(call->function);
}

static struct expected by_rules_of_its_own(const struct traced *call)
{
    switch (call->function) {
    case FUNCTION_clGetPlatformIDs:
        if ((!call->argument[1] && !call->argument[2]) || (call->argument[1] && (cl_uint)call->argument[0] == 0)) {
            return by_loader(CL_INVALID_VALUE);
        }
        return by_loader(traced_platform_count ? CL_SUCCESS : CL_PLATFORM_NOT_FOUND_KHR);
    case FUNCTION_clGetExtensionFunctionAddressForPlatform:
        if (!call->argument[1]) {
            return by_loader(CL_SUCCESS);
        }
        return call->argument[0] ? by_object(call->argument[0], call->function) : anything(call->function);
    default:
        return by_loader(CL_SUCCESS);
    }
}

struct expected traced_expect(const struct traced *call)
{
    const struct rule *rule = &rules[call->function];
    uint64_t deciding = call->argument[rule->argument];
    switch (rule->kind) {
    case RULE_OBJECT:
        if (!deciding && rule->null_answer == CL_INVALID_PLATFORM) {
            return anything(call->function); /* loaders may have a default platform (DISP-NUL-014) */
        }
        return deciding ? by_object(deciding, call->function) : by_loader(rule->null_answer);
    case RULE_LIST:
        return by_list(call, rule->argument, rule->null_answer);
    case RULE_PROPERTIES:
        return by_properties(call, rule->argument);
    case RULE_LOADER:
        return by_rules_of_its_own(call);
    default:
        return (struct expected){.outcome = UNDEFINED};
    }
}
