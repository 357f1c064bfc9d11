/* SPDX-License-Identifier: Apache-2.0 */
/* The variables of a machine that do not name vendors and layers. */
#define _GNU_SOURCE
#include "making.h"

#include <string.h>

/* The beginning of a word, and letters after its end. */
static const char *begun(const char *word, unsigned length)
{
    size_t size = strlen(word);
    return filled(length < size ? keep_text("%.*s", (int)length, word) : word, length, 'x');
}

const char *machine_value(const struct machine *machine)
{
    /* Nothing that a loader knows, but near to it. */
    static const char *const words[WORDS] = {"TRUE", "yes", "on", "0",    "t",       "2",
                                             "01",   " 1",  "1 ", "None", "Devices", ""};
    unsigned length = machine->of[VARIABLE_LENGTH];
    bool sort = machine->of[VARIABLE] == VARIABLE_SORT;
    if (machine->of[VARIABLE_FORM] >= FORM_WORDS) {
        return words[machine->of[VARIABLE_FORM] - FORM_WORDS];
    }
    switch (machine->of[VARIABLE_FORM]) {
    case 1:
        return filled("", length, '7');
    case FORM_TRUE:
        return "True";
    case 3:
        return keep_text("%s1", filled("", length, '0'));
    case BEGUN:
        return begun(sort ? "none" : "True", length);
    case BEGUN + 1:
        return begun(sort ? "devices" : "true", length);
    default:
        return filled("", length, 'x');
    }
}

void make_variables(const struct machine *machine)
{
    static const char *const names[] = {"OCL_ICD_ENABLE_TRACE",
                                        "OCL_ICD_DEBUG",
                                        "OCL_ICD_ASSUME_ICD_EXTENSION",
                                        "OCL_ICD_FORCE_LEGACY_TERMINATION",
                                        "OCL_ICD_DISABLE_DYNAMIC_LIBRARY_UNLOADING",
                                        "OCL_ICD_PLATFORM_SORT",
                                        "OCL_ICD_DEFAULT_PLATFORM"};
    static const char *const sorts[] = {NULL, "none", "devices", "version"};
    static const char *const forms[] = {"%u", " %u", "+%u", "0000%u", "%ux", "-%u", "0x%u", "x%u"};
    static const char *const noises[][2] = {{"OCL_ICD_ENABLE_TRACE", "True"},
                                            {"OCL_ICD_DEBUG", "7"},
                                            {"OCL_ICD_ASSUME_ICD_EXTENSION", "1"},
                                            {"OCL_ICD_DISABLE_DYNAMIC_LIBRARY_UNLOADING", "True"},
                                            {"OCL_ICD_FORCE_LEGACY_TERMINATION", "True"},
                                            {"OCL_ICD_FILENAMES", ""},
                                            {"OPENCL_LAYERS", ""}};
    for (size_t i = 0; i < sizeof noises / sizeof *noises; i++) {
        if (machine->of[NOISE] & (i < 5 ? 1U << i : NOISE_EMPTY)) {
            world_variable(noises[i][0], noises[i][1]);
        }
    }
    if (machine->of[VARIABLE]) {
        world_variable(names[machine->of[VARIABLE] - 1], machine_value(machine));
    }
    if (machine->of[SORT]) {
        world_variable("OCL_ICD_PLATFORM_SORT", sorts[machine->of[SORT]]);
    }
    if (machine->of[DEFAULT]) {
        const char *form = forms[machine->of[DEFAULT_FORM]];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        world_variable("OCL_ICD_DEFAULT_PLATFORM", keep_text(form, machine->of[DEFAULT] - 1));
#pragma GCC diagnostic pop
    }
}
