/* SPDX-License-Identifier: Apache-2.0 */
/* The files and variables that name the vendors of a machine. */
#define _GNU_SOURCE
#include "crowd.h"
#include "making.h"

#include <string.h>

static const char *folder_of(const struct machine *machine)
{
    enum way way = (enum way)machine->of[WAY];
    bool named = way == WAY_VENDORS || way == WAY_VENDOR_PATH || way == WAY_VENDORS_BESIDE || way == WAY_NAME_IN_PATH;
    if (way == WAY_NAME_HERE) {
        return "";
    }
    return named ? long_path("/", spelled(machine, "vendors"), machine->of[FOLDER]) : "/etc/OpenCL/vendors";
}

static const char *library_path(const struct machine *machine, unsigned member)
{
    const char *name = library_name(machine, 'v', member, member_count);
    if (machine->of[LINKER] && (member != special_member || !machine->of[PATH])) {
        return name;
    }
    const char *folder = machine->of[RELATIVE] ? "lib/" : "/lib/";
    return member == special_member ? long_path(folder, name, machine->of[PATH]) : keep_text("%s%s", folder, name);
}

static const char *add_file(const struct machine *machine, unsigned number, const char *library)
{
    enum { NAMES = 9999 };
    unsigned name = machine->of[REVERSED] ? NAMES - number : number;
    const char *own = library_path(machine, special_member);
    bool special = members[special_member].library &&
                   (texts_equal(library, own) || texts_equal(library, path_again(machine, own)));
    const char *begin = keep_text("%s%04u", front(machine, number, member_count), name);
    begin = short_name(machine, number, member_count, begin);
    begin = machine->of[SPELLING] && machine->of[ALIKE] < 200 ? spelled(machine, begin) : begin;
    begin = special ? filled(begin, machine->of[FILE_NAME], 'f') : begin;
    const char *dot = machine->of[DOTTED] && strlen(begin) < 250 ? "." : "";
    const char *path = keep_text("%s/%s%s.icd", folder_of(machine), dot, begin);
    const char *tail = special && machine->of[TAIL] ? filled("#", machine->of[TAIL], 't') : "";
    const char *content = keep_text("%s%s%s", library, *tail ? "\n" : line_end(machine), tail);
    world_file(path, kind_of_files(machine), content, strlen(content));
    return path;
}

/* Each second vendor in one place, the others in another one, or all in both. */
static void make_halves(const struct machine *machine)
{
    static const char *const folders[] = {
        [VENDORS_PLACE] = "/vendors", [PATH_PLACE] = "/path", [DEFAULT_PLACE] = "/etc/OpenCL/vendors"};
    static const char *const variables[] = {[LIST_PLACE] = "OCL_ICD_FILENAMES",
                                            [VENDORS_PLACE] = "OCL_ICD_VENDORS",
                                            [PATH_PLACE] = "OPENCL_VENDOR_PATH",
                                            [DEFAULT_PLACE] = NULL};
    const enum place *places = places_of_vendors(machine);
    char *names = keep((size_t)member_count * 32 + machine->of[PATH] + machine->of[ENDING] + 1);
    char *to = names;
    for (unsigned m = 0; m < member_count; m++) {
        crowd_library(m, library_path(machine, m));
    }
    for (unsigned half = 0; half < 2; half++) {
        for (unsigned i = 0; i < member_count && machine->of[HALF] != 2 - half; i++) {
            /* A folder that names what a list names, too, has it in the reverse order. */
            bool back = machine->of[REVERSED] && folders[places[half]];
            unsigned m = back ? member_count - 1 - i : i;
            if (m % 2 == half || machine->of[BOTH]) {
                to = name_half(to, to == names, folders[places[half]], i, "icd", library_path(machine, m));
            }
        }
    }
    stpcpy(to, filled("", machine->of[ENDING], ':'));
    for (unsigned half = 0; half < 2; half++) {
        const char *variable = variables[places[half]];
        if (variable && machine->of[HALF] != 2 - half) {
            world_variable(variable, places[half] == LIST_PLACE ? names : named_folder(machine, folders[places[half]]));
        }
    }
}

