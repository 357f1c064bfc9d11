/* SPDX-License-Identifier: Apache-2.0 */
/* Names of extension functions against suffixes of vendors, by both queries of addresses. */
#include "calls.h"
#include "internal.h"
#include "rules.h"

#include <string.h>

const char *const target_name = "address_queries";

enum { MOST_QUERIES = 12 };

static const char *const words[] = {
    "clFlush", "clIcdGetPlatformIDsKHR", "clCreateCommandBuffer",         "cl", "",  "KHR",
    "EXT",     "clGetPlatformInfo",      "clGetExtensionFunctionAddress", "A",  "B", "AB",
    "clIcd"};

static const char *some_word(void)
{
    unsigned number = take_below(sizeof words / sizeof *words + 2);
    if (number == sizeof words / sizeof *words + 1) {
        return take_long_text(5000);
    }
    return number < sizeof words / sizeof *words ? words[number] : take_text(200);
}

/* What the vendors know: a name of their own, besides those of every ICD. */
static void make(int number)
{
    record_begins();
    struct vendor *vendor = vendor_plain(number);
    vendor->platform_count = 1 + take_below(2);
    for (unsigned p = 0; p < vendor->platform_count; p++) {
        vendor->platform[p].suffix = take_chance(2) ? some_word() : keep_text("%c%s", 'A' + number, p ? "B" : "");
        vendor->platform[p].icd2 = take_chance(2);
    }
    vendor->also = take_chance(2) ? some_word() : keep_text("clSomething%s", vendor->platform[0].suffix);
    vendor_describe(vendor);
    vendor_make(vendor);
    const char *name = keep_text("/lib/lib%c.so", 'a' + number);
    vendor_library(vendor, name);
    world_file(keep_text("/etc/OpenCL/vendors/%c.icd", 'a' + number), FILE_REGULAR, name, strlen(name));
}

/* Whether it is a function of OpenCL itself, and of no extension. Those of OpenGL have names as if they were. */
static bool is_core(const char *name)
{
    int function = function_named(name);
    bool of_extension = ends_with(name, "KHR") || ends_with(name, "EXT") || strstr(name, "GL") != NULL;
    return function >= 0 && rules[function].exported && !of_extension;
}

/* Functions of the core are not to be had by queries (DISP-EXT-009); and there is one function of a name
 * (DISP-EXT-015). */
static void check_own(const char *name, uint64_t entry)
{
    int function = function_named(name);
    if (in_loader(entry) && is_core(name)) {
        finding("wrong", "core-by-name", "\"%s\", which is no function of an extension, gets an address of the loader",
                name);
    }
    if (in_loader(entry) && function >= 0 && loader_function((enum function)function) &&
        loader_function((enum function)function) != (address)(uintptr_t)entry) {
        finding("wrong", "two-functions", "\"%s\" gets another address than that of the exported function", name);
    }
}

/* What the vendor that was asked knows of a name that is none of OpenCL is what the application gets. */
static void check_unchanged(const char *name, uint64_t entry, int vendor)
{
    uint64_t known = texts_equal(name, vendors[vendor].also) ? AT(vendor_function(vendor, FUNCTION_clFlush)) : 0;
    if (function_named(name) < 0 && !in_loader(entry) && entry != known) {
        finding("wrong", "address-changed", "vendor %d answers %#llx for \"%s\", and the application gets %#llx",
                vendor, (unsigned long long)known, name, (unsigned long long)entry);
    }
}

/* An address that a vendor gave must be one of its own, and of a vendor that was asked. */
static void check_address(const char *name, uint64_t entry)
{
    check_own(name, entry);
    for (int f = 0; entry && f < FUNCTION_COUNT && function_named(name) < 0; f++) {
        if (loader_function((enum function)f) == (address)(uintptr_t)entry) {
            finding("wrong", "name-of-another", "\"%s\" is no function of OpenCL, and gets the loader's own %s", name,
                    function_info[f].name);
        }
    }
    if (!entry || loader_function(FUNCTION_clFlush) == (address)(uintptr_t)entry) {
        return;
    }
    for (size_t i = 0; i < received_count; i++) {
        if (received[i].function == FUNCTION_clGetExtensionFunctionAddress ||
            received[i].function == FUNCTION_clGetExtensionFunctionAddressForPlatform) {
            saw("asked vendor", (uint64_t)received[i].vendor);
        }
    }
    saw("length of a name with an address", strlen(name));
}

