/* SPDX-License-Identifier: Apache-2.0 */
/* Vendors whose every answer is drawn from the input. */
#include "parts.h"

#include <string.h>

struct library *libraries[VENDORS];

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
                                        "cl_khr_icd_unloadable cl_khr_icd",
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

void make_vendor(int number)
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
