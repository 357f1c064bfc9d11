/* SPDX-License-Identifier: Apache-2.0 */
/* Vendors by the hundred. */
#define _GNU_SOURCE
#include "crowd.h"

#include "internal.h"
#include "numbers.h"

#include <string.h>

struct member members[MEMBERS];
unsigned member_count;
struct crowd_platform crowd_platforms[CROWD_PLATFORMS];
unsigned crowd_platform_count;
struct arrival arrived;

static struct handle devices[CROWD_DEVICES];
static unsigned device_count;

/* clharness_entries.c, compiled for all of them. */
extern void (*const crowd_entries[FUNCTION_COUNT])(void);
uint64_t crowd_call(enum function function, const uint64_t *arguments);

/* --- functions that each vendor has itself --- */

static void arrive(unsigned member, enum function function, const uint64_t *arguments)
{
    arrived.function = function;
    arrived.member = member;
    arrived.count++;
    memcpy(arrived.argument, arguments, function_info[function].parameter_count * sizeof *arguments);
}

__attribute__((noinline)) static uint64_t query(unsigned member, const char *name);
__attribute__((noinline)) static cl_int enumerate(unsigned member, cl_uint room, cl_platform_id *list, cl_uint *count);

__attribute__((noinline)) static cl_int flush(unsigned member, cl_command_queue queue)
{
    arrive(member, FUNCTION_clFlush, (const uint64_t[]){AT(queue)});
    return CL_SUCCESS;
}

__attribute__((noinline)) static cl_int wait(unsigned member, cl_uint count, const cl_event *events)
{
    arrive(member, FUNCTION_clWaitForEvents, (const uint64_t[]){count, AT(events)});
    return CL_SUCCESS;
}

typedef void CL_CALLBACK notify(const char *, const void *, size_t, void *);

static cl_context created(unsigned member, cl_int *error)
{
    if (error) {
        *error = CL_SUCCESS;
    }
    return (cl_context)(void *)&crowd_platforms[members[member].first].object[HANDLE_cl_context];
}

__attribute__((noinline)) static cl_context context(unsigned member, const cl_context_properties *properties,
                                                    cl_uint count, const cl_device_id *list, notify *called, void *data,
                                                    cl_int *error)
{
    arrive(member, FUNCTION_clCreateContext,
           (const uint64_t[]){AT(properties), count, AT(list), AT(called), AT(data), AT(error)});
    return created(member, error);
}

__attribute__((noinline)) static cl_context by_type(unsigned member, const cl_context_properties *properties,
                                                    cl_device_type type, notify *called, void *data, cl_int *error)
{
    arrive(member, FUNCTION_clCreateContextFromType,
           (const uint64_t[]){AT(properties), type, AT(called), AT(data), AT(error)});
    return created(member, error);
}

/* Thousands of functions that hand on what they get: nothing in them is to be watched, which takes long to compile. */
#ifdef __clang__
#define UNWATCHED __attribute__((no_sanitize("address", "coverage")))
#else
#define UNWATCHED
#endif

#define OWN(n)                                                                                                       \
    UNWATCHED static void *CL_API_CALL query##n(const char *name)                                                    \
    {                                                                                                                \
        return (void *)(uintptr_t)query((n)-1000, name);                                                             \
    }                                                                                                                \
    UNWATCHED static cl_int CL_API_CALL enumerate##n(cl_uint room, cl_platform_id *list, cl_uint *count)             \
    {                                                                                                                \
        return enumerate((n)-1000, room, list, count);                                                               \
    }                                                                                                                \
    UNWATCHED static cl_int CL_API_CALL flush##n(cl_command_queue queue)                                             \
    {                                                                                                                \
        return flush((n)-1000, queue);                                                                               \
    }                                                                                                                \
    UNWATCHED static cl_int CL_API_CALL wait##n(cl_uint count, const cl_event *events)                               \
    {                                                                                                                \
        return wait((n)-1000, count, events);                                                                        \
    }                                                                                                                \
    UNWATCHED static cl_context CL_API_CALL context##n(const cl_context_properties *properties, cl_uint count,       \
                                                       const cl_device_id *list, notify *called, void *data,         \
                                                       cl_int *e)                                                    \
    {                                                                                                                \
        return context((n)-1000, properties, count, list, called, data, e);                                          \
    }                                                                                                                \
    UNWATCHED static cl_context CL_API_CALL by_type##n(const cl_context_properties *properties, cl_device_type type, \
                                                       notify *called, void *data, cl_int *e)                        \
    {                                                                                                                \
        return by_type((n)-1000, properties, type, called, data, e);                                                 \
    }
