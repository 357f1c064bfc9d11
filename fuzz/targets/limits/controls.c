/* SPDX-License-Identifier: Apache-2.0 */
/* The machines that one is compared with: smaller ones, and such as have only what one concern needs. */
#include "machine.h"

static bool is_one_of(const char *value, const char *const *words, size_t count)
{
    bool is_there = false;
    for (size_t i = 0; i < count; i++) {
        is_there |= texts_equal(value, words[i]);
    }
    return is_there;
}

/* Whether a variable is set to what no loader knows: it must be the same as without it. */
static bool means_nothing(const struct machine *machine)
{
    static const char *const known[] = {"none", "devices", "True", "true", "T", "1"};
    unsigned variable = machine->of[VARIABLE];
    if (variable < VARIABLE_LEGACY || variable > VARIABLE_SORT) {
        return false;
    }
    struct machine shorter = *machine; /* longer than all that are known */
    shorter.of[VARIABLE_LENGTH] = shorter.of[VARIABLE_LENGTH] < 16 ? shorter.of[VARIABLE_LENGTH] : 16;
    const char *value = machine_value(&shorter);
    return !is_one_of(value, known, sizeof known / sizeof *known);
}

/* Whether a variable is set to another word for True: it must be the same as with that. */
static bool means_true(const struct machine *machine)
{
    static const char *const words[] = {"true", "T", "1"};
    unsigned variable = machine->of[VARIABLE];
    if ((variable != VARIABLE_LEGACY && variable != VARIABLE_UNLOADING) || machine->of[VARIABLE_LENGTH] > 4) {
        return false;
    }
    return is_one_of(machine_value(machine), words, sizeof words / sizeof *words);
}

static bool is_true(const struct machine *machine, unsigned variable, enum noise noise)
{
    static const char *const words[] = {"True", "true", "T", "1"};
    bool is_set = machine->of[VARIABLE] == variable && machine->of[VARIABLE_LENGTH] < 16;
    return machine->of[NOISE] & noise ||
           (is_set && is_one_of(machine_value(machine), words, sizeof words / sizeof *words));
}

bool is_legacy(const struct machine *machine)
{
    return is_true(machine, VARIABLE_LEGACY, NOISE_LEGACY);
}

bool is_kept_open(const struct machine *machine)
{
    return is_true(machine, VARIABLE_UNLOADING, NOISE_UNLOADING);
}

struct machine machine_small(const struct machine *machine)
{
    struct machine small = *machine;
    for (unsigned n = 0; n < NUMBERS; n++) {
        unsigned most = machine_small_number((enum number)n);
        small.of[n] = small.of[n] < most ? small.of[n] : most;
    }
    if (means_nothing(machine)) {
        small.of[VARIABLE] = small.of[VARIABLE_LENGTH] = small.of[VARIABLE_FORM] = 0;
    } else if (means_true(machine)) {
        small.of[VARIABLE_FORM] = FORM_TRUE;
        small.of[VARIABLE_LENGTH] = 0;
    } else if (machine->of[VARIABLE_FORM] >= BEGUN && machine->of[VARIABLE_FORM] < FORM_WORDS) {
        /* The whole word: a part of it is another value. */
        small.of[VARIABLE_LENGTH] = machine->of[VARIABLE_LENGTH] < 8 ? machine->of[VARIABLE_LENGTH] : 8;
    }
    /* What its default and its lists are is not looked at in it. */
    small.of[DEFAULT] = small.of[PAIRS] = small.of[LIST] = small.of[QUERY] = 0;
    small.of[SORT] = machine->of[SORT] == SORT_DEVICES ? 0 : small.of[SORT]; /* what it is without a variable */
    small.of[NOISE] = machine->of[NOISE] & (NOISE_UNLOADING | NOISE_LEGACY); /* which libraries stay open */
    return small;
}

/* Sets all of these numbers to 0. */
static void leave_out(struct machine *machine, const enum number *which, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        machine->of[which[i]] = 0;
    }
}

/* The variable with a value of its own, but for one of them. */
static void leave_out_variable(struct machine *small, const struct machine *machine, unsigned but)
{
    static const enum number numbers[] = {VARIABLE, VARIABLE_LENGTH, VARIABLE_FORM};
    if (machine->of[VARIABLE] != but) {
        leave_out(small, numbers, sizeof numbers / sizeof *numbers);
    }
}

