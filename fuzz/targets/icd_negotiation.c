/* SPDX-License-Identifier: Apache-2.0 */
/* Vendors whose every answer to a loader is drawn from the input: symbols, counts, errors, sizes, strings, tables, and
 * what belongs to loader-managed dispatch (ICD 2). What a loader offers then must be there, and must work.
 */
#include "calls.h"
#include "internal.h"
#include "layer.h"

#include <string.h>

const char *const target_name = "icd_negotiation";

enum { LONGEST = 5000 }; /* texts of platforms */

static unsigned vendor_count;
static struct library *libraries[VENDORS];
static bool in_use[VENDORS][PLATFORMS]; /* it is offered */
static bool is_assumed;                 /* OCL_ICD_ASSUME_ICD_EXTENSION is set */

static const cl_int errors[] = {CL_SUCCESS,
                                CL_PLATFORM_NOT_FOUND_KHR,
                                CL_OUT_OF_HOST_MEMORY,
                                CL_INVALID_VALUE,
                                CL_INVALID_PLATFORM,
                                CL_DEVICE_NOT_FOUND,
                                -9999,
                                1};

static cl_int some_error(void)
{
    return errors[take_below(sizeof errors / sizeof *errors)];
}

static const char *some_text(const char *const *texts, unsigned count)
{
    unsigned number = take_below(count + 1);
    return number == count ? take_text(300) : texts[number];
}

/* --- what is learned of the loader: once, in a machine with one vendor --- */

enum lesson {
    WITHOUT_ICD,   /* platforms are offered that do not list cl_khr_icd */
    ICD_IN_A_WORD, /* and such as list another extension whose name has that in it */
    WITHOUT_INFO,  /* vendors that give no clGetPlatformInfo */
    WITHOUT_ICD2,  /* platforms with the tag of ICD 2, without its functions */
    ONE_TAG,       /* with the tag in one slot */
    LESSONS
};

static bool learned[LESSONS][2], accepted[LESSONS][2]; /* of each loader */
static enum lesson lesson;                             /* the next one */

static bool accepts(enum lesson which)
{
    return !learned[which][subject - subjects] || accepted[which][subject - subjects];
}

static bool has_lesson(void)
{
    for (int i = 0; i < LESSONS; i++) {
        if (!learned[i][subject - subjects]) {
            lesson = (enum lesson)i;
            return true;
        }
    }
    return false;
}

static void learn(void)
{
    struct vendor *vendor = vendor_plain(0);
    struct platform *platform = &vendor->platform[0];
    pass_over_findings();
    learned[lesson][subject - subjects] = accepted[lesson][subject - subjects] = true; /* also where it is left */
    vendor_count = 0;
    if (lesson == WITHOUT_ICD || lesson == ICD_IN_A_WORD) {
        platform->extensions = lesson == WITHOUT_ICD ? "cl_other" : "cl_khr_icd_unloadable";
    }
    vendor->hides_info = vendor->query_hides_info = lesson == WITHOUT_INFO;
    vendor->query_hides_icd2 = lesson == WITHOUT_ICD2;
    platform->icd2 = lesson >= WITHOUT_ICD2;
    platform->half_tagged = lesson == ONE_TAG;
    vendor_make(vendor);
    vendor_library(vendor, "/lib/liba.so");
    world_file("/etc/OpenCL/vendors/a.icd", FILE_REGULAR, "/lib/liba.so", 12);
    cl_uint count = 0;
    CALL(clGetPlatformIDs, 0, 0, AT(&count));
    accepted[lesson][subject - subjects] = count > 0;
}

static const char *some_extensions(void)
{
    static const char *const texts[] = {"cl_khr_icd",
                                        "cl_khr_icd cl_khr_icd_unloadable",
                                        "cl_khr_gl_sharing  cl_khr_icd cl_khr_fp64",
                                        "cl_khr_fp64 cl_khr_icd ",
                                        "",
                                        "cl_khr_icd_unloadable",
                                        "acl_khr_icd cl_khr_icdb cl_khr_icd2 acl_khr_icd cl_khr_icd"};
    return some_text(texts, sizeof texts / sizeof *texts);
}

