/* SPDX-License-Identifier: Apache-2.0 */
/* What is right on its own, whatever the controls are: calls with the platforms that a loader offers. */
#define _GNU_SOURCE
#include "offers.h"

#include "crowd.h"

#include <string.h>

enum { QUERIES = 40 };

/* The front of a function's name, which its vendor knows by its beginning. */
static const char *filled_name(unsigned length)
{
    char *name = keep(sizeof EXTENSION_NAME + length);
    memset(stpcpy(name, EXTENSION_NAME), 'q', length);
    return name;
}

static void check_way(unsigned number)
{
    const struct crowd_platform *platform = &crowd_platforms[number];
    arrived.count = 0;
    CALL(clFlush, AT(&platform->object[HANDLE_cl_command_queue]));
    if (arrived.count != 1 || arrived.member != platform->member || arrived.function != FUNCTION_clFlush ||
        arrived.argument[0] != AT(&platform->object[HANDLE_cl_command_queue])) {
        finding("wrong", "way-of-many", "clFlush with a queue of vendor %u caused %u calls, the last of vendor %u",
                platform->member, arrived.count, arrived.member);
    }
}

static void check_texts(const struct machine *machine, unsigned number)
{
    const struct crowd_platform *platform = &crowd_platforms[number];
    const struct handle *handle = &platform->object[HANDLE_cl_platform_id];
    size_t size = strlen(platform->name) + 1;
    char *name = size > 4096 ? keep(size) : guarded(size);
    cl_int result = (cl_int)CALL(clGetPlatformInfo, AT(handle), CL_PLATFORM_NAME, size, AT(name), 0);
    if (result != CL_SUCCESS || !texts_equal(name, platform->name)) {
        finding("wrong", "name-of-many", "the name of platform %u is answered %d and \"%.40s\", its vendor's \"%.40s\"",
                number, result, name, platform->name);
    }
    const char *front = filled_name(machine->of[QUERY]);
    const char *function = keep_text("%s%s", front, platform->suffix);
    uint64_t address = CALL(clGetExtensionFunctionAddress, AT(function));
    if (address != crowd_address(platform->member)) {
        finding("wrong", "suffix-of-many",
                "clGetExtensionFunctionAddress with the suffix of platform %u (%zu bytes, the name has %zu) answers %s",
                number, strlen(platform->suffix), strlen(function), address ? "another vendor's address" : "NULL");
    }
    /* All suffixes begin alike, so that no other vendor's suffix is at the end of this name. */
    const char *const others[] = {keep_text("%sZ%s", front, platform->suffix + 1),
                                  keep_text("%ss%s", front, platform->suffix + 1), keep_text("%sx", function)};
    size_t count = number == special_platform ? sizeof others / sizeof *others : 1; /* they take a loader long */
    for (size_t i = 0; i < count; i++) {
        if (CALL(clGetExtensionFunctionAddress, AT(others[i])) != crowd_address(platform->member)) {
            continue;
        }
        finding(
            "wrong", "no-suffix-of-many",
            "clGetExtensionFunctionAddress reaches platform %u by a name that ends in all of its suffix (%zu bytes) "
            "but %s",
            number, strlen(platform->suffix),
            i == 0   ? "the first byte"
            : i == 1 ? "the case of a letter"
                     : "has one byte more");
    }
}

static void check_devices(unsigned number)
{
    const struct crowd_platform *platform = &crowd_platforms[number];
    const struct devices *of = &platform->devices;
    unsigned expected = of->gpus + of->cpus + of->others;
    uint64_t handle = AT(&platform->object[HANDLE_cl_platform_id]);
    cl_uint count = 0;
    cl_device_id *list = guarded(expected * sizeof *list);
    CALL(clGetDeviceIDs, handle, CL_DEVICE_TYPE_ALL, expected, expected ? AT(list) : 0, AT(&count));
    bool all = count == expected;
    for (unsigned d = 0; all && d < expected; d++) {
        all = AT(list[d]) == AT(&platform->device[d]);
    }
    if (!all) {
        finding("wrong", "devices-of-many", "platform %u has %u devices, the loader answers %u, or others", number,
                expected, count);
    }
}

