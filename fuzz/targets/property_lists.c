/* SPDX-License-Identifier: Apache-2.0 */
/* Property lists of all shapes into every function of the loader that takes one. Each list ends at an unreadable page:
 * a loader that reads past the terminator crashes. Discovery is over.
 */
#include "calls.h"

#include <string.h>

const char *const target_name = "property_lists";

enum { SECOND_OF = 1 }; /* the vendor that has a second platform, which lists name */
enum { MOST_PAIRS = 2100, SHOWN_PAIRS = 12, NO_LIST = 255, MOST_CALLS = 8 };

static struct object *platforms[VENDORS]; /* one of each vendor */
static enum function functions[FUNCTION_COUNT];
static unsigned function_count;
static int first_vendor = -1; /* of the first platform that the loader lists */

void target_prepare(void)
{
    for (int v = 0; v < VENDORS; v++) {
        struct vendor *vendor = vendor_plain(v);
        vendor->platform[0].icd2 = v == VENDORS - 1; /* the last: some loaders move what they handed to those before */
        vendor->platform_count = v == SECOND_OF ? 2 : 1; /* a loader has more platforms than vendors */
        vendor_make(vendor);
        const char *name = keep_text("/lib/lib%c.so", 'a' + v);
        vendor_library(vendor, name);
        world_file(keep_text("/etc/OpenCL/vendors/%c.icd", 'a' + v), FILE_REGULAR, name, strlen(name));
        platforms[v] = &vendor->platform[v == SECOND_OF].object[HANDLE_cl_platform_id];
    }
    cl_uint count;
    cl_platform_id first = NULL;
    CALL(clGetPlatformIDs, 1, AT(&first), AT(&count));
    first_vendor = object_of(AT(first)) ? object_of(AT(first))->vendor : -1;
    for (int f = 0; f < FUNCTION_COUNT; f++) {
        for (unsigned p = 0; p < function_info[f].parameter_count; p++) {
            if (function_info[f].parameters[p].kind == PARAMETER_PROPERTIES && loader_function((enum function)f)) {
                functions[function_count++] = (enum function)f;
                break;
            }
        }
    }
}

/* A list, and what a loader has to find in it. */
struct list {
    uint64_t *words; /* or NULL */
    size_t count;
    int platform;   /* the vendor that CL_CONTEXT_PLATFORM names; -1: NULL, -2: not named, -3: several times */
    unsigned named; /* all that it names, as a set */
};

static uint64_t some_name(void)
{
    static const uint64_t names[] = {CL_CONTEXT_PLATFORM,
                                     CL_CONTEXT_INTEROP_USER_SYNC,
                                     0x2008,
                                     0x2009,
                                     0x200A,
                                     0x200B,
                                     0x200C,
                                     CL_QUEUE_PROPERTIES,
                                     0x1094,
                                     0x2060,
                                     0x2051,
                                     0x1087,
                                     0x100000000 | CL_CONTEXT_PLATFORM};
    unsigned number = take_below(sizeof names / sizeof *names + 1);
    return number < sizeof names / sizeof *names ? names[number] : take_long() | 1;
}

static uint64_t some_value(uint64_t name, struct list *list)
{
    unsigned kind = take_below(8);
    if (name != CL_CONTEXT_PLATFORM) {
        if (kind == 3) { /* what looks like the name that loaders look for */
            return take_byte() & 1 ? CL_CONTEXT_PLATFORM : take_long();
        }
        return kind < 3 ? kind : kind < 4 + VENDORS ? AT(platforms[kind - 4]) : take_long();
    }
    /* What is neither a platform nor NULL may be followed by a loader: an application must not give it. */
    int vendor = kind == 7 ? -1 : (int)kind % VENDORS;
    list->platform = list->platform == -2 ? vendor : -3;
    list->named |= vendor < 0 ? 0 : 1U << vendor;
    return vendor < 0 ? 0 : AT(platforms[vendor]);
}

