/* What happens to a call in the mock layer: logged, changed as told, and handed on to the target. */
#define _GNU_SOURCE
#include "layer.h"

#include <dlfcn.h>
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

void call_target(const char *where)
{
    cl_uint count = 0;
    cl_platform_id platform = NULL;
    char name[64] = "";
    const uint64_t list[] = {1, (uint64_t)(uintptr_t)&platform, (uint64_t)(uintptr_t)&count};
    entry *get_platforms = target_function(function_info[FUNCTION_clGetPlatformIDs].slot);
    entry *get_info = target_function(function_info[FUNCTION_clGetPlatformInfo].slot);
    if (!get_platforms || !get_info) {
        log_event("call of target impossible", where);
        return;
    }
    log_event("call of target", where);
    cl_int result = (cl_int)invoke(FUNCTION_clGetPlatformIDs, get_platforms, list);
    log_event("call of target done", result == CL_SUCCESS ? "success" : "error");
    if (platform) {
        const uint64_t query[] = {(uint64_t)(uintptr_t)platform, CL_PLATFORM_NAME, sizeof name,
                                  (uint64_t)(uintptr_t)name, 0};
        invoke(FUNCTION_clGetPlatformInfo, get_info, query);
        log_event("platform of target", name);
    }
}

void call_loader(void)
{
    static _Thread_local bool inside;
    cl_uint count = 0;
    void *loader = mock_loader && !inside ? dlopen(mock_loader, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    void *symbol = loader ? dlsym(loader, "clGetPlatformIDs") : NULL;
    const uint64_t arguments[] = {0, 0, (uint64_t)(uintptr_t)&count};
    if (symbol) {
        inside = true;
        log_event("call of loader", NULL);
        cl_int result = (cl_int)invoke(FUNCTION_clGetPlatformIDs, (entry *)(uintptr_t)symbol, arguments);
        const char *failure = result == CL_INVALID_OPERATION ? "refused" : "error";
        log_event("call of loader done", result == CL_SUCCESS ? "success" : failure);
        inside = false;
        dlclose(loader);
    }
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
    if (fault(FAULT_supplies_platform, ANY_PLATFORM) && own_platform(function, next, arguments, &result)) {
        return result;
    }
    return fault(FAULT_wraps_handles, ANY_PLATFORM) ? call_wrapped(function, next, arguments)
                                                    : call_next(function, &function_config[function], next, arguments);
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
    const struct function_config *told = &function_config[function];
    uint64_t changed[MAX_PARAMETERS];
    uint64_t own[64] = {0};
    uint64_t result;
    log_call(about, arguments);
    target_check();
    if (told->calls_another) {
        call_target(about->name);
    }
    if (told->recurses) {
        call_loader();
    }
    memcpy(changed, arguments, about->parameter_count * sizeof *changed);
    change_arguments(about, told, changed, own);
    if (told->swallows) {
        result = answer_here(about, changed, SWALLOWED);
    } else if (told->needs_pointers && lacks_pointer(about, arguments)) {
        result = answer_here(about, changed, CL_INVALID_VALUE);
    } else {
        result = hand_on(function, changed);
    }
    if (told->changes_result) {
        result = one_more(about, arguments, result);
    }
    if (fault(FAULT_table_changes_after_init, ANY_PLATFORM)) {
        table_swap_entries();
    }
    log_return(about, arguments, result);
    return result;
}
