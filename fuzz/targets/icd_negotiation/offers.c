/* SPDX-License-Identifier: Apache-2.0 */
/* Which platforms must be offered, which must not, and which vendors may be closed. */
#include "internal.h"
#include "parts.h"

#include <string.h>

unsigned vendor_count;
bool is_assumed;
static bool in_use[VENDORS][PLATFORMS]; /* it is offered */

/* Whether all loaders agree on a vendor: nothing is wrong with it, or its list of platforms cannot be had. */
bool is_clear(const struct vendor *vendor)
{
    for (unsigned p = 0; p < vendor->platform_count; p++) {
        if (!platform_is_faultless(&vendor->platform[p])) {
            return false;
        }
    }
    return vendor_is_reached(vendor);
}

/* A platform with which nothing is wrong must be offered, whatever its neighbours are like. */
void check_faultless(const struct offered *offered, unsigned count)
{
    for (unsigned v = 0; v < count; v++) {
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

void check_refused(const struct offered *offered)
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