static struct list some_list(void)
{
    struct list list = {NULL, 0, -2, 0};
    unsigned shape = take_byte();
    if (shape == NO_LIST) {
        describe("the list is NULL");
        return list;
    }
    /* Up to twelve pairs that are drawn, after any number of the same one. */
    unsigned drawn = shape % (SHOWN_PAIRS + 1);
    unsigned same = shape >= 128 ? take_length(MOST_PAIRS - SHOWN_PAIRS) : 0;
    unsigned pairs = same + drawn;
    list.count = 2 * pairs + 1;
    list.words = guarded(list.count * sizeof *list.words);
    for (size_t i = 0; i < same; i++) {
        list.words[2 * i] = CL_CONTEXT_INTEROP_USER_SYNC;
    }
    if (same) {
        describe("%u times %#x, 0, and after them", same, CL_CONTEXT_INTEROP_USER_SYNC);
    }
    for (size_t i = same; i < pairs; i++) {
        list.words[2 * i] = some_name();
        list.words[2 * i + 1] = some_value(list.words[2 * i], &list);
        describe("%#llx, %#llx", (unsigned long long)list.words[2 * i], (unsigned long long)list.words[2 * i + 1]);
    }
    return list;
}

/* What is right for a call: the vendor, or -1 where the loader must refuse, or -2 where it may do either. */
static int expected_vendor(enum function function, const struct list *list, int owner)
{
    bool named_otherwise = list->platform != -2 && list->platform != owner;
    if (function == FUNCTION_clCreateContext) {
        return named_otherwise ? -2 : owner; /* devices of another platform are an error of the application */
    }
    if (function != FUNCTION_clCreateContextFromType && function != FUNCTION_clGetGLContextInfoKHR) {
        return owner; /* other objects show the way */
    }
    return list->platform >= 0 ? list->platform : list->platform == -1 ? -1 : -2;
}

/* Where the loader chooses a platform it is the first one (DISP-ORD-004), and one of those that are named where several
 * are. */
static void check_chosen(enum function function, const struct list *list)
{
    bool by_list = function == FUNCTION_clCreateContextFromType || function == FUNCTION_clGetGLContextInfoKHR;
    if (!by_list || !received_count || list->platform > -2) {
        return;
    }
    int vendor = received[0].vendor;
    bool right =
        list->platform == -2 ? first_vendor < 0 || vendor == first_vendor : !list->named || list->named & 1U << vendor;
    if (!right) {
        finding("wrong", keep_text("chosen-%s", function_info[function].name),
                "%s, whose list names %s, goes to vendor %d; the first platform is that of vendor %d",
                function_info[function].name, list->platform == -2 ? "no platform" : "several", vendor, first_vendor);
    }
}

/* What else may be unusual about a call. */
enum twist { TWIST_NONE, TWIST_NO_ERROR, TWIST_NO_LIST, TWIST_NO_COUNT, TWIST_NO_OBJECT, TWISTS };

static bool has_no_devices(const struct function_info *about, enum twist twist)
{
    return about == &function_info[FUNCTION_clCreateContext] && (twist == TWIST_NO_LIST || twist == TWIST_NO_COUNT);
}

/* Whether the loader finds no vendor for such a call, and must refuse it by itself. A context without devices may be
 * refused by the vendor that the list names. */
static bool leads_nowhere(const struct function_info *about, enum twist twist, const struct list *list)
{
    if (twist == TWIST_NO_OBJECT) {
        return about->parameters[0].kind == PARAMETER_HANDLE;
    }
    return has_no_devices(about, twist) && list->platform == -2;
}

static uint64_t twisted(const struct function_info *about, unsigned i, enum twist twist, uint64_t argument)
{
    enum parameter_kind kind = about->parameters[i].kind;
    bool counts = i + 1 < about->parameter_count && about->parameters[i + 1].kind == PARAMETER_HANDLES;
    bool away = (twist == TWIST_NO_ERROR && kind == PARAMETER_ERRCODE) ||
                (twist == TWIST_NO_LIST && kind == PARAMETER_HANDLES) ||
                (twist == TWIST_NO_OBJECT && kind == PARAMETER_HANDLE && i == 0) || (twist == TWIST_NO_COUNT && counts);
    return away ? 0 : argument;
}

