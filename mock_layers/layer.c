/* The mock layer: logs every call that reaches it and hands it on to its target.
 *
 * Which of a layer's functions it exports is a matter of the build: MOCK_WITHOUT_… leaves one out (see CMakeLists.txt
 * for the variants). Source of the contract: OpenCL-Docs, extensions/cl_loader_layers.asciidoc 1.0.1.
 */
#define _GNU_SOURCE
#include "layer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define EXPORTED __attribute__((visibility("default")))

/* --- a layer's own functions, in the log like all others --- */

__attribute__((unused)) static void log_own_call(const char *name, const uint64_t *arguments, size_t count)
{
    struct calllog_line line;
    calllog_begin(&line, mock_name, "call", name);
    calllog_words(&line, "args", arguments, count);
    calllog_commit(&mock_log, &line);
}

__attribute__((unused)) static void log_own_return(const char *name, cl_int result)
{
    struct calllog_line line;
    calllog_begin(&line, mock_name, "return", name);
    calllog_hex(&line, "result", (uint64_t)(int64_t)result);
    calllog_commit(&mock_log, &line);
}

#ifndef MOCK_WITHOUT_INFO
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
        if (fault(FAULT_api_version_unset, ANY_PLATFORM)) {
            return CL_SUCCESS;
        }
        if (fault(FAULT_api_version_fails_after_writing, ANY_PLATFORM)) {
            answer_info(arguments + 1, &version, sizeof version);
            return (cl_int)fault_value(FAULT_api_version_fails_after_writing, ANY_PLATFORM, CL_SUCCESS);
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

static void sleep_ms(long milliseconds)
{
    struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    nanosleep(&time, NULL);
}

static void call_target_at_exit(void)
{
    call_target("exit handler");
}

/* Wraps as many entries as both sides know: a loader's shorter table is enough for this layer. */
__attribute__((unused)) static cl_int init(cl_uint num_entries, const cl_icd_dispatch *target_dispatch,
                                           cl_uint *num_entries_ret, const cl_icd_dispatch **layer_dispatch_ret)
{
    if (!target_dispatch || !num_entries_ret || !layer_dispatch_ret) {
        return CL_INVALID_VALUE;
    }
    if (fault(FAULT_init_fails, ANY_PLATFORM)) {
        return (cl_int)fault_value(FAULT_init_fails, ANY_PLATFORM, CL_OUT_OF_HOST_MEMORY);
    }
    target_set(target_dispatch, num_entries);
    if (fault(FAULT_init_sleeps, ANY_PLATFORM)) {
        sleep_ms(fault_value(FAULT_init_sleeps, ANY_PLATFORM, 0));
    }
    if (fault(FAULT_init_prints, ANY_PLATFORM)) {
        puts("the layer's greeting");
    }
    if (fault(FAULT_init_calls_target, ANY_PLATFORM)) {
        call_target("init");
    }
    if (fault(FAULT_init_registers_exit_handler, ANY_PLATFORM)) {
        atexit(call_target_at_exit);
    }
    if (fault(FAULT_init_leaves_outputs, ANY_PLATFORM)) {
        return CL_SUCCESS;
    }
    *layer_dispatch_ret = table_make(num_entries_ret);
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

#ifndef MOCK_WITHOUT_INIT
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

#ifndef MOCK_WITHOUT_INIT_WITH_PROPERTIES
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

#ifndef MOCK_WITHOUT_DEINIT
EXPORTED CL_API_ENTRY cl_int CL_API_CALL clDeinitLayer(void)
{
    log_own_call("clDeinitLayer", NULL, 0);
    target_check();
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

__attribute__((constructor)) static void loaded(void)
{
    layer_configure();
    log_event("loaded", NULL);
    if (fault(FAULT_constructor_sleeps, ANY_PLATFORM)) {
        sleep_ms(fault_value(FAULT_constructor_sleeps, ANY_PLATFORM, 0));
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
