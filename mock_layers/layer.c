/* The mock layer: logs every call that reaches it and hands it on to its target.
 *
 * Which of a layer's functions it exports is a matter of the build: MOCK_WITHOUT_… leaves one out (see CMakeLists.txt
 * for the variants). Source of the contract: OpenCL-Docs, extensions/cl_loader_layers.asciidoc 1.0.1.
 */
#define _GNU_SOURCE
#include "calls.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define EXPORTED __attribute__((visibility("default")))

#ifndef CL_LAYER_PROPERTIES_LIST_END /* the headers know layers of 1.0.0 only */
typedef cl_properties cl_layer_properties;
CL_API_ENTRY cl_int CL_API_CALL clInitLayerWithProperties(cl_uint num_entries, const cl_icd_dispatch *target_dispatch,
                                                          cl_uint *num_entries_ret,
                                                          const cl_icd_dispatch **layer_dispatch_ret,
                                                          const cl_layer_properties *properties);
CL_API_ENTRY cl_int CL_API_CALL clDeinitLayer(void);
#endif

enum fault {
#define FAULT(name) FAULT_##name,
#include "faults.h"
#undef FAULT
    FAULT_COUNT
};

static const char *const fault_names[] = {
#define FAULT(name) #name,
#include "faults.h"
#undef FAULT
};

typedef void entry(void);

static entry *const *target;
static cl_uint target_length;
static entry *table[TABLE_LENGTH];

/* --- the table's functions --- */

/* The target's function for a slot, or NULL where the loader left a hole or gave a shorter table. */
static entry *target_function(int slot)
{
    return target && slot >= 0 && (cl_uint)slot < target_length ? target[slot] : NULL;
}

/* What a call answers that has nowhere to go. */
static uint64_t refuse_call(const struct function_info *about, const uint64_t *arguments)
{
    log_event("no target", about->name);
    for (unsigned i = 0; i < about->parameter_count; i++) {
        if (about->parameters[i].kind == PARAMETER_ERRCODE && arguments[i]) {
            *(cl_int *)(uintptr_t)arguments[i] = CL_INVALID_OPERATION;
        }
    }
    return about->result == RESULT_SIGNED ? (uint64_t)(int64_t)CL_INVALID_OPERATION : 0;
}

uint64_t component_call(enum function function, const uint64_t *arguments)
{
    const struct function_info *about = &function_info[function];
    log_call(about, arguments);
    entry *next = target_function(about->slot);
    uint64_t result = next ? invoke(function, next, arguments) : refuse_call(about, arguments);
    log_return(about, arguments, result);
    return result;
}

/* Entries without a signature in the headers stay NULL: the loader fills them from the target. */
static void make_table(void)
{
    for (int slot = 0; slot < TABLE_LENGTH; slot++) {
        int function = function_of_slot[slot];
        table[slot] = function < 0 ? NULL : entry_of_function[function];
    }
}

static void call_target(const char *where)
{
    cl_uint count = 0;
    const uint64_t arguments[] = {0, 0, (uint64_t)(uintptr_t)&count};
    entry *next = target_function(function_info[FUNCTION_clGetPlatformIDs].slot);
    if (!next) {
        log_event("call of target impossible", where);
        return;
    }
    log_event("call of target", where);
    cl_int result = (cl_int)invoke(FUNCTION_clGetPlatformIDs, next, arguments);
    log_event("call of target done", result == CL_SUCCESS ? "success" : "error");
}

/* --- a layer's own functions, in the log like all others --- */

static void log_own_call(const char *name, const uint64_t *arguments, size_t count)
{
    struct calllog_line line;
    calllog_begin(&line, mock_name, "call", name);
    calllog_words(&line, "args", arguments, count);
    calllog_commit(&mock_log, &line);
}

static void log_own_return(const char *name, cl_int result)
{
    struct calllog_line line;
    calllog_begin(&line, mock_name, "return", name);
    calllog_hex(&line, "result", (uint64_t)(int64_t)result);
    calllog_commit(&mock_log, &line);
}

#ifndef MOCK_WITHOUT_GET_LAYER_INFO
static cl_int get_layer_info(const uint64_t *arguments)
{
    long reported = fault_value(FAULT_reports_api_version, ANY_PLATFORM, CL_LAYER_API_VERSION_100);
    cl_layer_api_version version = (cl_layer_api_version)reported;
    if (fault(FAULT_get_layer_info_fails, ANY_PLATFORM)) {
        return (cl_int)fault_value(FAULT_get_layer_info_fails, ANY_PLATFORM, CL_OUT_OF_HOST_MEMORY);
    }
    switch ((cl_layer_info)arguments[0]) {
    case CL_LAYER_API_VERSION:
        if (fault(FAULT_api_version_fails, ANY_PLATFORM)) {
            return (cl_int)fault_value(FAULT_api_version_fails, ANY_PLATFORM, CL_INVALID_VALUE);
        }
        return answer_info(arguments + 1, &version, sizeof version);
    case CL_LAYER_NAME:
        return answer_info(arguments + 1, mock_name, strlen(mock_name) + 1);
    default:
        return CL_INVALID_VALUE;
    }
}

EXPORTED CL_API_ENTRY cl_int CL_API_CALL clGetLayerInfo(cl_layer_info param_name, size_t param_value_size,
                                                        void *param_value, size_t *param_value_size_ret)
{
    const uint64_t arguments[] = {param_name, param_value_size, (uint64_t)(uintptr_t)param_value,
                                  (uint64_t)(uintptr_t)param_value_size_ret};
    log_own_call("clGetLayerInfo", arguments, 4);
    cl_int result = get_layer_info(arguments);
    log_own_return("clGetLayerInfo", result);
    return result;
}
#endif

