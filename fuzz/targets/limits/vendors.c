/* SPDX-License-Identifier: Apache-2.0 */
/* The vendors of a machine and their platforms. */
#define _GNU_SOURCE
#include "crowd.h"
#include "making.h"

unsigned special_member, special_platform;
static unsigned class_of[CROWD_PLATFORMS];

/* More devices of a type than an ordinary platform has, so that it comes first among those by any order of counts. */
enum { CLASSES_COUNT = 10, DEVICES_CLASS = CLASSES_COUNT, MANY = 6, COUNTS = MANY + 1 };

static const struct devices classes[CLASSES_COUNT] = {{1, 0, 0}, {0, 1, 0}, {2, 0, 0}, {0, 0, 1}, {1, 1, 0},
                                                      {0, 0, 0}, {0, 2, 0}, {0, 0, 5}, {4, 1, 0}, {4, 2, 0}};

unsigned class_of_platform(unsigned platform)
{
    return class_of[platform];
}

static unsigned pattern(const struct machine *machine, unsigned platform)
{
    unsigned of = machine->of[CLASSES];
    if (machine->of[CLASS_A]) {
        return machine->of[platform ? CLASS_B : CLASS_A] - 1;
    }
    switch (of) {
    case 0:
        return 0;
    case 1:
        return platform % CLASSES_COUNT;
    case 2:
        return CLASSES_COUNT - 1 - platform % CLASSES_COUNT;
    case 3:
        return platform & 1;
    default:
        return ((platform * 2654435761U + of * 40503U) >> 13) % CLASSES_COUNT;
    }
}

static struct devices devices_of_type(unsigned type, unsigned count)
{
    return (struct devices){type == 0 ? count : 0, type == 1 ? count : 0, type == 2 ? count : 0};
}

static void add_platform(const struct machine *machine, bool special)
{
    unsigned number = crowd_platform_count;
    if (number >= CROWD_PLATFORMS) {
        return;
    }
    unsigned class = pattern(machine, number);
    unsigned devices = machine->of[DEVICES_COUNT];
    unsigned own = DEVICES_CLASS + machine->of[DEVICES_TYPE] * COUNTS + (devices < MANY ? devices : MANY);
    class_of[number] = special && devices != 1 ? own : class;
    if (class_of[number] >= DEVICES_CLASS) { /* its control has as many, and no more than MANY */
        unsigned few = (class_of[number] - DEVICES_CLASS) % COUNTS;
        crowd_platform(devices_of_type((class_of[number] - DEVICES_CLASS) / COUNTS,
                                       special && !machine->of[CLASS_A] ? devices : few));
    } else {
        crowd_platform(classes[class_of[number]]);
    }
    if (special) {
        special_platform = number;
    }
}

static void long_texts(const struct machine *machine)
{
    struct crowd_platform *platform = &crowd_platforms[special_platform];
    platform->suffix = filled(platform->suffix, machine->of[SUFFIX], 's');
    platform->name = filled(platform->name, machine->of[NAME], 'n');
    platform->version = filled(platform->version, machine->of[VERSION], 'v');
    /* Where the special vendor has no platform, this one is another vendor's, which is as all others. */
    platform->unloadable = machine->of[UNLOADABLE] % 3 && platform->member == special_member;
    for (unsigned p = 0; p < crowd_platform_count && machine->of[UNLOADABLE] > 1; p++) {
        crowd_platforms[p].unloadable = machine->of[UNLOADABLE] == 2;
        crowd_platforms[p].extensions = "cl_khr_icd cl_khr_icd_unloadable";
    }
    if ((machine->of[EXTENSIONS] && machine->of[UNLOADABLE] < 3) || platform->unloadable) {
        platform->extensions = keep_text("%s cl_khr_icd%s", filled("cl_", machine->of[EXTENSIONS], 'e'),
                                         platform->unloadable ? " cl_khr_icd_unloadable" : "");
    }
}

unsigned machine_place(const struct machine *machine, unsigned count)
{
    return machine->of[PLACE] == 1 ? count - 1 : machine->of[PLACE] == 2 ? count / 2 : 0;
}

void make_vendors(const struct machine *machine)
{
    unsigned vendors = machine->of[VENDORS_COUNT];
    unsigned refused = machine->of[FLAW] ? machine->of[REFUSED] : 0;
    unsigned place = vendors ? machine_place(machine, vendors) : 0;
    crowd_clear();
    special_member = special_platform = 0;
    for (unsigned v = 0; v < vendors || refused; v++) {
        struct member *member = refused ? crowd_member() : NULL;
        if (member) {
            member->flaw = (enum flaw)machine->of[FLAW];
        }
        refused -= refused > 0;
        member = v < vendors ? crowd_member() : NULL;
        if (!member) {
            continue;
        }
        member->icd2 = machine->of[ICD2] == 1 || (machine->of[ICD2] == 2 && v % 2);
        special_member = v == place ? member_count - 1 : special_member;
        unsigned others = machine->of[EACH] ? machine->of[EACH] : 1;
        unsigned platforms = v == place ? machine->of[PLATFORMS_COUNT] : others;
        for (unsigned p = 0; p < platforms; p++) {
            add_platform(machine, v == place && p == platforms - 1);
        }
    }
    if (crowd_platform_count) {
        long_texts(machine);
    }
    crowd_make();
}
