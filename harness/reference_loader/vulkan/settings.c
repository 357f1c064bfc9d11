/* SPDX-License-Identifier: Apache-2.0 */
/* The settings file: manifests that it adds to those of the machine, or has in their place. */
#define _GNU_SOURCE
#include "vulkan_loader.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SETTINGS_FILE "/vulkan/loader_settings.d/vk_loader_settings.json"

static void take_field(const char *path, const char *text, bool is_string, void *context)
{
    struct settings *settings = context;
    if (strcmp(path, "/settings/additional_drivers_use_exclusively") == 0) {
        settings->is_exclusive = !is_string;
    } else if (is_string && strcmp(path, "/settings/additional_drivers/[]/path") == 0 &&
               settings->count < MAX_DRIVERS) {
        char *to = settings->manifests[settings->count++];
        snprintf(to, sizeof settings->manifests[0], "%s", text);
    }
}

/* Reads the file in a folder; false where there is none. */
static bool read_in(const char *folder, const char *below, struct settings *settings)
{
    char path[PATH_MAX];
    if (!folder || !*folder ||
        (size_t)snprintf(path, sizeof path, "%s%s" SETTINGS_FILE, folder, below) >= sizeof path) {
        return false;
    }
    char *text = manifest_text(path);
    if (text && !json_read(text, take_field, settings)) {
        settings->count = 0;
        settings->is_exclusive = false;
    }
    bool is_there = text != NULL;
    free(text);
    return is_there;
}

void settings_read(struct settings *settings)
{
    const char *data = secure_getenv("XDG_DATA_HOME");
    const char *home = data && *data ? NULL : secure_getenv("HOME");
    bool is_there = read_in(data, "", settings) || read_in(home, "/.local/share", settings);
    if (!is_there) {
        read_in("/etc", "", settings);
    }
}
