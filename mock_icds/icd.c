/* The mock ICD's contract with the loader: what it exports, how it is found, and what it does while it is loaded.
 *
 * Which symbols exist is a matter of the build: MOCK_WITHOUT_… leaves one out (see CMakeLists.txt for the variants).
 */
#define _GNU_SOURCE
#include "icd.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

typedef cl_int CL_API_CALL clGetPlatformIDs_function(cl_uint, cl_platform_id *, cl_uint *);

static pthread_t thread;
static bool thread_runs;
static pthread_mutex_t thread_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t thread_wake = PTHREAD_COND_INITIALIZER;
static bool thread_stop;
static pid_t loading_process;
static bool loaded_before; /* in this process */

static void sleep_ms(long milliseconds)
{
    struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    nanosleep(&time, NULL);
}

void call_back_into_loader(const char *where)
{
    void *loader = mock_loader ? dlopen(mock_loader, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    void *found = loader ? dlsym(loader, "clGetPlatformIDs") : NULL;
    clGetPlatformIDs_function *symbol = (clGetPlatformIDs_function *)(uintptr_t)found;
    if (!symbol) {
        log_event("call back impossible", where);
        return;
    }
    cl_uint count = 0;
    log_event("call back", where);
    cl_int result = symbol(0, NULL, &count);
    log_event("call back done", result == CL_SUCCESS ? "success" : "error");
    dlclose(loader);
}

bool first_platform_is_ours(void)
{
    void *loader = mock_loader ? dlopen(mock_loader, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    void *found = loader ? dlsym(loader, "clGetPlatformIDs") : NULL;
    clGetPlatformIDs_function *symbol = (clGetPlatformIDs_function *)(uintptr_t)found;
    cl_platform_id first = NULL;
    bool listed = symbol && symbol(1, &first, NULL) == CL_SUCCESS;
    if (loader) {
        dlclose(loader);
    }
    return !listed || object_of((uint64_t)(uintptr_t)first) != NULL;
}

/* The context belongs to another library; what it is worth now is for the loader to know. */
static void release_late_context(void)
{
    const char *text = getenv("CLHARNESS_LATE_CONTEXT");
    void *loader = mock_loader ? dlopen(mock_loader, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    void *symbol = loader ? dlsym(loader, "clReleaseContext") : NULL;
    if (!text || !symbol) {
        log_event("call back impossible", "late release");
        return;
    }
    cl_context context = (cl_context)(uintptr_t)strtoull(text, NULL, 0);
    log_event("call back", "late release");
    cl_int result = ((cl_int(CL_API_CALL *)(cl_context))(uintptr_t)symbol)(context);
    log_event("call back done", result == CL_SUCCESS             ? "success"
                                : result == CL_INVALID_OPERATION ? "refused"
                                                                 : "error");
    dlclose(loader);
}

/* A library's own extension function: answers the name of the component that it belongs to. */
static const char *CL_API_CALL vendor_function(void)
{
    log_event("vendor function", NULL);
    return mock_name;
}

static bool ends_with_a_suffix(const char *name)
{
    for (int i = 0; i < config.platform_count && i < MAX_PLATFORMS; i++) {
        size_t length = strlen(name);
        size_t suffix = strlen(config.platform[i].suffix);
        if (suffix > 0 && length > suffix && strcmp(name + length - suffix, config.platform[i].suffix) == 0) {
            return true;
        }
    }
    return false;
}

/* What clGetExtensionFunctionAddress answers: every function of the API, and any name that ends in our suffix. */
void *address_query(const char *name)
{
    int function = name ? function_by_name(name) : -1;
    if (name && function < 0 && fault(FAULT_address_query_answers_anything, ANY_PLATFORM)) {
        return (void *)(uintptr_t)vendor_function;
    }
    if (!name || fault(FAULT_address_query_returns_null, ANY_PLATFORM) ||
        (function == FUNCTION_clIcdGetPlatformIDsKHR && fault(FAULT_get_platform_ids_not_returned, ANY_PLATFORM)) ||
        (function == FUNCTION_clGetPlatformInfo && fault(FAULT_get_platform_info_not_returned, ANY_PLATFORM)) ||
        (function == FUNCTION_clIcdGetFunctionAddressForPlatformKHR &&
         (!config.icd2 || fault(FAULT_icd2_without_get_function_address, ANY_PLATFORM))) ||
        (function == FUNCTION_clIcdSetPlatformDispatchDataKHR &&
         (!config.icd2 || fault(FAULT_icd2_without_set_dispatch_data, ANY_PLATFORM)))) {
        return NULL;
    }
    if (function >= 0) {
        return config.function[function].lacks ? NULL : (void *)(uintptr_t)entry_of_function[function];
    }
    return ends_with_a_suffix(name) ? (void *)(uintptr_t)vendor_function : NULL;
}

static cl_int count_platforms(cl_uint *num_platforms)
{
    if (fault(FAULT_enumeration_sleeps, ANY_PLATFORM)) {
        sleep_ms(fault_value(FAULT_enumeration_sleeps, ANY_PLATFORM, 0));
    }
    if (fault(FAULT_count_call_fails, ANY_PLATFORM)) {
        return (cl_int)fault_value(FAULT_count_call_fails, ANY_PLATFORM, CL_OUT_OF_HOST_MEMORY);
    }
    if (!fault(FAULT_count_call_leaves_count, ANY_PLATFORM)) {
        *num_platforms = (cl_uint)fault_value(FAULT_count_call_says, ANY_PLATFORM, config.platform_count);
    }
    if (fault(FAULT_count_call_fails_after_writing, ANY_PLATFORM)) {
        return (cl_int)fault_value(FAULT_count_call_fails_after_writing, ANY_PLATFORM, CL_OUT_OF_HOST_MEMORY);
    }
    return CL_SUCCESS;
}

static cl_int list_platforms(cl_uint num_entries, cl_platform_id *platforms, cl_uint *num_platforms)
{
    cl_uint count = (cl_uint)fault_value(FAULT_list_call_writes, ANY_PLATFORM, config.platform_count);
    if (fault(FAULT_list_call_fails, ANY_PLATFORM)) {
        return (cl_int)fault_value(FAULT_list_call_fails, ANY_PLATFORM, CL_OUT_OF_HOST_MEMORY);
    }
    bool all = fault(FAULT_list_call_ignores_room, ANY_PLATFORM);
    for (cl_uint i = count; i < num_entries && fault(FAULT_list_call_fills_room, ANY_PLATFORM); i++) {
        platforms[i] = NULL;
    }
    for (cl_uint i = 0; i < count && (i < num_entries || all); i++) {
        bool null = fault(FAULT_platform_is_null, (int)i);
        platforms[i] = null ? NULL : (cl_platform_id)object_handle(platform_object((int)i));
    }
    if (num_platforms) {
        *num_platforms = (cl_uint)fault_value(FAULT_list_call_says, ANY_PLATFORM, config.platform_count);
    }
    if (fault(FAULT_list_call_fails_after_writing, ANY_PLATFORM)) {
        return (cl_int)fault_value(FAULT_list_call_fails_after_writing, ANY_PLATFORM, CL_OUT_OF_HOST_MEMORY);
    }
    return CL_SUCCESS;
}

/* Whether there is something about the process or its other threads that a faulty vendor stumbles over. */
static bool stumbles(void)
{
    if (fault(FAULT_enumeration_fails_in_parallel, ANY_PLATFORM)) {
        static int inside;
        bool alone = __atomic_add_fetch(&inside, 1, __ATOMIC_RELAXED) == 1;
        sleep_ms(5);
        __atomic_sub_fetch(&inside, 1, __ATOMIC_RELAXED);
        return !alone;
    }
    return (fault(FAULT_enumeration_fails_in_child, ANY_PLATFORM) && getpid() != loading_process) ||
           (fault(FAULT_enumeration_fails_after_reload, ANY_PLATFORM) && loaded_before);
}

cl_int get_platform_ids(cl_uint num_entries, cl_platform_id *platforms, cl_uint *num_platforms)
{
    if (fault(FAULT_enumeration_calls_opencl, ANY_PLATFORM)) {
        call_back_into_loader("clIcdGetPlatformIDsKHR");
    }
    misbehave_when_asked();
    if (stumbles()) {
        return CL_OUT_OF_HOST_MEMORY;
    }
    if ((!platforms && !num_platforms) || (platforms && num_entries == 0)) {
        return fault(FAULT_enumeration_takes_anything, ANY_PLATFORM) ? CL_SUCCESS : CL_INVALID_VALUE;
    }
    if (fault(FAULT_platform_not_found, ANY_PLATFORM) || config.platform_count == 0) {
        if (num_platforms) {
            *num_platforms = 0;
        }
        return fault(FAULT_platform_not_found, ANY_PLATFORM) ? CL_PLATFORM_NOT_FOUND_KHR : CL_SUCCESS;
    }
    return platforms ? list_platforms(num_entries, platforms, num_platforms) : count_platforms(num_platforms);
}

static void *thread_calls_back(void *unused)
{
    (void)unused;
    call_back_into_loader("thread");
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
    objects_make();
    log_event("loaded", NULL);
    loading_process = getpid();
    misbehave_when_loaded();
    if (fault(FAULT_enumeration_fails_after_reload, ANY_PLATFORM)) {
        loaded_before = getenv("CLHARNESS_LOADED_BEFORE") != NULL;
        setenv("CLHARNESS_LOADED_BEFORE", "1", 1);
    }
    if (fault(FAULT_constructor_sleeps, ANY_PLATFORM)) {
        sleep_ms(fault_value(FAULT_constructor_sleeps, ANY_PLATFORM, 0));
    }
    if (fault(FAULT_constructor_aborts, ANY_PLATFORM)) {
        abort();
    }
    if (fault(FAULT_constructor_exits, ANY_PLATFORM)) {
        exit((int)fault_value(FAULT_constructor_exits, ANY_PLATFORM, 0));
    }
    if (fault(FAULT_constructor_calls_opencl, ANY_PLATFORM)) {
        call_back_into_loader("constructor");
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
        call_back_into_loader("destructor");
    }
    if (fault(FAULT_destructor_releases_context, ANY_PLATFORM)) {
        release_late_context();
    }
    if (thread_runs) {
        pthread_mutex_lock(&thread_lock);
        thread_stop = true;
        pthread_cond_signal(&thread_wake);
        pthread_mutex_unlock(&thread_lock);
        pthread_join(thread, NULL);
    }
    log_event("unloaded", NULL);
    objects_unmake();
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
        return get_platform_info(arguments, true);
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
__asm__(".text\n.balign 8\n.quad clGetPlatformInfo\n");
#endif

#ifdef MOCK_EXPORTS_SYMBOL
/* A symbol for another vendor's reference to be satisfied by, where symbols are not local. */
EXPORTED int clharness_vendor_symbol = 1;
#endif

#ifdef MOCK_REFERS_TO_SYMBOL
#pragma weak clharness_vendor_symbol
extern int clharness_vendor_symbol;
__attribute__((constructor)) static void tell_symbol(void)
{
    log_event("vendor symbol", &clharness_vendor_symbol ? "bound to another library" : "unbound");
}
#endif
