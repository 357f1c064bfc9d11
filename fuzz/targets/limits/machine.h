/* SPDX-License-Identifier: Apache-2.0 */
/* A machine of the target `limits`: how many of what there are, and how long it is. An input is a list of records of
 * four bytes, each of which sets one of these numbers.
 */
#ifndef CLHARNESS_FUZZ_MACHINE_H
#define CLHARNESS_FUZZ_MACHINE_H

#include "engine.h"

enum number {
    VENDORS_COUNT,
    PLATFORMS_COUNT, /* of the special vendor; all others have one */
    DEVICES_COUNT,   /* of the special platform: the last of the special vendor */
    PLACE,           /* of the special vendor: first, last, in the middle */
    SUFFIX,          /* lengths: of the special platform's texts */
    EXTENSIONS,
    NAME,
    VERSION,
    PATH,      /* of the special vendor's library */
    FILE_NAME, /* of the special vendor's file */
    TAIL,      /* of what follows the first line of that file */
    JUNK,      /* files that are not vendor files */
    WAY,       /* how vendors are found: enum way */
    REVERSED,  /* the folder lists its files in the reverse order of their names */
    DUPLICATE, /* the special vendor's library is named once more, so many vendors later */
    REFUSED,   /* vendors between the others that have the flaw */
    FLAW,
    LAYERS_COUNT,
    LAYER_PATH,      /* length of the last layer's path */
    LAYER_DUPLICATE, /* the first layer is named once more, so many layers later */
    LAYER_WAY,       /* how layers are found: enum layer_way */
    LAYER_SCHEME,    /* enum layer_scheme */
    DEFAULT,         /* OCL_ICD_DEFAULT_PLATFORM, and 1 */
    DEFAULT_FORM,
    SORT,
    VARIABLE, /* which, with a value of that length and form */
    VARIABLE_LENGTH,
    VARIABLE_FORM,
    CLASSES, /* which platforms have which devices */
    ICD2,
    PAIRS, /* of a property list, before or around the platform's */
    PAIR_PLACE,
    LIST,         /* objects in lists */
    QUERY,        /* length of the name of a function */
    FOLDER,       /* length of the path of the folder that a variable names */
    ABSENT,       /* length of the name of one more library and one more layer, which are not there */
    DEVICES_TYPE, /* of the special platform's devices */
    UNLOADABLE,   /* the special platform says that its library can be unloaded */
    ALIKE,        /* length of what the names of all files begin with */
    EMPTY,        /* empty elements after the first one of a list */
    CAPITALS,     /* the names of the first half of all files begin with capitals */
    ENDING,       /* separators at the end of lists */
    LAYER_HOLES,  /* enum layer_table; each second layer has a hole where others have clFlush */
    NOISE,        /* variables that change neither platforms nor layers: enum noise, together */
    EACH,         /* platforms of each other vendor */
    BOTH,         /* where two variables name one half each: both name all */
    BARE,         /* files end without a newline */
    SLASHES,      /* after the path of the folder that a variable names */
    BEGINNING,    /* separators before the first element of a list */
    SHORT,        /* the names of files have one letter, while there are letters, or nest: SHORT_NESTED */
    SPELLING,     /* what stands in the names of folders, files and libraries */
    FIRST_CALL,   /* the application's first call */
    FILES_KIND,   /* files are links, or in folders that do not say what they are */
    AGAIN,        /* what is named again is named by another path */
    LINKER,       /* libraries are named without a folder, for the dynamic linker */
    PRIVILEGED,   /* the process has privileges that its caller lacks */
    RELATIVE,     /* folders and libraries are named from the working directory, which is the root */
    DOTTED,       /* the names of files begin with a dot */
    LIBRARIES,    /* enum library_names */
    NUMBERS,
    CLASS_A = NUMBERS, /* of a control's two vendors, plus 1; no input sets them */
    CLASS_B,
    HALF,       /* 1, 2: only the first or the second of two places has its half */
    LAYER_HALF, /* the same for those of layers */
    ALL_NUMBERS
};

/* What is set beside the rest: a loader's tracing, its debugging, whether it trusts vendors, whether it closes
 * libraries, the older scheme of layers, and lists with nothing in them. */
enum noise {
    NOISE_TRACE = 1,
    NOISE_DEBUG = 2,
    NOISE_ASSUME = 4,
    NOISE_UNLOADING = 8,
    NOISE_LEGACY = 16,
    NOISE_EMPTY = 32,
    NOISE_ALL = 63
};

/* Of VARIABLE and VARIABLE_FORM, those that mean something; forms from BEGUN on are the beginning of a word. */
enum { VARIABLE_LEGACY = 4, VARIABLE_UNLOADING, VARIABLE_SORT, VARIABLE_DEFAULT };
enum { FORM_TRUE = 2, BEGUN = 4, FORM_WORDS = 6, WORDS = 12 };

/* Each file's name is the beginning of the next one's, where there are at most NESTED files. */
enum { SHORT_NESTED = 2, NESTED = 60 };

