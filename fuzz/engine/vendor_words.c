/* SPDX-License-Identifier: Apache-2.0 */
/* What is not ordinary about a vendor: in words, and whether a loader may hold it against the vendor. */
#define _GNU_SOURCE
#include "vendor.h"

#include <string.h>

/* One thing that may be said. */
struct remark {
    bool applies;
    const char *words;
};

static const char *joined(const struct remark *remarks, size_t count)
{
    const char *text = "";
    for (size_t i = 0; i < count; i++) {
        text = remarks[i].applies ? keep_text("%s%s%s", text, *text ? ", " : "", remarks[i].words) : text;
    }
    return text;
}

#define JOINED(remarks) joined(remarks, sizeof(remarks) / sizeof *(remarks))

/* A long text by its beginning and its length. */
static const char *quoted(const char *text)
{
    enum { SHOWN = 100 };
    size_t length = strlen(text);
    return length <= SHOWN ? keep_text("\"%s\"", text) : keep_text("\"%.*s...\" (%zu bytes)", SHOWN / 2, text, length);
}

static bool is_plain(const struct answer *answer)
{
    return !answer->size_error && !answer->data_error && !answer->longer && !answer->unterminated && !answer->unset;
}

static const char *answer_in_words(const char *what, const struct answer *answer)
{
    const struct remark remarks[] = {
        {answer->size_error, keep_text("error %d to the size", answer->size_error)},
        {answer->data_error, keep_text("error %d to the text", answer->data_error)},
        {answer->longer, keep_text("a size that is wrong by %+d", answer->longer)},
        {answer->unterminated, "no terminator"},
        {answer->unset, "CL_SUCCESS, and nothing is written"},
    };
    return keep_text("query of the %s: %s", what, JOINED(remarks));
}

static bool is_missing(const struct platform *platform, int function)
{
    return platform->missing[function / 8] >> (function % 8) & 1;
}

static unsigned missing_count(const struct platform *platform)
{
    unsigned count = 0;
    for (int f = 0; f < FUNCTION_COUNT; f++) {
        count += is_missing(platform, f);
    }
    return count;
}

/* By their names, where there are few. */
static const char *missing_in_words(const struct platform *platform)
{
    enum { NAMED = 4 };
    unsigned count = missing_count(platform);
    if (count > NAMED) {
        return keep_text("%u functions missing", count);
    }
    const char *text = "";
    for (int f = 0; f < FUNCTION_COUNT; f++) {
        text = is_missing(platform, f) ? keep_text("%s%s%s", text, *text ? " and " : "without ", function_info[f].name)
                                       : text;
    }
    return text;
}

const char *platform_in_words(const struct platform *platform)
{
    const struct remark remarks[] = {
        {true, platform->icd2 ? "ICD 2" : "ICD 1"},
        {true, keep_text("name %s", quoted(platform->name))},
        {true, keep_text("extensions %s", quoted(platform->extensions))},
        {true, keep_text("suffix %s", quoted(platform->suffix))},
        {true, keep_text("%u devices", platform->device_count)},
        {platform->table_length, keep_text("a table of %u entries", platform->table_length)},
        {missing_count(platform), missing_in_words(platform)},
        {platform->half_tagged, "one slot alone has the tag of ICD 2"},
        {platform->bare, "its own table is nearly empty"},
        {platform->unloadable, "unloadable"},
        {platform->unloadable_error,
         keep_text("error %d to the query whether it is unloadable", platform->unloadable_error)},
        {platform->set_data_error, keep_text("error %d to its dispatch data", platform->set_data_error)},
        {platform->null_in_list, "NULL stands for it in the list"},
        {platform->same_as, keep_text("its handle is that of platform %d", platform->same_as - 1)},
        {!is_plain(&platform->extensions_answer), answer_in_words("extensions", &platform->extensions_answer)},
        {!is_plain(&platform->suffix_answer), answer_in_words("suffix", &platform->suffix_answer)},
    };
    return JOINED(remarks);
}

const char *vendor_in_words(const struct vendor *vendor)
{
    const struct remark remarks[] = {
        {true, keep_text("%u platforms", vendor->platform_count)},
        {vendor->hides_query, "exports no clGetExtensionFunctionAddress"},
        {vendor->hides_enumerate, "exports no clIcdGetPlatformIDsKHR"},
        {vendor->hides_info, "exports no clGetPlatformInfo"},
        {vendor->query_hides_enumerate, "answers NULL for clIcdGetPlatformIDsKHR"},
        {vendor->query_hides_info, "answers NULL for clGetPlatformInfo"},
        {vendor->query_hides_icd2, "answers NULL for the functions of ICD 2"},
        {vendor->count_error, keep_text("error %d to the number of platforms", vendor->count_error)},
        {vendor->list_error, keep_text("error %d to the list of platforms", vendor->list_error)},
        {vendor->errs_late, "writes answers beside errors"},
        {vendor->count_unset, "does not write the number of platforms"},
        {vendor->count_more, keep_text("says %u platforms too many", vendor->count_more)},
        {vendor->list_fewer, keep_text("does not write the last %u handles", vendor->list_fewer)},
        {vendor->also, keep_text("knows the name %s", quoted(vendor->also ? vendor->also : ""))},
    };
    return JOINED(remarks);
}

void vendor_describe(const struct vendor *vendor)
{
    if (!describing_inputs()) {
        return;
    }
    describe("vendor %d: %s", vendor->number, vendor_in_words(vendor));
    for (unsigned p = 0; p < vendor->platform_count; p++) {
        describe("vendor %d, platform %u: %s", vendor->number, p, platform_in_words(&vendor->platform[p]));
    }
}

/* --- what counts against it --- */

bool has_extension(const char *text, const char *token)
{
    size_t length = strlen(token);
    for (const char *hit = strstr(text, token); hit; hit = strstr(hit + 1, token)) {
        if ((hit == text || hit[-1] == ' ') && (hit[length] == ' ' || !hit[length])) {
            return true;
        }
    }
    return false;
}

bool vendor_is_reached(const struct vendor *vendor)
{
    return !vendor->hides_query && !vendor->hides_enumerate && !vendor->hides_info && !vendor->query_hides_enumerate &&
           !vendor->query_hides_info && !vendor->query_hides_icd2 && !vendor->count_unset && !vendor->count_more &&
           !vendor->list_fewer;
}

bool vendor_is_listed(const struct vendor *vendor)
{
    return vendor_is_reached(vendor) && !vendor->count_error && !vendor->list_error;
}

bool platform_is_faultless(const struct platform *platform)
{
    return !platform->null_in_list && !platform->half_tagged && !platform->same_as && !platform->set_data_error &&
           !platform->unloadable_error && is_plain(&platform->extensions_answer) &&
           is_plain(&platform->suffix_answer) && has_extension(platform->extensions, "cl_khr_icd");
}
