/* The bytes of one vendor file, beside a vendor that is always there.
 *
 * The first byte of the input chooses what lies where; all others are the file.
 */
#include "calls.h"

#include <string.h>

const char *const target_name = "icd_file";

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

static void look(void)
{
    struct offered offered = platforms_offered();
    for (cl_uint i = 0; i < offered.count; i++) {
        const char *expected = vendors[offered.platform[i]->vendor].platform[0].name;
        char name[64] = "";
        cl_int result =
            (cl_int)CALL(clGetPlatformInfo, AT(offered.platform[i]), CL_PLATFORM_NAME, sizeof name, AT(name), 0);
        if (result != CL_SUCCESS || !is(name, expected)) {
            finding("wrong", "name", "the name of a platform is answered %d and \"%s\", its vendor's is \"%s\"", result,
                    name, expected);
        }
    }
}

void target_run(void)
{
    uint8_t where = take_byte();
    const uint8_t *bytes;
    size_t size = take_bytes(&bytes, SIZE_MAX);
    describe("the file %s/b.icd has %zu bytes: \"%.*s\"", FOLDER, size, (int)(size < 400 ? size : 400),
             (const char *)bytes);
    for (int v = 0; v < 3; v++) {
        vendor_make(vendor_plain(v));
    }
    vendor_library(&vendors[0], "/lib/libalways.so");
    vendor_library(&vendors[1], where & 1 ? "libnamed.so" : "/lib/libnamed.so");
    vendor_library(&vendors[2], where & 2 ? "libother.so" : "/lib/other/libother.so");
    static const char always[] = "/lib/libalways.so\n";
    if (where & 4) {
        world_file(keep_text("%s/a.icd", FOLDER), FILE_REGULAR, always, sizeof always - 1);
    }
    world_file(keep_text("%s/b.icd", FOLDER), FILE_REGULAR, bytes, size);
    if (!(where & 4)) {
        world_file(keep_text("%s/a.icd", FOLDER), FILE_REGULAR, always, sizeof always - 1);
    }
    if (is_grey(bytes, size)) {
        grey("the content of the file is of a kind on which texts are silent");
    }
    look();
}
