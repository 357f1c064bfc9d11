/* cl_khr_semaphore 1.0.1 and cl_khr_external_semaphore 1.0.1 of the mock ICD. An opaque descriptor is shared memory
 * that holds the payload, a sync descriptor an event counter that can be read when it is signalled.
 */
#define _GNU_SOURCE
#include "external.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NO_DESCRIPTOR = -1 };

/* What an opaque descriptor refers to. */
struct payload {
    uint64_t magic;
    uint64_t value;
};

static const uint64_t payload_magic = 0x6572616870616d73;

struct semaphore {
    struct payload *payload; /* its own, or shared */
    struct payload own;
    int fd;               /* of shared memory, or NO_DESCRIPTOR */
    uint64_t export_type; /* 0: none */
    uint64_t import_type; /* 0: none */
    bool has_device_list;
};

static cl_int check_type(const struct property *property, const void *about)
{
    (void)about;
    cl_int error = property->values[0] == CL_SEMAPHORE_TYPE_BINARY_KHR ? CL_SUCCESS : CL_INVALID_PROPERTY;
    return external_rule(FAULT_semaphore_bad_type_answers, error);
}

static cl_int check_exports(const struct property *property, const void *about)
{
    (void)about;
    if (property->count > 1) {
        return external_rule(FAULT_semaphore_several_exports_answer, CL_INVALID_VALUE);
    }
    for (size_t i = 0; i < property->count; i++) {
        bool known = (property->values[i] == CL_SEMAPHORE_HANDLE_OPAQUE_FD_KHR &&
                      has_extension(property->platform, "cl_khr_external_semaphore_opaque_fd")) ||
                     (property->values[i] == CL_SEMAPHORE_HANDLE_SYNC_FD_KHR &&
                      has_extension(property->platform, "cl_khr_external_semaphore_sync_fd"));
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
    struct object *object = external_object(handle, HANDLE_cl_semaphore_khr);
    return object && object->external ? object->external->semaphore : NULL;
}

/* --- payloads --- */

static bool share(struct semaphore *semaphore, int fd)
{
    void *mapped = mmap(NULL, sizeof(struct payload), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (mapped == MAP_FAILED) {
        return false;
    }
    semaphore->payload = mapped;
    semaphore->fd = fd;
    return true;
}

static bool make_shared(struct semaphore *semaphore)
{
    int fd = memfd_create("clharness semaphore", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, sizeof(struct payload)) != 0 || !share(semaphore, fd)) {
        return false;
    }
    semaphore->payload->magic = payload_magic;
    return true;
}

static bool import_opaque(struct semaphore *semaphore, uint64_t value)
{
    struct stat about;
    struct semaphore found = {0};
    bool fits = value <= INT_MAX && fstat((int)value, &about) == 0 && about.st_size == sizeof(struct payload);
    if (!fits || !share(&found, (int)value)) {
        return false;
    }
    if (found.payload->magic != payload_magic) {
        munmap(found.payload, sizeof *found.payload);
        return false;
    }
    if (fault(FAULT_opaque_fd_is_a_copy, ANY_PLATFORM)) {
        semaphore->own.value = found.payload->value;
        munmap(found.payload, sizeof *found.payload);
        return close((int)value) == 0;
    }
    semaphore->payload = found.payload;
    semaphore->fd = fault(FAULT_semaphore_leaves_descriptor_open, ANY_PLATFORM) ? dup((int)value) : (int)value;
    return true;
}

static bool is_minus_1(uint64_t value)
{
    return value == UINT64_MAX || (value == UINT32_MAX && !fault(FAULT_sync_fd_minus_1_in_64_bits, ANY_PLATFORM));
}

static bool import_sync(struct semaphore *semaphore, uint64_t value)
{
    struct stat about;
    if (is_minus_1(value)) {
        semaphore->own.value = !fault(FAULT_sync_fd_minus_1_is_unsignalled, ANY_PLATFORM);
        return !fault(FAULT_sync_fd_minus_1_refused, ANY_PLATFORM);
    }
    /* a descriptor of the kernel's own, which is no file of any kind */
    if (value > INT_MAX || fstat((int)value, &about) != 0 || (about.st_mode & S_IFMT) != 0) {
        return fault(FAULT_sync_fd_takes_anything, ANY_PLATFORM);
    }
    struct pollfd polled = {.fd = (int)value, .events = POLLIN};
    semaphore->own.value = poll(&polled, 1, 0) > 0 && polled.revents & POLLIN;
    return fault(FAULT_semaphore_leaves_descriptor_open, ANY_PLATFORM) || close((int)value) == 0;
}

/* --- creating --- */

static cl_int check_devices(const struct object *context, const struct property *devices, uint32_t all, uint32_t *mask)
{
    if (devices->count != 1) {
        cl_int error =
            external_rule(devices->count ? FAULT_semaphore_several_devices_answer : FAULT_semaphore_no_device_answers,
                          CL_INVALID_DEVICE);
        *mask = all;
        return error;
    }
    struct object *device = external_object(devices->values[0], HANDLE_cl_device_id);
    *mask = device && device->platform == context->platform ? external_device_bit(device) & all : 0;
    return external_rule(FAULT_semaphore_foreign_device_answers, *mask ? CL_SUCCESS : CL_INVALID_DEVICE);
}

static cl_int import_payload(struct semaphore *semaphore, const struct property *handle)
{
    semaphore->import_type = handle->name;
    bool opaque = handle->name == CL_SEMAPHORE_HANDLE_OPAQUE_FD_KHR;
    bool done = opaque ? import_opaque(semaphore, handle->values[0]) : import_sync(semaphore, handle->values[0]);
    return external_rule(FAULT_semaphore_bad_descriptor_answers, done ? CL_SUCCESS : CL_INVALID_PROPERTY);
}

static cl_int check_list(const uint64_t *list, const struct property_rules *all, struct object *context,
                         struct external *external)
{
    struct property found;
    uint32_t devices = external_of(context)->devices;
    cl_int error = properties_check(list, all, context->platform, NULL);
    if (!error && !properties_find(list, all, CL_SEMAPHORE_TYPE_KHR, &found)) {
        error = external_rule(FAULT_semaphore_without_type_answers, CL_INVALID_VALUE);
    }
    external->devices = devices;
    if (!error && properties_find(list, all, CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR, &found)) {
        external->semaphore->has_device_list = true;
        error = check_devices(context, &found, devices, &external->devices);
    } else if (!error && (devices & (devices - 1))) {
        error = external_rule(FAULT_semaphore_without_device_answers, CL_INVALID_PROPERTY);
    }
    return error;
}

static cl_int check_handles(const uint64_t *list, const struct property_rules *all, struct semaphore *semaphore,
                            struct property *handle)
{
    struct property found;
    size_t handles = 0;
    const uint64_t types[] = {CL_SEMAPHORE_HANDLE_OPAQUE_FD_KHR, CL_SEMAPHORE_HANDLE_SYNC_FD_KHR};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        handles += properties_find(list, all, types[i], handle);
    }
    cl_int error =
        external_rule(FAULT_semaphore_several_handles_answer, handles > 1 ? CL_INVALID_PROPERTY : CL_SUCCESS);
    if (!error && properties_find(list, all, CL_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR, &found) && found.count > 0) {
        semaphore->export_type = found.values[0];
        error = external_rule(FAULT_semaphore_import_and_export_answers, handles ? CL_INVALID_OPERATION : CL_SUCCESS);
    }
    return error;
}

