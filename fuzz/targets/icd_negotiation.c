/* SPDX-License-Identifier: Apache-2.0 */
/* Vendors whose every answer to a loader is drawn from the input: symbols, counts, errors, sizes, strings, tables, and
 * what belongs to loader-managed dispatch (ICD 2). What a loader offers then must be there, and must work.
 */
#include "calls.h"
#include "layer.h"

#include <string.h>

const char *const target_name = "icd_negotiation";

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

static struct answer some_answer(const char *what, int vendor, unsigned platform)
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
    describe("vendor %d, platform %u: %s: error %d to the size, %d to the text, size %+d, %s%s", vendor, platform, what,
             answer.size_error, answer.data_error, answer.longer, answer.unterminated ? "unterminated " : "",
             answer.unset ? "nothing written" : "");
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
    uint8_t shape = take_byte();
    platform->icd2 = shape & 1;
    platform->unloadable = shape & 2;
    platform->device_count = shape & 4 ? take_below(DEVICES + 1) : DEVICES;
    platform->unloadable_error = shape & 8 ? some_error() : 0;
    platform->null_in_list = violations && (shape & 48) == 48;
    platform->extensions = some_extensions();
    platform->suffix = some_suffix(platform->suffix);
    platform->extensions_answer = some_answer("extensions", vendor->number, number);
    platform->suffix_answer = some_answer("suffix", vendor->number, number);
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
    describe("vendor %d, platform %u: %s, extensions \"%s\", suffix \"%s\", %u devices, table of %u entries, %s",
             vendor->number, number, platform->icd2 ? "ICD 2" : "ICD 1", platform->extensions, platform->suffix,
             platform->device_count, platform->table_length ? platform->table_length : TABLE_LENGTH,
             platform->unloadable ? "unloadable" : "");
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
    if (violations && shape & 8) {
        vendor->count_unset = take_chance(3);
        vendor->count_more = take_byte();
        vendor->list_fewer = take_below(5);
    }
    describe("vendor %d: %u platforms; without %s%s%s, not answered: %s%s%s; errors %d (count), %d (list)", number,
             vendor->platform_count, hidden & 1 ? "query " : "", hidden & 2 ? "enumeration " : "",
             hidden & 4 ? "info " : "", hidden & 8 ? "enumeration " : "", hidden & 16 ? "info " : "",
             hidden & 32 ? "ICD 2 " : "", vendor->count_error, vendor->list_error);
    for (unsigned p = 0; p < vendor->platform_count; p++) {
        make_platform(vendor, p);
    }
    vendor_make(vendor);
    const char *name = keep_text("/lib/lib%c.so", 'a' + number);
    vendor_library(vendor, name);
    world_file(keep_text("/etc/OpenCL/vendors/%c.icd", 'a' + number), FILE_REGULAR, name, strlen(name));
}

/* Variables that change how a loader takes its vendors. */
static void some_variables(uint8_t which)
{
    static const char *const pairs[][2] = {
        {"OCL_ICD_ENABLE_TRACE", "True"},          {"OCL_ICD_DEBUG", "7"},
        {"OCL_ICD_PLATFORM_SORT", "version"},      {"OCL_ICD_PLATFORM_SORT", "none"},
        {"OCL_ICD_DEFAULT_PLATFORM", "1"},         {"OCL_ICD_ASSUME_ICD_EXTENSION", "1"},
        {"OCL_ICD_FORCE_LEGACY_TERMINATION", "1"}, {"OCL_ICD_DISABLE_DYNAMIC_LIBRARY_UNLOADING", "1"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        if (which & (1 << i)) {
            describe("%s=%s", pairs[i][0], pairs[i][1]);
            world_variable(pairs[i][0], pairs[i][1]);
        }
    }
}

static bool is_plain(const struct answer *answer)
{
    return !answer->size_error && !answer->data_error && !answer->longer && !answer->unterminated && !answer->unset;
}

static bool has_token(const char *text, const char *token)
{
    size_t length = strlen(token);
    for (const char *hit = strstr(text, token); hit; hit = strstr(hit + 1, token)) {
        if ((hit == text || hit[-1] == ' ') && (hit[length] == ' ' || !hit[length])) {
            return true;
        }
    }
    return false;
}

/* Whether a loader gets as far as the list of a vendor's platforms. */
static bool is_reached(const struct vendor *vendor)
{
    return !vendor->hides_query && !vendor->hides_enumerate && !vendor->hides_info && !vendor->query_hides_enumerate &&
           !vendor->query_hides_info && !vendor->query_hides_icd2 && !vendor->count_unset && !vendor->count_more &&
           !vendor->list_fewer;
}

static bool is_faultless(const struct platform *platform)
{
    return !platform->null_in_list && !platform->set_data_error && is_plain(&platform->extensions_answer) &&
           is_plain(&platform->suffix_answer) && has_token(platform->extensions, "cl_khr_icd");
}

/* Whether all loaders agree on a vendor: nothing is wrong with it, or its list of platforms cannot be had. */
static bool is_clear(const struct vendor *vendor)
{
    for (unsigned p = 0; p < vendor->platform_count; p++) {
        if (!is_faultless(&vendor->platform[p])) {
            return false;
        }
    }
    return is_reached(vendor);
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
            bool listed = is_reached(&vendors[v]) && !vendors[v].count_error && !vendors[v].list_error;
            if (!is_offered && listed && is_faultless(platform)) {
                finding("wrong", "not-offered", "nothing is wrong with platform %u of vendor %u, and it is not offered",
                        p, v);
            }
        }
    }
}

void target_run(void)
{
    unsigned count = 1 + take_below(VENDORS);
    uint8_t first = take_byte();
    some_variables(first & 4 ? take_byte() : 0);
    for (unsigned v = 0; v < count; v++) {
        make_vendor((int)v);
    }
    cl_uint ignored;
    switch (first & 3) { /* which call is the first one */
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
    layers_clear();
    if (first & 16) {
        static const char path[] = "/lib/liblayer.so";
        describe("a layer stands before them, which passes everything on");
        layer_make(layer_plain(0), path);
        world_variable("OPENCL_LAYERS", path);
    }
    if (first & 8) {
        check_null_handles();
    }
    CALL(clUnloadCompiler, 0);
    if (violations && first & 32) { /* not the vendor's, but a thing that few loaders live through, too */
        unsigned number = take_byte();
        describe("allocation %u of the loader fails", number);
        memory_fails_at(number);
    }
    struct offered offered = platforms_offered();
    check_faultless(&offered, count);
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
        char name[64] = "";
        CALL(clGetPlatformInfo, AT(offered.platform[i]), CL_PLATFORM_NAME, sizeof name, AT(name), 0);
        if (strcmp(name, platform->name) != 0) {
            finding("wrong", "name", "the name of platform %u is \"%s\", that of its vendor \"%s\"", i, name,
                    platform->name);
        }
    }
}
