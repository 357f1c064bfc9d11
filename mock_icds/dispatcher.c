/* SPDX-License-Identifier: Apache-2.0 */
/* One dispatched call: logs it, has a part of the mock answer it, and logs what came of it. */
#include "base/config.h"
#include "base/lock.h"
#include "base/objects.h"
#include "callbacks.h"
#include "calls.h"
#include "clharness_cl.h"
#include "core/compute.h"
#include "core/core.h"
#include "core/events.h"
#include "core/load_faults.h"
#include "core/references.h"
#include "core/refusals.h"
#include "distinct.h"
#include "external/devices.h"
#include "external/external.h"
#include "external/termination.h"
#include "gl/gl.h"

/* Answers a call; false where it is not a matter of this part. */
typedef bool handler(enum function function, const uint64_t *arguments, uint64_t *result);
/* What a part does besides, once a call has been answered; may change the answer. */
typedef void follower(enum function function, const uint64_t *arguments, uint64_t *result);

/* The first part that answers a call is the only one; the last answers them all. */
static handler *const handlers[] = {refusals_of_function, termination_handle, gl_handle, external_handle, core_handle};
static follower *const followers[] = {devices_follow, compute_follow, events_follow, references_follow,
                                      load_faults_follow};

static void log_foreign_handles(const struct function_info *about, const uint64_t *arguments)
{
    for (unsigned i = 0; i < about->parameter_count; i++) {
        if (about->parameters[i].kind == PARAMETER_HANDLE && arguments[i] && !object_find(arguments[i])) {
            log_event("foreign handle", parameter_name(&about->parameters[i]));
        }
    }
}

/* A mock that does what calls say keeps many things; one that only answers has nothing that threads could break. */
static bool keeps_threads_apart(enum function function)
{
    return config.refuses && function != FUNCTION_clIcdGetPlatformIDsKHR && function != FUNCTION_clGetPlatformIDs;
}

static uint64_t answer(enum function function, const uint64_t *arguments)
{
    uint64_t result = 0;
    bool alone = keeps_threads_apart(function);
    if (alone) {
        lock_take();
    }
    for (size_t i = 0; i < sizeof handlers / sizeof *handlers && !handlers[i](function, arguments, &result); i++) {
    }
    for (size_t i = 0; i < sizeof followers / sizeof *followers; i++) {
        followers[i](function, arguments, &result);
    }
    if (alone) {
        lock_give();
    }
    return result;
}

/* Whether a function that is set to answer anything is asked what a loader or an application has to know. */
static bool is_plain_question(enum function function, const uint64_t *arguments)
{
    switch (function) {
    case FUNCTION_clGetPlatformInfo:
    case FUNCTION_clGetDeviceInfo:
        return arguments[1] && arguments[1] < 0x10000;
    case FUNCTION_clGetDeviceIDs:
        return arguments[1] && arguments[1] <= CL_DEVICE_TYPE_ALL;
    default:
        return false;
    }
}

/* Calls through the table, through returned addresses and through exported symbols. */
uint64_t component_call(enum function function, const uint64_t *arguments)
{
    const struct function_info *about = &function_info[function];
    const struct function_config *settings = &config.function[function];
    if ((settings->answers || settings->silent) && !is_plain_question(function, arguments)) {
        return distinct_answer(&mock_log, mock_name, function, arguments, settings->silent);
    }
    log_call(about, arguments);
    log_foreign_handles(about, arguments);
    if (settings->waits_at || settings->arrives_at) {
        callbacks_meet(settings);
    }
    uint64_t result = answer(function, arguments);
    if (settings->calls_back || settings->calls_back_threaded) {
        callbacks_call(function, arguments, result);
    }
    log_return(about, arguments, result);
    return result;
}