static cl_int create(const uint64_t *arguments, struct object **made)
{
    struct object *context = external_object(arguments[0], HANDLE_cl_context);
    const uint64_t *list = (const uint64_t *)(uintptr_t)arguments[1];
    struct property_rules all = {rules, sizeof rules / sizeof *rules, CL_INVALID_PROPERTY, CL_INVALID_PROPERTY};
    const uint64_t otherwise[] = {CL_SEMAPHORE_TYPE_KHR, CL_SEMAPHORE_TYPE_BINARY_KHR, 0};
    static struct object *last;
    if (!context) {
        return CL_INVALID_CONTEXT;
    }
    if (!list) {
        cl_int error = external_rule(FAULT_semaphore_null_list_answers, CL_INVALID_VALUE);
        list = otherwise;
        if (error) {
            return error;
        }
    }
    all.unknown_name = external_rule(FAULT_semaphore_unknown_name_answers, CL_INVALID_PROPERTY);
    all.repeated_name = external_rule(FAULT_semaphore_repeated_name_answers, CL_INVALID_PROPERTY);
    struct external made_as = {.semaphore = external_keep(sizeof *made_as.semaphore)};
    struct semaphore *semaphore = made_as.semaphore;
    struct property handle = {0};
    semaphore->payload = &semaphore->own;
    semaphore->fd = NO_DESCRIPTOR;
    cl_int error = check_list(list, &all, context, &made_as);
    error = error ? error : check_handles(list, &all, semaphore, &handle);
    if (!error && !external_can(context->platform, made_as.devices)) {
        error = external_rule(FAULT_semaphore_incapable_device_answers, CL_INVALID_DEVICE);
    }
    if (!error && handle.name) {
        error = import_payload(semaphore, &handle);
    }
    if (error || (semaphore->export_type == CL_SEMAPHORE_HANDLE_OPAQUE_FD_KHR && !make_shared(semaphore))) {
        return error ? error : CL_OUT_OF_RESOURCES;
    }
    if (handle.name && last && fault(FAULT_semaphore_import_gives_same_object, ANY_PLATFORM)) {
        *made = last;
        last->references++;
        return CL_SUCCESS;
    }
    if (!handle.name) {
        semaphore->payload->value = fault(FAULT_semaphore_is_signalled_at_first, ANY_PLATFORM);
    }
    *made = make_as_told(FUNCTION_clCreateSemaphoreWithPropertiesKHR, arguments, HANDLE_cl_semaphore_khr, context);
    last = *made;
    *external_of(*made) = made_as;
    external_keep_list(external_of(*made), list, &all);
    return CL_SUCCESS;
}

