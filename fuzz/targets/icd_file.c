/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of one vendor file, beside a vendor that is always there.
 *
 * The first byte of the input chooses what lies where; all others are the file.
 */
#define _GNU_SOURCE
#include "calls.h"

#include <string.h>

const char *const target_name = "icd_file";

/* Bits of the first byte: what lies where. */
enum {
    NAMED_BY_LINKER = 1, /* the libraries are found by the dynamic linker, and not by their paths */
    OTHER_BY_LINKER = 2,
    ALWAYS_FIRST = 4,
    TRACED = 8,       /* the loader prints what it does */
    BY_VARIABLE = 16, /* the folder is named by a variable */
    FILE_NAMED = 32,  /* the file itself is */
    AS_LAYER = 64,    /* the same bytes are the file of a layer, too */
    LONG = 128,       /* a long text comes before them */
};

enum { LONGEST = 9000 }; /* bytes before those of the input */

/* Where loaders look for vendor files, besides a variable. */
static const char *const FOLDER = "/etc/OpenCL/vendors";

/* Whether texts are silent on a file like this: loaders take its content in different ways, which grey_areas.toml of
 * the catalogue lists (15 to 17: blanks, carriage returns, several lines, NUL). */
static bool is_grey(const uint8_t *bytes, size_t size)
{
    const uint8_t *newline = memchr(bytes, '\n', size);
    size_t line = newline ? (size_t)(newline - bytes) : size;
    if (line == 0 || (newline && line + 1 < size) || line >= 255) {
        return true;
    }
    for (size_t i = 0; i < line; i++) {
        if (bytes[i] <= ' ' || bytes[i] == '#' || bytes[i] >= 127) {
            return true;
        }
    }
    return false;
}

static bool is_offered(const struct offered *offered, int vendor)
{
    for (cl_uint i = 0; i < offered->count; i++) {
        if (offered->platform[i]->vendor == vendor) {
            return true;
        }
    }
    return false;
}

/* Which vendors must be offered, and which cannot be. */
static void check_named(const struct offered *offered, uint8_t where, const uint8_t *bytes, size_t size)
{
    const char *const names[] = {"/lib/libalways.so", where & NAMED_BY_LINKER ? "libnamed.so" : "/lib/libnamed.so",
                                 where & OTHER_BY_LINKER ? "libother.so" : "/lib/other/libother.so"};
    static const char *const parts[] = {"libalways.so", "libnamed.so", "libother.so"};
    bool in_folder = !(where & BY_VARIABLE) || world_variable_asked("OCL_ICD_VENDORS");
    bool reads_folder = in_folder && (!(where & FILE_NAMED) || where & BY_VARIABLE);
    const uint8_t *newline = memchr(bytes, '\n', size);
    size_t line = newline ? (size_t)(newline - bytes) : size;
    for (int v = 0; v < 3; v++) {
        bool is_named = !is_grey(bytes, size) && strlen(names[v]) == line && memcmp(bytes, names[v], line) == 0;
        bool has_part = v == 0 || memmem(bytes, size, parts[v], strlen(parts[v])) != NULL;
        if (reads_folder && (v == 0 || is_named) && !is_offered(offered, v)) {
            finding("wrong", v ? "named-and-lost" : "always-lost", "%s is not offered, which %s names", names[v],
                    v ? "the file" : "another file beside it");
        }
        if (!has_part && is_offered(offered, v)) {
            finding("wrong", "named-by-nothing", "%s is offered, and no file has its name", names[v]);
        }
    }
}

static void look(uint8_t where, const uint8_t *bytes, size_t size)
{
    struct offered offered = platforms_offered();
    check_named(&offered, where, bytes, size);
    for (cl_uint i = 0; i < offered.count; i++) {
        const char *expected = vendors[offered.platform[i]->vendor].platform[0].name;
        char name[64] = "";
        cl_int result =
            (cl_int)CALL(clGetPlatformInfo, AT(offered.platform[i]), CL_PLATFORM_NAME, sizeof name, AT(name), 0);
        if (result != CL_SUCCESS || !texts_equal(name, expected)) {
            finding("wrong", "name", "the name of a platform is answered %d and \"%s\", its vendor's is \"%s\"", result,
                    name, expected);
        }
    }
}

