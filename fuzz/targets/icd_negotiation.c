/* SPDX-License-Identifier: Apache-2.0 */
/* Vendors whose every answer to a loader is drawn from the input: symbols, counts, errors, sizes, strings, tables, and
 * what belongs to loader-managed dispatch (ICD 2). What a loader offers then must be there, and must work.
 */
#include "icd_negotiation/parts.h"
#include "internal.h"
#include "layer.h"

#include <string.h>

const char *const target_name = "icd_negotiation";

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
    describe_machine("the same without variables that change nothing");
    some_variables(decisive(&begun), false);
    make_vendors(begun.count);
    layers_clear();
    without = platforms_offered();
    is_whole = true;
}

void target_control(void)
{
    vendor_count = 0;
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