static const char *some_suffix(const char *own)
{
    static const char *const texts[] = {"", "KHR", "a", "EXT", "a b", "aa"};
    return take_chance(2) ? some_text(texts, sizeof texts / sizeof *texts) : own;
}

static struct answer some_answer(void)
{
    struct answer answer = {0, 0, 0, false, false};
    if (!take_chance(4)) {
        return answer;
    }
    switch (take_below(violations ? 5 : 2)) {
    case 0:
        answer.size_error = some_error();
        break;
    case 1:
        answer.data_error = some_error();
        break;
    case 2:
        answer.longer = take_byte();
        answer.longer -= answer.longer > 127 ? 256 : 0;
        break;
    case 3:
        answer.unterminated = true;
        break;
    default:
        answer.unset = true;
        break;
    }
    return answer;
}

static void some_missing(struct platform *platform)
{
    unsigned begin;
    unsigned end;
    switch (take_below(4)) {
    case 1: /* a range */
        begin = take_below(FUNCTION_COUNT);
        end = begin + take_below(FUNCTION_COUNT - begin + 1);
        break;
    case 2: /* one */
        begin = take_below(FUNCTION_COUNT);
        end = begin + 1;
        break;
    case 3: /* all but one */
        begin = take_below(FUNCTION_COUNT);
        memset(platform->missing, 255, sizeof platform->missing);
        platform->missing[begin / 8] &= (uint8_t) ~(1 << (begin % 8));
        return;
    default:
        return;
    }
    for (; begin < end; begin++) {
        platform->missing[begin / 8] |= (uint8_t)(1 << (begin % 8));
    }
}

static void make_platform(struct vendor *vendor, unsigned number)
{
    /* The last functions of the tables of OpenCL 1.0 to 3.0. */
    static const enum function lasts[] = {FUNCTION_clGetExtensionFunctionAddress,
                                          FUNCTION_clEnqueueCopyBufferRect,
                                          FUNCTION_clGetExtensionFunctionAddressForPlatform,
                                          FUNCTION_clSetKernelExecInfo,
                                          FUNCTION_clGetKernelSubGroupInfo,
                                          FUNCTION_clSetProgramSpecializationConstant,
                                          FUNCTION_clSetContextDestructorCallback};
    struct platform *platform = &vendor->platform[number];
    record_begins();
    uint8_t shape = take_byte();
    platform->icd2 = shape & 1;
    platform->unloadable = shape & 2;
    platform->device_count = shape & 4 ? take_below(DEVICES + 1) : DEVICES;
    platform->unloadable_error = shape & 8 ? some_error() : 0;
    platform->null_in_list = violations && (shape & 48) == 48;
    platform->half_tagged = !violations && platform->icd2 && (shape & 48) == 48;
    platform->extensions = some_extensions();
    platform->suffix = some_suffix(platform->suffix);
    platform->extensions_answer = some_answer();
    platform->suffix_answer = some_answer();
    if (shape & 64) {
        enum function last = lasts[take_below(sizeof lasts / sizeof *lasts)];
        platform->table_length = (unsigned)function_info[last].slot + 1;
    }
    if (platform->icd2) {
        platform->set_data_error = shape & 128 ? some_error() : 0;
        some_missing(platform);
    }
    vendor_has(platform, FUNCTION_clGetPlatformInfo);
    vendor_has(platform, FUNCTION_clGetDeviceIDs);
}

/* Texts of a platform whose lengths are beyond what loaders expect. */
static void grow(struct platform *platform)
{
    const char *text;
    switch (take_below(5)) {
    case 0:
        platform->suffix = take_long_text(LONGEST);
        break;
    case 1: /* the extension that counts stands after, before, or between others */
        platform->extensions = keep_text("%s cl_khr_icd", take_long_text(LONGEST));
        break;
    case 2:
        platform->extensions = keep_text("cl_khr_icd %s", take_long_text(LONGEST));
        break;
    case 3:
        text = take_long_text(LONGEST);
        platform->extensions = keep_text("%s cl_khr_icd %s", text, text);
        break;
    default:
        platform->name = take_long_text(LONGEST);
        break;
    }
}