/* Wraps as many entries as both sides know: a loader's shorter table is enough for this layer. */
static cl_int init(cl_uint num_entries, const cl_icd_dispatch *target_dispatch, cl_uint *num_entries_ret,
                   const cl_icd_dispatch **layer_dispatch_ret)
{
    if (!target_dispatch || !num_entries_ret || !layer_dispatch_ret) {
        return CL_INVALID_VALUE;
    }
    if (fault(FAULT_init_fails, ANY_PLATFORM)) {
        return (cl_int)fault_value(FAULT_init_fails, ANY_PLATFORM, CL_OUT_OF_HOST_MEMORY);
    }
    target = (entry *const *)(const void *)target_dispatch;
    target_length = num_entries;
    make_table();
    if (fault(FAULT_init_calls_target, ANY_PLATFORM)) {
        call_target("init");
    }
    if (fault(FAULT_init_leaves_outputs, ANY_PLATFORM)) {
        return CL_SUCCESS;
    }
    *num_entries_ret = num_entries < TABLE_LENGTH ? num_entries : TABLE_LENGTH;
    *layer_dispatch_ret = (const cl_icd_dispatch *)(const void *)table;
    if (fault(FAULT_table_is_empty, ANY_PLATFORM)) {
        *num_entries_ret = 0;
    }
    if (fault(FAULT_table_is_null, ANY_PLATFORM)) {
        *layer_dispatch_ret = NULL;
    }
    if (fault(FAULT_init_fails_after_writing, ANY_PLATFORM)) {
        return (cl_int)fault_value(FAULT_init_fails_after_writing, ANY_PLATFORM, CL_OUT_OF_HOST_MEMORY);
    }
    return CL_SUCCESS;
}

#ifndef MOCK_WITHOUT_INIT_LAYER
EXPORTED CL_API_ENTRY cl_int CL_API_CALL clInitLayer(cl_uint num_entries, const cl_icd_dispatch *target_dispatch,
                                                     cl_uint *num_entries_ret,
                                                     const cl_icd_dispatch **layer_dispatch_ret)
{
    const uint64_t arguments[] = {num_entries, (uint64_t)(uintptr_t)target_dispatch,
                                  (uint64_t)(uintptr_t)num_entries_ret, (uint64_t)(uintptr_t)layer_dispatch_ret};
    log_own_call("clInitLayer", arguments, 4);
    cl_int result = init(num_entries, target_dispatch, num_entries_ret, layer_dispatch_ret);
    log_own_return("clInitLayer", result);
    return result;
}
#endif

#ifndef MOCK_WITHOUT_INIT_LAYER_WITH_PROPERTIES
/* No property exists in 1.0.1: any at all is an unknown one. */
EXPORTED CL_API_ENTRY cl_int CL_API_CALL clInitLayerWithProperties(cl_uint num_entries,
                                                                   const cl_icd_dispatch *target_dispatch,
                                                                   cl_uint *num_entries_ret,
                                                                   const cl_icd_dispatch **layer_dispatch_ret,
                                                                   const cl_layer_properties *properties)
{
    const uint64_t arguments[] = {num_entries, (uint64_t)(uintptr_t)target_dispatch,
                                  (uint64_t)(uintptr_t)num_entries_ret, (uint64_t)(uintptr_t)layer_dispatch_ret,
                                  (uint64_t)(uintptr_t)properties};
    log_own_call("clInitLayerWithProperties", arguments, 5);
    cl_int result = CL_INVALID_PROPERTY;
    if (!properties || *properties == 0) {
        result = init(num_entries, target_dispatch, num_entries_ret, layer_dispatch_ret);
    }
    log_own_return("clInitLayerWithProperties", result);
    return result;
}
#endif

#ifndef MOCK_WITHOUT_DEINIT_LAYER
EXPORTED CL_API_ENTRY cl_int CL_API_CALL clDeinitLayer(void)
{
    log_own_call("clDeinitLayer", NULL, 0);
    if (fault(FAULT_deinit_calls_target, ANY_PLATFORM)) {
        call_target("clDeinitLayer");
    }
    cl_int result = fault(FAULT_deinit_fails, ANY_PLATFORM)
                        ? (cl_int)fault_value(FAULT_deinit_fails, ANY_PLATFORM, CL_OUT_OF_HOST_MEMORY)
                        : CL_SUCCESS;
    log_own_return("clDeinitLayer", result);
    return result;
}
#endif

/* --- while it is loaded --- */

/* All that there is to tell it stands in faults.h. */
static bool no_key(const char *key, char *value)
{
    (void)key;
    (void)value;
    return false;
}

__attribute__((constructor)) static void loaded(void)
{
    sidefile_load(fault_names, FAULT_COUNT, no_key);
    log_event("loaded", NULL);
    if (fault(FAULT_constructor_sleeps, ANY_PLATFORM)) {
        long milliseconds = fault_value(FAULT_constructor_sleeps, ANY_PLATFORM, 0);
        struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
        nanosleep(&time, NULL);
    }
    if (fault(FAULT_constructor_aborts, ANY_PLATFORM)) {
        abort();
    }
}

__attribute__((destructor)) static void unloaded(void)
{
    log_event("unloaded", NULL);
    sidefile_unload();
}
