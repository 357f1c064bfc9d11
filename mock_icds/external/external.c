/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that are a matter of external memory, semaphores and command buffers. */
#define _GNU_SOURCE
#include "external/external.h"

#include "base/arguments.h"
#include "base/config.h"
#include "base/errors.h"
#include "base/lock.h"
#include "base/platforms.h"
#include "calls.h"
#include "core/validity.h"
#include "execution/execution.h"
#include "external/command_buffers.h"
#include "external/commands.h"
#include "external/devices.h"
#include "external/handle_types.h"
#include "external/memory.h"
#include "external/semaphores.h"

#include <string.h>

enum { MAX_EXTENSIONS = 64 };

/* From revision 0.9.5 of cl_khr_command_buffer the functions that record take a property list. */
#ifdef CL_DEVICE_COMMAND_BUFFER_SUPPORTED_QUEUE_PROPERTIES_KHR
enum { COMMAND_BUFFERS_HAVE_PROPERTIES = 1 };
#else
enum { COMMAND_BUFFERS_HAVE_PROPERTIES = 0 };
#endif

/* The first that answers a call is the only one. */
static bool (*const handlers[])(enum function function, const uint64_t *arguments, uint64_t *result) = {
    execution_handle, memory_handle, semaphores_handle, command_buffers_handle, commands_handle};

/* The revision of an extension: one whose checks all run. */
static cl_version revision(const char *extension)
{
    if (!COMMAND_BUFFERS_HAVE_PROPERTIES && strstr(extension, "command_buffer")) {
        return CL_MAKE_VERSION(0, 9, 2);
    }
    return strcmp(extension, "cl_khr_integer_dot_product") == 0 ? CL_MAKE_VERSION(2, 0, 0) : CL_MAKE_VERSION(1, 0, 1);
}

/* The extensions of a platform with their revisions. */
static cl_int answer_extensions(int platform, const uint64_t *rest)
{
    cl_name_version listed[MAX_EXTENSIONS];
    size_t count = 0;
    for (const char *at = config.platform[platform].extensions; *at && count < MAX_EXTENSIONS;) {
        size_t length = strcspn(at, " ");
        if (length > 0 && length < CL_NAME_VERSION_MAX_NAME_SIZE) {
            cl_name_version *entry = &listed[count++];
            memset(entry, 0, sizeof *entry);
            memcpy(entry->name, at, length);
            entry->version = revision(entry->name);
        }
        at += length + (at[length] == ' ');
    }
    return answer_info(rest, listed, count * sizeof *listed);
}

/* Whether some platform has one: functions may get nothing but invalid handles. */
static bool any_platform_has(const char *extension)
{
    for (int i = 0; i < config.platforms; i++) {
        if (platform_has_extension(i, extension)) {
            return true;
        }
    }
    return false;
}

static bool of_extension(enum function function)
{
    const char *name = function_info[function].name;
    return (strstr(name, "Semaphore") && any_platform_has("cl_khr_semaphore")) ||
           (strstr(name, "ExternalMem") && any_platform_has("cl_khr_external_memory")) ||
           ((strstr(name, "CommandBuffer") || argument_function_begins(function, "clCommand")) &&
            any_platform_has("cl_khr_command_buffer"));
}

static bool handle(enum function function, const uint64_t *arguments, uint64_t *result)
{
    int improper;
    if (config.refuses && function_info[function].slot >= 0 && validity_is_improper(function, arguments, &improper)) {
        return false;
    }
    for (size_t i = 0; i < sizeof handlers / sizeof *handlers; i++) {
        if (handlers[i](function, arguments, result)) {
            return true;
        }
    }
    const uint64_t *rest = arguments + 2;
    struct object *object = object_find(arguments[0]);
    cl_int error;
    if ((function == FUNCTION_clGetPlatformInfo || function == FUNCTION_clGetDeviceInfo) && object &&
        handle_types_answer(object, (cl_uint)arguments[1], rest, &error)) {
        *result = error_result(error);
        return true;
    }
    if (function == FUNCTION_clGetDeviceInfo && object && (cl_uint)arguments[1] == CL_DEVICE_EXTENSIONS_WITH_VERSION) {
        *result = error_result(answer_extensions(object->platform, rest));
        return true;
    }
    return false;
}

bool external_handle(enum function function, const uint64_t *arguments, uint64_t *result)
{
    const struct object *first = argument_first_object(function, arguments);
    if (!of_extension(function) && !(first && devices_matter(first))) {
        return false;
    }
    lock_take();
    bool done = handle(function, arguments, result);
    lock_give();
    return done;
}
