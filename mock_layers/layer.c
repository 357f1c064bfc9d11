/* SPDX-License-Identifier: Apache-2.0 */
/* The mock layer: logs every call that reaches it and hands it on to its target.
 *
 * Which of a layer's functions it exports is a matter of the build: MOCK_WITHOUT_… leaves one out (see CMakeLists.txt
 * for the variants). Source of the contract: OpenCL-Docs, extensions/cl_loader_layers.asciidoc 1.0.1.
 */
#define _GNU_SOURCE
#include "layer.h"

#include "exported.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* --- a layer's own functions, in the log like all others --- */

__attribute__((unused)) static void log_own_call(const char *name, const uint64_t *arguments, size_t count)
{
    struct calllog_line line;
    calllog_begin(&mock_log, &line, CALLLOG_CALL, mock_name, name, arguments, count);
    calllog_commit(&mock_log, &line);
}

__attribute__((unused)) static void log_own_return(const char *name, cl_int result)
{
    struct calllog_line line;
    calllog_begin(&mock_log, &line, CALLLOG_RETURN, mock_name, name, &(uint64_t){(uint64_t)(int64_t)result}, 1);
    calllog_commit(&mock_log, &line);
}

#ifndef MOCK_WITHOUT_INFO
EXPORTED CL_API_ENTRY cl_int CL_API_CALL clGetLayerInfo(cl_layer_info param_name, size_t param_value_size,
                                                        void *param_value, size_t *param_value_size_ret)
{
    const uint64_t arguments[] = {param_name, param_value_size, (uint64_t)(uintptr_t)param_value,
                                  (uint64_t)(uintptr_t)param_value_size_ret};
    log_own_call("clGetLayerInfo", arguments, 4);
    cl_int result = info_answer(arguments);
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
    target_list_platforms("exit handler");
}

static void end_process(void)
{
    _exit(3);
}

static void *volatile leaked;

static bool is_on(int which)
{
    return fault(which, ANY_PLATFORM);
}

static bool null_is_accepted(long number)
{
    return fault_value(FAULT_init_accepts_null, ANY_PLATFORM, 0) == number;
}

/* What an init function refuses: CL_SUCCESS where there is nothing to refuse. */
static cl_int refusal(cl_uint num_entries, const void *target, const void *count_ret, const void *table_ret)
{
    static _Atomic bool refused;
    if ((!target && !null_is_accepted(1)) || (!count_ret && !null_is_accepted(2)) ||
        (!table_ret && !null_is_accepted(3))) {
        refused = true;
        return (cl_int)fault_value(FAULT_init_refuses_null_with, ANY_PLATFORM, CL_INVALID_VALUE);
    }
    if (num_entries < TABLE_LENGTH && is_on(FAULT_init_refuses_short_table_with)) {
        return (cl_int)fault_value(FAULT_init_refuses_short_table_with, ANY_PLATFORM, CL_INVALID_VALUE);
    }
    if (num_entries > TABLE_LENGTH && is_on(FAULT_init_refuses_long_table)) {
        return CL_INVALID_VALUE;
    }
    if (is_on(FAULT_init_fails) || (refused && is_on(FAULT_init_fails_after_refusal))) {
        return (cl_int)fault_value(FAULT_init_fails, ANY_PLATFORM, CL_OUT_OF_HOST_MEMORY);
    }
    return CL_SUCCESS;
}

#ifndef _WIN32
static void change_process(long what)
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGUSR2);
    if (what == 1) {
        umask(0);
    } else if (what == 2) {
        setenv("CLHARNESS_LAYER_WAS_HERE", "1", 1);
    } else if (what == 3) {
        pthread_sigmask(SIG_BLOCK, &signals, NULL);
    } else if (what == 4 && chdir("/")) {
        abort();
    }
}
#else
static void change_process(long what)
{
    (void)what;
}
#endif

