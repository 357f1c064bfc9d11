/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers and lengths from an input, and the machine that they make. */
#define _GNU_SOURCE
#include "machine.h"

#include "chain.h"
#include "crowd.h"

#include <limits.h>
#include <string.h>

unsigned special_member, special_platform;
static unsigned class_of[CROWD_PLATFORMS];

/* More devices of a type than an ordinary platform has, so that it comes first among those by any order of counts. */
enum { CLASSES_COUNT = 10, DEVICES_CLASS = CLASSES_COUNT, MANY = 6, COUNTS = MANY + 1 };

/* What a number is, the largest one, and the one that is small enough for a control. harness/fuzz/sweep.py reads the
 * largest ones from here: numerals, or a count minus one where the number is a choice. */
static const struct {
    const char *words;
    unsigned most, small;
} numbers[NUMBERS] = {
    [VENDORS_COUNT] = {"vendors", 1090, 3},
    [PLATFORMS_COUNT] = {"platforms of the special vendor", 1090, 2},
    [DEVICES_COUNT] = {"devices of the special platform", 5000, 4},
    [PLACE] = {"place of the special vendor (0 first, 1 last, 2 in the middle)", 2, 2},
    [SUFFIX] = {"bytes of the special platform's suffix", 5000, 9},
    [EXTENSIONS] = {"bytes of its extensions", 9000, 9},
    [NAME] = {"bytes of its name", 9000, 9},
    [VERSION] = {"bytes of its version", 9000, 9},
    [PATH] = {"bytes of the special vendor's path", 4095, 9},
    [FILE_NAME] = {"bytes of the name of its file, without the ending", 251, 9},
    [TAIL] = {"bytes after the first line of its file", 66000, 3},
    [JUNK] = {"other files in the folder", 1090, 2},
    [WAY] =
        {"way to the vendors (0 default folder, 1 OCL_ICD_VENDORS, 2 OPENCL_VENDOR_PATH, 3 OCL_ICD_FILENAMES; "
         "OCL_ICD_VENDORS names 4 the special vendor's file, 5 its library, 10 that file by its name alone; 6 "
         "OCL_ICD_FILENAMES beside the others, 7 OCL_ICD_VENDORS beside the others; one half each: 8 "
         "OCL_ICD_FILENAMES and OCL_ICD_VENDORS, 9 OCL_ICD_VENDORS and OPENCL_VENDOR_PATH, 11 OCL_ICD_VENDORS and "
         "the default folder, 12 OPENCL_VENDOR_PATH and it, 13 OCL_ICD_FILENAMES and it, 14 OCL_ICD_FILENAMES and "
         "OPENCL_VENDOR_PATH; all in the default folder: 15 OCL_ICD_VENDORS or 16 OPENCL_VENDOR_PATH names a folder that "
         "is not there, 17 both are empty; OCL_ICD_VENDORS names the special vendor's file by its name alone, "
         "which is 18 in the folder of OPENCL_VENDOR_PATH, 19 in the working directory)",
         WAYS - 1, WAYS - 1},
    [REVERSED] = {"the folder is in the reverse order of names", 1, 1},
    [DUPLICATE] = {"distance at which the special vendor is named again", 1090, 2},
    [REFUSED] = {"vendors between the others that are refused", 500, 1},
    [FLAW] = {"what is wrong with them (1 functions, 2 no platforms, 3 an error, 4 no library, 5 no list)", FLAWS - 1,
              FLAWS - 1},
    [LAYERS_COUNT] = {"layers", 300, 2},
    [LAYER_PATH] = {"bytes of the last layer's path", 4095, 9},
    [LAYER_DUPLICATE] = {"distance at which the first layer is named again", 300, 1},
    [LAYER_WAY] = {"way to the layers (0 OPENCL_LAYERS, 1 default folder, 2 OPENCL_LAYERS beside OPENCL_LAYER_PATH, 3 "
                   "OPENCL_LAYER_PATH beside OPENCL_LAYERS; one half each: 4 OPENCL_LAYERS and OPENCL_LAYER_PATH, 5 "
                   "OPENCL_LAYER_PATH and the default folder, 6 OPENCL_LAYERS and it; 7 all in the default folder, and "
                   "OPENCL_LAYER_PATH names one that is not there, or 8 is empty)",
                   LAYER_WAYS - 1, LAYER_WAYS - 1},
    [LAYER_SCHEME] = {"scheme of layers (0 both, 1 clInitLayerWithProperties, 2 clInitLayer)", SCHEMES - 1,
                      SCHEMES - 1},
    [DEFAULT] = {"OCL_ICD_DEFAULT_PLATFORM, and 1", 70000, 5},
    [DEFAULT_FORM] = {"its form (0 digits, 1 blank before, 2 plus, 3 zeros before, 4 letter after, 5 minus, 6 0x)", 6,
                      6},
    [SORT] = {"OCL_ICD_PLATFORM_SORT (1 none, 2 devices, 3 version)", 3, 3},
    [VARIABLE] = {"variable (1 trace, 2 debug, 3 assume, 4 legacy, 5 unloading, 6 sort, 7 default)", 7, 7},
    [VARIABLE_LENGTH] = {"bytes of its value", 9000, 4},
    [VARIABLE_FORM] =
        {"its form (0 letters, 1 digits, 2 True, 3 zeros and 1; 4, 5 a known word's beginning; 6 to 17 a word)", 17,
         17},
    [CLASSES] = {"pattern of devices", 255, 0},
    [ICD2] = {"platforms of cl_khr_icd 2.0 (1 all, 2 each second)", 2, 2},
    [PAIRS] = {"pairs of property lists", 2000, 2},
    [PAIR_PLACE] = {"place of the platform in them (0 last, 1 first, 2 in the middle)", 2, 2},
    [LIST] = {"objects in lists", 4000, 2},
    [QUERY] = {"bytes of the name of a function", 5000, 9},
    [FOLDER] = {"bytes of the path of the folder that a variable names", 3839, 12},
    [ABSENT] = {"bytes of the name of one more library, and one more layer, which are not there", 70000, 9},
    [DEVICES_TYPE] = {"type of the special platform's devices (0 GPU, 1 CPU, 2 others)", 2, 2},
    [UNLOADABLE] =
        {"libraries that can be unloaded (1 the special vendor's, 2 all, 3 none, and all say that they know the "
         "query)",
         3, 3},
    [ALIKE] = {"bytes that the names of all files begin with", 240, 2},
    [EMPTY] = {"empty elements after the first one of OCL_ICD_FILENAMES and of OPENCL_LAYERS", 300, 0},
    [CAPITALS] = {"the first half of the names of files have capitals", 1, 0},
    [ENDING] = {"separators at the end of OCL_ICD_FILENAMES and of OPENCL_LAYERS", 300, 0},
    [LAYER_HOLES] = {"tables of layers (0 whole, 1 NULL but for clFlush, and for that in each second one, 2 as short)",
                     2, 2},
    [NOISE] = {"variables beside them (1 trace, 2 debug, 4 assume, 8 unloading, 16 legacy, 32 empty lists)", 63, 0},
    [EACH] = {"platforms of each other vendor", 40, 2},
    [BOTH] = {"both of two variables name all", 1, 1},
    [BARE] = {"files end without a newline", 1, 0},
    [SLASHES] = {"slashes after the path of the folder that a variable names", 200, 0},
    [BEGINNING] = {"separators before OCL_ICD_FILENAMES and OPENCL_LAYERS", 300, 0},
    [SHORT] = {"names of files have one letter", 1, 0},
    [SPELLING] = {"what stands in the names of folders, files and libraries", 15, 0},
    [FIRST_CALL] =
        {"the first call (0 clGetPlatformIDs, 1 clGetExtensionFunctionAddress, 2 the same for no platform, 3 "
         "clCreateContextFromType, 4 clGetGLContextInfoKHR, 5 clGetPlatformInfo, 6 clGetDeviceIDs, 7 "
         "clUnloadCompiler, 8 clWaitForEvents, 9 clReleaseContext)",
         9, 0},
    [FILES_KIND] = {"files are links (1), or in folders that do not say what they are (2)", 2, 0},
    [AGAIN] = {"what is named again is named by another path", 1, 0},
    [LINKER] = {"libraries are named without a folder", 1, 0},
    [PRIVILEGED] = {"the process has privileges that its caller lacks", 1, 1},
    [DOTTED] = {"the names of files begin with a dot", 1, 0},
    [RELATIVE] = {"folders and libraries are named from the working directory", 1, 0},
};

