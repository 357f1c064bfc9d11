/* SPDX-License-Identifier: Apache-2.0 */
/* cl_khr_semaphore 1.0.1 and cl_khr_external_semaphore 1.0.1 of the mock ICD. */
#include "external/semaphores.h"

#include "base/arena.h"
#include "base/arguments.h"
#include "base/config.h"
#include "base/errors.h"
#include "base/platforms.h"
#include "calls.h"
#include "core/usual.h"
#include "external/attachments.h"
#include "external/commands.h"
#include "external/devices.h"
#include "external/payloads.h"

struct semaphore {
    struct payload payload;
    uint64_t export_type; /* 0: none */
    uint64_t import_type; /* 0: none */
    bool own;             /* what this ICD itself made of it last */
};

static cl_int check_type(const struct property *property, const void *about)
{
    (void)about;
    cl_int error = property->values[0] == CL_SEMAPHORE_TYPE_BINARY_KHR ? CL_SUCCESS : CL_INVALID_PROPERTY;
    return error_unless_fault(FAULT_semaphore_bad_type_answers, error);
}

static cl_int check_exports(const struct property *property, const void *about)
{
    (void)about;
    if (property->count > 1) {
        return error_unless_fault(FAULT_semaphore_several_exports_answer, CL_INVALID_VALUE);
    }
    for (size_t i = 0; i < property->count; i++) {
        bool known = (property->values[i] == CL_SEMAPHORE_HANDLE_OPAQUE_FD_KHR &&
                      platform_has_extension(property->platform, "cl_khr_external_semaphore_opaque_fd")) ||
                     (property->values[i] == CL_SEMAPHORE_HANDLE_SYNC_FD_KHR &&
                      platform_has_extension(property->platform, "cl_khr_external_semaphore_sync_fd"));
        if (!known) {
            return CL_INVALID_PROPERTY;
        }
    }
    return CL_SUCCESS;
}

static const struct property_rule rules[] = {
    {CL_SEMAPHORE_TYPE_KHR, PROPERTY_VALUE, NULL, check_type},
    {CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR, PROPERTY_LIST, NULL, NULL},
    {CL_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR, PROPERTY_LIST, "cl_khr_external_semaphore", check_exports},
    {CL_SEMAPHORE_HANDLE_OPAQUE_FD_KHR, PROPERTY_VALUE, "cl_khr_external_semaphore_opaque_fd", NULL},
    {CL_SEMAPHORE_HANDLE_SYNC_FD_KHR, PROPERTY_VALUE, "cl_khr_external_semaphore_sync_fd", NULL},
};

static struct semaphore *semaphore_of(uint64_t handle)
{
    struct object *object = object_live(handle, HANDLE_cl_semaphore_khr);
    return object && object->external ? object->external->semaphore : NULL;
}

/* --- creating --- */

static cl_int check_devices(const struct object *context, const struct property *devices, uint32_t all, uint32_t *mask)
{
    if (devices->count != 1) {
        cl_int error = error_unless_fault(devices->count ? FAULT_semaphore_several_devices_answer
                                                         : FAULT_semaphore_no_device_answers,
                                          CL_INVALID_DEVICE);
        *mask = all;
        return error;
    }
    struct object *device = object_live(devices->values[0], HANDLE_cl_device_id);
    *mask = device && device->platform == context->platform ? platform_device_bit(device) & all : 0;
    return error_unless_fault(FAULT_semaphore_foreign_device_answers, *mask ? CL_SUCCESS : CL_INVALID_DEVICE);
}

static cl_int import_payload(struct semaphore *semaphore, const struct property *handle)
{
    semaphore->import_type = handle->name;
    bool opaque = handle->name == CL_SEMAPHORE_HANDLE_OPAQUE_FD_KHR;
    bool done = opaque ? payload_import_opaque(&semaphore->payload, handle->values[0])
                       : payload_import_sync(&semaphore->payload, handle->values[0]);
    return error_unless_fault(FAULT_semaphore_bad_descriptor_answers, done ? CL_SUCCESS : CL_INVALID_PROPERTY);
}

