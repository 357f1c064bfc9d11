/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the mock Vulkan driver's settings from the side file. */
#include "config.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct config config;

static const struct {
#define FAULT(name) char name[sizeof #name];
#include "faults.h"
#undef FAULT
} fault_names = {
#define FAULT(name) #name,
#include "faults.h"
#undef FAULT
};

static const struct setting settings[] = {
#define SETTING(name, type, initial) {#name, SETTING_##type, offsetof(struct config, name)},
#include "settings.h"
};

static const struct setting function_settings[] = {
#define FUNCTION_SETTING(name, type) {#name, SETTING_##type, offsetof(struct function_config, name)},
#include "settings.h"
};

#define COUNT(list) (sizeof(list) / sizeof *(list))

/* A setting of one function, or of `all`; such settings are flags. */
static bool read_function(const char *key, const char *name)
{
    const struct setting *setting = function_settings;
    while (setting < function_settings + COUNT(function_settings) && strcmp(key, setting->name) != 0) {
        setting++;
    }
    if (setting == function_settings + COUNT(function_settings)) {
        return false;
    }
    int only = vulkan_function_by_name(name);
    if (only < 0 && strcmp(name, "all") != 0) {
        sidefile_refuse("unknown function", name);
    }
    for (int function = 0; function < VULKAN_FUNCTION_COUNT; function++) {
        if (only < 0 || only == function) {
            *(setting_flag *)((char *)&config.function[function] + setting->place) = true;
        }
    }
    return true;
}

static bool read_key(const char *key, char *value)
{
    return sidefile_set(settings, COUNT(settings), &config, key, value) || read_function(key, value);
}

void config_load(void)
{
    config = (struct config){
#define SETTING(name, type, initial) .name = (initial),
#include "settings.h"
    };
    sidefile_load((const char *)&fault_names, FAULT_COUNT, read_key);
}

uint32_t config_version(const char *text)
{
    char *end;
    unsigned long major = strtoul(text, &end, 10);
    unsigned long minor = *end == '.' ? strtoul(end + 1, &end, 10) : 0;
    unsigned long patch = *end == '.' ? strtoul(end + 1, &end, 10) : 0;
    return VK_MAKE_API_VERSION(0, major, minor, patch);
}

size_t config_next_word(const char **list, const char **word)
{
    *word = *list + strspn(*list, " ");
    size_t length = strcspn(*word, " ");
    *list = *word + length;
    return length;
}

int config_has_word(const char *list, const char *word)
{
    const char *at;
    for (size_t length = config_next_word(&list, &at); length > 0; length = config_next_word(&list, &at)) {
        size_t name = strcspn(at, ": ");
        if (strlen(word) == name && memcmp(at, word, name) == 0) {
            return 1;
        }
    }
    return 0;
}
