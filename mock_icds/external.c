/* What external memory, semaphores and command buffers have in common: devices of contexts and queues, kept lists. */
#define _GNU_SOURCE
#include "external.h"
#include "validity.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { KEPT_SIZE = 64 << 20 };

/* From revision 0.9.5 of cl_khr_command_buffer the functions that record take a property list. */
#ifdef CL_DEVICE_COMMAND_BUFFER_SUPPORTED_QUEUE_PROPERTIES_KHR
enum { COMMAND_BUFFERS_HAVE_PROPERTIES = 1 };
#else
enum { COMMAND_BUFFERS_HAVE_PROPERTIES = 0 };
#endif

static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP; /* callbacks ask, too */
static char *kept;
static size_t kept_size;

static void make_room(void)
{
    kept = mmap(NULL, KEPT_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

void *external_keep(size_t size)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_room);
    size_t needed = (size + 15) / 16 * 16;
    size_t at = __atomic_fetch_add(&kept_size, needed, __ATOMIC_RELAXED);
    if (kept == MAP_FAILED || at + needed > KEPT_SIZE) {
        fputs("clharness mock ICD: out of memory\n", stderr);
        _exit(99);
    }
    return kept + at;
}

__attribute__((destructor)) static void forget(void)
{
    if (kept && kept != MAP_FAILED) {
        munmap(kept, KEPT_SIZE);
    }
}

struct external *external_of(struct object *object)
{
    if (!object->external) {
        object->external = external_keep(sizeof *object->external);
    }
    return object->external;
}

struct object *external_object(uint64_t handle, enum handle_kind kind)
{
    struct object *object = object_of(handle);
    return object && object->kind == kind && object->references > 0 ? object : NULL;
}

struct object *external_context(struct object *object)
{
    while (object && object->kind != HANDLE_cl_context) {
        object = object->parent;
    }
    return object;
}

uint32_t external_device_bit(const struct object *device)
{
    struct object *other;
    while (device && device->kind == HANDLE_cl_device_id && device->parent->kind == HANDLE_cl_device_id) {
        device = device->parent;
    }
    for (int i = 0; device && (other = device_object(device->platform, i)) != NULL; i++) {
        if (other == device) {
            return UINT32_C(1) << i;
        }
    }
    return 0;
}

bool external_can(int platform, uint32_t devices)
{
    struct object *device;
    for (int i = 0; (device = device_object(platform, i)) != NULL; i++) {
        if (devices >> i & 1 && device->device_type == CL_DEVICE_TYPE_ACCELERATOR) {
            return false;
        }
    }
    return true;
}

bool external_has(const struct object *object, const char *extension)
{
    return has_extension(object->platform, extension);
}

void external_keep_list(struct external *external, const uint64_t *list, const struct property_rules *rules)
{
    if (list) {
        external->list_length = properties_length(list, rules);
        external->list = external_keep(external->list_length * sizeof *list);
        memcpy(external->list, list, external->list_length * sizeof *list);
    }
}

cl_int external_answer_list(const struct external *external, const uint64_t *rest)
{
    size_t length = external->list_length;
    if (fault(FAULT_external_list_ends_at_first_0, ANY_PLATFORM)) {
        for (length = 0; length < external->list_length && external->list[length] != 0;) {
            length++;
        }
        length += length < external->list_length;
    }
    if (fault(FAULT_external_list_without_end, ANY_PLATFORM) && length > 0) {
        length--;
    }
    uint64_t turned[MAX_LIST];
    const uint64_t *list = external->list;
    if (fault(FAULT_external_list_is_turned, ANY_PLATFORM) && length > 4 && length <= MAX_LIST) {
        memcpy(turned, list + 2, (length - 3) * sizeof *turned); /* the first pair goes to the end */
        memcpy(turned + length - 3, list, 2 * sizeof *turned);
        turned[length - 1] = 0;
        list = turned;
    }
    return answer_info(rest, list, length * sizeof *list);
}

uint64_t external_argument(enum function function, const uint64_t *arguments, const char *name)
{
    const struct function_info *about = &function_info[function];
    for (unsigned i = 0; i < about->parameter_count; i++) {
        if (strcmp(about->parameters[i].name, name) == 0) {
            return arguments[i];
        }
    }
    return 0;
}

uint64_t external_made(enum function function, const uint64_t *arguments, struct object *object, cl_int error)
{
    cl_int *errcode_ret = (cl_int *)(uintptr_t)external_argument(function, arguments, "errcode_ret");
    if (errcode_ret) {
        *errcode_ret = error;
    }
    return object && !error ? (uint64_t)(uintptr_t)object_handle(object) : 0;
}

cl_int external_rule(enum fault instead, cl_int error)
{
    return error && fault(instead, ANY_PLATFORM) ? (cl_int)fault_value(instead, ANY_PLATFORM, CL_SUCCESS) : error;
}

/* --- contexts and queues --- */

static bool has_any(const struct object *object)
{
    return external_has(object, "cl_khr_external_memory") || external_has(object, "cl_khr_semaphore") ||
           external_has(object, "cl_khr_command_buffer");
}