static cl_int check_list(const uint64_t *list, const struct property_rules *all, struct object *context,
                         struct attachment *attachment)
{
    struct property property;
    uint32_t devices = attachment_of(context)->devices;
    cl_int error = properties_check(list, all, context->platform, NULL);
    if (!error && !properties_find(list, all, CL_SEMAPHORE_TYPE_KHR, &property)) {
        error = error_unless_fault(FAULT_semaphore_without_type_answers, CL_INVALID_VALUE);
    }
    attachment->devices = devices;
    if (!error && properties_find(list, all, CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR, &property)) {
        error = check_devices(context, &property, devices, &attachment->devices);
    } else if (!error && (devices & (devices - 1))) {
        error = error_unless_fault(FAULT_semaphore_without_device_answers, CL_INVALID_PROPERTY);
    }
    return error;
}

static cl_int check_handles(const uint64_t *list, const struct property_rules *all, struct semaphore *semaphore,
                            struct property *handle)
{
    struct property property;
    size_t handles = 0;
    const uint64_t types[] = {CL_SEMAPHORE_HANDLE_OPAQUE_FD_KHR, CL_SEMAPHORE_HANDLE_SYNC_FD_KHR};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        handles += properties_find(list, all, types[i], handle);
    }
    cl_int error =
        error_unless_fault(FAULT_semaphore_several_handles_answer, handles > 1 ? CL_INVALID_PROPERTY : CL_SUCCESS);
    if (!error && properties_find(list, all, CL_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR, &property) && property.count > 0) {
        semaphore->export_type = property.values[0];
        error =
            error_unless_fault(FAULT_semaphore_import_and_export_answers, handles ? CL_INVALID_OPERATION : CL_SUCCESS);
    }
    return error;
}

static cl_int create(const uint64_t *arguments, struct object **object)
{
    struct object *context = object_live(arguments[0], HANDLE_cl_context);
    const uint64_t *list = (const uint64_t *)(uintptr_t)arguments[1];
    struct property_rules all = {rules, sizeof rules / sizeof *rules, CL_INVALID_PROPERTY, CL_INVALID_PROPERTY, false};
    const uint64_t otherwise[] = {CL_SEMAPHORE_TYPE_KHR, CL_SEMAPHORE_TYPE_BINARY_KHR, 0};
    static struct object *last;
    if (!context) {
        return CL_INVALID_CONTEXT;
    }
    if (!list) {
        cl_int error = error_unless_fault(FAULT_semaphore_null_list_answers, CL_INVALID_VALUE);
        list = otherwise;
        if (error) {
            return error;
        }
    }
    all.unknown_name = error_unless_fault(FAULT_semaphore_unknown_name_answers, CL_INVALID_PROPERTY);
    all.repeated_name = error_unless_fault(FAULT_semaphore_repeated_name_answers, CL_INVALID_PROPERTY);
    struct attachment attachment = {.semaphore = arena_keep(sizeof *attachment.semaphore)};
    struct semaphore *semaphore = attachment.semaphore;
    struct property handle = {0};
    payload_open(&semaphore->payload);
    cl_int error = check_list(list, &all, context, &attachment);
    error = error ? error : check_handles(list, &all, semaphore, &handle);
    if (!error && !devices_can(context->platform, attachment.devices)) {
        error = error_unless_fault(FAULT_semaphore_incapable_device_answers, CL_INVALID_DEVICE);
    }
    if (!error && handle.name) {
        error = import_payload(semaphore, &handle);
    }
    if (error || (semaphore->export_type == CL_SEMAPHORE_HANDLE_OPAQUE_FD_KHR && !payload_share(&semaphore->payload))) {
        return error ? error : CL_OUT_OF_RESOURCES;
    }
    if (handle.name && last && fault(FAULT_semaphore_import_gives_same_object, ANY_PLATFORM)) {
        *object = last;
        last->references++;
        return CL_SUCCESS;
    }
    if (!handle.name) {
        payload_set(&semaphore->payload, fault(FAULT_semaphore_is_signalled_at_first, ANY_PLATFORM));
    }
    *object = usual_object(FUNCTION_clCreateSemaphoreWithPropertiesKHR, arguments, HANDLE_cl_semaphore_khr, context);
    last = *object;
    *attachment_of(*object) = attachment;
    attachment_keep_list(attachment_of(*object), list, &all);
    return CL_SUCCESS;
}