/* Libraries that a loader may take for the same: each in a folder of its own, all of one name; or each one's path the
 * beginning of the next one's, or of the one's before it. */
enum library_names { LIBRARIES_NUMBERED, LIBRARIES_OF_ONE_NAME, LIBRARIES_LONGER, LIBRARIES_SHORTER, LIBRARY_NAMES };

/* OCL_ICD_PLATFORM_SORT. */
enum { SORT_NONE = 1, SORT_DEVICES };

/* Forms of a default's number. What is not a number is compared with a word, which no input has. */
enum default_form { FORM_LETTER = 4, FORM_HEXADECIMAL = 6, FORM_WORD };

/* BESIDE: another variable names a folder without files, or a library that is not there. AND: each second vendor or
 * layer is named by another variable. */
enum way {
    WAY_FOLDER,
    WAY_VENDORS,
    WAY_VENDOR_PATH,
    WAY_LIST,
    WAY_FILE,
    WAY_LIBRARY,
    WAY_LIST_BESIDE,
    WAY_VENDORS_BESIDE,
    WAY_LIST_AND_VENDORS,
    WAY_VENDORS_AND_PATH,
    WAY_NAME,
    WAY_VENDORS_AND_DEFAULT, /* the default folder, which nothing names */
    WAY_PATH_AND_DEFAULT,
    WAY_LIST_AND_DEFAULT,
    WAY_LIST_AND_PATH,
    WAY_VENDORS_NOWHERE, /* all are in the default folder, and the variable names one that is not there */
    WAY_PATH_NOWHERE,
    WAY_EMPTY,        /* all are in the default folder, and the variables that name another one are empty */
    WAY_NAME_IN_PATH, /* the special vendor's file is in the folder that OPENCL_VENDOR_PATH names */
    WAY_NAME_HERE,    /* it is in the working directory */
    WAYS
};
enum layer_way {
    LAYER_WAY_LIST,
    LAYER_WAY_FILES,
    LAYER_WAY_LIST_BESIDE,
    LAYER_WAY_FILES_BESIDE,
    LAYER_WAY_LIST_AND_FILES,
    LAYER_WAY_FILES_AND_DEFAULT,
    LAYER_WAY_LIST_AND_DEFAULT,
    LAYER_WAY_NOWHERE, /* as WAY_PATH_NOWHERE */
    LAYER_WAY_EMPTY,   /* as WAY_EMPTY */
    LAYER_WAYS
};

struct machine {
    unsigned of[ALL_NUMBERS];
};

/* The numbers that an input sets; all others are ordinary. */
struct machine machine_from_input(void);
void machine_describe(const struct machine *machine);
/* The value of VARIABLE. */
const char *machine_value(const struct machine *machine);
/* A number that is small enough for a control. */
unsigned machine_small_number(enum number number);

/* --- controls.c --- */

/* The same with each number as small as it can be for the same to happen. */
struct machine machine_small(const struct machine *machine);
/* The same without what must not change which platforms there are: layers, and the variables of something else. */
struct machine machine_of_vendors(const struct machine *machine);
/* The same with one vendor, and without what must not change which layers there are. */
struct machine machine_of_layers(const struct machine *machine);
/* A machine with nothing but what chooses vendors and their order, for two of these classes of devices. */
struct machine machine_of_two(const struct machine *machine, unsigned class_a, unsigned class_b);
/* One with three platforms, for the default among them, and no other variable. */
struct machine machine_of_three(const struct machine *machine);
/* Whether a variable has one of the words for True. */
bool is_legacy(const struct machine *machine);
bool is_kept_open(const struct machine *machine);
/* Whether the default that it sets is a number. */
bool is_default_number(const struct machine *machine);
/* One with two vendors, each named by a variable, of which one is set: 1 or 2. */
struct machine machine_of_half(const struct machine *machine, unsigned half);
/* The same with two layers. */
struct machine machine_of_layer_half(const struct machine *machine, unsigned half);
/* One vendor with one platform, for the libraries that stay open: nothing is named twice, and nothing is missing. */
struct machine machine_of_ends(const struct machine *machine);
/* Whether vendors, or layers, are named by two variables. */
bool has_halves(const struct machine *machine);
bool has_layer_halves(const struct machine *machine);
/* Whether files in one folder name all layers. */
bool has_layer_files(const struct machine *machine);
/* Whether the first of two places is taken instead of the second. */
bool half_replaces(const struct machine *machine);
bool layer_half_replaces(const struct machine *machine);
/* Whether the first of them is a list. */
bool half_is_list(const struct machine *machine);
bool layer_half_is_list(const struct machine *machine);

/* Makes the vendors, files, variables and layers. */
void machine_make(const struct machine *machine);
/* After it: the vendor and the platform with the lengths and numbers above. */
extern unsigned special_member, special_platform;
/* Which devices a platform has: the same number for the same. */
unsigned class_of_platform(unsigned platform);
/* Whether the folder that holds the files is reversed. */
unsigned machine_place(const struct machine *machine, unsigned count);

#endif
