/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers and lengths from an input, and the machine that they make. */
#define _GNU_SOURCE
#include "chain.h"
#include "crowd.h"
#include "making.h"

#include <limits.h>

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
    [SHORT] = {"names of files (1 of one letter, 2 each the beginning of the next one)", 2, 0},
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
    [LIBRARIES] =
        {"paths of libraries (1 of one name in many folders, 2 each the beginning of the next one's, 3 of the "
         "one's before it)",
         3, 0},
    [DOTTED] = {"the names of files begin with a dot", 1, 0},
    [RELATIVE] = {"folders and libraries are named from the working directory", 1, 0},
};

_Static_assert(PATH_MAX == 4096 && NAME_MAX == 255, "the lengths of paths above");
_Static_assert(CHAIN == 300, "the numbers of layers above");
_Static_assert(TABLE_KINDS == 3, "the numbers of tables above");
_Static_assert(LIBRARY_NAMES == 4, "the names of libraries above");
_Static_assert(NOISE_ALL == 63, "the numbers of variables above");
_Static_assert(FORM_WORD == 7 && FORM_WORDS + WORDS == 18, "the forms above");

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

void machine_make(const struct machine *machine)
{
    world_room_for_libraries(machine->of[VENDORS_COUNT] + machine->of[REFUSED] + machine->of[LAYERS_COUNT] + 1);
    world_privileged(machine->of[PRIVILEGED]);
    make_vendors(machine);
    make_variables(machine); /* empty ones are set again where they are in use */
    make_places(machine);
    make_layers(machine);
}