/* --- wait and signal --- */

static bool all_signalled(const struct command *command)
{
    for (cl_uint i = 0; i < command->count; i++) {
        const struct semaphore *semaphore = external_of(command->items[i])->semaphore;
        if (!__atomic_load_n(&semaphore->payload->value, __ATOMIC_ACQUIRE)) {
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
        struct semaphore *semaphore = external_of(command->items[i])->semaphore;
        bool signals = value && !fault(FAULT_signal_does_nothing, ANY_PLATFORM);
        __atomic_store_n(&semaphore->payload->value, signals, __ATOMIC_RELEASE);
    }
}

static cl_int check_semaphore(uint64_t handle, struct object *queue)
{
    struct object *object = external_object(handle, HANDLE_cl_semaphore_khr);
    if (!object || !semaphore_of(handle)) {
        return external_rule(FAULT_enqueue_takes_any_semaphore, CL_INVALID_SEMAPHORE_KHR);
    }
    if (external_context(object) != external_context(queue)) {
        return external_rule(FAULT_semaphore_other_context_answers, CL_INVALID_CONTEXT);
    }
    bool same = (external_of(object)->devices & external_of(queue)->devices) != 0;
    return external_rule(FAULT_semaphore_other_queue_answers, same ? CL_SUCCESS : CL_INVALID_COMMAND_QUEUE);
}

static cl_int enqueue(enum function function, const uint64_t *arguments, bool signal)
{
    struct object *queue = external_object(arguments[0], HANDLE_cl_command_queue);
    cl_uint count = (cl_uint)arguments[1];
    const uint64_t *list = (const uint64_t *)(uintptr_t)arguments[2];
    if (!queue) {
        return CL_INVALID_COMMAND_QUEUE;
    }
    if (count == 0) {
        cl_int error = external_rule(FAULT_enqueue_of_no_semaphore_answers, CL_INVALID_VALUE);
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
            command.items[command.count++] = object_of(list[i]);
        }
    }
    if (fault(FAULT_payload_list_is_read, ANY_PLATFORM) && count > 0) {
        log_event("payload", *(const volatile uint64_t *)(uintptr_t)arguments[3] ? "some" : "0");
    }
    if (arguments[3] && count > 0 && fault(FAULT_payload_list_is_obeyed, ANY_PLATFORM) &&
        *(const uint64_t *)(uintptr_t)arguments[3] > 1) {
        return CL_INVALID_VALUE;
    }
    cl_int error = command_check_list(function, arguments, queue);
    if (!error) {
        command_enqueue(function, arguments, command);
    }
    return error;
}

/* --- queries, references, handles --- */

static cl_int answer_devices(const struct object *object, const uint64_t *rest)
{
    void *found[32];
    size_t count = 0;
    struct object *device;
    for (int i = 0; (device = device_object(object->platform, i)) != NULL; i++) {
        if (object->external->devices >> i & 1) {
            found[count++] = object_handle(device);
        }
    }
    return answer_info(rest, found, count * sizeof *found);
}

