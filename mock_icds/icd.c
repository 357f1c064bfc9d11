/* SPDX-License-Identifier: Apache-2.0 */
/* The mock ICD as a library: what it exports, and what it does when it is loaded and unloaded.
 *
 * Which symbols exist depends on the build: MOCK_WITHOUT_… leaves one out (see CMakeLists.txt for the variants).
 */
#define _GNU_SOURCE
#include "base/arena.h"
#include "base/config.h"
#include "base/loader.h"
#include "base/objects.h"
#include "base/platforms.h"
#include "base/tables.h"
#include "clharness_cl.h"
#include "core/enumeration.h"
#include "core/info.h"
#include "core/process_faults.h"
#include "exported.h"

#include <pthread.h>
#include <stdlib.h>

static pthread_t thread;
static bool thread_runs;
static pthread_mutex_t thread_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t thread_wake = PTHREAD_COND_INITIALIZER;
static bool thread_stop;
static void *thread_calls_back(void *unused)
{
    (void)unused;
    loader_list_platforms("thread");
    return NULL;
}

static void *thread_waits(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&thread_lock);
    while (!thread_stop) {
        pthread_cond_wait(&thread_wake, &thread_lock);
    }
    pthread_mutex_unlock(&thread_lock);
    return NULL;
}

static void start_thread(void *(*function)(void *))
{
    thread_runs = pthread_create(&thread, NULL, function, NULL) == 0;
    log_event("thread", thread_runs ? "started" : "not started");
}

__attribute__((constructor)) static void loaded(void)
{
    config_load();
    arena_open();
    tables_open(entry_of_function);
    object_open();
    platform_open();
    log_event("loaded", NULL);
    enumeration_note_load();
    process_faults_at_load();
    if (fault(FAULT_constructor_sleeps, ANY_PLATFORM)) {
        process_faults_sleep(fault_value(FAULT_constructor_sleeps, ANY_PLATFORM, 0));
    }
    if (fault(FAULT_constructor_aborts, ANY_PLATFORM)) {
        abort();
    }
    if (fault(FAULT_constructor_exits, ANY_PLATFORM)) {
        exit((int)fault_value(FAULT_constructor_exits, ANY_PLATFORM, 0));
    }
    if (fault(FAULT_constructor_calls_opencl, ANY_PLATFORM)) {
        loader_list_platforms("constructor");
    }
    if (fault(FAULT_constructor_starts_thread, ANY_PLATFORM)) {
        start_thread(thread_waits);
    }
    if (fault(FAULT_constructor_calls_opencl_in_thread, ANY_PLATFORM)) {
        start_thread(thread_calls_back);
    }
}

__attribute__((destructor)) static void unloaded(void)
{
    if (fault(FAULT_destructor_aborts, ANY_PLATFORM)) {
        abort();
    }
    if (fault(FAULT_destructor_calls_opencl, ANY_PLATFORM)) {
        loader_list_platforms("destructor");
    }
    if (fault(FAULT_destructor_releases_context, ANY_PLATFORM)) {
        loader_release_context();
    }
    if (thread_runs) {
        pthread_mutex_lock(&thread_lock);
        thread_stop = true;
        pthread_cond_signal(&thread_wake);
        pthread_mutex_unlock(&thread_lock);
        pthread_join(thread, NULL);
    }
    log_event("unloaded", NULL);
    object_close();
    tables_close();
    arena_close();
    sidefile_unload();
}

#ifndef MOCK_EXPORTS_ALL /* there the generated exports have all of them */

#ifndef MOCK_WITHOUT_GET_EXTENSION_FUNCTION_ADDRESS
EXPORTED CL_API_ENTRY void *CL_API_CALL clGetExtensionFunctionAddress(const char *name)
{
    const uint64_t arguments[] = {(uint64_t)(uintptr_t)name};
    return (void *)(uintptr_t)component_call(FUNCTION_clGetExtensionFunctionAddress, arguments);
}
#endif