_Static_assert(PATH_MAX == 4096 && NAME_MAX == 255, "the lengths of paths above");
_Static_assert(CHAIN == 300, "the numbers of layers above");
_Static_assert(TABLE_KINDS == 3, "the numbers of tables above");
_Static_assert(NOISE_ALL == 63, "the numbers of variables above");
_Static_assert(FORM_WORD == 7 && FORM_WORDS + WORDS == 18, "the forms above");

/* Every one of these is part of a name, for all loaders. */
static const char *const spellings[] = {"",  " ", ".icd", ".lay", ".so", "-", "%n%s%s%s", "\\",
                                        "#", "=", ",",    ";",    "'",   "*", "~",        "\xc3\xa4"};
_Static_assert(sizeof spellings / sizeof *spellings == 16, "the names above");

unsigned machine_small_number(enum number number)
{
    return numbers[number].small;
}

/* --- the input --- */

/* Sizes that programs reserve, each with its neighbours, and all small ones. */
static unsigned edge(unsigned n)
{
    static const unsigned short sizes[] = {12,   16,   20,   24,   32,   48,   50,   64,   80,   96,   100,
                                           120,  128,  150,  160,  192,  200,  240,  250,  256,  300,  320,
                                           400,  500,  512,  600,  640,  768,  800,  900,  1000, 1024, 1080,
                                           1500, 2000, 2048, 3000, 4000, 4080, 4096, 5000, 8192};
    n %= 3 * (unsigned)(sizeof sizes / sizeof *sizes);
    return sizes[n / 3] - 1U + n % 3;
}

