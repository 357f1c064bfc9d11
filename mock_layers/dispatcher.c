/* SPDX-License-Identifier: Apache-2.0 */
/* What happens to a call in the mock layer: logged, changed as its settings say, and handed on to the target. */
#include "layer.h"

#include <string.h>

static void set_errcode(const struct function_info *about, const uint64_t *arguments, cl_int error)
{
    for (unsigned i = 0; i < about->parameter_count; i++) {
        if (about->parameters[i].kind == PARAMETER_ERRCODE && arguments[i]) {
            *(cl_int *)(uintptr_t)arguments[i] = error;
        }
    }
}

/* What a call answers that goes no further. */
static uint64_t answer_here(const struct function_info *about, const uint64_t *arguments, cl_int error)
{
    set_errcode(about, arguments, error);
    return about->result == RESULT_SIGNED ? (uint64_t)(int64_t)error : 0;
}

/* An application's own function: answers the name of the layer. */
static const char *CL_API_CALL layer_function(void)
{
    log_event("layer function", NULL);
    return mock_name;
}

static bool is_address_query(enum function function)
{
    return function == FUNCTION_clGetExtensionFunctionAddress ||
           function == FUNCTION_clGetExtensionFunctionAddressForPlatform;
}

static uint64_t hand_on(enum function function, const uint64_t *arguments)
{
    uint64_t result;
    const struct function_info *about = &function_info[function];
    entry *next = target_function(about->slot);
    if (is_address_query(function) && fault(FAULT_substitutes_addresses, ANY_PLATFORM)) {
        return (uint64_t)(uintptr_t)layer_function;
    }
    if (!next) {
        log_event("no target", about->name);
        return answer_here(about, arguments, CL_INVALID_OPERATION);
    }
    if (fault(FAULT_supplies_platform, ANY_PLATFORM) && platform_answer(function, next, arguments, &result)) {
        return result;
    }
    return fault(FAULT_wraps_handles, ANY_PLATFORM)
               ? wrap_call(function, next, arguments)
               : mistakes_call(function, &config_of_function[function], next, arguments);
}

static uint64_t one_more(const struct function_info *about, const uint64_t *arguments, uint64_t result)
{
    for (unsigned i = 0; i < about->parameter_count; i++) {
        if (about->parameters[i].kind == PARAMETER_ERRCODE && arguments[i]) {
            *(cl_int *)(uintptr_t)arguments[i] += 1;
        }
    }
    return result + 1;
}

uint64_t component_call(enum function function, const uint64_t *arguments)
{
    const struct function_info *about = &function_info[function];
    const struct function_config *settings = &config_of_function[function];
    uint64_t changed[MAX_PARAMETERS];
    uint64_t own[64] = {0};
    uint64_t result;
    cl_int error;
    log_call(about, arguments);
    target_check();
    if (settings->calls_another) {
        target_list_platforms(about->name);
    }
    if (settings->recurses) {
        loader_list_platforms();
    }
    memcpy(changed, arguments, about->parameter_count * sizeof *changed);
    changes_apply(about, settings, changed, own);
    if (settings->swallows) {
        result = answer_here(about, changed, SWALLOWED);
    } else if (settings->needs_pointers && changes_lack_pointer(about, arguments)) {
        result = answer_here(about, changed, CL_INVALID_VALUE);
    } else if (mistakes_answer(function, changed, &error)) {
        result = answer_here(about, changed, error);
    } else {
        result = hand_on(function, changed);
    }
    if (settings->changes_result) {
        result = one_more(about, arguments, result);
    }
    if (fault(FAULT_table_changes_after_init, ANY_PLATFORM)) {
        table_swap_entries();
    }
    log_return(about, arguments, result);
    return result;
}