/* --- wait and signal --- */

static bool is_signalled(const struct semaphore *semaphore)
{
    bool is_from_outside = semaphore->import_type == CL_SEMAPHORE_HANDLE_OPAQUE_FD_KHR;
    if (is_from_outside && fault(FAULT_signals_from_outside_are_not_seen, ANY_PLATFORM)) {
        return semaphore->own;
    }
    return payload_value(&semaphore->payload);
}

static bool all_signalled(const struct command *command)
{
    for (cl_uint i = 0; i < command->count; i++) {
        if (!is_signalled(attachment_of(command->items[i])->semaphore)) {
            return fault(FAULT_wait_does_not_wait, ANY_PLATFORM);
        }
    }
    return true;
}

static void set_payloads(const struct command *command)
{
    uint64_t value = command->numbers[0];
    if (!value && fault(FAULT_wait_does_not_reset, ANY_PLATFORM)) {
        return;
    }
    for (cl_uint i = 0; i < command->count; i++) {
        struct semaphore *semaphore = attachment_of(command->items[i])->semaphore;
        bool signals = value && !fault(FAULT_signal_does_nothing, ANY_PLATFORM);
        payload_set(&semaphore->payload, signals);
        semaphore->own = signals;
    }
}

static cl_int check_semaphore(uint64_t handle, struct object *queue)
{
    struct object *object = object_live(handle, HANDLE_cl_semaphore_khr);
    if (!object || !semaphore_of(handle)) {
        return error_unless_fault(FAULT_enqueue_takes_any_semaphore, CL_INVALID_SEMAPHORE_KHR);
    }
    if (object_context(object) != object_context(queue)) {
        return error_unless_fault(FAULT_semaphore_other_context_answers, CL_INVALID_CONTEXT);
    }
    bool same = (attachment_of(object)->devices & attachment_of(queue)->devices) != 0;
    return error_unless_fault(FAULT_semaphore_other_queue_answers, same ? CL_SUCCESS : CL_INVALID_COMMAND_QUEUE);
}

static cl_int enqueue(enum function function, const uint64_t *arguments, bool signal)
{
    struct object *queue = object_live(arguments[0], HANDLE_cl_command_queue);
    cl_uint count = (cl_uint)arguments[1];
    const uintptr_t *list = (const uintptr_t *)(uintptr_t)arguments[2];
    if (!queue) {
        return CL_INVALID_COMMAND_QUEUE;
    }
    if (count == 0) {
        cl_int error = error_unless_fault(FAULT_enqueue_of_no_semaphore_answers, CL_INVALID_VALUE);
        if (error) {
            return error;
        }
    }
    cl_uint types[] = {CL_COMMAND_SEMAPHORE_WAIT_KHR, CL_COMMAND_SEMAPHORE_SIGNAL_KHR};
    bool other = fault(FAULT_semaphore_event_types_are_swapped, ANY_PLATFORM);
    struct command command = {.type = types[signal != other], .queue = queue, .run = set_payloads};
    command.ready = signal ? NULL : all_signalled;
    command.numbers[0] = signal;
    for (cl_uint i = 0; i < count; i++) {
        cl_int error = list ? check_semaphore(list[i], queue) : CL_INVALID_VALUE;
        if (error) {
            return error;
        }
        if (semaphore_of(list[i]) && command.count < MAX_ITEMS) {
            command.items[command.count++] = object_find(list[i]);
        }
    }
    if (fault(FAULT_payload_list_is_read, ANY_PLATFORM) && count > 0) {
        log_event("payload", *(const volatile uint64_t *)(uintptr_t)arguments[3] ? "some" : "0");
    }
    if (arguments[3] && count > 0 && fault(FAULT_payload_list_is_obeyed, ANY_PLATFORM) &&
        *(const uint64_t *)(uintptr_t)arguments[3] > 1) {
        return CL_INVALID_VALUE;
    }
    cl_int error = commands_check_wait_list(function, arguments, queue);
    if (!error) {
        commands_enqueue(function, arguments, command);
    }
    return error;
}

