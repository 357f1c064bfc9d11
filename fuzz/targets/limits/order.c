/* SPDX-License-Identifier: Apache-2.0 */
/* The order of the platforms that a loader offers. */
#include "order.h"

#include "crowd.h"
#include "known.h"

#include <string.h>

enum { ONE_GPU = 0, TWO_GPUS = 2, ONE_CPU = 1, TWO_CPUS = 6, GPUS_AND_CPU = 8, GPUS_AND_CPUS = 9 };
/* CPUs may be compared beside GPUs alone, which is a fault: one of the last two is enough. */
const unsigned device_pairs[DEVICE_PAIRS][2] = {
    {TWO_GPUS, ONE_GPU}, {TWO_CPUS, ONE_CPU}, {GPUS_AND_CPUS, GPUS_AND_CPU}};

enum relation { UNKNOWN, FIRST, SECOND, AS_FOUND };

/* Which of two platforms comes first: by the classes of their devices, or as they are found. */
static enum relation relation_of_classes(const struct machine *machine, unsigned class_a, unsigned class_b)
{
    if (class_a == class_b) {
        return AS_FOUND;
    }
    struct machine one = machine_of_two(machine, class_a, class_b);
    struct machine other = machine_of_two(machine, class_b, class_a);
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

static enum relation relation(const struct machine *machine, unsigned a, unsigned b)
{
    return relation_of_classes(machine, class_of_platform(a), class_of_platform(b));
}

/* Whether the loader is seen to sort by numbers of GPUs and of CPUs. */
static bool sorts_by_devices(const struct machine *machine)
{
    bool by_gpus = relation_of_classes(machine, device_pairs[0][0], device_pairs[0][1]) == FIRST;
    bool by_cpus = false;
    for (size_t i = 1; i < DEVICE_PAIRS; i++) {
        by_cpus |= relation_of_classes(machine, device_pairs[i][0], device_pairs[i][1]) == FIRST;
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

void check_order(const struct machine *machine, const struct offered_list *offered, const struct outcome *even)
{
    static struct offered_list once;
    /* Of a folder that is in the reverse order, the file that names a vendor again may be the first. */
    bool is_open = machine->of[DUPLICATE] && (machine->of[REVERSED] || (even && even->order != UPWARDS));
    if (!even || !even->known || even->order == NO_DIRECTION || even->order == MIXED || is_open ||
        has_halves(machine)) {
        return;
    }
    if (even->order == DOWNWARDS && (machine->of[WAY] == WAY_LIST || machine->of[WAY] == WAY_LIST_BESIDE)) {
        finding("wrong", "order-of-a-list", "the vendors of OCL_ICD_FILENAMES are offered in the reverse order");
    }
    once = *offered;
    leave_out_copies(&once);
    bool sorts = must_sort(machine) || (machine->of[CLASSES] && sorts_by_devices(machine));
    for (unsigned i = 1; i < once.count; i++) {
        unsigned a = once.platform[i - 1];
        unsigned b = once.platform[i];
        if (sorts && compare_devices(a, b) < 0) {
            const struct devices *one = &crowd_platforms[a].devices;
            const struct devices *other = &crowd_platforms[b].devices;
            finding("wrong", "order-of-devices",
                    "platform %u (%u GPUs, %u CPUs, %u others) stands before platform %u (%u, %u, %u); %s", a,
                    one->gpus, one->cpus, one->others, b, other->gpus, other->cpus, other->others,
                    must_sort(machine) ? "the loader asks for OCL_ICD_PLATFORM_SORT"
                                       : "two vendors are sorted by GPUs, and by CPUs");
            return;
        }
        enum relation wanted = relation(machine, a, b);
        if (machine->of[SORT] == SORT_NONE && (wanted == FIRST || wanted == SECOND)) {
            finding(
                "wrong", "sorted-although-none",
                "two platforms (devices %u and %u) change places by their devices, and OCL_ICD_PLATFORM_SORT is none",
                class_of_platform(a), class_of_platform(b));
            return;
        }
        /* Platforms of one vendor stay in its order; small machines have shown that of the vendors. */
        bool same = crowd_platforms[a].member == crowd_platforms[b].member;
        bool upwards = same || even->order == UPWARDS;
        if (wanted == SECOND || (wanted == AS_FOUND && (a < b) != upwards)) {
            finding("wrong", "order-of-many",
                    "platform %u (devices %u) stands before platform %u (devices %u) among %u, otherwise than in a "
                    "small machine",
                    a, class_of_platform(a), b, class_of_platform(b), once.count);
            return;
        }
    }
}
