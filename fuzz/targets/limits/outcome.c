/* SPDX-License-Identifier: Apache-2.0 */
/* What a loader makes of a machine. */
#define _GNU_SOURCE
#include "outcome.h"

#include "chain.h"
#include "crowd.h"
#include "internal.h"

#include <string.h>

static unsigned copies[CROWD_PLATFORMS];

/* --- controls --- */

enum { KEPT = 4096 };
enum { UNWRITTEN = 4711 };

static struct {
    uint32_t hash; /* of the machine */
    struct machine machine;
    const struct subject *subject;
    struct outcome outcome;
} controls[KEPT];
static size_t control_count;

static uint32_t hash_of(const struct machine *machine)
{
    uint32_t hash = 2166136261U;
    for (unsigned n = 0; n < ALL_NUMBERS; n++) {
        hash = (hash ^ machine->of[n]) * 16777619U;
    }
    return hash;
}

/* Compared by their hashes first: fuzzers learn from each memcmp, and take long for it. */
static size_t place_of(const struct machine *machine)
{
    uint32_t hash = hash_of(machine);
    size_t i = 0;
    while (i < control_count && (controls[i].hash != hash || controls[i].subject != subject ||
                                 memcmp(&controls[i].machine, machine, sizeof *machine) != 0)) {
        i++;
    }
    return i;
}

const struct outcome *control_of(const struct machine *machine)
{
    size_t i = place_of(machine);
    return i < control_count ? &controls[i].outcome : NULL;
}

struct outcome *control_keep(const struct machine *machine)
{
    size_t i = place_of(machine);
    if (i == KEPT) {
        i = control_count = 0; /* they can be had again */
    }
    control_count = i == control_count ? i + 1 : control_count;
    controls[i].hash = hash_of(machine);
    controls[i].machine = *machine;
    controls[i].subject = subject;
    return &controls[i].outcome;
}

/* --- directions --- */

/* Notes one more number of a sequence. */
static void follow(enum direction *direction, unsigned *last, unsigned *seen, unsigned next)
{
    if (*seen == 1) {
        *direction = next > *last ? UPWARDS : DOWNWARDS;
    } else if (*seen > 1 && (*direction == UPWARDS) != (next > *last)) {
        *direction = MIXED;
    }
    *last = next;
    ++*seen;
}

bool directions_differ(enum direction one, enum direction other)
{
    return one != NO_DIRECTION && other != NO_DIRECTION && one != other;
}

/* --- discovery --- */

static const cl_platform_id *list_of(cl_uint room, cl_uint count)
{
    cl_platform_id *list = guarded(room * sizeof *list);
    cl_uint again = 0;
    cl_int result = room ? (cl_int)CALL(clGetPlatformIDs, room, AT(list), AT(&again)) : CL_SUCCESS;
    if (result != CL_SUCCESS || (room && again != count)) {
        finding("wrong", "list-of-many", "clGetPlatformIDs(%u, list, &count) answers %d and %u, the count was %u", room,
                result, again, count);
    }
    return list;
}

static void check_rooms(const cl_platform_id *list, cl_uint count)
{
    const cl_uint rooms[] = {1, count / 2, count - 1, count + 1};
    for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++) {
        cl_uint room = rooms[i];
        const cl_platform_id *other = room ? list_of(room, count) : list;
        if (memcmp(list, other, (room < count ? room : count) * sizeof *list) != 0) {
            finding("wrong", "lists-of-many-differ", "the list of %u platforms is another one in room for %u", count,
                    room);
        }
    }
}

