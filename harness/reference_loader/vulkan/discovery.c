/* SPDX-License-Identifier: Apache-2.0 */
/* Finds manifests: variables that name them, else folders in the documented order, and filters by name. */
#define _GNU_SOURCE
#include "vulkan_loader.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MAX_FOLDERS = 64 };

struct search {
    void (*use)(const char *path, void *context);
    void *context;
    char *folders[MAX_FOLDERS]; /* that were searched */
    size_t folder_count;
};

/* --- filters --- */

/* Whether a name fits a glob: a whole name, a beginning, an end or a part, in letters of any case. */
static bool fits_glob(const char *name, const char *glob, size_t length)
{
    bool open_start = length > 0 && glob[0] == '*';
    bool open_end = length > 1 && glob[length - 1] == '*';
    char part[NAME_MAX + 1];
    size_t kept = length - open_start - open_end;
    snprintf(part, sizeof part, "%.*s", (int)kept, glob + open_start);
    size_t size = strlen(name);
    if (open_start && open_end) {
        return strcasestr(name, part) != NULL;
    }
    if (open_start) {
        return size >= kept && strcasecmp(name + size - kept, part) == 0;
    }
    return open_end ? strncasecmp(name, part, kept) == 0 : strcasecmp(name, part) == 0;
}

static bool fits_list(const char *name, const char *list)
{
    while (*list) {
        size_t length = strcspn(list, ",");
        if (length > 0 && fits_glob(name, list, length)) {
            return true;
        }
        list += length + (list[length] == ',');
    }
    return false;
}

/* What is selected is used, also where it is disabled. */
static bool is_wanted(const char *name)
{
    const char *select = getenv("VK_LOADER_DRIVERS_SELECT");
    const char *disable = getenv("VK_LOADER_DRIVERS_DISABLE");
    if (select && *select) {
        return fits_list(name, select);
    }
    return !disable || !fits_list(name, disable);
}

bool discovery_asks_for(const char *kind)
{
    const char *kinds = getenv("VK_LOADER_DEBUG");
    return kinds && (fits_list(kind, kinds) || fits_list("all", kinds));
}

/* Says that a filter took a driver away, where messages of a kind that this is are asked for. */
static void tell_of_unwanted(const char *name)
{
    const char *kinds = getenv("VK_LOADER_DEBUG");
    if (!kinds || !(fits_list("all", kinds) || fits_list("warn", kinds) || fits_list("driver", kinds))) {
        return;
    }
    const char *select = getenv("VK_LOADER_DRIVERS_SELECT");
    if (select && *select) {
        fprintf(stderr, "DRIVER: \"%s\" ignored: not selected by VK_LOADER_DRIVERS_SELECT\n", name);
    } else {
        fprintf(stderr, "DRIVER: \"%s\" ignored: disabled by VK_LOADER_DRIVERS_DISABLE\n", name);
    }
}

/* --- files and folders --- */

static void use_file(const struct search *search, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    if (is_wanted(name)) {
        search->use(path, search->context);
    } else {
        tell_of_unwanted(name);
    }
}

static bool is_manifest(const char *name)
{
    size_t length = strlen(name);
    return length >= strlen(".json") && strcmp(name + length - strlen(".json"), ".json") == 0;
}

/* Uses the manifests of a folder; false where it is none. */
static bool use_folder(const struct search *search, const char *path)
{
    DIR *folder = opendir(path);
    if (!folder) {
        return false;
    }
    for (const struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
        char file[PATH_MAX];
        if (is_manifest(entry->d_name) &&
            (size_t)snprintf(file, sizeof file, "%s/%s", path, entry->d_name) < sizeof file) {
            use_file(search, file);
        }
    }
    closedir(folder);
    return true;
}

/* Whether a folder was not searched before; it counts as searched from then on. */
static bool is_new(struct search *search, const char *path)
{
    for (size_t i = 0; i < search->folder_count; i++) {
        if (strcmp(search->folders[i], path) == 0) {
            return false;
        }
    }
    char *kept = search->folder_count < MAX_FOLDERS ? strdup(path) : NULL;
    if (kept) {
        search->folders[search->folder_count++] = kept;
    }
    return true;
}

/* Uses each element of a list of paths; with a suffix, each is a folder that is looked for below. */
static void use_list(struct search *search, const char *list, const char *suffix)
{
    while (list && *list) {
        size_t length = strcspn(list, ":");
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%.*s%s", (int)length, list, suffix);
        bool again = *suffix && !is_new(search, path);
        if (length > 0 && !again && !use_folder(search, path) && !*suffix && is_manifest(path)) {
            use_file(search, path);
        }
        list += length + (list[length] != '\0');
    }
}

/* A variable's value that is not empty, in processes without elevated privileges. */
static const char *variable(const char *name)
{
    const char *value = secure_getenv(name);
    return value && *value ? value : NULL;
}

static void use_home(struct search *search, const char *name, const char *below_home)
{
    char path[PATH_MAX] = "";
    if (variable(name)) {
        snprintf(path, sizeof path, "%s", variable(name));
    } else if (variable("HOME")) {
        snprintf(path, sizeof path, "%s%s", variable("HOME"), below_home);
    }
    use_list(search, path, "/vulkan/icd.d");
}

static void use_folders(struct search *search, const char *name, const char *otherwise)
{
    use_list(search, variable(name) ? variable(name) : otherwise, "/vulkan/icd.d");
}

/* Uses what the variables name, else what is found. */
static void use_places(struct search *search)
{
    const char *only = variable("VK_DRIVER_FILES");
    only = only ? only : variable("VK_ICD_FILENAMES");
    if (only) {
        use_list(search, only, "");
        return;
    }
    use_list(search, variable("VK_ADD_DRIVER_FILES"), "");
    use_home(search, "XDG_CONFIG_HOME", "/.config");
    use_folders(search, "XDG_CONFIG_DIRS", "/etc/xdg");
    use_list(search, "/usr/local/etc:/etc", "/vulkan/icd.d");
    use_home(search, "XDG_DATA_HOME", "/.local/share");
    use_folders(search, "XDG_DATA_DIRS", "/usr/local/share:/usr/share");
}

void discovery_manifests(void (*use)(const char *path, void *context), void *context)
{
    struct search search = {.use = use, .context = context};
    struct settings *settings = calloc(1, sizeof *settings);
    if (settings) {
        settings_read(settings);
    }
    for (size_t i = 0; settings && i < settings->count; i++) {
        if (is_manifest(settings->manifests[i])) {
            use_file(&search, settings->manifests[i]);
        }
    }
    if (!settings || !settings->is_exclusive) {
        use_places(&search);
    }
    free(settings);
    while (search.folder_count > 0) {
        free(search.folders[--search.folder_count]);
    }
}