static const char *place_in_words(uint8_t where)
{
    static const struct {
        uint8_t bit;
        const char *words;
    } remarks[] = {
        {NAMED_BY_LINKER, "; libnamed.so is found by the linker"},
        {OTHER_BY_LINKER, "; libother.so is found by the linker"},
        {ALWAYS_FIRST, "; a.icd comes before it"},
        {TRACED, "; the loader prints what it does"},
        {BY_VARIABLE, "; OCL_ICD_VENDORS names its folder"},
        {FILE_NAMED, "; a variable names the file"},
        {AS_LAYER, "; it is the file of a layer, too"},
    };
    const char *text = "";
    for (size_t i = 0; i < sizeof remarks / sizeof *remarks; i++) {
        text = where & remarks[i].bit ? keep_text("%s%s", text, remarks[i].words) : text;
    }
    return text;
}

static void make_files(uint8_t where, const uint8_t *bytes, size_t size)
{
    static const char always[] = "/lib/libalways.so\n";
    const char *folder = where & BY_VARIABLE ? "/vendors" : FOLDER;
    const char *first = keep_text("%s/a.icd", folder);
    if (where & ALWAYS_FIRST) {
        world_file(first, FILE_REGULAR, always, sizeof always - 1);
    }
    world_file(keep_text("%s/b.icd", folder), FILE_REGULAR, bytes, size);
    world_file(first, FILE_REGULAR, always, sizeof always - 1);
    if (where & AS_LAYER) {
        world_file("/etc/OpenCL/layers/b.lay", FILE_REGULAR, bytes, size);
    }
    if (where & BY_VARIABLE) {
        world_variable("OCL_ICD_VENDORS", folder);
    }
    if (where & FILE_NAMED) {
        world_variable(where & BY_VARIABLE ? "OCL_ICD_FILENAMES" : "OCL_ICD_VENDORS", keep_text("%s/b.icd", folder));
    }
    if (where & TRACED) {
        world_variable("OCL_ICD_ENABLE_TRACE", "True");
        world_variable("OCL_ICD_DEBUG", "7");
    }
    if (describing_inputs()) {
        describe("the file %s/b.icd has %zu bytes: \"%s\"%s", folder, size, shown_bytes(bytes, size < 400 ? size : 400),
                 place_in_words(where));
    }
}

void target_run(void)
{
    uint8_t where = take_byte();
    const uint8_t *bytes;
    const char *before = where & LONG ? take_long_text(LONGEST) : "";
    size_t size = take_bytes(&bytes, SIZE_MAX);
    if (where & LONG) {
        size_t length = strlen(before);
        char *whole = keep(length + size + 1);
        memcpy(whole + length, bytes, size);
        /* NOLINTNEXTLINE(bugprone-not-null-terminated-result): the bytes follow */
        bytes = memcpy(whole, before, length);
        size += length;
    }
    for (int v = 0; v < 3; v++) {
        vendor_make(vendor_plain(v));
    }
    vendor_library(&vendors[0], "/lib/libalways.so");
    vendor_library(&vendors[1], where & NAMED_BY_LINKER ? "libnamed.so" : "/lib/libnamed.so");
    vendor_library(&vendors[2], where & OTHER_BY_LINKER ? "libother.so" : "/lib/other/libother.so");
    make_files(where, bytes, size);
    if (is_grey(bytes, size) || (where & (FILE_NAMED | BY_VARIABLE | AS_LAYER))) {
        grey("texts are silent on such content, or on such a way of naming it");
    }
    look(where, bytes, size);
    CALL(clGetExtensionFunctionAddress, AT("clFlusha"));
}