void make_places(const struct machine *machine)
{
    if (has_halves(machine)) {
        make_halves(machine);
        return;
    }
    unsigned way = machine->of[WAY];
    unsigned again = machine->of[DUPLICATE] ? special_member + machine->of[DUPLICATE] : MEMBERS + 1;
    const char *list = "";
    const char *special_file = "";
    size_t room = (size_t)(member_count + 4) * 32 + 2 * (size_t)machine->of[PATH] + machine->of[ABSENT];
    room += machine->of[EMPTY] + machine->of[ENDING];
    room += machine->of[BEGINNING];
    char *to = way == WAY_LIST || way == WAY_LIST_BESIDE ? keep(room) : NULL;
    const char *whole = to;
    to = to ? stpcpy(to, filled("", machine->of[BEGINNING], ':')) : NULL;
    list = to ? to : list;
    if (to && absent(machine)) {
        to = stpcpy(to, absent(machine));
    } else if (absent(machine)) {
        const char *content = keep_text("%s\n", absent(machine));
        world_file(keep_text("%s/absent.icd", folder_of(machine)), FILE_REGULAR, content, strlen(content));
    }
    junk(folder_of(machine), 0, machine->of[JUNK] / 2);
    bool was_again = again > MEMBERS;
    const char *first = to && to != list ? to : NULL; /* the end of the first element */
    for (unsigned m = 0, file = 0; m < member_count; m++) {
        const char *library = library_path(machine, m);
        crowd_library(m, library);
        const char *names[2] = {library, NULL};
        if (!was_again && m >= special_member && (m + 1 == again || m + 1 == member_count)) {
            names[1] = path_again(machine, library_path(machine, special_member));
            was_again = true;
        }
        for (int i = 0; i < 2 && names[i]; i++) {
            if (to) {
                to = to == list ? to : parted(machine, to, to == first);
                to = stpcpy(to, names[i]);
                first = first ? first : to;
            } else {
                const char *path = add_file(machine, file++, names[i]);
                special_file = m == special_member && i == 0 ? path : special_file;
            }
        }
    }
    if (to && to != list) {
        stpcpy(to, filled("", machine->of[ENDING], ':'));
    }
    junk(folder_of(machine), machine->of[JUNK] / 2, machine->of[JUNK]);
    bool beside = way == WAY_LIST_BESIDE || way == WAY_VENDORS_BESIDE;
    unsigned alone = beside ? (to ? WAY_LIST : WAY_VENDORS) : way;
    static const char *const variables[] = {
        NULL, "OCL_ICD_VENDORS", "OPENCL_VENDOR_PATH", "OCL_ICD_FILENAMES", "OCL_ICD_VENDORS", "OCL_ICD_VENDORS"};
    const char *folder = named_folder(machine, folder_of(machine));
    const char *values[] = {NULL,
                            folder,
                            folder,
                            to ? whole : list,
                            special_file + (machine->of[RELATIVE] && *special_file),
                            library_path(machine, special_member)};
    const char *name = strrchr(special_file, '/');
    if (way == WAY_VENDORS_NOWHERE || way == WAY_PATH_NOWHERE) {
        world_variable(way == WAY_VENDORS_NOWHERE ? "OCL_ICD_VENDORS" : "OPENCL_VENDOR_PATH", "/nowhere");
        return;
    }
    if (way == WAY_EMPTY) {
        world_variable("OCL_ICD_VENDORS", "");
        world_variable("OPENCL_VENDOR_PATH", "");
        return;
    }
    if (way == WAY_NAME_IN_PATH) {
        world_variable("OPENCL_VENDOR_PATH", folder);
    }
    if (way == WAY_NAME || way == WAY_NAME_IN_PATH || way == WAY_NAME_HERE) {
        world_variable("OCL_ICD_VENDORS", name ? name + 1 : "0000.icd");
        return;
    }
    if (variables[alone]) {
        world_variable(variables[alone], values[alone]);
    }
    if (beside) {
        world_variable(to ? "OCL_ICD_VENDORS" : "OCL_ICD_FILENAMES", to ? empty_folder() : NOT_THERE);
        world_variable("OPENCL_VENDOR_PATH", empty_folder());
    }
}
