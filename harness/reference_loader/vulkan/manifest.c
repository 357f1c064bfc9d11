/* SPDX-License-Identifier: Apache-2.0 */
/* Manifests: which library a driver is, and for which version of Vulkan. */
#define _GNU_SOURCE
#include "vulkan_loader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_FILE = 16 << 20 };

struct fields {
    char format[MAX_NAME];
    char library[4096];
    char api[MAX_NAME];
    char arch[MAX_NAME];
    bool is_portability_driver;
};

static void take_field(const char *path, const char *text, bool is_string, void *context)
{
    struct fields *fields = context;
    if (strcmp(path, "/ICD/is_portability_driver") == 0) {
        fields->is_portability_driver = !is_string && strcmp(text, "true") == 0;
    } else if (!is_string) {
        return;
    } else if (strcmp(path, "/file_format_version") == 0) {
        snprintf(fields->format, sizeof fields->format, "%s", text);
    } else if (strcmp(path, "/ICD/library_path") == 0) {
        snprintf(fields->library, sizeof fields->library, "%s", text);
    } else if (strcmp(path, "/ICD/api_version") == 0) {
        snprintf(fields->api, sizeof fields->api, "%s", text);
    } else if (strcmp(path, "/ICD/library_arch") == 0) {
        snprintf(fields->arch, sizeof fields->arch, "%s", text);
    }
}

char *manifest_text(const char *path)
{
    struct stat status;
    FILE *file = fopen(path, "rbe");
    char *text = NULL;
    if (file && fstat(fileno(file), &status) == 0 && S_ISREG(status.st_mode) && status.st_size < MAX_FILE) {
        text = calloc(1, (size_t)status.st_size + 1);
        size_t length = text ? fread(text, 1, (size_t)status.st_size, file) : 0;
        if (text && strlen(text) != length) {
            free(text);
            text = NULL;
        }
    }
    if (file) {
        fclose(file);
    }
    return text;
}

/* A version "1.2.3", or "0.1.2.3" with the variant before it; 0 where it does not begin with a number. */
static uint32_t read_version(const char *text)
{
    uint32_t parts[4] = {0};
    size_t count = 1;
    char *end;
    parts[0] = (uint32_t)strtoul(text, &end, 10);
    if (end == text) {
        return 0;
    }
    while (count < 4 && *end == '.') {
        parts[count++] = (uint32_t)strtoul(end + 1, &end, 10);
    }
    return count == 4 ? VK_MAKE_API_VERSION(parts[0], parts[1], parts[2], parts[3])
                      : VK_MAKE_API_VERSION(0, parts[0], parts[1], parts[2]);
}

/* A name without a slash is looked for by the dynamic linker; other paths begin at the manifest's folder. */
static bool make_path(const char *manifest, const char *library, char *path, size_t room)
{
    const char *slash = strrchr(manifest, '/');
    int folder = slash ? (int)(slash - manifest) : 0;
    if (*library == '/' || !strchr(library, '/')) {
        return (size_t)snprintf(path, room, "%s", library) < room;
    }
    return (size_t)snprintf(path, room, "%.*s/%s", slash ? folder : 1, slash ? manifest : ".", library) < room;
}

static bool is_for_this_process(const char *arch)
{
    return !*arch || strcmp(arch, sizeof(void *) == 8 ? "64" : "32") == 0;
}

bool manifest_read(const char *path, struct manifest *manifest)
{
    struct fields fields = {0};
    char *text = manifest_text(path);
    bool is_json = text && json_read(text, take_field, &fields);
    free(text);
    if (!is_json || !*fields.format || !*fields.library || !*fields.api || !is_for_this_process(fields.arch)) {
        return false;
    }
    manifest->api_version = read_version(fields.api);
    if (VK_API_VERSION_VARIANT(manifest->api_version) != 0) {
        return false;
    }
    manifest->is_portability_driver = fields.is_portability_driver;
    return make_path(path, fields.library, manifest->library, sizeof manifest->library);
}
