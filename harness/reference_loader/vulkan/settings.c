/* SPDX-License-Identifier: Apache-2.0 */
/* The settings file: manifests that it adds to those of the machine, or has in their place, and devices that it leaves.
 *
 * It has one object of settings, or several, of which a process takes the first that names its program, else the first
 * that names none.
 */
#define _GNU_SOURCE
#include "vulkan_loader.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SETTINGS_FILE "/vulkan/loader_settings.d/vk_loader_settings.json"

enum rank { OF_OTHERS, OF_ALL, OF_THIS_PROGRAM };

struct reading {
    struct settings *chosen;
    enum rank rank; /* of what is chosen */
    struct settings one;
    enum rank rank_of_one;
    struct {
        size_t device;
        size_t driver;
        bool has_version;
        bool is_wrong;
    } choice; /* how much of the last device of `one` was read */
    char program[PATH_MAX];
};

/* The part of a key below an object of settings; NULL for what is outside of them. */
static const char *below_settings(const char *path)
{
    static const char *const roots[] = {"/settings_array/[]", "/settings"};
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
        size_t length = strlen(roots[i]);
        if (strncmp(path, roots[i], length) == 0 && (path[length] == '/' || path[length] == '\0')) {
            return path + length;
        }
    }
    return NULL;
}

/* Forgets the last device where it is not whole. */
static void end_choice(struct reading *reading)
{
    struct device_choices *choices = &reading->one.choices;
    bool is_whole = reading->choice.device == VK_UUID_SIZE && reading->choice.driver == VK_UUID_SIZE &&
                    reading->choice.has_version && !reading->choice.is_wrong;
    if (choices->count > 0 && !is_whole) {
        choices->count--;
    }
    memset(&reading->choice, 0, sizeof reading->choice);
    reading->choice.is_wrong = true;
}

/* Ends an object of settings, which is taken where it fits better than those before it. */
static void end_settings(struct reading *reading)
{
    end_choice(reading);
    if (reading->rank_of_one > reading->rank) {
        *reading->chosen = reading->one;
        reading->rank = reading->rank_of_one;
    }
    memset(&reading->one, 0, sizeof reading->one);
    reading->rank_of_one = OF_OTHERS;
}

static void take_byte(struct reading *reading, const char *text, bool is_string, size_t *count, uint8_t *to)
{
    char *end;
    long byte = strtol(text, &end, 10);
    if (is_string || *end || byte < 0 || byte > UINT8_MAX || *count >= VK_UUID_SIZE) {
        reading->choice.is_wrong = true;
    } else {
        to[(*count)++] = (uint8_t)byte;
    }
}

/* A field of a device. */
static void take_choice(struct reading *reading, const char *field, const char *text, bool is_string)
{
    struct device_choices *choices = &reading->one.choices;
    if (*field == '\0' && !is_string && strcmp(text, "{") == 0) {
        end_choice(reading);
        if (choices->count < MAX_DRIVERS) {
            choices->count++;
            choices->is_made = true;
            reading->choice.is_wrong = false;
        }
        return;
    }
    if (choices->count == 0) {
        return;
    }
    struct device_choice *choice = &choices->list[choices->count - 1];
    if (strcmp(field, "/deviceUUID/[]") == 0) {
        take_byte(reading, text, is_string, &reading->choice.device, choice->device);
    } else if (strcmp(field, "/driverUUID/[]") == 0) {
        take_byte(reading, text, is_string, &reading->choice.driver, choice->driver);
    } else if (strcmp(field, "/driverVersion") == 0) {
        choice->version = (uint32_t)strtoul(text, NULL, 10);
        reading->choice.has_version = !is_string;
    }
}

static void take_field(const char *path, const char *text, bool is_string, void *context)
{
    static const char devices[] = "/device_configurations/[]";
    struct reading *reading = context;
    struct settings *settings = &reading->one;
    const char *field = below_settings(path);
    if (!field) {
        return;
    }
    if (*field == '\0') {
        end_settings(reading);
        reading->rank_of_one = !is_string && strcmp(text, "{") == 0 ? OF_ALL : OF_OTHERS;
    } else if (strcmp(field, "/app_keys/[]") == 0) {
        bool is_ours = is_string && strcmp(text, reading->program) == 0;
        reading->rank_of_one = is_ours || reading->rank_of_one == OF_THIS_PROGRAM ? OF_THIS_PROGRAM : OF_OTHERS;
    } else if (strcmp(field, "/additional_drivers_use_exclusively") == 0) {
        settings->is_exclusive = !is_string && strcmp(text, "true") == 0;
    } else if (is_string && strcmp(field, "/additional_drivers/[]/path") == 0 && settings->count < MAX_DRIVERS) {
        char *to = settings->manifests[settings->count++];
        snprintf(to, sizeof settings->manifests[0], "%s", text);
    } else if (strcmp(field, "/device_configurations") == 0) {
        settings->choices.is_made = !is_string && strcmp(text, "[") == 0;
    } else if (strncmp(field, devices, strlen(devices)) == 0) {
        take_choice(reading, field + strlen(devices), text, is_string);
    }
}

static void read_text(const char *text, struct settings *settings)
{
    struct reading *reading = calloc(1, sizeof *reading);
    if (!reading) {
        return;
    }
    reading->chosen = settings;
    ssize_t length = readlink("/proc/self/exe", reading->program, sizeof reading->program - 1);
    reading->program[length > 0 ? length : 0] = '\0';
    bool is_json = json_read(text, take_field, reading);
    end_settings(reading);
    if (!is_json) {
        settings->count = 0;
        settings->is_exclusive = false;
        settings->choices.is_made = false;
    }
    free(reading);
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
    if (text) {
        read_text(text, settings);
    }
    bool is_there = text != NULL;
    free(text);
    return is_there;
}

/* Reads the first file in the folders of a list; false where there is none. */
static bool read_in_each(const char *folders, struct settings *settings)
{
    while (folders && *folders) {
        size_t length = strcspn(folders, ":");
        char folder[PATH_MAX];
        snprintf(folder, sizeof folder, "%.*s", (int)length, folders);
        if (read_in(folder, "", settings)) {
            return true;
        }
        folders += length + (folders[length] == ':');
    }
    return false;
}

void settings_read(struct settings *settings)
{
    const char *data = secure_getenv("XDG_DATA_HOME");
    const char *home = data && *data ? NULL : secure_getenv("HOME");
    bool is_there = read_in(data, "", settings) || read_in(home, "/.local/share", settings);
    is_there = is_there || read_in_each(secure_getenv("XDG_CONFIG_DIRS"), settings);
    if (!is_there && !read_in("/etc", "", settings)) {
        read_in_each(secure_getenv("XDG_DATA_DIRS"), settings);
    }
}
