/* SPDX-License-Identifier: Apache-2.0 */
/* Folders of vendor files and of layer files, of all kinds and names, and the variables that choose among them.
 *
 * The libraries a, b, c and d are ICDs that always work; what the loader makes of the files decides which are found.
 */
#include "calls.h"

#include <string.h>

const char *const target_name = "vendor_directory";

enum { MOST_ENTRIES = 16, MOST_VARIABLES = 4, MOST_FILES = 1100, LONGEST = 6000 };

static const char *const folders[] = {"/etc/OpenCL/vendors", "/etc/OpenCL/layers", "/vendors", "/other", "/"};

static const char *some_folder(void)
{
    return folders[take_below(sizeof folders / sizeof *folders)];
}

static const char *some_library(void)
{
    static const char *const names[] = {"/lib/liba.so",        "/lib/libb.so",       "libc.so", "libd.so",
                                        "/lib/../lib/liba.so", "lib/libb.so",        "liba.so", "",
                                        "/lib/missing.so",     "/etc/OpenCL/vendors"};
    unsigned number = take_below(sizeof names / sizeof *names + 3);
    switch (number < sizeof names / sizeof *names ? 0 : number - sizeof names / sizeof *names + 1) {
    case 0:
        return names[number];
    case 1:
        return take_text(64);
    case 2:
        return keep_text("/lib/%s", take_long_text(LONGEST));
    default: /* a long way to a library that is there */
        return keep_text("/%s/../lib/liba.so", take_long_text(LONGEST));
    }
}

/* How a file goes on after its library. */
static const char *some_end(void)
{
    static const char *const ends[] = {"\n", "", "\r\n", " \n", "\n\n", "\n/lib/libb.so\n", "\n# text\n"};
    return ends[take_below(sizeof ends / sizeof *ends)];
}

static const char *some_name(void)
{
    static const char *const ends[] = {".icd", ".icd", ".lay", ".ICD", ".icd~", "", ".icd.icd", ".ic", ".so"};
    const char *end = ends[take_below(sizeof ends / sizeof *ends)];
    unsigned length = take_below(16);
    if (length == 15) { /* as long as a name can be, and one more */
        size_t size = 250 + take_below(6);
        char *name = keep(size + strlen(end) + 1);
        memset(name, 'x', size);
        memcpy(name + size, end, strlen(end) + 1);
        return name;
    }
    char *name = keep(length + strlen(end) + 1);
    for (unsigned i = 0; i < length; i++) {
        uint8_t byte = take_byte();
        name[i] = (char)(byte == '/' || byte == 0 ? 'a' : byte);
    }
    memcpy(name + length, end, strlen(end) + 1);
    return name;
}

/* Whether all loaders take a line for the same path. */
static bool is_plain_path(const char *text)
{
    size_t length = strlen(text);
    for (const char *c = text; *c; c++) {
        if (*c <= ' ' || *c == '#' || *c > '~') {
            return false;
        }
    }
    return length > 0 && length < 200;
}

/* --- which vendors the machine names --- */

static bool named[VENDORS];             /* a file with the right ending, or a variable, has its library's name in it */
static bool must_offer[VENDORS];        /* nothing about one of its files is unusual */
static const char *paths[MOST_ENTRIES]; /* of its files */
static unsigned path_count;
static const char *list; /* OCL_ICD_FILENAMES */
static bool is_open;     /* a path is there twice, or is that of a folder, or of something beside the folders */

static void note_names(const char *text)
{
    for (int v = 0; v < VENDORS; v++) {
        named[v] |= strstr(text, keep_text("lib%c.so", 'a' + v)) != NULL;
    }
}

static bool is_plain_name(const char *name)
{
    size_t plain = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");
    return plain > 0 && plain < 100 && strcmp(name + plain, ".icd") == 0;
}

static const char *const whole[VENDORS] = {"/lib/liba.so", "/lib/libb.so", "libc.so", "libd.so"};

/* A loader that asks for the list honours it; what stands beside a name changes nothing (DISC-ENV-008 to 010). */
static void note_list(const char *list)
{
    for (int v = 0; v < VENDORS && world_variable_asked("OCL_ICD_FILENAMES"); v++) {
        size_t length = strlen(whole[v]);
        for (const char *element = list; *element;) {
            size_t size = strcspn(element, ":");
            must_offer[v] |= size == length && memcmp(element, whole[v], length) == 0;
            element += size + (element[size] == ':');
        }
    }
}

/* What a file says of vendors. Without a variable only those of the default folder count. */
static void note_file(const char *path, enum file_kind kind, const char *library, const char *end, bool by_variable)
{
    const char *name = strrchr(path, '/') + 1;
    const char *folder = folders[0];
    bool in_default = strncmp(path, folder, strlen(folder)) == 0 && path + strlen(folder) + 1 == name;
    if (ends_with(name, ".icd") && (in_default || by_variable)) {
        note_names(library);
        note_names(end);
    }
    for (int v = 0; v < VENDORS; v++) {
        bool is_file = kind == FILE_REGULAR || kind == FILE_LINK || kind == FILE_UNTYPED;
        bool usual = is_file && is_plain_name(name) && strlen(end) <= 1;
        must_offer[v] |= usual && in_default && !by_variable && strcmp(library, whole[v]) == 0;
    }
    bool is_folder = !*name || texts_equal(name, ".") || texts_equal(name, "..");
    is_open |= name == path + 1 || is_folder;
}

