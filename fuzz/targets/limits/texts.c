/* SPDX-License-Identifier: Apache-2.0 */
/* Names, paths and lists of a machine, as its numbers have them. */
#define _GNU_SOURCE
#include "making.h"

#include <string.h>

/* Every one of these is part of a name, for all loaders. */
static const char *const spellings[] = {"",  " ", ".icd", ".lay", ".so", "-", "%n%s%s%s", "\\",
                                        "#", "=", ",",    ";",    "'",   "*", "~",        "\xc3\xa4"};
_Static_assert(sizeof spellings / sizeof *spellings == 16, "the names above");

const char *filled(const char *begin, unsigned length, char with)
{
    size_t size = strlen(begin);
    char *text = keep((size > length ? size : length) + 1);
    memset(text, with, length);
    for (size_t i = 0; i < size; i++) {
        text[i] = begin[i];
    }
    return text;
}

const char *long_path(const char *folder, const char *name, unsigned length)
{
    enum { STEP = 200 };
    size_t own = strlen(folder) + strlen(name);
    char *path = keep(own + length + 2);
    char *to = stpcpy(path, folder);
    for (size_t more = length > own ? length - own : 0; more > 1;) {
        size_t step = more > STEP ? STEP : more;
        step -= more - step == 1; /* no single byte is left, which would be an empty step */
        memset(to, 'd', step - 1);
        to += step - 1;
        *to++ = '/';
        more -= step;
    }
    stpcpy(to, name);
    return path;
}

const char *spelling(const struct machine *machine)
{
    return spellings[machine->of[SPELLING]];
}

const char *spelled(const struct machine *machine, const char *name)
{
    return keep_text("x%s%s%s", spellings[machine->of[SPELLING]], name, spellings[machine->of[SPELLING]]);
}

const char *library_name(const struct machine *machine, char letter, unsigned number, unsigned count)
{
    enum { NESTED_MOST = 20 };
    const char *front = spelling(machine);
    enum library_names names = machine->of[LINKER] ? LIBRARIES_NUMBERED : (enum library_names)machine->of[LIBRARIES];
    const char *shortest = keep_text("%s%c.so", front, letter);
    if (names == LIBRARIES_OF_ONE_NAME) {
        return keep_text("%u/%s", number, shortest);
    }
    if (names == LIBRARIES_NUMBERED || count > NESTED_MOST) {
        return keep_text("%s%c%u.so", front, letter, number);
    }
    unsigned more = names == LIBRARIES_LONGER ? number : count - 1 - number;
    return filled(shortest, (unsigned)strlen(shortest) + more, '0');
}

const char *named_folder(const struct machine *machine, const char *folder)
{
    folder += machine->of[RELATIVE] && *folder == '/';
    return keep_text("%s%s", folder, filled("", machine->of[SLASHES], '/'));
}

const char *line_end(const struct machine *machine)
{
    return machine->of[BARE] ? "" : "\n";
}

const char *empty_folder(void)
{
    world_file("/empty", FILE_FOLDER, NULL, 0);
    return "/empty";
}

const char *front(const struct machine *machine, unsigned number, unsigned count)
{
    bool first_half = (number < count / 2) != (machine->of[REVERSED] != 0);
    const char *letter = !machine->of[CAPITALS] ? "" : first_half ? "Z" : "a";
    return keep_text("%s%s", filled("", machine->of[ALIKE], 'b'), letter);
}

char *parted(const struct machine *machine, char *to, bool is_first)
{
    return stpcpy(to, filled(":", 1 + (is_first ? machine->of[EMPTY] : 0), ':'));
}

const char *absent(const struct machine *machine)
{
    return machine->of[ABSENT] ? filled("/absent", machine->of[ABSENT], 'a') : NULL;
}

/* The beginning of all longer ones: "z", "zz" and so on. That letter comes after those of the endings, and after the
 * dot: the order is the same in every locale. */
static const char *nested_name(unsigned number, bool reversed)
{
    return filled("", reversed ? NESTED - number : number + 1, 'z');
}

const char *short_name(const struct machine *machine, unsigned number, unsigned count, const char *otherwise)
{
    enum { LETTERS = 26, MORE = 3 }; /* of a name again, and of one that is not there */
    unsigned letter = machine->of[REVERSED] ? LETTERS - 1 - number : number;
    if (machine->of[SHORT] == SHORT_NESTED && count + MORE <= NESTED && !machine->of[SPELLING]) {
        return machine->of[LAYER_DUPLICATE] ? otherwise : nested_name(number, machine->of[REVERSED]);
    }
    bool is_short = machine->of[SHORT] && count + MORE <= LETTERS && !machine->of[LAYER_DUPLICATE];
    return is_short ? keep_text("%c", (char)('a' + letter)) : otherwise;
}

enum file_kind kind_of_files(const struct machine *machine)
{
    static const enum file_kind kinds[] = {FILE_REGULAR, FILE_LINK, FILE_UNTYPED};
    return kinds[machine->of[FILES_KIND]];
}

const char *path_again(const struct machine *machine, const char *library)
{
    return machine->of[AGAIN] && *library == '/' ? keep_text("/.%s", library) : library;
}

void junk(const char *folder, unsigned begin, unsigned end)
{
    for (unsigned i = begin; i < end; i++) {
        world_file(keep_text("%s/junk%u.txt", folder, i), FILE_REGULAR, "/lib/v0.so\n", 11);
    }
}

char *name_half(char *to, bool is_first, const char *folder, unsigned number, const char *ending, const char *library)
{
    if (!folder) {
        return stpcpy(stpcpy(to, is_first ? "" : ":"), library);
    }
    world_file(keep_text("%s/%04u.%s", folder, number, ending), FILE_REGULAR, library, strlen(library));
    return to;
}
