/* SPDX-License-Identifier: Apache-2.0 */
/* Hundreds of vendors, platforms, devices, layers, files and list entries, texts of thousands of bytes, and variables
 * with all of it: what a loader does with few and short must happen with many and long.
 *
 * Beside what is right on its own, small machines are the measure: each input is compared with controls, lives of the
 * same loader in a machine that differs in sizes only.
 */
#define _GNU_SOURCE
#include "limits/chain.h"
#include "limits/crowd.h"
#include "limits/known.h"
#include "limits/outcome.h"

#include <limits.h>
#include <string.h>

const char *const target_name = "limits";

static struct machine machine;
static struct outcome outcome;
static struct offered_list offered;
static bool is_control;
static struct machine control; /* the one that is run now */

/* --- controls --- */

static bool is_missing(struct machine wanted)
{
    control = wanted;
    return !control_of(&wanted);
}

enum { CLASSES_MOST = 32, QUERIES = 40 };

/* The classes of devices that the machine's platforms have, as a set. */
static unsigned classes_in(const struct machine *of)
{
    unsigned set = 0;
    machine_make(of);
    for (unsigned p = 0; p < crowd_platform_count; p++) {
        set |= 1U << class_of_platform(p);
    }
    return set;
}

/* The default's index for a control with three platforms. */
static unsigned small_default(unsigned index, unsigned count)
{
    if (index >= count) {
        return index - count < 2 ? 3 + index - count : 9;
    }
    return index == 0 ? 0 : index + 1 == count ? 2 : 1;
}

static struct machine default_control(void)
{
    struct machine three = machine_of_three(&machine);
    unsigned set = machine.of[DEFAULT];
    three.of[DEFAULT] = set ? small_default(set - 1, crowd_platform_count) + 1 : 0;
    return three;
}

static bool has_default_control(void)
{
    return crowd_platform_count >= 3;
}

/* The small machine with the same devices everywhere: it shows the order in which vendors are found. */
static struct machine even_control(void)
{
    struct machine even = machine_of_vendors(&machine);
    even.of[DEVICES_COUNT] = 1;
    even.of[DUPLICATE] = 0; /* a vendor that is named again stays where it was named first */
    return even;
}

/* Pairs of classes of which the first has more devices of a type: a loader that puts it first both times sorts by them.
 */
enum { ONE_GPU = 0, TWO_GPUS = 2, ONE_CPU = 1, TWO_CPUS = 6, GPUS_AND_CPU = 8, GPUS_AND_CPUS = 9 };
static const unsigned more_gpus[] = {TWO_GPUS, ONE_GPU};
/* CPUs may be compared beside GPUs alone, which is a fault: one of the two is enough. */
static const unsigned more_cpus[][2] = {{TWO_CPUS, ONE_CPU}, {GPUS_AND_CPUS, GPUS_AND_CPU}};

static bool is_pair_missing(unsigned a, unsigned b)
{
    return is_missing(machine_of_two(&machine, a, b)) || is_missing(machine_of_two(&machine, b, a));
}

bool target_next_control(void)
{
    machine = machine_from_input();
    if (is_missing(machine_small(&machine)) || is_missing(machine_of_vendors(&machine)) || is_missing(even_control()) ||
        (machine.of[LAYERS_COUNT] && is_missing(machine_of_layers(&machine)))) {
        return true;
    }
    if (is_missing(machine_of_ends(&machine))) {
        return true;
    }
    for (unsigned half = 1; half <= 2; half++) {
        if ((has_halves(&machine) && is_missing(machine_of_half(&machine, half))) ||
            (has_layer_halves(&machine) && is_missing(machine_of_layer_half(&machine, half)))) {
            return true;
        }
    }
    unsigned classes = classes_in(&machine);
    bool different = classes & (classes - 1);
    if (different && is_pair_missing(more_gpus[0], more_gpus[1])) {
        return true;
    }
    for (size_t i = 0; different && i < sizeof more_cpus / sizeof *more_cpus; i++) {
        if (is_pair_missing(more_cpus[i][0], more_cpus[i][1])) {
            return true;
        }
    }
    for (unsigned a = 0; a < CLASSES_MOST; a++) {
        for (unsigned b = 0; b < CLASSES_MOST; b++) {
            bool both = classes & (1U << a) && classes & (1U << b) && a != b;
            if (both && is_missing(machine_of_two(&machine, a, b))) {
                return true;
            }
        }
    }
    return has_default_control() && is_missing(default_control());
}