static void make_vendor(int number)
{
    struct vendor *vendor = vendor_plain(number);
    static const unsigned counts[] = {1, 2, 0, 3, 4};
    uint8_t shape = take_byte();
    uint8_t hidden = shape & 1 ? take_byte() : 0;
    vendor->platform_count = counts[take_below(5)];
    vendor->hides_query = hidden & 1;
    vendor->hides_enumerate = hidden & 2;
    vendor->hides_info = hidden & 4;
    vendor->query_hides_enumerate = hidden & 8;
    vendor->query_hides_info = hidden & 16;
    vendor->query_hides_icd2 = hidden & 32;
    vendor->count_error = shape & 2 ? some_error() : 0;
    vendor->list_error = shape & 4 ? some_error() : 0;
    vendor->errs_late = shape & 32;
    if (violations && shape & 8) {
        vendor->count_unset = take_chance(3);
        vendor->count_more = take_byte();
        vendor->list_fewer = take_below(5);
    }
    for (unsigned p = 0; p < vendor->platform_count; p++) {
        make_platform(vendor, p);
    }
    if (shape & 16) {
        grow(&vendor->platform[0]);
    }
    vendor_describe(vendor);
    vendor_make(vendor);
    const char *name = keep_text("/lib/lib%c.so", 'a' + number);
    libraries[number] = vendor_library(vendor, name);
    world_file(keep_text("/etc/OpenCL/vendors/%c.icd", 'a' + number), FILE_REGULAR, name, strlen(name));
}

/* Variables that change how a loader takes its vendors, or might. */
static const char *const variables[][2] = {
    {"OCL_ICD_ENABLE_TRACE", "True"},          {"OCL_ICD_DEBUG", "7"},
    {"OCL_ICD_PLATFORM_SORT", "version"},      {"OCL_ICD_PLATFORM_SORT", "none"},
    {"OCL_ICD_DEFAULT_PLATFORM", "1"},         {"OCL_ICD_ASSUME_ICD_EXTENSION", "1"},
    {"OCL_ICD_FORCE_LEGACY_TERMINATION", "1"}, {"OCL_ICD_DISABLE_DYNAMIC_LIBRARY_UNLOADING", "1"},
};
/* Those of them on which it may depend which platforms are offered, and in which order. */
enum { DECISIVE = 1 << 2 | 1 << 3 | 1 << 5 };

static void some_variables(uint8_t which, bool empty)
{
    /* Any value but nothing. */
    static const char *const assumed[] = {"1", "debug", "0", "no"};
    is_assumed = !empty && which & 1 << 5;
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        if (which & (1 << i)) {
            const char *value = empty ? "" : i == 5 ? assumed[which & 3] : variables[i][1];
            describe("%s=%s", variables[i][0], value);
            world_variable(variables[i][0], value);
        }
    }
}

/* Whether all loaders agree on a vendor: nothing is wrong with it, or its list of platforms cannot be had. */
static bool is_clear(const struct vendor *vendor)
{
    for (unsigned p = 0; p < vendor->platform_count; p++) {
        if (!platform_is_faultless(&vendor->platform[p])) {
            return false;
        }
    }
    return vendor_is_reached(vendor);
}

/* A platform with which nothing is wrong must be offered, whatever its neighbours are like. */
static void check_faultless(const struct offered *offered, unsigned vendor_count)
{
    for (unsigned v = 0; v < vendor_count; v++) {
        for (unsigned p = 0; p < vendors[v].platform_count; p++) {
            const struct platform *platform = &vendors[v].platform[p];
            bool is_offered = false;
            for (cl_uint i = 0; i < offered->count; i++) {
                is_offered |= offered->platform[i] == &platform->object[HANDLE_cl_platform_id];
            }
            /* A loader that asks for it does not look for the extension then (DISC-ENV-021). */
            struct platform trusted = *platform;
            bool assumes = is_assumed && world_variable_asked("OCL_ICD_ASSUME_ICD_EXTENSION");
            trusted.extensions = assumes ? "cl_khr_icd" : platform->extensions;
            if (!is_offered && vendor_is_listed(&vendors[v]) && platform_is_faultless(&trusted)) {
                finding("wrong", "not-offered", "nothing is wrong with platform %u of vendor %u, and it is not offered",
                        p, v);
            }
        }
    }
}