static void check_arrival(const char *what, const struct crowd_platform *platform, const uint64_t *arguments,
                          unsigned count)
{
    if (arrived.count != 1 || arrived.member != platform->member ||
        memcmp(arrived.argument, arguments, count * sizeof *arguments) != 0) {
        finding("wrong", keep_text("list-%s", what),
                "%s should reach vendor %u as it is, and caused %u calls, the last of vendor %u", what,
                platform->member, arrived.count, arrived.member);
    }
}

/* Lists of objects, of which the first decides; the others are of another vendor. */
static void check_lists(unsigned number, unsigned other, unsigned count)
{
    const struct crowd_platform *platform = &crowd_platforms[number];
    uint64_t *events = guarded(count * sizeof *events);
    uint64_t *devices = guarded(count * sizeof *devices);
    cl_int error = 1;
    for (unsigned i = 0; i < count; i++) {
        const struct crowd_platform *of = &crowd_platforms[i ? other : number];
        events[i] = AT(&of->object[HANDLE_cl_event]);
        devices[i] = AT(&of->object[HANDLE_cl_device_id]);
    }
    const uint64_t wait[] = {count, AT(events)};
    arrived.count = 0;
    call(FUNCTION_clWaitForEvents, wait);
    check_arrival("clWaitForEvents", platform, wait, 2);
    const uint64_t create[] = {0, count, AT(devices), 0, 0, AT(&error)};
    arrived.count = 0;
    call(FUNCTION_clCreateContext, create);
    check_arrival("clCreateContext", platform, create, 6);
}

/* Pairs that no loader looks at, and that of the platform. */
static uint64_t *properties(const struct machine *machine, unsigned number)
{
    unsigned pairs = machine->of[PAIRS];
    uint64_t *words = guarded((2 * (size_t)pairs + 3) * sizeof *words);
    unsigned place = machine->of[PAIR_PLACE] == 1 ? 0 : machine->of[PAIR_PLACE] == 2 ? pairs / 2 : pairs;
    for (size_t i = 0; i <= pairs; i++) {
        words[2 * i] = i == place ? CL_CONTEXT_PLATFORM : CL_CONTEXT_INTEROP_USER_SYNC;
        const uint64_t other = i % 3 == 2 ? CL_CONTEXT_PLATFORM : i % 3; /* values that look like names and ends */
        words[2 * i + 1] = i == place ? AT(&crowd_platforms[number].object[HANDLE_cl_platform_id]) : other;
    }
    return words;
}

static void check_properties(const struct machine *machine, unsigned number)
{
    const struct crowd_platform *platform = &crowd_platforms[number];
    const uint64_t device = AT(&platform->object[HANDLE_cl_device_id]);
    uint64_t *list = properties(machine, number);
    cl_int error = 1;
    const uint64_t create[] = {AT(list), 1, AT(&device), 0, 0, AT(&error)};
    arrived.count = 0;
    call(FUNCTION_clCreateContext, create);
    check_arrival("properties-clCreateContext", platform, create, 6);
    const uint64_t by_type[] = {AT(list), CL_DEVICE_TYPE_ALL, 0, 0, AT(&error)};
    arrived.count = 0;
    call(FUNCTION_clCreateContextFromType, by_type);
    check_arrival("properties-clCreateContextFromType", platform, by_type, 5);
}

void check_offers(const struct machine *machine, const struct offered_list *offered, bool special_is_offered)
{
    /* A query takes a loader as long as there are platforms: not each of many is made. */
    unsigned step = 1 + offered->count / QUERIES;
    for (unsigned i = 0; i < offered->count; i++) {
        check_way(offered->platform[i]);
        if (i % step == 0 || i + 1 == offered->count || offered->platform[i] == special_platform) {
            check_texts(machine, offered->platform[i]);
        }
    }
    if (offered->count) {
        unsigned last = offered->platform[offered->count - 1];
        check_devices(offered->platform[0]);
        check_devices(special_is_offered ? special_platform : last);
        check_lists(last, offered->platform[0], machine->of[LIST] + 1);
        check_lists(offered->platform[0], last, machine->of[LIST] + 1);
        check_properties(machine, last);
        check_properties(machine, offered->platform[0]);
    }
}