static unsigned number_from(enum number number)
{
    enum { DIRECT = 128, WORD = 254, LARGE = 255 };
    unsigned code = take_byte();
    unsigned word = take_byte();
    word |= (unsigned)take_byte() << 8;
    unsigned value = code < DIRECT ? code : code < WORD ? edge(code - DIRECT) : word + (code == LARGE) * 65536U;
    return value <= numbers[number].most ? value : value % (numbers[number].most + 1);
}

/* A variable that is set to something of its own is not beside itself. */
static unsigned noise_of_variable(unsigned variable)
{
    static const enum noise noises[] = {
        0, NOISE_TRACE, NOISE_DEBUG, NOISE_ASSUME, NOISE_LEGACY, NOISE_UNLOADING,
    };
    return variable < sizeof noises / sizeof *noises ? noises[variable] : 0;
}

struct machine machine_from_input(void)
{
    struct machine machine = {{0}};
    machine.of[VENDORS_COUNT] = machine.of[PLATFORMS_COUNT] = machine.of[DEVICES_COUNT] = 1;
    while (!input_ended()) {
        record_begins();
        enum number number = (enum number)(take_byte() % NUMBERS);
        machine.of[number] = number_from(number);
    }
    /* Else there is no room for the platforms of the last vendors, of which the special one may be one. */
    unsigned room = CROWD_PLATFORMS - machine.of[PLATFORMS_COUNT];
    unsigned vendors = machine.of[VENDORS_COUNT] ? machine.of[VENDORS_COUNT] : 1;
    machine.of[EACH] = machine.of[EACH] < room / vendors ? machine.of[EACH] : room / vendors;
    machine.of[NOISE] &= ~noise_of_variable(machine.of[VARIABLE]);
    bool halves = has_halves(&machine) || has_layer_halves(&machine);
    machine.of[PRIVILEGED] = halves ? 0 : machine.of[PRIVILEGED];
    return machine;
}

void machine_describe(const struct machine *machine)
{
    for (unsigned n = 0; n < NUMBERS && describing_inputs(); n++) {
        if (machine->of[n] || n <= DEVICES_COUNT) {
            describe("%s: %u", numbers[n].words, machine->of[n]);
        }
    }
}

/* --- a variable's value --- */

static const char *filled(const char *begin, unsigned length, char with)
{
    size_t size = strlen(begin);
    char *text = keep((size > length ? size : length) + 1);
    memset(text, with, length);
    for (size_t i = 0; i < size; i++) {
        text[i] = begin[i];
    }
    return text;
}

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

/* --- halves --- */

/* Two places that name one half of the vendors each, by way; a way that is not here has one. The first is taken instead
 * of the second, or both are taken. */