/* Why a platform must not be offered; NULL: it may be. */
static const char *held_against(const struct vendor *vendor, const struct platform *platform)
{
    bool has_icd = has_extension(platform->extensions, "cl_khr_icd");
    bool in_a_word = strstr(platform->extensions, "cl_khr_icd") != NULL;
    if (vendor->count_error || vendor->list_error) {
        return "its vendor answers an error to the number or the list of its platforms (DISC-ACC-007, 008)";
    }
    if (vendor->hides_query || (vendor->hides_enumerate && vendor->query_hides_enumerate)) {
        return "its vendor lacks a function (DISC-ACC-002, 003)";
    }
    if (vendor->hides_info && vendor->query_hides_info && !is_assumed && !accepts(WITHOUT_INFO)) {
        return "its vendor lacks clGetPlatformInfo (DISC-ACC-006)";
    }
    if ((platform->extensions_answer.size_error || platform->extensions_answer.data_error) && !is_assumed) {
        return "its extensions cannot be had (DISC-ACC-013)";
    }
    if (platform->suffix_answer.size_error || platform->suffix_answer.data_error) {
        return "its suffix cannot be had (DISC-ACC-016)";
    }
    if (!has_icd && !is_assumed && !accepts(in_a_word ? ICD_IN_A_WORD : WITHOUT_ICD)) {
        return "it does not list cl_khr_icd (DISC-ACC-014, 015)";
    }
    if (platform->icd2 && vendor->query_hides_icd2 && !accepts(WITHOUT_ICD2)) {
        return "it has the tag of ICD 2, and its vendor lacks the functions (DISP-ICD2-004)";
    }
    if (platform->half_tagged && !accepts(ONE_TAG)) {
        return "one slot alone has the tag of ICD 2 (DISP-ICD2-006)";
    }
    return NULL;
}

static void check_refused(const struct offered *offered)
{
    memset(in_use, 0, sizeof in_use);
    for (cl_uint i = 0; i < offered->count; i++) {
        const struct object *object = offered->platform[i];
        const struct vendor *vendor = &vendors[object->vendor];
        const char *reason = held_against(vendor, &vendor->platform[object->platform]);
        in_use[object->vendor][object->platform] = true;
        if (reason) {
            finding("wrong", "offered-all-the-same", "platform %d of vendor %d is offered: %s", object->platform,
                    object->vendor, reason);
        }
    }
}

/* Only what says that it can be unloaded may be (DISC-ACC-029). */
void target_ended(void)
{
    for (unsigned v = 0; v < vendor_count; v++) {
        bool stays = false;
        for (unsigned p = 0; p < vendors[v].platform_count; p++) {
            const struct platform *platform = &vendors[v].platform[p];
            bool says = platform->unloadable && strstr(platform->extensions, "cl_khr_icd_unloadable");
            stays |= in_use[v][p] && !says;
        }
        if (stays && libraries[v]->opened == libraries[v]->closed) {
            finding(
                "wrong", "closed-although-it-stays",
                "the library of vendor %u is closed at the end, and has a platform that does not say that it can be "
                "unloaded",
                v);
        }
    }
}

/* What an application may begin with. */
static void first_call(unsigned which)
{
    cl_uint ignored;
    static const char *const words[] = {NULL, "clGetExtensionFunctionAddress(\"clFlushKHR\")",
                                        "clGetPlatformIDs(0, NULL, NULL)", "clGetPlatformIDs(0, list, &count)"};
    if (words[which]) {
        describe("the first call is %s", words[which]);
    }
    switch (which) {
    case 1:
        CALL(clGetExtensionFunctionAddress, AT("clFlushKHR"));
        break;
    case 2:
        CALL(clGetPlatformIDs, 0, 0, 0);
        break;
    case 3:
        CALL(clGetPlatformIDs, 0, AT(&ignored), AT(&ignored));
        break;
    default:
        break;
    }
}

/* What an input begins with. */
struct beginning {
    unsigned count; /* of vendors */
    uint8_t first, which;
    bool empty; /* variables are set to nothing, which is as if they were not set */
};