/* What the layer does in its initialisation besides its work. */
static void misbehave(void)
{
    change_process(fault_value(FAULT_init_changes_process, ANY_PLATFORM, 0));
    if (is_on(FAULT_init_sleeps)) {
        sleep_ms(fault_value(FAULT_init_sleeps, ANY_PLATFORM, 0));
    }
    if (is_on(FAULT_init_prints)) {
        puts("the layer's greeting");
    }
    if (is_on(FAULT_init_calls_target)) {
        target_list_platforms("init");
    }
    if (is_on(FAULT_init_calls_windows_entries)) {
        target_call_windows_entries();
    }
    if (is_on(FAULT_init_writes_target)) {
        target_swap_entries();
    }
    if (is_on(FAULT_init_registers_exit_handler)) {
        atexit(call_target_at_exit);
    }
    if (is_on(FAULT_exit_handler_ends_process)) {
        atexit(end_process);
    }
    if (is_on(FAULT_init_leaks)) {
        leaked = malloc((size_t)fault_value(FAULT_init_leaks, ANY_PLATFORM, 1));
    }
    if (is_on(FAULT_init_opens_inherited_files)) {
        open("/dev/null", O_RDONLY);
    }
    if (is_on(FAULT_init_opens_files)) {
        open("/dev/null", O_RDONLY | O_CLOEXEC);
    }
}

/* Wraps as many entries as both sides know: a loader's shorter table is enough for this layer. */
__attribute__((unused)) static cl_int init(cl_uint num_entries, const cl_icd_dispatch *target_dispatch,
                                           cl_uint *num_entries_ret, const cl_icd_dispatch **layer_dispatch_ret)
{
    cl_uint count = 0;
    cl_int result = refusal(num_entries, target_dispatch, num_entries_ret, layer_dispatch_ret);
    if (result != CL_SUCCESS || !target_dispatch || !num_entries_ret || !layer_dispatch_ret) {
        return result;
    }
    target_set(target_dispatch, is_on(FAULT_init_reads_all_entries) ? TABLE_LENGTH : num_entries);
    misbehave();
    if (is_on(FAULT_init_leaves_outputs)) {
        return CL_SUCCESS;
    }
    *layer_dispatch_ret = table_make(entry_of_function, &count);
    *num_entries_ret = is_on(FAULT_table_is_empty) ? 0 : count;
    if (is_on(FAULT_table_is_null)) {
        *layer_dispatch_ret = NULL;
    }
    if (is_on(FAULT_init_fails_after_writing)) {
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
    cl_int result = (cl_int)fault_value(FAULT_init_refuses_properties_with, ANY_PLATFORM, CL_INVALID_PROPERTY);
    bool empty = properties && *properties == 0 && !is_on(FAULT_init_refuses_empty_properties);
    bool absent = !properties && !is_on(FAULT_init_refuses_absent_properties);
    if (empty || absent || is_on(FAULT_init_ignores_properties)) {
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
        target_list_platforms("clDeinitLayer");
    }
    if (fault(FAULT_deinit_calls_loader, ANY_PLATFORM)) {
        loader_list_platforms();
    }
    cl_int result = fault(FAULT_deinit_fails, ANY_PLATFORM)
                        ? (cl_int)fault_value(FAULT_deinit_fails, ANY_PLATFORM, CL_OUT_OF_HOST_MEMORY)
                        : CL_SUCCESS;
    log_own_return("clDeinitLayer", result);
    return result;
}
#endif

#ifdef MOCK_REFERS_TO_LOADER
/* Bound to whichever library of the process exports it. */
#pragma weak clGetPlatformIDs
EXPORTED void *layer_refers_to(void)
{
    return (void *)(uintptr_t)clGetPlatformIDs;
}
#endif

/* --- while it is loaded --- */

__attribute__((constructor)) static void loaded(void)
{
    config_load();
    log_event("loaded", NULL);
    if (fault(FAULT_constructor_sleeps, ANY_PLATFORM)) {
        sleep_ms(fault_value(FAULT_constructor_sleeps, ANY_PLATFORM, 0));
    }
    change_process(fault_value(FAULT_constructor_changes_process, ANY_PLATFORM, 0));
    if (fault(FAULT_constructor_opens_inherited_files, ANY_PLATFORM)) {
        open("/dev/null", O_RDONLY);
    }
    if (fault(FAULT_constructor_aborts, ANY_PLATFORM)) {
        abort();
    }
}

__attribute__((destructor)) static void unloaded(void)
{
    log_event("unloaded", NULL);
    if (fault(FAULT_destructor_calls_target, ANY_PLATFORM)) {
        target_list_platforms("destructor");
    }
    sidefile_unload();
}