enum place { NOWHERE, LIST_PLACE, VENDORS_PLACE, PATH_PLACE, DEFAULT_PLACE };
static const struct halves {
    enum place of[2];
    bool replaces;
} halves[WAYS] = {
    [WAY_LIST_AND_VENDORS] = {{LIST_PLACE, VENDORS_PLACE}, false},
    [WAY_VENDORS_AND_PATH] = {{VENDORS_PLACE, PATH_PLACE}, true},
    [WAY_VENDORS_AND_DEFAULT] = {{VENDORS_PLACE, DEFAULT_PLACE}, true},
    [WAY_PATH_AND_DEFAULT] = {{PATH_PLACE, DEFAULT_PLACE}, true},
    [WAY_LIST_AND_DEFAULT] = {{LIST_PLACE, DEFAULT_PLACE}, false},
    [WAY_LIST_AND_PATH] = {{LIST_PLACE, PATH_PLACE}, false},
};
/* The same of layers. */
static const struct halves layer_halves[LAYER_WAYS] = {
    [LAYER_WAY_LIST_AND_FILES] = {{LIST_PLACE, PATH_PLACE}, false},
    [LAYER_WAY_FILES_AND_DEFAULT] = {{PATH_PLACE, DEFAULT_PLACE}, true},
    [LAYER_WAY_LIST_AND_DEFAULT] = {{LIST_PLACE, DEFAULT_PLACE}, false},
};

bool has_halves(const struct machine *machine)
{
    return halves[machine->of[WAY]].of[0] != NOWHERE;
}

bool has_layer_halves(const struct machine *machine)
{
    return layer_halves[machine->of[LAYER_WAY]].of[0] != NOWHERE;
}

bool half_replaces(const struct machine *machine)
{
    return halves[machine->of[WAY]].replaces;
}

bool layer_half_replaces(const struct machine *machine)
{
    return layer_halves[machine->of[LAYER_WAY]].replaces;
}

bool half_is_list(const struct machine *machine)
{
    return halves[machine->of[WAY]].of[0] == LIST_PLACE;
}

bool layer_half_is_list(const struct machine *machine)
{
    return layer_halves[machine->of[LAYER_WAY]].of[0] == LIST_PLACE;
}

/* --- texts --- */

/* A path of such a length, in steps that are not longer than a name can be. */
static const char *long_path(const char *folder, const char *name, unsigned length)
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

/* --- vendors --- */

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

static void make_vendors(const struct machine *machine)
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

/* --- where they are found --- */

/* A name with what the machine has in its names. */
static const char *spelled(const struct machine *machine, const char *name)
{
    return keep_text("x%s%s%s", spellings[machine->of[SPELLING]], name, spellings[machine->of[SPELLING]]);
}

static const char *folder_of(const struct machine *machine)
{
    enum way way = (enum way)machine->of[WAY];
    bool named = way == WAY_VENDORS || way == WAY_VENDOR_PATH || way == WAY_VENDORS_BESIDE || way == WAY_NAME_IN_PATH;
    if (way == WAY_NAME_HERE) {
        return "";
    }
    return named ? long_path("/", spelled(machine, "vendors"), machine->of[FOLDER]) : "/etc/OpenCL/vendors";
}

/* The same as a variable names it. */
static const char *named_folder(const struct machine *machine, const char *folder)
{
    folder += machine->of[RELATIVE] && *folder == '/';
    return keep_text("%s%s", folder, filled("", machine->of[SLASHES], '/'));
}

static const char *line_end(const struct machine *machine)
{
    return machine->of[BARE] ? "" : "\n";
}

#define NOT_THERE "/not-there.so"

static const char *empty_folder(void)
{
    world_file("/empty", FILE_FOLDER, NULL, 0);
    return "/empty";
}

/* What the name of one of so many files begins with. In the order of bytes capitals are before small letters. */
static const char *front(const struct machine *machine, unsigned number, unsigned count)
{
    bool first_half = (number < count / 2) != (machine->of[REVERSED] != 0);
    const char *letter = !machine->of[CAPITALS] ? "" : first_half ? "Z" : "a";
    return keep_text("%s%s", filled("", machine->of[ALIKE], 'b'), letter);
}

/* Ends the element of a list that others follow. */
static char *parted(const struct machine *machine, char *to, bool is_first)
{
    return stpcpy(to, filled(":", 1 + (is_first ? machine->of[EMPTY] : 0), ':'));
}

/* The name of a library that is not there; NULL where the machine has none. */
static const char *absent(const struct machine *machine)
{
    return machine->of[ABSENT] ? filled("/absent", machine->of[ABSENT], 'a') : NULL;
}

static const char *library_path(const struct machine *machine, unsigned member)
{
    const char *name = keep_text("%sv%u.so", spellings[machine->of[SPELLING]], member);
    if (machine->of[LINKER] && (member != special_member || !machine->of[PATH])) {
        return name;
    }
    const char *folder = machine->of[RELATIVE] ? "lib/" : "/lib/";
    return member == special_member ? long_path(folder, name, machine->of[PATH]) : keep_text("%s%s", folder, name);
}

