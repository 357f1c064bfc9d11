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
#include "limits/offers.h"
#include "limits/order.h"
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

enum { CLASSES_MOST = 32 };

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
    for (size_t i = 0; different && i < DEVICE_PAIRS; i++) {
        if (is_pair_missing(device_pairs[i][0], device_pairs[i][1])) {
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
    world_variables_move();
    look_at_defaults(&offered, &outcome);
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
    world_variables_move();
    begin_use();
    check_first_again(&machine);
    const struct outcome *small = control_of(&small_machine);
    grey("loaders have variables and orders of their own");
    if (small && small->known) {
        check_way_is_honoured(&machine, small);
        check_copies(small);
        struct machine even = even_control();
        check_order(&machine, &offered, control_of(&even));
    }
    check_layers(&machine, &offered);
    check_chain();
    check_offers(&machine, &offered, outcome.special_copies > 0);
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