struct machine machine_of_vendors(const struct machine *machine)
{
    static const enum number others[] = {LAYERS_COUNT, LAYER_PATH, LAYER_DUPLICATE, LAYER_WAY, LAYER_SCHEME,
                                         LAYER_HOLES,  NOISE};
    struct machine small = machine_small(machine);
    leave_out(&small, others, sizeof others / sizeof *others);
    leave_out_variable(&small, machine, VARIABLE_SORT);
    return small;
}

struct machine machine_of_layers(const struct machine *machine)
{
    static const enum number others[] = {PLACE,     SUFFIX, EXTENSIONS, NAME, VERSION,    PATH,
                                         FILE_NAME, TAIL,   JUNK,       WAY,  DUPLICATE,  REFUSED,
                                         FLAW,      SORT,   CLASSES,    ICD2, UNLOADABLE, EACH};
    struct machine small = machine_small(machine);
    leave_out(&small, others, sizeof others / sizeof *others);
    leave_out_variable(&small, machine, VARIABLE_LEGACY);
    small.of[VENDORS_COUNT] = small.of[PLATFORMS_COUNT] = small.of[DEVICES_COUNT] = 1;
    small.of[NOISE] &= NOISE_LEGACY;
    return small;
}

static struct machine choosing(const struct machine *machine)
{
    struct machine small = machine_of_vendors(machine);
    struct machine some = {{0}};
    static const enum number kept[] = {WAY, SORT, VARIABLE, VARIABLE_LENGTH, VARIABLE_FORM, ICD2};
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        some.of[kept[i]] = small.of[kept[i]];
    }
    some.of[PLATFORMS_COUNT] = some.of[DEVICES_COUNT] = 1;
    some.of[PLACE] = 1;
    return some;
}

struct machine machine_of_two(const struct machine *machine, unsigned class_a, unsigned class_b)
{
    struct machine two = choosing(machine);
    two.of[VENDORS_COUNT] = 2;
    two.of[CLASS_A] = class_a + 1;
    two.of[CLASS_B] = class_b + 1;
    return two;
}

bool is_default_number(const struct machine *machine)
{
    return machine->of[DEFAULT_FORM] != FORM_LETTER && machine->of[DEFAULT_FORM] != FORM_HEXADECIMAL;
}

struct machine machine_of_three(const struct machine *machine)
{
    static const enum number others[] = {WAY, SORT, VARIABLE, VARIABLE_LENGTH, VARIABLE_FORM};
    struct machine three = choosing(machine);
    leave_out(&three, others, sizeof others / sizeof *others);
    for (size_t i = 2; machine->of[VARIABLE] == VARIABLE_DEFAULT && i < sizeof others / sizeof *others; i++) {
        three.of[others[i]] = machine_small(machine).of[others[i]];
    }
    three.of[VENDORS_COUNT] = 3;
    three.of[DEFAULT_FORM] = is_default_number(machine) ? machine->of[DEFAULT_FORM] : FORM_WORD;
    return three;
}

struct machine machine_of_half(const struct machine *machine, unsigned half)
{
    struct machine two = choosing(machine);
    two.of[VENDORS_COUNT] = 2;
    two.of[PLACE] = 0;
    two.of[BOTH] = machine->of[BOTH];
    two.of[HALF] = half;
    return two;
}

struct machine machine_of_layer_half(const struct machine *machine, unsigned half)
{
    struct machine two = machine_of_layers(machine);
    two.of[LAYERS_COUNT] = 2;
    two.of[LAYER_HALF] = half;
    return two;
}

struct machine machine_of_ends(const struct machine *machine)
{
    static const enum number others[] = {DUPLICATE, LAYER_DUPLICATE, BOTH,      ABSENT, JUNK, REFUSED,
                                         FLAW,      EMPTY,           BEGINNING, ENDING, EACH, PLACE};
    struct machine small = machine_small(machine);
    leave_out(&small, others, sizeof others / sizeof *others);
    small.of[PLATFORMS_COUNT] = small.of[VENDORS_COUNT] = 1;
    return small;
}