/* Of an extension's functions a loader has all by their names, or none (DISC-GEN-026). */
static void check_extension(const char *name)
{
    static const char *const extensions[][3] = {
        {"clCreateSubDevicesEXT", "clRetainDeviceEXT", "clReleaseDeviceEXT"},
        {"clCreateFromEGLImageKHR", "clEnqueueAcquireEGLObjectsKHR", "clEnqueueReleaseEGLObjectsKHR"},
        {"clCreateEventFromEGLSyncKHR"},
        {"clCreateEventFromGLsyncKHR"},
        {"clGetGLContextInfoKHR"},
        {"clGetKernelSubGroupInfoKHR"},
    };
    for (size_t e = 0; e < sizeof extensions / sizeof *extensions; e++) {
        bool is_one = false;
        bool has_one = false;
        const char *lacks = NULL;
        for (size_t i = 0; i < 3 && extensions[e][i]; i++) {
            is_one |= texts_equal(name, extensions[e][i]);
        }
        for (size_t i = 0; is_one && i < 3 && extensions[e][i]; i++) {
            bool is_found = in_loader(CALL(clGetExtensionFunctionAddress, AT(extensions[e][i])));
            has_one |= is_found || loader_function((enum function)function_named(extensions[e][i]));
            lacks = is_found ? lacks : extensions[e][i];
        }
        if (has_one && lacks) {
            finding("wrong", "part-of-an-extension",
                    "the loader has a function of the extension that has \"%s\", and does not find %s by its name",
                    name, lacks);
        }
    }
}

/* The only vendor that has a suffix at the end of this name, of those that are offered; -1 where there are none or
 * several, or one that takes every name. */
static int only_vendor(const struct offered *offered, const char *name)
{
    int only = -1;
    for (cl_uint i = 0; i < offered->count; i++) {
        const struct object *platform = offered->platform[i];
        const char *suffix = vendors[platform->vendor].platform[platform->platform].suffix;
        if (!*suffix || (only >= 0 && only != platform->vendor && ends_with(name, suffix))) {
            return -1;
        }
        only = ends_with(name, suffix) ? platform->vendor : only;
    }
    return only;
}

/* Of several platforms whose suffix is at the end of a name loaders take the first one, or the one with the longest;
 * the first of those that are the same (DISP-EXT-003, DISP-EXT-005). */
static void check_choice(const struct offered *offered, const char *name, uint64_t entry)
{
    enum { NOBODY = -1 };
    int first = NOBODY;   /* also where its suffix is empty */
    int longer = NOBODY;  /* the first with a suffix */
    int longest = NOBODY; /* the first with the longest */
    size_t most = 0;
    for (cl_uint i = 0; i < offered->count; i++) {
        const struct object *platform = offered->platform[i];
        const char *suffix = vendors[platform->vendor].platform[platform->platform].suffix;
        if (!ends_with(name, suffix)) {
            continue;
        }
        first = first == NOBODY ? platform->vendor : first;
        longer = longer == NOBODY && *suffix ? platform->vendor : longer;
        longest = strlen(suffix) > most ? platform->vendor : longest;
        most = strlen(suffix) > most ? strlen(suffix) : most;
    }
    int asked = NOBODY;
    unsigned count = 0;
    for (size_t i = 0; i < received_count; i++) {
        bool is_query = received[i].function == FUNCTION_clGetExtensionFunctionAddress;
        asked = is_query ? received[i].vendor : asked;
        count += is_query;
    }
    bool wrong = count > 1 || (count && asked != first && asked != longer && asked != longest);
    bool nobody = !count && !entry && longer != NOBODY && function_named(name) < 0 && !ends_with(name, "OCLICD");
    if (wrong || nobody) {
        finding("wrong", "choice-by-suffix",
                "\"%s\" is asked %u times, last of vendor %d; the first vendor with such a suffix is %d, that with the "
                "longest %d",
                name, count, asked, longer, longest);
    }
    if (count == 1) {
        check_unchanged(name, entry, asked);
    }
}

static void by_suffix(const struct offered *offered, const char *name)
{
    received_count = 0;
    uint64_t entry = CALL(clGetExtensionFunctionAddress, AT(name));
    check_address(name, entry);
    int only = only_vendor(offered, name);
    if (!entry && only >= 0 && texts_equal(name, vendors[only].also) && function_named(name) < 0) {
        finding("wrong", "suffix-lost",
                "\"%s\" is known to vendor %d alone, by its suffix, and the loader answers NULL", name, only);
    }
    for (size_t i = 0; i < received_count; i++) {
        const struct vendor *vendor = &vendors[received[i].vendor];
        bool right = false;
        for (unsigned p = 0; p < vendor->platform_count; p++) {
            right |= ends_with(name, vendor->platform[p].suffix);
        }
        if (!right && received[i].function == FUNCTION_clGetExtensionFunctionAddress) {
            finding("wrong", "suffix", "\"%s\" was asked of vendor %d, which has no platform with such a suffix", name,
                    received[i].vendor);
        }
        if (received[i].function == FUNCTION_clGetExtensionFunctionAddress &&
            strcmp((const char *)(uintptr_t)received[i].argument[0], name) != 0) {
            finding("wrong", "name", "\"%s\" was asked of vendor %d as \"%s\"", name, received[i].vendor,
                    (const char *)(uintptr_t)received[i].argument[0]);
        }
    }
    check_choice(offered, name, entry);
    check_extension(name);
}

