/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of a machine have in common while it is made. */
#ifndef CLHARNESS_FUZZ_MAKING_H
#define CLHARNESS_FUZZ_MAKING_H

#include "engine.h"
#include "machine.h"

#define NOT_THERE "/not-there.so"

/* --- texts.c --- */

/* What stands in the names of folders, files and libraries; every one of these is part of a name, for all loaders. */
const char *spelling(const struct machine *machine);
/* A text of such a length at least: its beginning, and the rest of it one letter. */
const char *filled(const char *begin, unsigned length, char with);
/* A path of such a length, in steps that are not longer than a name can be. */
const char *long_path(const char *folder, const char *name, unsigned length);
/* A name with what the machine has in its names. */
const char *spelled(const struct machine *machine, const char *name);
/* The same as a variable names it. */
const char *named_folder(const struct machine *machine, const char *folder);
/* The name of a library below its folder, by its number among so many; the letter is for vendors or layers. */
const char *library_name(const struct machine *machine, char letter, unsigned number, unsigned count);
/* What ends the only line of a file. */
const char *line_end(const struct machine *machine);
/* A folder in which nothing is; it is made. */
const char *empty_folder(void);
/* What the name of one of so many files begins with. In the order of bytes capitals are before small letters. */
const char *front(const struct machine *machine, unsigned number, unsigned count);
/* Ends the element of a list that others follow. */
char *parted(const struct machine *machine, char *to, bool is_first);
/* The name of a library that is not there; NULL where the machine has none. */
const char *absent(const struct machine *machine);
/* The name of a file by its number among so many: a letter, where names are short and there are letters for all. */
const char *short_name(const struct machine *machine, unsigned number, unsigned count, const char *otherwise);
enum file_kind kind_of_files(const struct machine *machine);
/* Another path of the same library, where the machine has such. */
const char *path_again(const struct machine *machine, const char *library);
/* Files that name no vendor and no layer, by their numbers. */
void junk(const char *folder, unsigned begin, unsigned end);
/* Puts the name of a library into a list, or a file with it into a folder; NULL: into none. */
char *name_half(char *to, bool is_first, const char *folder, unsigned number, const char *ending, const char *library);

/* --- halves.c --- */

/* Two places that name one half of the vendors each, by way; a way that is not here has one. The first is taken instead
 * of the second, or both are taken. */
enum place { NOWHERE, LIST_PLACE, VENDORS_PLACE, PATH_PLACE, DEFAULT_PLACE };
/* The two places of the vendors of a machine, and of its layers. */
const enum place *places_of_vendors(const struct machine *machine);
const enum place *places_of_layers(const struct machine *machine);

/* --- vendors.c, places.c, variables.c, layers.c: each makes its part, in this order --- */

void make_vendors(const struct machine *machine);
/* Sets variables that stand beside others. */
void make_variables(const struct machine *machine);
/* Names the vendors in files and variables. */
void make_places(const struct machine *machine);
void make_layers(const struct machine *machine);

#endif