/* What clGetPlatformIDs refuses, and what it answers where there is nothing. */
static void check_refusals(cl_int result, cl_uint count)
{
    cl_platform_id *list = guarded(sizeof *list);
    cl_uint number = 0;
    if ((result == CL_SUCCESS) != (count > 0) || (count == 0 && result != CL_PLATFORM_NOT_FOUND_KHR)) {
        finding("wrong", "answer-to-a-count", "clGetPlatformIDs(0, NULL, &count) answers %d and %u", result, count);
    }
    const cl_int without_room = (cl_int)CALL(clGetPlatformIDs, 0, AT(list), AT(&number));
    const cl_int without_place = (cl_int)CALL(clGetPlatformIDs, 0, 0, 0);
    if (without_room != CL_INVALID_VALUE || without_place != CL_INVALID_VALUE) {
        finding("wrong", "list-not-refused",
                "clGetPlatformIDs answers %d to a list without room, and %d where there is no place for anything",
                without_room, without_place);
    }
}

static bool is_opencl_version(const char *text)
{
    static const char begin[] = "OpenCL ";
    bool begins = strncmp(text, begin, sizeof begin - 1) == 0;
    const char *number = begins ? text + sizeof begin - 1 : "";
    return number[0] >= '1' && number[0] <= '9' && number[1] == '.' && number[2] >= '0' && number[2] <= '9';
}

/* What a loader says of itself, where it does (cl_loader_info): each text in just enough room, and in less. */
static void check_loader_info(void)
{
    typedef cl_int CL_API_CALL information(cl_uint, size_t, void *, size_t *);
    enum { FIRST_QUERY = 1, LAST_QUERY = 4, ROOM_MOST = 4096 };
    uint64_t entry = CALL(clGetExtensionFunctionAddress, AT("clGetICDLoaderInfoOCLICD"));
    for (cl_uint query = FIRST_QUERY - 1; entry && query <= LAST_QUERY + 1; query++) {
        bool known = query >= FIRST_QUERY && query <= LAST_QUERY;
        size_t size = 0;
        cl_int result = ((information *)(uintptr_t)entry)(query, 0, NULL, &size);
        if ((result == CL_SUCCESS) != known || (known && (size == 0 || size > ROOM_MOST))) {
            finding("wrong", "loader-info", "clGetICDLoaderInfoOCLICD(%u) answers %d and a size of %zu", query, result,
                    size);
            return;
        }
        if (!known) {
            continue;
        }
        char *text = guarded(size);
        char *less = guarded(size - 1);
        result = ((information *)(uintptr_t)entry)(query, size, text, NULL);
        const cl_int refused = ((information *)(uintptr_t)entry)(query, size - 1, less, NULL);
        const cl_int nothing = ((information *)(uintptr_t)entry)(query, 0, NULL, NULL);
        if (result != CL_SUCCESS || text[size - 1] || strlen(text) + 1 != size || refused != CL_INVALID_VALUE ||
            nothing != CL_SUCCESS) {
            finding("wrong", "loader-info-text",
                    "clGetICDLoaderInfoOCLICD(%u) answers %d in room for its %zu bytes, and %d in room for one less",
                    query, result, size, refused);
            return;
        }
        if (is_opencl_version(text) != (query == FIRST_QUERY)) {
            finding("wrong", "loader-info-version", "clGetICDLoaderInfoOCLICD(%u) answers \"%.60s\"", query, text);
            return;
        }
    }
}

void look(struct offered_list *offered, struct outcome *outcome)
{
    cl_uint count = UNWRITTEN;
    memset(copies, 0, crowd_platform_count * sizeof *copies);
    offered->count = 0;
    cl_int result = (cl_int)CALL(clGetPlatformIDs, 0, 0, AT(&count));
    check_refusals(result, count);
    check_loader_info();
    count = result == CL_SUCCESS ? count : 0;
    if (count > OFFERED_MOST) {
        finding("wrong", "too-many-platforms", "the loader offers %u platforms, there are %u", count,
                crowd_platform_count);
        return;
    }
    const cl_platform_id *list = list_of(count, count);
    if (count) {
        check_rooms(list, count);
    }
    unsigned last = 0;
    unsigned seen = 0;
    for (cl_uint i = 0; i < count; i++) {
        struct crowd_platform *platform = crowd_platform_of(AT(list[i]));
        if (!platform) {
            finding("wrong", "platform-of-nobody", "platform %u of %u, %p, belongs to no vendor", i, count,
                    (const void *)list[i]);
            return;
        }
        unsigned number = (unsigned)(platform - crowd_platforms);
        offered->platform[offered->count++] = number;
        if (copies[number]++ == 0) {
            follow(&outcome->order, &last, &seen, number);
        }
    }
    outcome->count = count;
    bool has_special = crowd_platform_count > special_platform;
    outcome->special_copies = has_special ? copies[special_platform] : 0;
    for (unsigned p = 0; p < crowd_platform_count; p++) {
        if (crowd_platforms[p].member != special_member) {
            outcome->other_copies = copies[p];
            break;
        }
    }
    last = seen = 0;
    for (unsigned order = 1; order <= chain_length; order++) {
        for (unsigned n = 0; n < chain_length; n++) {
            if (chain[n].order == order) {
                follow(&outcome->layer_order, &last, &seen, n);
            }
        }
    }
    outcome->layer_inits = chain_length ? chain[0].inits : 0;
    outcome->second_inits = chain_length > 1 ? chain[1].inits : 0;
}