static struct beginning begin(void)
{
    struct beginning begun = {.count = 1 + take_below(VENDORS), .first = take_byte()};
    begun.which = begun.first & 4 ? take_byte() : 0;
    begun.empty = (begun.first & 192) == 64;
    return begun;
}

static void make_vendors(unsigned count)
{
    for (unsigned v = 0; v < count; v++) {
        make_vendor((int)v);
    }
}

/* --- the same machine without the variables that must not change which platforms there are --- */

static struct offered without;
static bool is_lesson;         /* what is run now is not this machine, but a lesson */
static bool has_run, is_whole; /* the second: and was not left by a crash */

static uint8_t decisive(const struct beginning *begun)
{
    return begun->empty ? 0 : begun->which & DECISIVE;
}

bool target_next_control(void)
{
    struct beginning begun = begin();
    is_lesson = has_lesson();
    is_whole = is_whole && has_run;
    return is_lesson || (!has_run && begun.which != decisive(&begun));
}

/* A machine that its vendors alone decide on: no layer, and no first call. */
static void live_without(void)
{
    struct beginning begun = begin();
    has_run = true;
    is_whole = false;
    vendor_count = 0;
    describe_machine("the same without variables that change nothing");
    some_variables(decisive(&begun), false);
    make_vendors(begun.count);
    layers_clear();
    without = platforms_offered();
    is_whole = true;
}

void target_control(void)
{
    if (is_lesson) {
        learn();
    } else {
        live_without();
    }
}

static void check_same(const struct offered *offered)
{
    bool same = offered->count == without.count;
    for (cl_uint i = 0; same && i < offered->count; i++) {
        same = offered->platform[i] == without.platform[i];
    }
    if (!same) {
        finding("wrong", "offered-by-variables",
                "%u platforms are offered, %u without variables that change nothing, or in another order",
                offered->count, without.count);
    }
}

void target_run(void)
{
    struct beginning begun = begin();
    unsigned count = begun.count;
    uint8_t first = begun.first;
    bool is_compared = has_run && is_whole;
    if (has_run) {
        describe_machine("that of the input");
    }
    has_run = is_whole = false;
    vendor_count = 0; /* until it is known which are offered */
    some_variables(begun.which, begun.empty);
    make_vendors(count);
    first_call(first & 3);
    layers_clear();
    if (first & 16) {
        static const char path[] = "/lib/liblayer.so";
        describe("a layer stands before them, which passes everything on");
        layer_make(layer_plain(0), path);
        world_variable("OPENCL_LAYERS", path);
    }
    if (first & 8) {
        describe("all functions are called with NULL first");
        check_null_handles();
    }
    CALL(clUnloadCompiler, 0);
    unsigned failing = 0;
    if (violations && first & 32) { /* not the vendor's, but a thing that few loaders live through, too */
        failing = take_byte();
        describe("allocation %u of the loader fails", failing);
        memory_fails_at(failing);
    }
    struct offered offered = platforms_offered();
    if (!failing) {
        check_faultless(&offered, count);
        check_refused(&offered);
        vendor_count = count;
    }
    if (is_compared && !failing && !(first & 16)) {
        check_same(&offered);
    }
    for (unsigned v = 0; v < count; v++) {
        if (!is_clear(&vendors[v])) {
            grey("loaders ask different things of a vendor, and take refusals in different ways");
        }
    }
    for (cl_uint i = 0; i < offered.count; i++) {
        check_calls(offered.platform[i]);
        check_devices(offered.platform[i]);
        const struct platform *platform = &vendors[offered.platform[i]->vendor].platform[offered.platform[i]->platform];
        check_queries(offered.platform[i], take_text(40));
        char name[LONGEST + 1] = "";
        CALL(clGetPlatformInfo, AT(offered.platform[i]), CL_PLATFORM_NAME, sizeof name, AT(name), 0);
        if (strcmp(name, platform->name) != 0) {
            finding("wrong", "name", "the name of platform %u is \"%s\", that of its vendor \"%s\"", i, name,
                    platform->name);
        }
    }
}