/* --- queries, references, handles --- */

static cl_int answer_devices(const struct object *object, const uint64_t *rest)
{
    void *devices[32];
    size_t count = 0;
    struct object *device;
    for (int i = 0; (device = platform_device(object->platform, i)) != NULL; i++) {
        if (object->external->devices >> i & 1) {
            devices[count++] = object_handle(device);
        }
    }
    return answer_info(rest, devices, count * sizeof *devices);
}

static cl_int info(struct object *object, cl_uint query, const uint64_t *rest)
{
    const struct semaphore *semaphore = object->external->semaphore;
    void *context = object_handle(object_context(object));
    cl_uint references = (cl_uint)object->references;
    cl_uint type = CL_SEMAPHORE_TYPE_BINARY_KHR;
    cl_uint export_type = (cl_uint)semaphore->export_type;
    cl_bool exportable = export_type != 0 || fault(FAULT_semaphore_is_always_exportable, ANY_PLATFORM);
    uint64_t payload = payload_value(&semaphore->payload);
    bool external = platform_has_extension(object->platform, "cl_khr_external_semaphore");
    if (query == (cl_uint)fault_value(FAULT_semaphore_query_is_missing, ANY_PLATFORM, 0)) {
        return CL_INVALID_VALUE;
    }
    switch (query) {
    case CL_SEMAPHORE_CONTEXT_KHR:
        return answer_info(rest, &context, sizeof context);
    case CL_SEMAPHORE_REFERENCE_COUNT_KHR:
        return answer_info(rest, &references, sizeof references);
    case CL_SEMAPHORE_PROPERTIES_KHR:
        return attachment_answer_list(object->external, rest);
    case CL_SEMAPHORE_TYPE_KHR:
        return answer_info(rest, &type, sizeof type);
    case CL_SEMAPHORE_PAYLOAD_KHR:
        return answer_info(rest, &payload, sizeof payload);
    case CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR:
        return answer_devices(object, rest);
    case CL_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR:
        return external ? answer_info(rest, &export_type, export_type ? sizeof export_type : 0) : CL_INVALID_VALUE;
    case CL_SEMAPHORE_EXPORTABLE_KHR:
        return external ? answer_info(rest, &exportable, sizeof exportable) : CL_INVALID_VALUE;
    default:
        return error_unless_fault(FAULT_semaphore_unknown_query_answers, CL_INVALID_VALUE);
    }
}

static cl_int count_reference(uint64_t handle, int by)
{
    struct object *object = object_live(handle, HANDLE_cl_semaphore_khr);
    struct semaphore *semaphore = semaphore_of(handle);
    if (!semaphore) {
        return error_unless_fault(FAULT_references_of_any_semaphore, CL_INVALID_SEMAPHORE_KHR);
    }
    if (!fault(by > 0 ? FAULT_semaphore_retain_does_nothing : FAULT_semaphore_release_does_nothing, ANY_PLATFORM)) {
        object_count_reference(object, by);
    }
    if (object->references > 0) {
        return CL_SUCCESS;
    }
    payload_close(&semaphore->payload);
    return CL_SUCCESS;
}

/* A new descriptor of the payload, or -1 where it is not exported. */
static int export_payload(struct semaphore *semaphore)
{
    switch (semaphore->export_type) {
    case 0:
        return -1;
    case CL_SEMAPHORE_HANDLE_OPAQUE_FD_KHR:
        return payload_export_opaque(&semaphore->payload);
    default:
        return payload_export_sync(&semaphore->payload);
    }
}