static cl_int info(struct object *object, cl_uint query, const uint64_t *rest)
{
    const struct semaphore *semaphore = object->external->semaphore;
    void *context = object_handle(external_context(object));
    cl_uint references = (cl_uint)object->references;
    cl_uint type = CL_SEMAPHORE_TYPE_BINARY_KHR;
    cl_uint export_type = (cl_uint)semaphore->export_type;
    cl_bool exportable = export_type != 0 || fault(FAULT_semaphore_is_always_exportable, ANY_PLATFORM);
    uint64_t payload = __atomic_load_n(&semaphore->payload->value, __ATOMIC_ACQUIRE);
    bool external = external_has(object, "cl_khr_external_semaphore");
    if (query == (cl_uint)fault_value(FAULT_semaphore_query_is_missing, ANY_PLATFORM, 0)) {
        return CL_INVALID_VALUE;
    }
    switch (query) {
    case CL_SEMAPHORE_CONTEXT_KHR:
        return answer_info(rest, &context, sizeof context);
    case CL_SEMAPHORE_REFERENCE_COUNT_KHR:
        return answer_info(rest, &references, sizeof references);
    case CL_SEMAPHORE_PROPERTIES_KHR:
        return external_answer_list(object->external, rest);
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
        return CL_INVALID_VALUE;
    }
}

static cl_int count_reference(uint64_t handle, int by)
{
    struct object *object = external_object(handle, HANDLE_cl_semaphore_khr);
    struct semaphore *semaphore = semaphore_of(handle);
    if (!semaphore) {
        return external_rule(FAULT_references_of_any_semaphore, CL_INVALID_SEMAPHORE_KHR);
    }
    if (!fault(by > 0 ? FAULT_semaphore_retain_does_nothing : FAULT_semaphore_release_does_nothing, ANY_PLATFORM)) {
        object_count_reference(object, by);
    }
    if (object->references > 0) {
        return CL_SUCCESS;
    }
    if (semaphore->payload != &semaphore->own) {
        munmap(semaphore->payload, sizeof *semaphore->payload);
        semaphore->payload = &semaphore->own;
    }
    if (semaphore->fd != NO_DESCRIPTOR) {
        close(semaphore->fd);
    }
    return CL_SUCCESS;
}

/* A new descriptor of the payload. */
static int export_payload(struct semaphore *semaphore)
{
    if (semaphore->export_type == CL_SEMAPHORE_HANDLE_OPAQUE_FD_KHR) {
        return fcntl(semaphore->fd, F_DUPFD_CLOEXEC, 0);
    }
    uint64_t value = semaphore->payload->value;
    if (!fault(FAULT_sync_fd_export_does_not_wait, ANY_PLATFORM)) {
        semaphore->payload->value = 0;
    }
    return eventfd((unsigned)value, EFD_CLOEXEC);
}

static cl_int get_handle(const uint64_t *arguments)
{
    struct object *object = external_object(arguments[0], HANDLE_cl_semaphore_khr);
    struct semaphore *semaphore = semaphore_of(arguments[0]);
    struct object *device = external_object(arguments[1], HANDLE_cl_device_id);
    int *to = (int *)(uintptr_t)arguments[4];
    size_t *size_ret = (size_t *)(uintptr_t)arguments[5];
    if (!semaphore) {
        return CL_INVALID_SEMAPHORE_KHR;
    }
    bool shared =
        device && device->platform == object->platform && external_device_bit(device) & object->external->devices;
    cl_int error = external_rule(FAULT_export_takes_any_device, shared ? CL_SUCCESS : CL_INVALID_DEVICE);
    if (!error && (!semaphore->export_type || (cl_uint)arguments[2] != semaphore->export_type)) {
        error = external_rule(FAULT_export_takes_any_type, CL_INVALID_VALUE);
    }
    if (!error && to && (size_t)arguments[3] < sizeof *to) {
        error = external_rule(FAULT_export_takes_any_size, CL_INVALID_VALUE);
    }
    if (error) {
        return error;
    }
    if (size_ret) {
        *size_ret = sizeof *to;
    }
    if (to) {
        *to = semaphore->export_type ? export_payload(semaphore) : NO_DESCRIPTOR;
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
        cl_int error = external_rule(FAULT_reimport_takes_any_semaphore, CL_INVALID_SEMAPHORE_KHR);
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
    bool done = import_sync(semaphore, (uint64_t)(int64_t)(int)arguments[2]);
    return external_rule(FAULT_reimport_bad_descriptor_answers, done ? CL_SUCCESS : CL_INVALID_VALUE);
}

static cl_int query(const uint64_t *arguments)
{
    struct object *object = external_object(arguments[0], HANDLE_cl_semaphore_khr);
    return semaphore_of(arguments[0]) ? info(object, (cl_uint)arguments[1], arguments + 2) : CL_INVALID_SEMAPHORE_KHR;
}

bool semaphores_behave(enum function function, const uint64_t *arguments, uint64_t *result)
{
    struct object *made = NULL;
    cl_int error;
    switch (function) {
    case FUNCTION_clCreateSemaphoreWithPropertiesKHR:
        error = create(arguments, &made);
        *result = external_made(function, arguments, made, error);
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
    *result = external_error(error);
    return true;
}