/* The name of a file by its number among so many: a letter, where names are short and there are letters for all. */
static const char *short_name(const struct machine *machine, unsigned number, unsigned count, const char *otherwise)
{
    enum { LETTERS = 26, MORE = 3 }; /* of a name again, and of one that is not there */
    unsigned letter = machine->of[REVERSED] ? LETTERS - 1 - number : number;
    bool is_short = machine->of[SHORT] && count + MORE <= LETTERS && !machine->of[LAYER_DUPLICATE];
    return is_short ? keep_text("%c", (char)('a' + letter)) : otherwise;
}

static enum file_kind kind_of_files(const struct machine *machine)
{
    static const enum file_kind kinds[] = {FILE_REGULAR, FILE_LINK, FILE_UNTYPED};
    return kinds[machine->of[FILES_KIND]];
}

/* Another path of the same library, where the machine has such. */
static const char *path_again(const struct machine *machine, const char *library)
{
    return machine->of[AGAIN] && *library == '/' ? keep_text("/.%s", library) : library;
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

static void junk(const char *folder, unsigned begin, unsigned end)
{
    for (unsigned i = begin; i < end; i++) {
        world_file(keep_text("%s/junk%u.txt", folder, i), FILE_REGULAR, "/lib/v0.so\n", 11);
    }
}

/* Puts the name of a library into a list, or a file with it into a folder; NULL: into none. */
static char *name_half(char *to, bool is_first, const char *folder, unsigned number, const char *ending,
                       const char *library)
{
    if (!folder) {
        return stpcpy(stpcpy(to, is_first ? "" : ":"), library);
    }
    world_file(keep_text("%s/%04u.%s", folder, number, ending), FILE_REGULAR, library, strlen(library));
    return to;
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
    const enum place *places = halves[machine->of[WAY]].of;
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

static void make_files(const struct machine *machine)
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

/* --- variables and layers --- */

static void make_variables(const struct machine *machine)
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

bool has_layer_files(const struct machine *machine)
{
    return machine->of[LAYER_WAY] == LAYER_WAY_FILES || machine->of[LAYER_WAY] == LAYER_WAY_FILES_BESIDE ||
           machine->of[LAYER_WAY] == LAYER_WAY_NOWHERE || machine->of[LAYER_WAY] == LAYER_WAY_EMPTY;
}

static const char *layer_folder(const struct machine *machine)
{
    bool named = (machine->of[FOLDER] || machine->of[LAYER_WAY] == LAYER_WAY_FILES_BESIDE) &&
                 machine->of[LAYER_WAY] != LAYER_WAY_NOWHERE && machine->of[LAYER_WAY] != LAYER_WAY_EMPTY;
    return named ? long_path("/", spelled(machine, "layers"), machine->of[FOLDER]) : "/etc/OpenCL/layers";
}

/* Nothing where OPENCL_LAYERS names them. One that is named again stays the first by its name. */
static void add_layer_file(const struct machine *machine, unsigned number, const char *library)
{
    enum { NAMES = 9999 };
    unsigned name = machine->of[REVERSED] && !machine->of[LAYER_DUPLICATE] ? NAMES - number : number;
    if (has_layer_files(machine)) {
        const char *begin = front(machine, number - (number > 0), machine->of[LAYERS_COUNT]); /* from 1 on */
        const char *content = keep_text("%s%s", library, line_end(machine));
        begin = short_name(machine, number, machine->of[LAYERS_COUNT], keep_text("%s%04u", begin, name));
        const char *dot = machine->of[DOTTED] && strlen(begin) < 250 ? "." : "";
        const char *path = keep_text("%s/%s%s.lay", layer_folder(machine), dot, begin);
        world_file(path, kind_of_files(machine), content, strlen(content));
    }
}

static void add_layer(const struct machine *machine, const char *path)
{
    struct chain_layer *layer = chain_add(path, (enum layer_scheme)machine->of[LAYER_SCHEME]);
    if (layer) {
        layer->kind = (enum layer_table)machine->of[LAYER_HOLES];
        layer->hole = layer->kind != TABLE_WHOLE && layer->library->number % 2;
    }
}

/* Each second layer in one place, the others in another one, or all in both. */
static void make_layer_halves(const struct machine *machine)
{
    static const char *const folders[] = {[PATH_PLACE] = "/lay", [DEFAULT_PLACE] = "/etc/OpenCL/layers"};
    static const char *const variables[] = {
        [LIST_PLACE] = "OPENCL_LAYERS", [PATH_PLACE] = "OPENCL_LAYER_PATH", [DEFAULT_PLACE] = NULL};
    const enum place *places = layer_halves[machine->of[LAYER_WAY]].of;
    unsigned count = machine->of[LAYERS_COUNT];
    char *list = keep((size_t)count * 32 + machine->of[ENDING] + 1);
    char *to = list;
    chain_clear();
    for (unsigned i = 0; i < count; i++) {
        const char *path = keep_text("/layers/l%u.so", i);
        add_layer(machine, path);
        for (unsigned half = 0; half < 2; half++) {
            if ((i % 2 == half || machine->of[BOTH]) && machine->of[LAYER_HALF] != 2 - half) {
                to = name_half(to, to == list, folders[places[half]], i, "lay", path);
            }
        }
    }
    stpcpy(to, filled("", machine->of[ENDING], ':'));
    for (unsigned half = 0; half < 2 && count; half++) {
        const char *variable = variables[places[half]];
        if (variable && machine->of[LAYER_HALF] != 2 - half) {
            world_variable(variable, places[half] == LIST_PLACE ? list : named_folder(machine, folders[places[half]]));
        }
    }
}

static void make_layers(const struct machine *machine)
{
    if (has_layer_halves(machine)) {
        make_layer_halves(machine);
        return;
    }
    unsigned count = machine->of[LAYERS_COUNT];
    unsigned again = machine->of[LAYER_DUPLICATE];
    char *list = keep((size_t)(count + 4) * 32 + 2 * (size_t)machine->of[LAYER_PATH] + machine->of[ABSENT] +
                      machine->of[EMPTY] + machine->of[ENDING] + machine->of[BEGINNING]);
    const char *whole = list;
    list = stpcpy(list, filled("", machine->of[BEGINNING], ':'));
    char *to = list;
    const char *end_of_first = NULL;
    const char *first = "";
    chain_clear();
    if (count && absent(machine)) {
        to = stpcpy(to, absent(machine));
        add_layer_file(machine, 0, absent(machine));
    }
    unsigned others = count && has_layer_files(machine) ? machine->of[JUNK] : 0;
    junk(layer_folder(machine), 0, others / 2);
    for (unsigned i = 0, number = 0; i < count; i++) {
        const char *name = keep_text("%sl%u.so", spellings[machine->of[SPELLING]], i);
        const char *folder = machine->of[LINKER] ? "" : machine->of[RELATIVE] ? "layers/" : "/layers/";
        const char *path = i + 1 == count && (*folder || machine->of[LAYER_PATH])
                               ? long_path(*folder ? folder : "/layers/", name, machine->of[LAYER_PATH])
                               : keep_text("%s%s", folder, name);
        first = i ? first : path;
        add_layer(machine, path);
        bool twice = again && (i + 1 == again || (i + 1 == count && again > count));
        for (int n = 0; n <= twice; n++) {
            const char *named = n ? path_again(machine, first) : path;
            to = to == list ? to : parted(machine, to, to == end_of_first);
            to = stpcpy(to, named);
            end_of_first = end_of_first ? end_of_first : to;
            add_layer_file(machine, ++number, named);
        }
    }
    junk(layer_folder(machine), others / 2, others);
    stpcpy(to, filled("", machine->of[ENDING], ':'));
    bool beside = machine->of[LAYER_WAY] == LAYER_WAY_LIST_BESIDE || machine->of[LAYER_WAY] == LAYER_WAY_FILES_BESIDE;
    bool files = has_layer_files(machine);
    bool nowhere = machine->of[LAYER_WAY] == LAYER_WAY_NOWHERE;
    if (count && (nowhere || machine->of[LAYER_WAY] == LAYER_WAY_EMPTY)) {
        world_variable("OPENCL_LAYER_PATH", nowhere ? "/nowhere" : "");
        return;
    }
    if (count && (!files || beside)) {
        world_variable("OPENCL_LAYERS", files ? NOT_THERE : whole);
    }
    if (count && (beside || (files && machine->of[FOLDER]))) {
        world_variable("OPENCL_LAYER_PATH", files ? named_folder(machine, layer_folder(machine)) : empty_folder());
    }
}

void machine_make(const struct machine *machine)
{
    world_room_for_libraries(machine->of[VENDORS_COUNT] + machine->of[REFUSED] + machine->of[LAYERS_COUNT] + 1);
    world_privileged(machine->of[PRIVILEGED]);
    make_vendors(machine);
    make_variables(machine); /* empty ones are set again where they are in use */
    make_files(machine);
    make_layers(machine);
}