#define ROW(n)                                                    \
    {(address)query##n, (address)enumerate##n, (address)flush##n, \
     (address)wait##n,  (address)context##n,   (address)by_type##n},

/* clang-format off */
#define ALL(M) \
    HUNDRED(M, 10) HUNDRED(M, 11) HUNDRED(M, 12) HUNDRED(M, 13) HUNDRED(M, 14) HUNDRED(M, 15) \
    HUNDRED(M, 16) HUNDRED(M, 17) HUNDRED(M, 18) HUNDRED(M, 19) HUNDRED(M, 20)
/* clang-format on */

ALL(OWN)

static const struct {
    address query, enumerate, flush, wait, context, by_type;
} own[MEMBERS] = {ALL(ROW)};

/* --- its answers --- */

static void *pointer(address function)
{
    return *(void **)&function;
}

static uint64_t query(unsigned member, const char *name)
{
    switch (function_named(name)) {
    case FUNCTION_clIcdGetPlatformIDsKHR:
        return AT(pointer(own[member].enumerate));
    case FUNCTION_clGetPlatformInfo:
        return AT(pointer(crowd_entries[FUNCTION_clGetPlatformInfo]));
    case FUNCTION_clIcdGetFunctionAddressForPlatformKHR:
        return members[member].icd2 ? AT(pointer(crowd_entries[FUNCTION_clIcdGetFunctionAddressForPlatformKHR])) : 0;
    case FUNCTION_clIcdSetPlatformDispatchDataKHR:
        return members[member].icd2 ? AT(pointer(crowd_entries[FUNCTION_clIcdSetPlatformDispatchDataKHR])) : 0;
    default:
        return strncmp(name, EXTENSION_NAME, sizeof EXTENSION_NAME - 1) == 0 ? crowd_address(member) : 0;
    }
}

uint64_t crowd_address(unsigned member)
{
    return AT(pointer(own[member].flush)); /* nobody calls it by that way */
}

static cl_int enumerate(unsigned member, cl_uint room, cl_platform_id *list, cl_uint *count)
{
    struct member *of = &members[member];
    of->counted += count && !list;
    of->listed += list != NULL;
    if ((list && !room) || (!list && !count)) {
        return CL_INVALID_VALUE;
    }
    if (of->flaw == FLAW_ERROR) {
        return CL_OUT_OF_HOST_MEMORY;
    }
    if (of->flaw == FLAW_NO_LIST) { /* it counts a platform, and cannot give it */
        if (count) {
            *count = 1;
        }
        return list ? CL_OUT_OF_HOST_MEMORY : CL_SUCCESS;
    }
    if (count) {
        *count = of->count;
    }
    for (unsigned p = 0; list && p < of->count && p < room; p++) {
        list[p] = (cl_platform_id)(void *)&crowd_platforms[of->first + p].object[HANDLE_cl_platform_id];
    }
    return of->count ? CL_SUCCESS : CL_PLATFORM_NOT_FOUND_KHR;
}

struct crowd_platform *crowd_platform_of(uint64_t handle)
{
    uintptr_t offset = (uintptr_t)handle - (uintptr_t)crowd_platforms;
    if ((uintptr_t)handle < (uintptr_t)crowd_platforms || offset >= crowd_platform_count * sizeof *crowd_platforms) {
        return NULL;
    }
    struct crowd_platform *platform = &crowd_platforms[offset / sizeof *crowd_platforms];
    return AT(&platform->object[HANDLE_cl_platform_id]) == handle ? platform : NULL;
}

static cl_int bytes(const uint64_t *a, const void *from, size_t size)
{
    if (a[1] && a[0] < size) {
        return CL_INVALID_VALUE;
    }
    if (a[1]) {
        memcpy((void *)(uintptr_t)a[1], from, size);
    }
    if (a[2]) {
        *(size_t *)(uintptr_t)a[2] = size;
    }
    return CL_SUCCESS;
}

static cl_int platform_info(const struct crowd_platform *platform, const uint64_t *a)
{
    const char *text;
    const cl_bool unloadable = platform->unloadable;
    switch ((cl_platform_info)a[1]) {
    case CL_PLATFORM_UNLOADABLE_KHR:
        return bytes(a + 2, &unloadable, sizeof unloadable);
    case CL_PLATFORM_NAME:
        text = platform->name;
        break;
    case CL_PLATFORM_VERSION:
        text = platform->version;
        break;
    case CL_PLATFORM_EXTENSIONS:
        text = platform->extensions;
        break;
    case CL_PLATFORM_ICD_SUFFIX_KHR:
        text = platform->suffix;
        break;
    case CL_PLATFORM_VENDOR:
        text = "clharness";
        break;
    case CL_PLATFORM_PROFILE:
        text = "FULL_PROFILE";
        break;
    default:
        return CL_INVALID_VALUE;
    }
    return bytes(a + 2, text, strlen(text) + 1);
}

static cl_int device_ids(const struct crowd_platform *platform, const uint64_t *a)
{
    const struct devices *of = &platform->devices;
    cl_device_id *list = (cl_device_id *)(uintptr_t)a[3];
    bool all = (cl_device_type)a[1] == CL_DEVICE_TYPE_ALL;
    unsigned first = a[1] & CL_DEVICE_TYPE_GPU ? 0 : a[1] & CL_DEVICE_TYPE_CPU ? of->gpus : of->gpus + of->cpus;
    unsigned end = all || a[1] & CL_DEVICE_TYPE_ACCELERATOR ? of->gpus + of->cpus + of->others
                   : a[1] & CL_DEVICE_TYPE_CPU              ? of->gpus + of->cpus
                   : a[1] & CL_DEVICE_TYPE_GPU              ? of->gpus
                                                            : first;
    for (unsigned d = first; list && d < end && d - first < (cl_uint)a[2]; d++) {
        list[d - first] = (cl_device_id)(void *)&platform->device[d];
    }
    if (a[4]) {
        *(cl_uint *)(uintptr_t)a[4] = end - first;
    }
    return end > first ? CL_SUCCESS : CL_DEVICE_NOT_FOUND;
}

static uint64_t set_data(struct crowd_platform *platform, void *data)
{
    platform->handed++;
    for (int kind = 0; kind < HANDLE_COUNT; kind++) {
        platform->object[kind].dispatch_data = data;
    }
    unsigned count = platform->devices.gpus + platform->devices.cpus + platform->devices.others;
    for (unsigned d = 0; d < count; d++) {
        platform->device[d].dispatch_data = data;
    }
    return CL_SUCCESS;
}

/* A function as it stands in a vendor's table, but for the tags of ICD 2. */
static void *function_of(unsigned member, enum function function)
{
    switch (function) {
    case FUNCTION_clGetExtensionFunctionAddress:
        return pointer(own[member].query);
    case FUNCTION_clFlush:
        return pointer(own[member].flush);
    case FUNCTION_clWaitForEvents:
        return pointer(own[member].wait);
    case FUNCTION_clCreateContext:
        return pointer(own[member].context);
    case FUNCTION_clCreateContextFromType:
        return pointer(own[member].by_type);
    default:
        return pointer(crowd_entries[function]);
    }
}

static uint64_t answer(enum function function, const uint64_t *a)
{
    const struct function_info *about = &function_info[function];
    for (unsigned i = 0; i < about->parameter_count; i++) {
        if (about->parameters[i].kind == PARAMETER_ERRCODE && a[i]) {
            *(cl_int *)(uintptr_t)a[i] = CL_SUCCESS;
        }
    }
    return about->result == RESULT_HANDLE ? AT(&crowd_platforms[0].object[about->result_handle]) : 0;
}

uint64_t crowd_call(enum function function, const uint64_t *a)
{
    struct crowd_platform *platform = crowd_platform_of(a[0]);
    switch (platform ? function : FUNCTION_COUNT) {
    case FUNCTION_clGetPlatformInfo:
        arrive(platform->member, function, a);
        return (uint64_t)platform_info(platform, a);
    case FUNCTION_clGetDeviceIDs:
        arrive(platform->member, function, a);
        return (uint64_t)device_ids(platform, a);
    case FUNCTION_clGetExtensionFunctionAddressForPlatform:
        return query(platform->member, (const char *)(uintptr_t)a[1]);
    case FUNCTION_clIcdSetPlatformDispatchDataKHR:
        return set_data(platform, (void *)(uintptr_t)a[1]);
    case FUNCTION_clIcdGetFunctionAddressForPlatformKHR: {
        int wanted = function_named((const char *)(uintptr_t)a[1]);
        return wanted < 0 ? 0 : AT(function_of(platform->member, (enum function)wanted));
    }
    default:
        arrive(MEMBERS, function, a);
        return answer(function, a);
    }
}

static void *symbol(const struct library *library, const char *name)
{
    unsigned member = (unsigned)library->number;
    switch (members[member].flaw == FLAW_NO_FUNCTIONS ? -1 : function_named(name)) {
    case FUNCTION_clGetExtensionFunctionAddress:
        return pointer(own[member].query);
    case FUNCTION_clIcdGetPlatformIDsKHR:
        return pointer(own[member].enumerate);
    case FUNCTION_clGetPlatformInfo:
        return pointer(crowd_entries[FUNCTION_clGetPlatformInfo]);
    default:
        return NULL;
    }
}

/* --- making them --- */

void crowd_clear(void)
{
    member_count = crowd_platform_count = device_count = 0;
    arrived.count = 0;
}

struct member *crowd_member(void)
{
    if (member_count == MEMBERS) {
        return NULL;
    }
    struct member *member = &members[member_count++];
    *member = (struct member){.first = crowd_platform_count};
    return member;
}

struct crowd_platform *crowd_platform(struct devices of)
{
    unsigned count = of.gpus + of.cpus + of.others;
    if (crowd_platform_count == CROWD_PLATFORMS || count > CROWD_DEVICES - device_count) {
        return NULL;
    }
    struct crowd_platform *platform = &crowd_platforms[crowd_platform_count];
    platform->member = member_count - 1;
    platform->device = &devices[device_count];
    platform->devices = of;
    platform->suffix = keep_text("S%u", crowd_platform_count);
    platform->name = keep_text("platform %u", crowd_platform_count);
    platform->version = "OpenCL 3.0 clharness";
    platform->extensions = "cl_khr_icd";
    platform->unloadable = false;
    platform->handed = 0;
    device_count += count;
    crowd_platform_count++;
    members[member_count - 1].count++;
    return platform;
}

static void make_table(unsigned number)
{
    struct member *member = &members[number];
    for (unsigned slot = 0; slot < TABLE_LENGTH; slot++) {
        int function = function_of_slot[slot];
        member->table[slot] = function >= 0 ? function_of(number, (enum function)function) : NULL;
    }
    if (member->icd2) {
        member->table[function_info[FUNCTION_clGetPlatformIDs].slot] = (void *)CL_ICD2_TAG_KHR;
        member->table[function_info[FUNCTION_clUnloadCompiler].slot] = (void *)CL_ICD2_TAG_KHR;
    }
}

void crowd_make(void)
{
    for (unsigned m = 0; m < member_count; m++) {
        make_table(m);
    }
    for (unsigned p = 0; p < crowd_platform_count; p++) {
        struct crowd_platform *platform = &crowd_platforms[p];
        struct handle plain = {members[platform->member].table, NULL, p, HANDLE_none};
        for (int kind = 0; kind < HANDLE_COUNT; kind++) {
            plain.kind = (enum handle_kind)kind;
            platform->object[kind] = plain;
        }
        plain.kind = HANDLE_cl_device_id;
        unsigned count = platform->devices.gpus + platform->devices.cpus + platform->devices.others;
        for (unsigned d = 0; d < count; d++) {
            platform->device[d] = plain;
        }
    }
    /* Platforms of ICD 2 point to what the loader allocated for them. */
    heap_root(crowd_platforms, crowd_platform_count * sizeof *crowd_platforms);
}

void crowd_library(unsigned member, const char *name)
{
    if (members[member].flaw != FLAW_NO_LIBRARY) {
        members[member].library = world_library(name, symbol, (int)member);
    }
}