void target_control(void)
{
    /* Until it has ended, it is one that was left by a crash. */
    struct outcome *kept = control_keep(&control);
    *kept = (struct outcome){.known = false};
    describe_machine("a smaller one, with which that of the input is compared");
    machine_describe(&control);
    is_control = true;
    outcome = (struct outcome){.known = true};
    machine_make(&control);
    look(&offered, &outcome);
    look_at_defaults(&offered, &outcome);
}

/* --- what is right on its own --- */

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

static void check_texts(unsigned number)
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
    const char *front = filled_name(machine.of[QUERY]);
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
static uint64_t *properties(unsigned number, unsigned pairs)
{
    uint64_t *words = guarded((2 * (size_t)pairs + 3) * sizeof *words);
    unsigned place = machine.of[PAIR_PLACE] == 1 ? 0 : machine.of[PAIR_PLACE] == 2 ? pairs / 2 : pairs;
    for (size_t i = 0; i <= pairs; i++) {
        words[2 * i] = i == place ? CL_CONTEXT_PLATFORM : CL_CONTEXT_INTEROP_USER_SYNC;
        const uint64_t other = i % 3 == 2 ? CL_CONTEXT_PLATFORM : i % 3; /* values that look like names and ends */
        words[2 * i + 1] = i == place ? AT(&crowd_platforms[number].object[HANDLE_cl_platform_id]) : other;
    }
    return words;
}

