/* SPDX-License-Identifier: Apache-2.0 */
/* Vendors: ICDs whose every answer a target can choose. */
#define _GNU_SOURCE
#include "vendor.h"

#include "internal.h"

#include <string.h>

struct vendor vendors[VENDORS];
struct received received[CALLS_KEPT];
size_t received_count;
uint64_t (*vendor_answers)(const struct vendor *vendor, enum function function, const uint64_t *arguments);
bool vendor_answers_all;

static uint64_t called(struct vendor *vendor, enum function function, const uint64_t *arguments);

/* clharness_entries.c is compiled once for each of them. */
#define VENDOR(n)                                                                 \
    extern void (*const vendor##n##_entries[FUNCTION_COUNT])(void);               \
    uint64_t vendor##n##_call(enum function function, const uint64_t *arguments); \
    uint64_t vendor##n##_call(enum function function, const uint64_t *arguments)  \
    {                                                                             \
        return called(&vendors[n], function, arguments);                          \
    }
VENDOR(0)
VENDOR(1)
VENDOR(2)
VENDOR(3)

static void (*const *const entries[VENDORS])(void) = {vendor0_entries, vendor1_entries, vendor2_entries,
                                                      vendor3_entries};

void *vendor_function(int vendor, enum function function)
{
    return *(void *const *)&entries[vendor][function];
}

static bool misses(const struct platform *platform, int function)
{
    return platform->missing[function / 8] & (1 << (function % 8));
}

void vendor_has(struct platform *platform, enum function function)
{
    platform->missing[function / 8] &= (uint8_t) ~(1 << (function % 8));
}

struct object *object_of(uint64_t handle)
{
    struct object *object = (struct object *)(uintptr_t)handle;
    uintptr_t offset = (uintptr_t)object - (uintptr_t)vendors;
    /* Only what lies in a platform's objects is read. */
    if ((uintptr_t)object < (uintptr_t)vendors || offset >= sizeof vendors) {
        return NULL;
    }
    struct vendor *vendor = &vendors[offset / sizeof *vendors];
    for (unsigned p = 0; p < PLATFORMS; p++) {
        struct platform *platform = &vendor->platform[p];
        if ((object >= platform->object && object < platform->object + HANDLE_COUNT) ||
            (object >= platform->device && object < platform->device + DEVICES)) {
            return object;
        }
    }
    return NULL;
}

/* --- making one --- */

struct vendor *vendor_plain(int number)
{
    struct vendor *vendor = &vendors[number];
    memset(vendor, 0, sizeof *vendor);
    vendor->number = number;
    vendor->platform_count = 1;
    for (unsigned p = 0; p < PLATFORMS; p++) {
        static const char *const names[VENDORS] = {"a", "b", "c", "d"};
        vendor->platform[p].extensions = "cl_khr_icd";
        vendor->platform[p].suffix = names[number];
        vendor->platform[p].name = names[number];
        vendor->platform[p].device_count = DEVICES;
    }
    return vendor;
}

/* What loaders call to find out about platforms. */
static bool is_needed(int function)
{
    return function == FUNCTION_clGetPlatformInfo || function == FUNCTION_clGetDeviceIDs ||
           function == FUNCTION_clGetDeviceInfo;
}

static void make_table(struct vendor *vendor, struct platform *platform)
{
    unsigned tagged = (unsigned)function_info[FUNCTION_clUnloadCompiler].slot + 1;
    unsigned length = platform->table_length ? platform->table_length : TABLE_LENGTH;
    length = platform->icd2 && length < tagged ? tagged : length;
    platform->table = guarded(length * sizeof *platform->table);
    for (unsigned slot = 0; slot < length; slot++) {
        int function = function_of_slot[slot];
        if (function >= 0 && !misses(platform, function) && (!platform->bare || is_needed(function))) {
            platform->table[slot] = vendor_function(vendor->number, (enum function)function);
        }
    }
    if (platform->icd2) {
        platform->table[function_info[FUNCTION_clGetPlatformIDs].slot] = (void *)CL_ICD2_TAG_KHR;
        platform->table[function_info[FUNCTION_clUnloadCompiler].slot] = (void *)CL_ICD2_TAG_KHR;
    }
    if (platform->half_tagged) {
        platform->table[function_info[FUNCTION_clGetPlatformIDs].slot] = (void *)CL_ICD2_TAG_KHR;
        platform->table[function_info[FUNCTION_clUnloadCompiler].slot] = NULL;
    }
}

void vendor_make(struct vendor *vendor)
{
    static bool known;
    if (!known) {
        known = true;
        heap_root(vendors, sizeof vendors);
    }
    for (unsigned p = 0; p < vendor->platform_count; p++) {
        struct platform *platform = &vendor->platform[p];
        make_table(vendor, platform);
        struct object plain = {platform->table, NULL, vendor->number, (int)p, HANDLE_none};
        for (int kind = 0; kind < HANDLE_COUNT; kind++) {
            plain.kind = (enum handle_kind)kind;
            platform->object[kind] = plain;
        }
        plain.kind = HANDLE_cl_device_id;
        for (unsigned d = 0; d < DEVICES; d++) {
            platform->device[d] = plain;
        }
    }
}

struct library *vendor_library(struct vendor *vendor, const char *name)
{
    return world_library(name, vendor_symbol, vendor->number);
}

void *vendor_symbol(const struct library *library, const char *name)
{
    const struct vendor *vendor = &vendors[library->number];
    int function = function_named(name);
    if ((function == FUNCTION_clGetExtensionFunctionAddress && !vendor->hides_query) ||
        (function == FUNCTION_clIcdGetPlatformIDsKHR && !vendor->hides_enumerate) ||
        (function == FUNCTION_clGetPlatformInfo && !vendor->hides_info)) {
        return vendor_function(vendor->number, (enum function)function);
    }
    return NULL;
}

/* --- its answers --- */

static void *queried(const struct vendor *vendor, const char *name)
{
    int function = function_named(name);
    bool icd2 = false;
    for (unsigned p = 0; p < vendor->platform_count; p++) {
        icd2 |= vendor->platform[p].icd2;
    }
    switch (function) {
    case FUNCTION_clIcdGetPlatformIDsKHR:
        return vendor->query_hides_enumerate ? NULL : vendor_function(vendor->number, FUNCTION_clIcdGetPlatformIDsKHR);
    case FUNCTION_clGetPlatformInfo:
        return vendor->query_hides_info ? NULL : vendor_function(vendor->number, FUNCTION_clGetPlatformInfo);
    case FUNCTION_clIcdGetFunctionAddressForPlatformKHR:
    case FUNCTION_clIcdSetPlatformDispatchDataKHR:
        return icd2 && !vendor->query_hides_icd2 ? vendor_function(vendor->number, (enum function)function) : NULL;
    case -1:
        return vendor->also && texts_equal(name, vendor->also) ? vendor_function(vendor->number, FUNCTION_clFlush)
                                                               : NULL;
    default:
        return NULL;
    }
}

static uint64_t enumerate(const struct vendor *vendor, const uint64_t *a)
{
    cl_uint room = (cl_uint)a[0];
    cl_platform_id *list = (cl_platform_id *)(uintptr_t)a[1];
    cl_uint *count = (cl_uint *)(uintptr_t)a[2];
    cl_int error = list ? vendor->list_error : vendor->count_error;
    if ((!list && !count) || (list && !room)) {
        return (uint64_t)CL_INVALID_VALUE;
    }
    if (error && !vendor->errs_late) {
        return (uint64_t)error;
    }
    if (count && !vendor->count_unset) {
        *count = vendor->platform_count + vendor->count_more;
    }
    for (unsigned p = 0; list && p < vendor->platform_count && p < room; p++) {
        const struct platform *platform = &vendor->platform[p];
        if (p + vendor->list_fewer < vendor->platform_count) {
            const struct platform *shown = platform->same_as ? &vendor->platform[platform->same_as - 1] : platform;
            list[p] = platform->null_in_list ? NULL : (cl_platform_id)(uintptr_t)&shown->object[HANDLE_cl_platform_id];
        }
    }
    return error ? (uint64_t)error : vendor->platform_count ? CL_SUCCESS : (uint64_t)CL_PLATFORM_NOT_FOUND_KHR;
}

/* Answers a query: `a` are the size, the place and the place of the size. */
static uint64_t bytes_of(const uint64_t *a, const void *from, size_t size)
{
    if (a[1]) {
        if (a[0] < size) {
            return (uint64_t)CL_INVALID_VALUE;
        }
        memcpy((void *)(uintptr_t)a[1], from, size);
    }
    if (a[2]) {
        *(size_t *)(uintptr_t)a[2] = size;
    }
    return CL_SUCCESS;
}

static uint64_t string_of(const uint64_t *a, const char *text, const struct answer *answer, bool errs_late)
{
    size_t size = strlen(text) + !answer->unterminated;
    char *copy;
    cl_int error = a[1] ? answer->data_error : answer->size_error;
    if ((error && !errs_late) || answer->unset) {
        return (uint64_t)error;
    }
    if (answer->longer < 0 && (size_t)-answer->longer > size) {
        size = 0;
    } else {
        size += (size_t)answer->longer;
    }
    copy = memcpy(keep(size + strlen(text) + 1), text, strlen(text) + 1);
    if (answer->unterminated) {
        memset(copy + strlen(text), 'x', size > strlen(text) ? size - strlen(text) : 0);
    }
    uint64_t result = bytes_of(a, copy, size);
    return error ? (uint64_t)error : result;
}

static uint64_t platform_info(const struct platform *platform, const uint64_t *a, bool errs_late)
{
    static const struct answer plain;
    uint64_t flag = platform->unloadable;
    switch ((cl_platform_info)a[1]) {
    case CL_PLATFORM_NAME:
        return string_of(a + 2, platform->name, &plain, false);
    case CL_PLATFORM_VENDOR:
        return string_of(a + 2, "clharness", &plain, false);
    case CL_PLATFORM_VERSION:
        return string_of(a + 2, "OpenCL 3.0 clharness", &plain, false);
    case CL_PLATFORM_PROFILE:
        return string_of(a + 2, "FULL_PROFILE", &plain, false);
    case CL_PLATFORM_EXTENSIONS:
        return string_of(a + 2, platform->extensions, &platform->extensions_answer, errs_late);
    case CL_PLATFORM_ICD_SUFFIX_KHR:
        return string_of(a + 2, platform->suffix, &platform->suffix_answer, errs_late);
    case CL_PLATFORM_UNLOADABLE_KHR:
        return platform->unloadable_error ? (uint64_t)platform->unloadable_error
                                          : bytes_of(a + 2, &flag, sizeof(cl_bool));
    default:
        return (uint64_t)CL_INVALID_VALUE;
    }
}

static uint64_t device_ids(struct platform *platform, const uint64_t *a)
{
    cl_device_id *list = (cl_device_id *)(uintptr_t)a[3];
    cl_uint *count = (cl_uint *)(uintptr_t)a[4];
    for (unsigned d = 0; list && d < platform->device_count && d < (cl_uint)a[2]; d++) {
        list[d] = (cl_device_id)(void *)&platform->device[d];
    }
    if (count) {
        *count = platform->device_count;
    }
    return platform->device_count ? CL_SUCCESS : (uint64_t)CL_DEVICE_NOT_FOUND;
}

static uint64_t set_dispatch_data(struct platform *platform, void *data)
{
    if (platform->set_data_error) {
        return (uint64_t)platform->set_data_error;
    }
    for (int kind = 0; kind < HANDLE_COUNT; kind++) {
        platform->object[kind].dispatch_data = data;
    }
    for (unsigned d = 0; d < DEVICES; d++) {
        platform->device[d].dispatch_data = data;
    }
    return CL_SUCCESS;
}

/* The platform whose object is the first among the arguments; else the first of the vendor. */
static struct platform *platform_of(struct vendor *vendor, enum function function, const uint64_t *arguments)
{
    const struct function_info *about = &function_info[function];
    for (unsigned i = 0; i < about->parameter_count; i++) {
        struct object *object = about->parameters[i].kind == PARAMETER_HANDLE ? object_of(arguments[i]) : NULL;
        if (object && object->vendor == vendor->number) {
            return &vendor->platform[object->platform];
        }
    }
    return &vendor->platform[0];
}

static uint64_t ordinary(struct vendor *vendor, enum function function, const uint64_t *a)
{
    const struct function_info *about = &function_info[function];
    struct platform *platform = platform_of(vendor, function, a);
    for (unsigned i = 0; i < about->parameter_count; i++) {
        if (about->parameters[i].kind == PARAMETER_ERRCODE && a[i]) {
            *(cl_int *)(uintptr_t)a[i] = CL_SUCCESS;
        }
    }
    if (about->result == RESULT_HANDLE) {
        return AT(&platform->object[about->result_handle]);
    }
    return 0;
}

/* Nothing that the loader owns is touched: without the sanitizer, which took as much time as the rest of a call. */
__attribute__((no_sanitize("address"))) static void note_call(int vendor, enum function function, const uint64_t *a)
{
    if (received_count < CALLS_KEPT) {
        struct received *one = &received[received_count++];
        volatile uint64_t *argument = one->argument; /* else it would become memcpy, which is the sanitizer's */
        one->function = function;
        one->vendor = vendor;
        for (unsigned i = 0; i < function_info[function].parameter_count; i++) {
            argument[i] = a[i];
        }
    }
}

static uint64_t called(struct vendor *vendor, enum function function, const uint64_t *a)
{
    note_call(vendor->number, function, a);
    if (vendor_answers && vendor_answers_all) {
        return vendor_answers(vendor, function, a);
    }
    struct platform *platform;
    const char *name;
    int wanted;
    switch (function) {
    case FUNCTION_clGetExtensionFunctionAddress:
        return AT(queried(vendor, (const char *)(uintptr_t)a[0]));
    case FUNCTION_clGetExtensionFunctionAddressForPlatform:
        return AT(queried(vendor, (const char *)(uintptr_t)a[1]));
    case FUNCTION_clIcdGetPlatformIDsKHR:
        return enumerate(vendor, a);
    case FUNCTION_clGetPlatformInfo:
        platform = platform_of(vendor, function, a);
        return object_of(a[0]) ? platform_info(platform, a, vendor->errs_late) : (uint64_t)CL_INVALID_PLATFORM;
    case FUNCTION_clGetDeviceIDs:
        return device_ids(platform_of(vendor, function, a), a);
    case FUNCTION_clIcdSetPlatformDispatchDataKHR:
        return set_dispatch_data(platform_of(vendor, function, a), (void *)(uintptr_t)a[1]);
    case FUNCTION_clIcdGetFunctionAddressForPlatformKHR:
        name = (const char *)(uintptr_t)a[1];
        wanted = function_named(name);
        platform = platform_of(vendor, function, a);
        return wanted < 0 || misses(platform, wanted) ? 0 : AT(vendor_function(vendor->number, (enum function)wanted));
    default:
        return vendor_answers ? vendor_answers(vendor, function, a) : ordinary(vendor, function, a);
    }
}