/* --- without a platform --- */

static int place_in(const struct offered_list *offered, uint64_t handle)
{
    const struct crowd_platform *platform = crowd_platform_of(handle);
    for (unsigned i = 0; platform && i < offered->count; i++) {
        if (&crowd_platforms[offered->platform[i]] == platform) {
            return (int)i;
        }
    }
    return -1;
}

/* The place in the list of the first platform of the vendor that was reached. */
static int place_of_member(const struct offered_list *offered)
{
    for (unsigned i = 0; arrived.count && i < offered->count; i++) {
        if (crowd_platforms[offered->platform[i]].member == arrived.member) {
            return (int)i;
        }
    }
    return -1;
}

void look_at_defaults(const struct offered_list *offered, struct outcome *outcome)
{
    cl_uint count = 0;
    cl_int error = 0;
    uint64_t result;
    char text[16];
    arrived.count = 0;
    result = CALL(clGetDeviceIDs, 0, CL_DEVICE_TYPE_ALL, 0, 0, AT(&count));
    outcome->defaults[0] = arrived.count ? place_in(offered, arrived.argument[0]) : -1;
    outcome->answers[0] = (cl_int)result;
    arrived.count = 0;
    result = CALL(clGetPlatformInfo, 0, CL_PLATFORM_PROFILE, sizeof text, AT(text), 0);
    outcome->defaults[1] = arrived.count ? place_in(offered, arrived.argument[0]) : -1;
    outcome->answers[1] = (cl_int)result;
    for (int i = 0; i < 2; i++) {
        static const uint64_t empty[] = {0};
        arrived.count = 0;
        result = CALL(clCreateContextFromType, i ? 0 : AT(empty), CL_DEVICE_TYPE_ALL, 0, 0, AT(&error));
        outcome->defaults[2 + i] = place_of_member(offered);
        outcome->answers[2 + i] = result ? 0 : error;
    }
}

/* --- the end --- */

static unsigned handles(const struct library *library)
{
    return library ? library->opened - library->closed : 0;
}

void look_at_end(struct outcome *outcome)
{
    unsigned last = 0;
    unsigned seen = 0;
    outcome->special_open = member_count ? handles(members[special_member].library) : 0;
    for (unsigned m = 0; m < member_count; m++) {
        if (m != special_member && !members[m].flaw) {
            outcome->other_open = handles(members[m].library);
            break;
        }
    }
    for (unsigned m = 0; m < member_count; m++) {
        const struct library *library = members[m].library;
        if (library && !members[m].flaw && m != special_member && library->close_number) {
            follow(&outcome->close_order, &last, &seen, library->close_number);
        }
    }
    last = seen = 0;
    for (unsigned n = 0; n < chain_length; n++) {
        if (chain[n].end_order) {
            follow(&outcome->end_order, &last, &seen, chain[n].end_order);
        }
    }
    outcome->layer_ends = chain_length ? chain[0].deinits : 0;
    outcome->layer_open = chain_length ? handles(chain[0].library) : 0;
}