static uint32_t devices_of_type(int platform, cl_device_type type)
{
    struct object *device;
    uint32_t found = 0;
    for (int i = 0; (device = device_object(platform, i)) != NULL; i++) {
        bool wanted =
            type == CL_DEVICE_TYPE_ALL || type & device->device_type || (type & CL_DEVICE_TYPE_DEFAULT && i == 0);
        found |= wanted ? UINT32_C(1) << i : 0;
    }
    return found;
}

static uint64_t queue_flags(const uint64_t *list)
{
    for (; list && list[0]; list += 2) {
        if (list[0] == CL_QUEUE_PROPERTIES) {
            return list[1];
        }
    }
    return 0;
}

void external_note_devices(enum function function, const uint64_t *arguments, uint64_t made)
{
    struct object *object = object_of(made);
    const uint64_t *list;
    if (!object || !has_any(object)) {
        return;
    }
    struct external *external = external_of(object);
    switch (function) {
    case FUNCTION_clCreateContext:
        list = (const uint64_t *)(uintptr_t)arguments[2];
        for (cl_uint i = 0; i < (cl_uint)arguments[1]; i++) {
            external->devices |= external_device_bit(object_of(list[i]));
        }
        break;
    case FUNCTION_clCreateContextFromType:
        external->devices = devices_of_type(object->platform, arguments[1]);
        break;
    case FUNCTION_clCreateCommandQueue:
    case FUNCTION_clCreateCommandQueueWithProperties:
        external->devices = external_device_bit(object_of(arguments[1]));
        external->out_of_order =
            (function == FUNCTION_clCreateCommandQueue ? arguments[2]
                                                       : queue_flags((const uint64_t *)(uintptr_t)arguments[2])) &
            CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
        break;
    default:
        break;
    }
}

/* The extensions of a platform with their revisions. */
static cl_int answer_extensions(int platform, const uint64_t *rest)
{
    cl_name_version found[MAX_LIST];
    size_t count = 0;
    for (const char *at = config.platform[platform].extensions; *at && count < MAX_LIST;) {
        size_t length = strcspn(at, " ");
        if (length > 0 && length < CL_NAME_VERSION_MAX_NAME_SIZE) {
            cl_name_version *entry = &found[count++];
            memset(entry, 0, sizeof *entry);
            memcpy(entry->name, at, length);
            bool old = !COMMAND_BUFFERS_HAVE_PROPERTIES && strstr(entry->name, "command_buffer");
            entry->version = old ? CL_MAKE_VERSION(0, 9, 2) : CL_MAKE_VERSION(1, 0, 1);
        }
        at += length + (at[length] == ' ');
    }
    return answer_info(rest, found, count * sizeof *found);
}

/* Whether the platform of the call has one of the extensions. */
static bool concerns_us(const uint64_t *arguments, const struct function_info *about)
{
    for (unsigned i = 0; i < about->parameter_count; i++) {
        uint64_t handle = arguments[i];
        if (about->parameters[i].kind == PARAMETER_HANDLES && handle) {
            handle = first_word((const void *)(uintptr_t)handle, sizeof handle);
        } else if (about->parameters[i].kind != PARAMETER_HANDLE) {
            continue;
        }
        struct object *object = object_of(handle);
        if (object) {
            return has_any(object);
        }
    }
    return false;
}

/* Whether some platform has one: functions may get nothing but invalid handles. */
static bool anybody(const char *extension)
{
    for (int i = 0; i < config.platform_count; i++) {
        if (has_extension(i, extension)) {
            return true;
        }
    }
    return false;
}

static bool of_extension(enum function function)
{
    const char *name = function_info[function].name;
    return (strstr(name, "Semaphore") && anybody("cl_khr_semaphore")) ||
           (strstr(name, "ExternalMem") && anybody("cl_khr_external_memory")) ||
           ((strstr(name, "CommandBuffer") || strncmp(name, "clCommand", 9) == 0) && anybody("cl_khr_command_buffer"));
}

static bool behave(enum function function, const uint64_t *arguments, uint64_t *result)
{
    int improper;
    if (config.refuses && function_info[function].slot >= 0 && is_improper(function, arguments, &improper)) {
        return false;
    }
    if (memory_behave(function, arguments, result) || semaphores_behave(function, arguments, result) ||
        command_buffers_behave(function, arguments, result) || commands_behave(function, arguments, result)) {
        return true;
    }
    const uint64_t *rest = arguments + 2;
    struct object *object = object_of(arguments[0]);
    cl_int error;
    if ((function == FUNCTION_clGetPlatformInfo || function == FUNCTION_clGetDeviceInfo) && object &&
        external_types(object, (cl_uint)arguments[1], rest, &error)) {
        *result = external_error(error);
        return true;
    }
    if (function == FUNCTION_clGetDeviceInfo && object && (cl_uint)arguments[1] == CL_DEVICE_EXTENSIONS_WITH_VERSION) {
        *result = external_error(answer_extensions(object->platform, rest));
        return true;
    }
    return false;
}

bool external_behave(enum function function, const uint64_t *arguments, uint64_t *result)
{
    if (!of_extension(function) && !concerns_us(arguments, &function_info[function])) {
        return false;
    }
    pthread_mutex_lock(&lock);
    bool done = behave(function, arguments, result);
    pthread_mutex_unlock(&lock);
    return done;
}
