/* SPDX-License-Identifier: Apache-2.0 */
/* Folders of vendor files and of layer files, of all kinds and names, and the variables that choose among them.
 *
 * The libraries a, b, c and d are ICDs that always work; what the loader makes of the files decides which are found.
 */
#include "calls.h"

#include <string.h>

const char *const target_name = "vendor_directory";

enum { MOST_ENTRIES = 16, MOST_VARIABLES = 4 };

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
    unsigned number = take_below(sizeof names / sizeof *names + 1);
    return number < sizeof names / sizeof *names ? names[number] : take_text(64);
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

static void some_entry(void)
{
    static const enum file_kind kinds[] = {FILE_REGULAR, FILE_REGULAR,    FILE_REGULAR,       FILE_FIFO,
                                           FILE_FOLDER,  FILE_UNREADABLE, FILE_DANGLING_LINK, FILE_LOOP};
    const char *path = keep_text("%s/%s", some_folder(), some_name());
    enum file_kind kind = kinds[take_below(sizeof kinds / sizeof *kinds)];
    const char *library = some_library();
    const char *end = some_end();
    const char *content = keep_text("%s%s", library, end);
    world_file(path, kind, content, strlen(content));
    describe("%s is %s, \"%s\"", path, file_kind_words[kind], content);
    bool plain_name = *strrchr(path, '/') && strrchr(path, '/')[1] != '.';
    if (!is_plain_path(library) || strlen(end) > 1 || !plain_name) {
        grey("texts are silent on what this file holds, or on its name");
    }
}

static const char *some_value(void)
{
    switch (take_below(4)) {
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
    const char *name = names[take_below(sizeof names / sizeof *names)];
    static const char *const between[] = {"", ":", "::", "/", ","};
    const char *value = some_value();
    for (unsigned more = take_below(4); more > 0; more--) {
        value = keep_text("%s%s%s", value, between[take_below(sizeof between / sizeof *between)], some_value());
    }
    world_variable(name, value);
    describe("%s=%s", name, value);
    grey("loaders have variables of their own");
}

void target_run(void)
{
    for (int v = 0; v < VENDORS; v++) {
        struct vendor *vendor = vendor_plain(v);
        vendor_make(vendor);
        vendor_library(vendor, keep_text("%slib%c.so", v < 2 ? "/lib/" : "", 'a' + v));
    }
    unsigned variables = take_below(MOST_VARIABLES);
    unsigned entries = 1 + take_below(MOST_ENTRIES);
    for (unsigned i = 0; i < entries; i++) {
        some_entry();
    }
    for (unsigned i = 0; i < variables; i++) {
        some_variable();
    }
    struct offered offered = platforms_offered();
    for (cl_uint i = 0; i < offered.count; i++) {
        check_call(offered.platform[i], FUNCTION_clFlush, true);
        if (!world_library_opened(offered.platform[i]->vendor)) {
            finding("wrong", "closed-in-use", "vendor %d is offered, and its library is closed",
                    offered.platform[i]->vendor);
        }
    }
}
