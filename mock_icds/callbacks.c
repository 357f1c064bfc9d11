/* SPDX-License-Identifier: Apache-2.0 */
/* What a function does besides its work: calls the application's callback, or meets another call. */
#define _GNU_SOURCE
#include "callbacks.h"

#include "clharness_cl.h"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

struct callback_call {
    enum function function;
    const uint64_t *arguments;
    uint64_t result;
};

typedef void(CL_CALLBACK *context_callback)(const char *, const void *, size_t, void *);
typedef void(CL_CALLBACK *program_callback)(cl_program, void *);
typedef void(CL_CALLBACK *event_callback)(cl_event, cl_int, void *);
typedef void(CL_CALLBACK *memory_callback)(cl_mem, void *);
typedef void(CL_CALLBACK *destructor_callback)(cl_context, void *);
typedef void(CL_CALLBACK *native_kernel)(void *);
typedef void(CL_CALLBACK *free_callback)(cl_command_queue, cl_uint, void **, void *);

static void *data(uint64_t argument)
{
    return (void *)(uintptr_t)argument;
}

static void *run(void *pointer)
{
    const struct callback_call *call = pointer;
    const uint64_t *a = call->arguments;
    static const char private_info[] = "private";
    switch (call->function) {
    case FUNCTION_clCreateContext:
        ((context_callback)(uintptr_t)a[3])("error", private_info, sizeof private_info, data(a[4]));
        break;
    case FUNCTION_clCreateContextFromType:
        ((context_callback)(uintptr_t)a[2])("error", private_info, sizeof private_info, data(a[3]));
        break;
    case FUNCTION_clBuildProgram:
        ((program_callback)(uintptr_t)a[4])(data(a[0]), data(a[5]));
        break;
    case FUNCTION_clCompileProgram:
        ((program_callback)(uintptr_t)a[7])(data(a[0]), data(a[8]));
        break;
    case FUNCTION_clLinkProgram:
        ((program_callback)(uintptr_t)a[6])(data(call->result), data(a[7]));
        break;
    case FUNCTION_clSetProgramReleaseCallback:
        ((program_callback)(uintptr_t)a[1])(data(a[0]), data(a[2]));
        break;
    case FUNCTION_clSetEventCallback:
        ((event_callback)(uintptr_t)a[2])(data(a[0]), (cl_int)a[1], data(a[3]));
        break;
    case FUNCTION_clSetMemObjectDestructorCallback:
        ((memory_callback)(uintptr_t)a[1])(data(a[0]), data(a[2]));
        break;
    case FUNCTION_clSetContextDestructorCallback:
        ((destructor_callback)(uintptr_t)a[1])(data(a[0]), data(a[2]));
        break;
    case FUNCTION_clEnqueueNativeKernel:
        ((native_kernel)(uintptr_t)a[1])(data(a[2]));
        break;
    case FUNCTION_clEnqueueSVMFree:
        ((free_callback)(uintptr_t)a[3])(data(a[0]), (cl_uint)a[1], data(a[2]), data(a[4]));
        break;
    default:
        sidefile_refuse("no callback in function", function_info[call->function].name);
    }
    return NULL;
}

static bool has_callback(const struct function_info *about, const uint64_t *arguments)
{
    for (unsigned i = 0; i < about->parameter_count; i++) {
        if (about->parameters[i].kind == PARAMETER_CALLBACK) {
            return arguments[i] != 0;
        }
    }
    return true; /* `run` refuses */
}

void callbacks_call(enum function function, const uint64_t *arguments, uint64_t result)
{
    struct callback_call call = {function, arguments, result};
    pthread_t thread;
    if (!has_callback(&function_info[function], arguments)) {
        return;
    }
    if (!config.function[function].calls_back_threaded) {
        run(&call);
    } else if (pthread_create(&thread, NULL, run, &call) == 0) {
        pthread_join(thread, NULL);
    } else {
        log_event("no thread for the callback", function_info[function].name);
    }
}

void callbacks_meet(const struct function_config *settings)
{
    int fd = settings->waits_at ? open(settings->waits_at, O_RDONLY | O_CLOEXEC)
                                : open(settings->arrives_at, O_WRONLY | O_CLOEXEC);
    log_event(fd < 0 ? "meeting failed" : "met", settings->waits_at ? settings->waits_at : settings->arrives_at);
    if (fd >= 0) {
        close(fd);
    }
}