static void check_named(const struct offered *offered)
{
    bool seen[VENDORS] = {false};
    for (cl_uint i = 0; i < offered->count; i++) {
        seen[offered->platform[i]->vendor] = true;
    }
    for (int v = 0; v < VENDORS && !is_open; v++) {
        if (seen[v] && !named[v]) {
            finding("wrong", "named-by-nothing",
                    "vendor %d is offered, and no .icd file of the machine and no variable names its library", v);
        }
        if (!seen[v] && must_offer[v]) {
            finding("wrong", "named-and-lost",
                    "vendor %d is not offered, and an ordinary file or OCL_ICD_FILENAMES names its library", v);
        }
    }
}

/* --- files and variables --- */

static void some_entry(bool by_variable)
{
    static const enum file_kind kinds[] = {FILE_REGULAR, FILE_LINK,       FILE_UNTYPED,       FILE_FIFO,
                                           FILE_FOLDER,  FILE_UNREADABLE, FILE_DANGLING_LINK, FILE_LOOP};
    record_begins();
    const char *path = keep_text("%s/%s", some_folder(), some_name());
    enum file_kind kind = kinds[take_below(sizeof kinds / sizeof *kinds)];
    const char *library = some_library();
    const char *end = some_end();
    const char *content = keep_text("%s%s", library, end);
    for (unsigned i = 0; i < path_count; i++) {
        is_open |= texts_equal(path, paths[i]);
    }
    paths[path_count++] = path;
    world_file(path, kind, content, strlen(content));
    note_file(path, kind, library, end, by_variable);
    describe("%s is %s of %zu bytes, \"%.400s\"", path, file_kind_words[kind], strlen(content), content);
    bool plain_name = *strrchr(path, '/') && strrchr(path, '/')[1] != '.';
    if (!is_plain_path(library) || strlen(end) > 1 || !plain_name) {
        grey("texts are silent on what this file holds, or on its name");
    }
}

/* A list of so many times the same. */
static const char *repeated(const char *text, unsigned times)
{
    size_t length = strlen(text) + 1;
    char *list = keep(times * length + 1);
    for (unsigned i = 0; i < times; i++) {
        list[i * length] = ':';
        memcpy(list + i * length + 1, text, length - 1);
    }
    return times ? list + 1 : list;
}

/* Many files, all of which name the same vendor. */
static void many_files(unsigned count)
{
    static const char content[] = "/lib/libb.so\n";
    for (unsigned i = 0; i < count; i++) {
        world_file(keep_text("/etc/OpenCL/vendors/many%04u.icd", i), FILE_REGULAR, content, sizeof content - 1);
    }
    named[1] = true;
    describe("%u more files that name %s", count, content);
    grey("a library that is named often may be loaded once");
}

static const char *some_value(void)
{
    switch (take_below(6)) {
    case 4:
        return take_long_text(LONGEST);
    case 5:
        return repeated(take_below(2) ? "/lib/liba.so" : "/vendors", take_length(MOST_FILES));
    case 0:
        return some_folder();
    case 1:
        return some_library();
    case 2:
        return keep_text("%s/%s", some_folder(), some_name());
    default:
        return take_text(300);
    }
}

static void some_variable(void)
{
    static const char *const names[] = {"OCL_ICD_VENDORS",       "OCL_ICD_FILENAMES",   "OPENCL_VENDOR_PATH",
                                        "OPENCL_LAYERS",         "OPENCL_LAYER_PATH",   "OCL_ICD_DEFAULT_PLATFORM",
                                        "OCL_ICD_PLATFORM_SORT", "OCL_ICD_ENABLE_TRACE"};
    record_begins();
    const char *name = names[take_below(sizeof names / sizeof *names)];
    static const char *const between[] = {"", ":", "::", "/", ","};
    const char *value = some_value();
    for (unsigned more = take_below(4); more > 0; more--) {
        value = keep_text("%s%s%s", value, between[take_below(sizeof between / sizeof *between)], some_value());
    }
    world_variable(name, value);
    note_names(value);
    list = texts_equal(name, "OCL_ICD_FILENAMES") ? value : list;
    describe("%s has %zu bytes: %.400s", name, strlen(value), value);
    grey("loaders have variables of their own");
}

void target_run(void)
{
    for (int v = 0; v < VENDORS; v++) {
        struct vendor *vendor = vendor_plain(v);
        vendor_make(vendor);
        vendor_library(vendor, keep_text("%slib%c.so", v < 2 ? "/lib/" : "", 'a' + v));
    }
    unsigned shape = take_byte();
    unsigned variables = shape % MOST_VARIABLES;
    unsigned entries = 1 + take_below(MOST_ENTRIES);
    memset(named, 0, sizeof named);
    memset(must_offer, 0, sizeof must_offer);
    is_open = false;
    list = "";
    path_count = 0;
    for (unsigned i = 0; i < entries; i++) {
        some_entry(variables > 0);
    }
    for (unsigned i = 0; i < variables; i++) {
        some_variable();
    }
    if (shape >= 224) {
        many_files(take_length(MOST_FILES));
    }
    struct offered offered = platforms_offered();
    note_list(list);
    check_named(&offered);
    for (cl_uint i = 0; i < offered.count; i++) {
        check_call(offered.platform[i], FUNCTION_clFlush, true);
        if (!world_library_opened(offered.platform[i]->vendor)) {
            finding("wrong", "closed-in-use", "vendor %d is offered, and its library is closed",
                    offered.platform[i]->vendor);
        }
    }
}