static void check_properties(unsigned number, unsigned pairs)
{
    const struct crowd_platform *platform = &crowd_platforms[number];
    const uint64_t device = AT(&platform->object[HANDLE_cl_device_id]);
    uint64_t *list = properties(number, pairs);
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

/* --- what must be as in the controls --- */

/* How often the platform of a vendor has to be offered, where two variables name one half of them each. */
static unsigned copies_of_half(unsigned half)
{
    struct machine first = machine_of_half(&machine, 1);
    struct machine second = machine_of_half(&machine, 2);
    const struct outcome *one = control_of(&first);
    const struct outcome *other = control_of(&second);
    if (!one || !other || !one->known || !other->known) {
        return UINT_MAX;
    }
    bool replaced = half_replaces(&machine) && one->special_copies;
    unsigned by_one = half == 0 ? one->special_copies : one->other_copies;
    unsigned by_other = replaced ? 0 : half == 0 ? other->special_copies : other->other_copies;
    return by_one > by_other ? by_one : by_other; /* no loader offers one that both name more often */
}

/* The libraries of OCL_ICD_FILENAMES come first: who sets it wants those. */
static void check_order_of_halves(void)
{
    bool named_by_both = machine.of[BOTH] || !half_is_list(&machine);
    bool is_even = !machine.of[CLASSES] && machine.of[DEVICES_COUNT] == 1;
    struct machine first = machine_of_half(&machine, 1);
    const struct outcome *list = control_of(&first);
    /* What a list names has the place that it has there, also where a folder names it again (DISC-ENV-011). */
    bool by_list = machine.of[BOTH] && half_is_list(&machine) && list && list->known && list->special_copies == 1;
    for (unsigned i = 1; by_list && is_even && i < offered.count; i++) {
        if (crowd_platforms[offered.platform[i - 1]].member > crowd_platforms[offered.platform[i]].member) {
            finding("wrong", "order-of-both",
                    "platform %u stands before platform %u: OCL_ICD_FILENAMES and a folder name both, the list in the "
                    "other order",
                    offered.platform[i - 1], offered.platform[i]);
            return;
        }
    }
    for (unsigned i = 1; !named_by_both && is_even && i < offered.count; i++) {
        unsigned a = offered.platform[i - 1];
        unsigned b = offered.platform[i];
        if (crowd_platforms[a].member % 2 && crowd_platforms[b].member % 2 == 0) {
            finding("wrong", "order-of-variables",
                    "platform %u, whose vendor a folder names, stands before platform %u, whose vendor "
                    "OCL_ICD_FILENAMES does",
                    a, b);
            return;
        }
    }
}

static void check_halves(const unsigned *copies)
{
    for (unsigned p = 0; p < crowd_platform_count; p++) {
        unsigned half = crowd_platforms[p].member % 2;
        unsigned expected = copies_of_half(half);
        if (members[crowd_platforms[p].member].flaw == FLAW_NONE && expected != UINT_MAX && copies[p] != expected) {
            finding("wrong", "variable-beside-another",
                    "platform %u of %u, whose vendor is named in the %s of two places, is offered %u times; by what "
                    "happens with one of them, it should be %u",
                    p, crowd_platform_count, half ? "second" : "first", copies[p], expected);
            return;
        }
    }
}

static void check_copies(const struct outcome *small)
{
    static unsigned copies[CROWD_PLATFORMS];
    memset(copies, 0, sizeof copies);
    for (unsigned i = 0; i < offered.count; i++) {
        copies[offered.platform[i]]++;
    }
    if (has_halves(&machine)) {
        check_halves(copies);
        check_order_of_halves();
        return;
    }
    for (unsigned p = 0; p < crowd_platform_count; p++) {
        bool special = crowd_platforms[p].member == special_member;
        unsigned expected = special ? small->special_copies : small->other_copies;
        /* A loader that offers a platform as often as it is named may do so in any number. */
        bool is_open = special && machine.of[DUPLICATE] && expected != 1;
        if (copies[p] != expected && !is_open) {
            finding("wrong", expected > copies[p] ? "lost-among-many" : "too-often-among-many",
                    "platform %u of %u%s is offered %u times, in a small machine %u times", p, crowd_platform_count,
                    special ? " (of the special vendor)" : "", copies[p], expected);
        }
    }
}

enum relation { UNKNOWN, FIRST, SECOND, AS_FOUND };

/* Which of two platforms comes first: by the classes of their devices, or as they are found. */
static enum relation relation_of_classes(unsigned class_a, unsigned class_b)
{
    if (class_a == class_b) {
        return AS_FOUND;
    }
    struct machine one = machine_of_two(&machine, class_a, class_b);
    struct machine other = machine_of_two(&machine, class_b, class_a);
    const struct outcome *there = control_of(&one);
    const struct outcome *back = control_of(&other);
    if (!there || !back || !there->known || !back->known || there->count != 2 || back->count != 2) {
        return UNKNOWN;
    }
    if (there->order == back->order) {
        return AS_FOUND;
    }
    return there->order == UPWARDS ? FIRST : SECOND;
}

static enum relation relation(unsigned a, unsigned b)
{
    return relation_of_classes(class_of_platform(a), class_of_platform(b));
}

/* Whether the loader is seen to sort by numbers of GPUs and of CPUs. */
static bool sorts_by_devices(void)
{
    bool by_gpus = relation_of_classes(more_gpus[0], more_gpus[1]) == FIRST;
    bool by_cpus = false;
    for (size_t i = 0; i < sizeof more_cpus / sizeof *more_cpus; i++) {
        by_cpus |= relation_of_classes(more_cpus[i][0], more_cpus[i][1]) == FIRST;
    }
    return by_gpus && by_cpus;
}

/* More GPUs first, then more CPUs, then more devices: above 0 where the first platform has more. */
static int compare_devices(unsigned a, unsigned b)
{
    const struct devices *one = &crowd_platforms[a].devices;
    const struct devices *other = &crowd_platforms[b].devices;
    if (one->gpus != other->gpus) {
        return one->gpus > other->gpus ? 1 : -1;
    }
    if (one->cpus != other->cpus) {
        return one->cpus > other->cpus ? 1 : -1;
    }
    return one->others == other->others ? 0 : one->others > other->others ? 1 : -1;
}

/* Each platform once, where it stands first. */
static void leave_out_copies(struct offered_list *list)
{
    static bool seen[CROWD_PLATFORMS];
    unsigned count = 0;
    memset(seen, 0, sizeof seen);
    for (unsigned i = 0; i < list->count; i++) {
        unsigned platform = list->platform[i];
        if (!seen[platform]) {
            seen[platform] = true;
            list->platform[count++] = platform;
        }
    }
    list->count = count;
}

static void check_order(void)
{
    static struct offered_list once;
    struct machine even = even_control();
    const struct outcome *small = control_of(&even);
    /* Of a folder that is in the reverse order, the file that names a vendor again may be the first. */
    bool is_open = machine.of[DUPLICATE] && (machine.of[REVERSED] || (small && small->order != UPWARDS));
    if (!small || !small->known || small->order == NO_DIRECTION || small->order == MIXED || is_open ||
        has_halves(&machine)) {
        return;
    }
    if (small->order == DOWNWARDS && (machine.of[WAY] == WAY_LIST || machine.of[WAY] == WAY_LIST_BESIDE)) {
        finding("wrong", "order-of-a-list", "the vendors of OCL_ICD_FILENAMES are offered in the reverse order");
    }
    once = offered;
    leave_out_copies(&once);
    bool sorts = must_sort(&machine) || (machine.of[CLASSES] && sorts_by_devices());
    for (unsigned i = 1; i < once.count; i++) {
        unsigned a = once.platform[i - 1];
        unsigned b = once.platform[i];
        if (sorts && compare_devices(a, b) < 0) {
            const struct devices *one = &crowd_platforms[a].devices;
            const struct devices *other = &crowd_platforms[b].devices;
            finding("wrong", "order-of-devices",
                    "platform %u (%u GPUs, %u CPUs, %u others) stands before platform %u (%u, %u, %u); %s", a,
                    one->gpus, one->cpus, one->others, b, other->gpus, other->cpus, other->others,
                    must_sort(&machine) ? "the loader asks for OCL_ICD_PLATFORM_SORT"
                                        : "two vendors are sorted by GPUs, and by CPUs");
            return;
        }
        enum relation wanted = relation(a, b);
        if (machine.of[SORT] == SORT_NONE && (wanted == FIRST || wanted == SECOND)) {
            finding(
                "wrong", "sorted-although-none",
                "two platforms (devices %u and %u) change places by their devices, and OCL_ICD_PLATFORM_SORT is none",
                class_of_platform(a), class_of_platform(b));
            return;
        }
        /* Platforms of one vendor stay in its order; small machines have shown that of the vendors. */
        bool same = crowd_platforms[a].member == crowd_platforms[b].member;
        bool upwards = same || small->order == UPWARDS;
        if (wanted == SECOND || (wanted == AS_FOUND && (a < b) != upwards)) {
            finding("wrong", "order-of-many",
                    "platform %u (devices %u) stands before platform %u (devices %u) among %u, otherwise than in a "
                    "small machine",
                    a, class_of_platform(a), b, class_of_platform(b), once.count);
            return;
        }
    }
}

/* A loader that finds no vendor may leave its layers alone: they say nothing where one of two machines offers none.
 * Platforms that are lost are found on their own.
 */
static bool offer_alike(const struct outcome *small)
{
    return !outcome.count == !small->count;
}

/* Layers of the system stand closer to the vendors than those of OPENCL_LAYERS, in every loader that has both. */
static void check_order_of_layer_halves(void)
{
    bool named_by_both = machine.of[BOTH] || !layer_half_is_list(&machine);
    for (unsigned n = 0; n < chain_length && !named_by_both; n += 2) {
        for (unsigned m = 1; m < chain_length; m += 2) {
            if (chain[n].order && chain[n].order < chain[m].order) {
                finding("wrong", "order-of-layer-variables",
                        "layer %u, which OPENCL_LAYERS names, is initialised before layer %u of a folder", n, m);
                return;
            }
        }
    }
}

/* The small machine with layers alone, where it says something of this one's. */
static const struct outcome *layers_alone(void)
{
    struct machine wanted = machine_of_layers(&machine);
    const struct outcome *small = machine.of[LAYERS_COUNT] ? control_of(&wanted) : NULL;
    return small && small->known && offer_alike(small) ? small : NULL;
}

/* The order in which layers have to be initialised: that of OPENCL_LAYERS, or of the names of files. */
static enum direction order_of_names(void)
{
    bool by_files = has_layer_files(&machine);
    if (by_files && machine.of[CAPITALS]) {
        return NO_DIRECTION; /* it depends on the locale */
    }
    return by_files && machine.of[REVERSED] && !machine.of[LAYER_DUPLICATE] ? DOWNWARDS : UPWARDS;
}

/* How often a layer has to be initialised, where two places name one half of them each. */
static unsigned inits_of_halves(unsigned layer)
{
    struct machine first = machine_of_layer_half(&machine, 1);
    struct machine second = machine_of_layer_half(&machine, 2);
    const struct outcome *one = control_of(&first);
    const struct outcome *other = control_of(&second);
    if (!one || !other || !one->known || !other->known) {
        return UINT_MAX;
    }
    bool replaced = layer_half_replaces(&machine) && one->layer_inits;
    unsigned by_one = layer % 2 == 0 ? one->layer_inits : one->second_inits;
    unsigned by_other = replaced ? 0 : layer % 2 == 0 ? other->layer_inits : other->second_inits;
    return by_one > by_other ? by_one : by_other;
}

static void check_chain(void)
{
    const struct outcome *small = layers_alone();
    if (small) {
        check_layers_are_honoured(&machine, small);
    }
    if (chain_length < 2 || !small) {
        return;
    }
    bool halves = has_layer_halves(&machine);
    if (!halves && directions_differ(outcome.layer_order, small->layer_order)) {
        finding("wrong", "order-of-layers", "%u layers are initialised in another order than two", chain_length);
    }
    if (!halves && directions_differ(outcome.layer_order, order_of_names())) {
        finding("wrong", "order-of-layer-names", "%u layers are not initialised in the order of the %s", chain_length,
                has_layer_files(&machine) ? "names of their files" : "list");
    }
    for (unsigned n = 0; halves && n < chain_length; n++) {
        unsigned expected = inits_of_halves(n);
        if (expected != UINT_MAX && chain[n].inits != expected) {
            finding("wrong", "layer-variable-beside-another",
                    "layer %u of %u, which is named in the %s of two places, is initialised %u times; by what happens "
                    "with one of them, it should be %u",
                    n, chain_length, n % 2 ? "second" : "first", chain[n].inits, expected);
            return;
        }
    }
    if (halves) {
        check_order_of_layer_halves();
    }
    for (unsigned n = 0; !halves && n < chain_length; n++) {
        if (chain[n].inits != small->layer_inits) {
            finding("wrong", "layer-among-many", "layer %u of %u is initialised %u times, in a small machine %u times",
                    n, chain_length, chain[n].inits, small->layer_inits);
            return;
        }
    }
    if (!offered.count) {
        return;
    }
    chain_forget_passes();
    CALL(clFlush, AT(&crowd_platforms[offered.platform[0]].object[HANDLE_cl_command_queue]));
    for (unsigned n = 0; n < chain_length; n++) {
        bool goes = chain[n].inits && !chain[n].hole;
        unsigned expected = 0; /* those that were initialised later are passed before */
        for (unsigned m = 0; goes && m < chain_length; m++) {
            expected += !chain[m].hole && chain[m].order >= chain[n].order;
        }
        if (chain[n].passed != goes || chain[n].pass_order != expected) {
            finding("wrong", "way-through-many", "a call goes through layer %u of %u %u times, as number %u (not %u)",
                    n, chain_length, chain[n].passed, chain[n].pass_order, expected);
            return;
        }
    }
}

static void check_defaults(void)
{
    static const char *const calls[DEFAULTS] = {"clGetDeviceIDs(NULL)", "clGetPlatformInfo(NULL)",
                                                "clCreateContextFromType of an empty list",
                                                "clCreateContextFromType(NULL)"};
    struct machine three = default_control();
    const struct outcome *small = control_of(&three);
    look_at_defaults(&offered, &outcome);
    check_default_is_known(&machine, &offered, &outcome);
    if (!offered.count) {
        check_without_platforms(&outcome);
    }
    if (!has_default_control() || !small || !small->known || small->count != 3 || machine.of[DUPLICATE] ||
        offered.count != crowd_platform_count || machine.of[PLATFORMS_COUNT] != 1 || machine.of[EACH] > 1) {
        return;
    }
    /* Without a platform each function takes the same one, or none. */
    for (int i = 0; i < DEFAULTS; i++) {
        for (int j = 0; j < i; j++) {
            if (outcome.defaults[i] >= 0 && outcome.defaults[j] >= 0 && outcome.defaults[i] != outcome.defaults[j]) {
                finding("wrong", "two-defaults", "%s reaches platform %d, and %s platform %d", calls[i],
                        outcome.defaults[i], calls[j], outcome.defaults[j]);
            }
        }
    }
    unsigned set = is_default_number(&machine) ? machine.of[DEFAULT] : 0;
    for (int i = 0; i < DEFAULTS; i++) {
        int wanted = small->defaults[i];
        if (wanted > 0 && set) { /* it is what the variable says, or the last of them */
            wanted = set && small_default(set - 1, offered.count) == (unsigned)wanted ? (int)set - 1
                                                                                      : (int)offered.count - 1;
        }
        bool is_counted = i == 0 && wanted >= 0; /* the answer is that of a platform with or without devices */
        if (outcome.defaults[i] != wanted || (!is_counted && outcome.answers[i] != small->answers[i])) {
            finding("wrong", "default-among-many",
                    "%s reaches platform %d of %u and answers %lld; by what happens with three, it should reach %d and "
                    "answer %lld",
                    calls[i], outcome.defaults[i], offered.count, (long long)outcome.answers[i], wanted,
                    (long long)small->answers[i]);
        }
    }
}

void target_run(void)
{
    machine = machine_from_input();
    struct machine small_machine = machine_of_vendors(&machine);
    describe_machine("that of the input");
    machine_describe(&machine);
    is_control = false;
    outcome = (struct outcome){.known = true};
    machine_make(&machine);
    call_first(&machine);
    look(&offered, &outcome);
    begin_use();
    check_first_again(&machine);
    const struct outcome *small = control_of(&small_machine);
    grey("loaders have variables and orders of their own");
    if (small && small->known) {
        check_way_is_honoured(&machine, small);
        check_copies(small);
        check_order();
    }
    check_layers(&machine, &offered);
    check_chain();
    /* A query takes a loader as long as there are platforms: not each of many is made. */
    unsigned step = 1 + offered.count / QUERIES;
    for (unsigned i = 0; i < offered.count; i++) {
        check_way(offered.platform[i]);
        if (i % step == 0 || i + 1 == offered.count || offered.platform[i] == special_platform) {
            check_texts(offered.platform[i]);
        }
    }
    if (offered.count) {
        unsigned last = offered.platform[offered.count - 1];
        check_devices(offered.platform[0]);
        check_devices(outcome.special_copies ? special_platform : last);
        check_lists(last, offered.platform[0], machine.of[LIST] + 1);
        check_lists(offered.platform[0], last, machine.of[LIST] + 1);
        check_properties(last, machine.of[PAIRS]);
        check_properties(offered.platform[0], machine.of[PAIRS]);
    }
    check_defaults();
    check_use(&machine, &offered);
    begin_end(&offered);
}

/* --- the end --- */

static unsigned open_handles(const struct library *library)
{
    return library ? library->opened - library->closed : 0;
}

/* A library that is named again, has more platforms, or stands beside what is no vendor and no layer, stays open as
 * often as one that has one platform and is named once, alone.
 */
static void check_ends(void)
{
    struct machine plain = machine_of_ends(&machine);
    const struct outcome *once = control_of(&plain);
    if (!once || !once->known) {
        return;
    }
    for (unsigned m = 0; m < member_count && once->special_copies == 1; m++) {
        unsigned open = open_handles(members[m].library);
        bool is_special = m == special_member;
        /* One handle for each platform is right, and closed where all of them can be unloaded. */
        bool all_close = machine.of[UNLOADABLE] > 1 && !once->special_open;
        bool is_one = is_special && members[m].count == 1 && outcome.special_copies == 1;
        if (!members[m].flaw && (all_close || is_one) && open != once->special_open) {
            finding("leak", "library-stays-open",
                    "%u handles of the library of vendor %u of %u, with %u platforms, are open after the end; of one "
                    "that is alone, is named once and has one platform, it is %u",
                    open, m, member_count, members[m].count, once->special_open);
            return;
        }
    }
    for (unsigned n = 0; n < chain_length && once->layer_inits == 1; n++) {
        unsigned open = open_handles(chain[n].library);
        if (chain[n].inits == 1 && open != once->layer_open) {
            finding("leak", "layer-stays-open",
                    "%u handles of the library of layer %u of %u are open after the end; where nothing is named twice, "
                    "and nothing is missing, it is %u",
                    open, n, chain_length, once->layer_open);
            return;
        }
    }
}

void target_ended(void)
{
    look_at_end(&outcome);
    if (is_control) {
        *control_keep(&control) = outcome;
        return;
    }
    check_end(&machine);
    check_ends();
    struct machine small_machine = machine_small(&machine);
    const struct outcome *small = control_of(&small_machine);
    if (!small || !small->known) {
        return;
    }
    for (unsigned m = 0; m < member_count && !has_halves(&machine); m++) {
        const struct library *library = members[m].library;
        unsigned expected = m == special_member ? small->special_open : small->other_open;
        /* A loader may open it once for each platform, and once more where it is named again. */
        unsigned platforms = m == special_member ? machine.of[PLATFORMS_COUNT] : machine.of[EACH];
        bool scales = expected && (platforms > 1 || (m == special_member && machine.of[DUPLICATE]));
        if (library && !members[m].flaw && !scales && library->opened - library->closed != expected) {
            finding("leak", "library-among-many",
                    "%u handles of the library of vendor %u of %u are open after the end, in a small machine %u",
                    library->opened - library->closed, m, member_count, expected);
            return;
        }
    }
    const struct outcome *layers = has_layer_halves(&machine) ? NULL : layers_alone();
    for (unsigned n = 0; n < chain_length && layers; n++) {
        if (chain[n].deinits != layers->layer_ends) {
            finding("wrong", "end-of-layer-among-many",
                    "layer %u of %u is deinitialised %u times, in a small machine %u", n, chain_length,
                    chain[n].deinits, layers->layer_ends);
            return;
        }
    }
    for (unsigned n = 1; n < chain_length; n++) {
        const struct chain_layer *one = &chain[n - 1];
        const struct chain_layer *other = &chain[n];
        if (one->end_order && other->end_order && (one->order < other->order) == (one->end_order < other->end_order)) {
            finding(
                "wrong", "end-before-what-it-stands-on",
                "layers %u and %u are deinitialised in the order in which they were initialised: the one that calls "
                "the other last",
                n - 1, n);
            return;
        }
    }
    if (chain_length > 2 && layers && directions_differ(outcome.end_order, layers->end_order)) {
        finding("wrong", "end-order-of-layers", "%u layers are deinitialised in another order than two", chain_length);
    }
}
