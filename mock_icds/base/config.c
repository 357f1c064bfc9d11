/* Reads the mock ICD's own keys of the side file: lines `key = value` and `platform.N.key = value`. */
#define _GNU_SOURCE
#include "base/config.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct config config;

static const char *const fault_names[] = {
#define FAULT(name) #name,
#include "faults.h"
#include "faults_compute.h"
#include "faults_external.h"
#include "faults_gl.h"
#include "faults_hygiene.h"
#include "faults_properties.h"
#undef FAULT
};

static bool read_platform_key(struct platform_config *platform, const char *key, char *value)
{
    const struct {
        const char *key;
        const char **text;
    } texts[] = {
        {"name", &platform->name},       {"suffix", &platform->suffix},   {"extensions", &platform->extensions},
        {"version", &platform->version}, {"profile", &platform->profile}, {"features", &platform->features}};
    const struct {
        const char *key;
        int *number;
    } numbers[] = {{"gpus", &platform->gpus}, {"cpus", &platform->cpus}, {"accelerators", &platform->accelerators}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (strcmp(key, texts[i].key) == 0) {
            *texts[i].text = sidefile_unescape(value);
            return true;
        }
    }
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (strcmp(key, numbers[i].key) == 0) {
            *numbers[i].number = (int)strtol(value, NULL, 0);
            return true;
        }
    }
    platform->unloadable = strtol(value, NULL, 0) != 0;
    return strcmp(key, "unloadable") == 0;
}

/* Sets one thing of the functions that `name` stands for; `value` is its path, its platform, or NULL. */
static bool read_function_key(const char *key, const char *name, const char *value)
{
    const struct {
        const char *key;
        size_t place;
    } switches[] = {{"answers", offsetof(struct function_config, answers)},
                    {"takes_anything", offsetof(struct function_config, takes_anything)},
                    {"silent", offsetof(struct function_config, silent)},
                    {"lacks", offsetof(struct function_config, lacks)},
                    {"without_dispatch", offsetof(struct function_config, without_dispatch)},
                    {"without_data", offsetof(struct function_config, without_data)},
                    {"calls_back", offsetof(struct function_config, calls_back)},
                    {"calls_back_threaded", offsetof(struct function_config, calls_back_threaded)}},
      paths[] = {{"waits_at", offsetof(struct function_config, waits_at)},
                 {"arrives_at", offsetof(struct function_config, arrives_at)}};
    bool known = false;
    int only = function_by_name(name);
    if (only < 0 && strcmp(name, "all") != 0) {
        sidefile_refuse("unknown function", name);
    }
    for (int function = 0; function < FUNCTION_COUNT; function++) {
        char *at = (char *)&config.function[function];
        if (only >= 0 ? function != only : function_info[function].slot < 0) {
            continue;
        }
        if (value && strcmp(key, "lacks") == 0) {
            config.function[function].lacks_on |= UINT64_C(1) << strtoul(value, NULL, 10) % MAX_PLATFORMS;
            known = true;
            continue;
        }
        for (size_t i = 0; i < sizeof switches / sizeof *switches; i++) {
            if (strcmp(key, switches[i].key) == 0) {
                known = *(bool *)(at + switches[i].place) = true;
            }
        }
        for (size_t i = 0; value && i < sizeof paths / sizeof *paths; i++) {
            if (strcmp(key, paths[i].key) == 0) {
                *(const char **)(void *)(at + paths[i].place) = value;
                known = true;
            }
        }
    }
    return known;
}

static bool read_key(const char *key, char *value)
{
    char *end;
    if (strcmp(key, "platforms") == 0) {
        config.platform_count = (int)strtol(value, NULL, 0);
    } else if (strcmp(key, "table") == 0) {
        config.table_length = (int)strtol(value, NULL, 0);
    } else if (strcmp(key, "icd2") == 0) {
        config.icd2 = strtol(value, NULL, 0) != 0;
    } else if (strcmp(key, "validates") == 0) {
        config.validates = strtol(value, NULL, 0) != 0;
    } else if (strcmp(key, "refuses") == 0) {
        config.refuses = strtol(value, NULL, 0) != 0;
    } else if (strcmp(key, "exact_objects") == 0) {
        config.exact_objects = strtol(value, NULL, 0) != 0;
    } else if (strcmp(key, "table_per_class") == 0) {
        config.table_per_class = strtol(value, NULL, 0) != 0;
    } else if (strncmp(key, "platform.", 9) == 0) {
        long index = strtol(key + 9, &end, 10);
        return index >= 0 && index < MAX_PLATFORMS && *end == '.' &&
               read_platform_key(&config.platform[index], end + 1, value);
    } else {
        const char *name = strsep(&value, " ");
        return read_function_key(key, name, value);
    }
    return true;
}

void config_load(void)
{
    config = (struct config){.platform_count = 1, .table_length = TABLE_LENGTH, .validates = true};
    for (int i = 0; i < MAX_PLATFORMS; i++) {
        config.platform[i] = (struct platform_config){.suffix = "MOCK",
                                                      .extensions = "cl_khr_icd",
                                                      .version = "OpenCL 3.0 clharness mock",
                                                      .profile = "FULL_PROFILE",
                                                      .features = "images",
                                                      .gpus = 1};
    }
    sidefile_load(fault_names, FAULT_COUNT, read_key);
    for (int i = 0; i < MAX_PLATFORMS; i++) {
        if (!config.platform[i].name) {
            config.platform[i].name = mock_name;
        }
    }
}