static uint64_t argument(const struct function_info *about, unsigned i, int vendor, const struct list *list,
                         cl_int *error)
{
    static char places[MAX_PARAMETERS][64];
    const struct parameter_info *parameter = &about->parameters[i];
    uint64_t *place = (uint64_t *)(void *)places[i];
    switch (parameter->kind) {
    case PARAMETER_PROPERTIES:
        return AT(list->words);
    case PARAMETER_HANDLE:
        return AT(&vendors[vendor].platform[0].object[parameter->handle]);
    case PARAMETER_HANDLES:
        place[0] = AT(&vendors[vendor].platform[0].object[parameter->handle]);
        return AT(place);
    case PARAMETER_INTEGER:
        return 1;
    case PARAMETER_ERRCODE:
        return AT(error);
    case PARAMETER_CALLBACK:
        return 0;
    default:
        return AT(place);
    }
}

static void one_call(void)
{
    enum function function = functions[take_below(function_count)];
    const struct function_info *about = &function_info[function];
    int owner = (int)take_below(VENDORS);
    struct list list = some_list();
    enum twist twist = (enum twist)take_below(2 * TWISTS);
    twist = twist < TWISTS ? twist : TWIST_NONE;
    uint64_t arguments[MAX_PARAMETERS] = {0};
    cl_int error = 1;
    uint64_t *copy = keep(list.count * sizeof *copy);
    memcpy(copy, list.words ? list.words : copy, list.count * sizeof *copy);
    for (unsigned i = 0; i < about->parameter_count; i++) {
        arguments[i] = twisted(about, i, twist, argument(about, i, owner, &list, &error));
    }
    static const char *const twists[TWISTS] = {"", ", no place for the error", ", no list of objects",
                                               ", no number of them", ", no object"};
    describe("%s with objects of vendor %d and this list%s", about->name, owner, twists[twist]);
    received_count = 0;
    uint64_t result = call(function, arguments);
    saw(about->name, result != 0);
    int expected = leads_nowhere(about, twist, &list) ? -1 : expected_vendor(function, &list, owner);
    expected = expected != -1 && has_no_devices(about, twist) ? -2 : expected;
    if (expected == -1 && twist != TWIST_NO_ERROR && about->result == RESULT_HANDLE &&
        (result || error >= CL_SUCCESS)) {
        finding("wrong", keep_text("refusal-%s", about->name),
                "%s should be refused, and answers %#llx and the error %d", about->name, (unsigned long long)result,
                error);
    }
    if (list.words && memcmp(copy, list.words, list.count * sizeof *copy) != 0) {
        finding("wrong", keep_text("list-changed-%s", about->name), "%s changed the property list", about->name);
    }
    check_chosen(function, &list);
    if (expected == -2) {
        expected = received_count ? received[0].vendor : -1;
    }
    if (received_count != (expected != -1) || (expected >= 0 && received[0].vendor != expected) ||
        (received_count && received[0].function != function)) {
        finding("wrong", keep_text("way-%s", about->name),
                "%s should go to vendor %d (-1: none), and caused %zu calls, %s", about->name, expected, received_count,
                received_count ? keep_text("of vendor %d", received[0].vendor) : "none");
        return;
    }
    for (unsigned i = 0; received_count && i < about->parameter_count; i++) {
        if (received[0].argument[i] != arguments[i]) {
            finding("wrong", keep_text("argument-%s", about->name), "%s of %s is %#llx and arrived as %#llx",
                    parameter_name(&about->parameters[i]), about->name, (unsigned long long)arguments[i],
                    (unsigned long long)received[0].argument[i]);
        }
    }
}

void target_run(void)
{
    for (unsigned i = 0; i < MOST_CALLS && (i == 0 || !input_ended()); i++) {
        record_begins();
        one_call();
    }
}