static cl_int get_handle(const uint64_t *arguments)
{
    struct object *object = object_live(arguments[0], HANDLE_cl_semaphore_khr);
    struct semaphore *semaphore = semaphore_of(arguments[0]);
    struct object *device = object_live(arguments[1], HANDLE_cl_device_id);
    int *to = (int *)(uintptr_t)arguments[4];
    size_t *size_ret = (size_t *)(uintptr_t)arguments[5];
    if (!semaphore) {
        return CL_INVALID_SEMAPHORE_KHR;
    }
    bool shared =
        device && device->platform == object->platform && platform_device_bit(device) & object->external->devices;
    cl_int error = error_unless_fault(FAULT_export_takes_any_device, shared ? CL_SUCCESS : CL_INVALID_DEVICE);
    if (!error && (!semaphore->export_type || (cl_uint)arguments[2] != semaphore->export_type)) {
        error = error_unless_fault(FAULT_export_takes_any_type, CL_INVALID_VALUE);
    }
    if (!error && to && (size_t)arguments[3] < sizeof *to) {
        error = error_unless_fault(FAULT_export_takes_any_size, CL_INVALID_VALUE);
    }
    if (error) {
        return error;
    }
    if (size_ret) {
        *size_ret = sizeof *to;
    }
    if (to) {
        *to = export_payload(semaphore);
    }
    return CL_SUCCESS;
}

static cl_int reimport(const uint64_t *arguments)
{
    struct semaphore *semaphore = semaphore_of(arguments[0]);
    const uint64_t *list = (const uint64_t *)(uintptr_t)arguments[1];
    if (!semaphore) {
        return CL_INVALID_SEMAPHORE_KHR;
    }
    if (semaphore->import_type != CL_SEMAPHORE_HANDLE_SYNC_FD_KHR) {
        cl_int error = error_unless_fault(FAULT_reimport_takes_any_semaphore, CL_INVALID_SEMAPHORE_KHR);
        if (error) {
            return error;
        }
    }
    if (!list && fault(FAULT_reimport_reads_null, ANY_PLATFORM)) {
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): that is the fault */
        return (cl_int) * (const volatile uint64_t *)list;
    }
    if (list && list[0] != 0) {
        return CL_INVALID_PROPERTY;
    }
    bool done = payload_import_sync(&semaphore->payload, (uint64_t)(int64_t)(int)arguments[2]);
    return error_unless_fault(FAULT_reimport_bad_descriptor_answers, done ? CL_SUCCESS : CL_INVALID_VALUE);
}

static cl_int query(const uint64_t *arguments)
{
    struct object *object = object_live(arguments[0], HANDLE_cl_semaphore_khr);
    return semaphore_of(arguments[0]) ? info(object, (cl_uint)arguments[1], arguments + 2) : CL_INVALID_SEMAPHORE_KHR;
}

bool semaphores_handle(enum function function, const uint64_t *arguments, uint64_t *result)
{
    struct object *object = NULL;
    cl_int error;
    switch (function) {
    case FUNCTION_clCreateSemaphoreWithPropertiesKHR:
        error = create(arguments, &object);
        *result = error_or_handle(function, arguments, object, error);
        return true;
    case FUNCTION_clEnqueueWaitSemaphoresKHR:
    case FUNCTION_clEnqueueSignalSemaphoresKHR:
        error = enqueue(function, arguments, function == FUNCTION_clEnqueueSignalSemaphoresKHR);
        break;
    case FUNCTION_clGetSemaphoreInfoKHR:
        error = query(arguments);
        break;
    case FUNCTION_clRetainSemaphoreKHR:
    case FUNCTION_clReleaseSemaphoreKHR:
        error = count_reference(arguments[0], function == FUNCTION_clRetainSemaphoreKHR ? 1 : -1);
        break;
    case FUNCTION_clGetSemaphoreHandleForTypeKHR:
        error = get_handle(arguments);
        break;
    case FUNCTION_clReImportSemaphoreSyncFdKHR:
        error = reimport(arguments);
        break;
    default:
        return false;
    }
    *result = error_result(error);
    return true;
}