/* A loader that keeps one of the functions that are for loaders from applications keeps all (DISP-EXT-014). */
static void check_for_loaders(const char *name, struct object *platform)
{
    static const char *const names[] = {"clIcdGetPlatformIDsKHR", "clIcdGetFunctionAddressForPlatformKHR",
                                        "clIcdSetPlatformDispatchDataKHR"};
    bool is_one = false;
    unsigned answered = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        is_one |= texts_equal(name, names[i]);
    }
    for (size_t i = 0; is_one && i < sizeof names / sizeof *names; i++) {
        answered += CALL(clGetExtensionFunctionAddressForPlatform, AT(platform), AT(names[i])) != 0;
    }
    if (answered && answered < sizeof names / sizeof *names && vendors[platform->vendor].platform[0].icd2) {
        finding("wrong", "for-loaders", "of the three functions that are for loaders an application gets %u", answered);
    }
}

/* What the loader has itself both queries answer alike, for no platform, too (DISP-EXT-013); but for what tells of the
 * loader: that is of no platform, and cl_loader_info has it asked for by its name alone. */
static void check_both(const char *name, struct object *platform)
{
    if (texts_equal(name, "clGetICDLoaderInfoOCLICD")) {
        return;
    }
    const uint64_t by_name = CALL(clGetExtensionFunctionAddress, AT(name));
    const uint64_t by_platform = CALL(clGetExtensionFunctionAddressForPlatform, AT(platform), AT(name));
    const uint64_t by_nothing = CALL(clGetExtensionFunctionAddressForPlatform, 0, AT(name));
    if ((in_loader(by_name) || in_loader(by_platform)) && (by_name != by_platform || by_nothing != by_platform)) {
        finding("wrong", "two-answers", "\"%s\" gets %#llx by its name, %#llx with a platform, %#llx with none", name,
                (unsigned long long)by_name, (unsigned long long)by_platform, (unsigned long long)by_nothing);
    }
}

static void by_platform(const char *name, struct object *platform)
{
    received_count = 0;
    uint64_t entry = CALL(clGetExtensionFunctionAddressForPlatform, AT(platform), AT(name));
    check_address(name, entry);
    for (size_t i = 0; i < received_count; i++) {
        if (received[i].vendor != platform->vendor) {
            finding("wrong", "platform-query", "\"%s\" of a platform of vendor %d was asked of vendor %d", name,
                    platform->vendor, received[i].vendor);
        }
    }
    if (received_count == 1) {
        check_unchanged(name, entry, platform->vendor);
    }
    check_for_loaders(name, platform);
    if (function_named(name) >= 0) {
        check_both(name, platform);
    }
    const char *also = vendors[platform->vendor].also;
    if (!entry && texts_equal(name, also) && function_named(name) < 0) {
        finding("wrong", "platform-query-lost",
                "\"%s\" is known to vendor %d, and the loader answers NULL for its platform", name, platform->vendor);
    }
}

/* A text, or what a function's name begins, or is the beginning of. */
static const char *near_name(void)
{
    static const char *const ends[] = {"KHR", "EXT", "KHRKHR", "EXTKHR", "K", ""};
    unsigned kind = take_byte();
    if (kind < 128) {
        return take_text(80);
    }
    const char *name = function_info[take_byte() % FUNCTION_COUNT].name;
    size_t length = strlen(name) - kind / 8 % 4;
    return keep_text("%.*s%s", (int)length, name, ends[kind % (sizeof ends / sizeof *ends)]);
}

static const char *some_name(void)
{
    switch (take_below(4)) {
    case 0:
        return vendors[take_below(VENDORS)].also;
    case 1:
        return keep_text("%s%s", some_word(), vendors[take_below(VENDORS)].platform[take_below(2)].suffix);
    case 2:
        return keep_text("%s%s", some_word(), some_word());
    default:
        return near_name();
    }
}

void target_run(void)
{
    for (int v = 0; v < VENDORS; v++) {
        make(v);
    }
    const char *first = NULL;
    uint64_t answer = 0;
    if (take_chance(2)) {
        first = some_name();
        describe("the first call of all: clGetExtensionFunctionAddress(\"%s\")", first);
        answer = CALL(clGetExtensionFunctionAddress, AT(first));
    }
    struct offered offered = platforms_offered();
    if (first && CALL(clGetExtensionFunctionAddress, AT(first)) != answer) {
        finding("wrong", "first-query", "\"%s\" gets %#llx in the first call of all, and another address later", first,
                (unsigned long long)answer);
    }
    if (CALL(clGetExtensionFunctionAddress, 0) || CALL(clGetExtensionFunctionAddressForPlatform, 0, 0)) {
        finding("wrong", "name-of-nothing", "NULL for a name gets an address");
    }
    for (unsigned i = 0; i < MOST_QUERIES && !input_ended(); i++) {
        record_begins();
        const char *name = some_name();
        size_t size = strlen(name) + 1;
        name = memcpy(guarded(size), name, size);
        unsigned which = take_below(offered.count + 1);
        if (which == offered.count) {
            describe("clGetExtensionFunctionAddress(\"%s\")", name);
            by_suffix(&offered, name);
        } else {
            describe("clGetExtensionFunctionAddressForPlatform(platform %u, \"%s\")", which, name);
            by_platform(name, offered.platform[which]);
        }
    }
}