#ifndef MOCK_WITHOUT_GET_PLATFORM_INFO
EXPORTED CL_API_ENTRY cl_int CL_API_CALL clGetPlatformInfo(cl_platform_id platform, cl_platform_info param_name,
                                                           size_t param_value_size, void *param_value,
                                                           size_t *param_value_size_ret)
{
    const uint64_t arguments[] = {(uint64_t)(uintptr_t)platform, param_name, param_value_size,
                                  (uint64_t)(uintptr_t)param_value, (uint64_t)(uintptr_t)param_value_size_ret};
    if (fault(FAULT_exported_info_differs, ANY_PLATFORM)) {
        log_event("exported clGetPlatformInfo", NULL);
        return info_platform(arguments, true);
    }
    return (cl_int)component_call(FUNCTION_clGetPlatformInfo, arguments);
}
#endif

#endif

#ifdef MOCK_EXPORTS_GET_PLATFORM_IDS
EXPORTED CL_API_ENTRY cl_int CL_API_CALL clIcdGetPlatformIDsKHR(cl_uint num_entries, cl_platform_id *platforms,
                                                                cl_uint *num_platforms)
{
    const uint64_t arguments[] = {num_entries, (uint64_t)(uintptr_t)platforms, (uint64_t)(uintptr_t)num_platforms};
    return (cl_int)component_call(FUNCTION_clIcdGetPlatformIDsKHR, arguments);
}
#endif

#ifdef MOCK_CALLS_MISSING_FUNCTION
/* Never called: the library cannot be bound with RTLD_NOW. */
extern void clharness_function_that_nobody_has(void);
EXPORTED void clharness_unresolved(void);
EXPORTED void clharness_unresolved(void)
{
    clharness_function_that_nobody_has();
}
#endif

#ifdef MOCK_NEEDS_ABSENT_LIBRARY
/* Never called: a function of a library that is nowhere. */
extern int clharness_no_opencl_here(void);
EXPORTED void clharness_calls_absent_library(void);
EXPORTED void clharness_calls_absent_library(void)
{
    clharness_no_opencl_here();
}
#endif

#ifdef MOCK_REFUSES_TO_LOAD
/* Windows: the library says itself that it cannot be used. */
#include <windows.h>
BOOL WINAPI DllMain(HINSTANCE library, DWORD reason, LPVOID reserved);
BOOL WINAPI DllMain(HINSTANCE library, DWORD reason, LPVOID reserved)
{
    (void)library;
    (void)reserved;
    return reason != DLL_PROCESS_ATTACH;
}
#endif

#ifdef MOCK_REFERS_TO_LOADER
/* Never called: a function of OpenCL that is another library's. */
EXPORTED void clharness_calls_loader(void);
EXPORTED void clharness_calls_loader(void)
{
    clFinish(NULL);
}
#endif

#ifdef MOCK_INTERPOSABLE
/* Never called: a call of an own function that goes to whichever library has that name first. */
EXPORTED void clharness_calls_itself(void);
EXPORTED void clharness_calls_itself(void)
{
    clGetPlatformInfo(NULL, 0, 0, NULL, NULL);
}
#endif

#ifdef MOCK_RELOCATES_TEXT
/* An address in the code itself: it has to be written there when the library is loaded. */
#if UINTPTR_MAX > 0xFFFFFFFFU
__asm__(".text\n.balign 8\n.quad clGetPlatformInfo\n");
#else
__asm__(".text\n.balign 4\n.long clGetPlatformInfo\n");
#endif
#endif

#ifdef MOCK_EXPORTS_SYMBOL
/* A symbol for another vendor's reference to be satisfied by, where symbols are not local. */
EXPORTED int clharness_vendor_symbol = 1;
#endif

#ifdef MOCK_REFERS_TO_SYMBOL
#pragma weak clharness_vendor_symbol
extern int clharness_vendor_symbol;
__attribute__((constructor)) static void log_symbol(void)
{
    log_event("vendor symbol", &clharness_vendor_symbol ? "bound to another library" : "unbound");
}
#endif

#if defined(MOCK_SHARES_SYMBOL) && !defined(_WIN32)
/* A reference to the own symbol, which the dynamic linker may bind to another library's of that name. Volatile: a
 * compiler takes the two addresses for known. */
extern int clharness_own_symbol __attribute__((alias("clharness_vendor_symbol"), visibility("hidden")));
__attribute__((constructor)) static void log_shared_symbol(void)
{
    const int *volatile found = &clharness_vendor_symbol;
    const int *volatile own = &clharness_own_symbol;
    log_event("vendor symbol", found == own ? "its own" : "bound to another library");
}
#endif
