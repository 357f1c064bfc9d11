/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the mock ICD's settings from the side file. */
#include "base/config.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct config config;

static const struct {
#define FAULT(name) char name[sizeof #name];
#include "faults.h"
#include "faults_abilities.h"
#include "faults_compute.h"
#include "faults_contents.h"
#include "faults_external.h"
#include "faults_gl.h"
#include "faults_hygiene.h"
#include "faults_load.h"
#include "faults_properties.h"
#include "faults_refusals.h"
#include "faults_states.h"
#include "faults_within.h"
#undef FAULT
} fault_names = {
#define FAULT(name) #name,
#include "faults.h"
#include "faults_abilities.h"
#include "faults_compute.h"
#include "faults_contents.h"
#include "faults_external.h"
#include "faults_gl.h"
#include "faults_hygiene.h"
#include "faults_load.h"
#include "faults_properties.h"
#include "faults_refusals.h"
#include "faults_states.h"
#include "faults_within.h"
#undef FAULT
};

static const struct setting icd_settings[] = {
#define SETTING(name, type, initial) {#name, SETTING_##type, offsetof(struct config, name)},
#include "settings.h"
};

static const struct setting platform_settings[] = {
#define PLATFORM_SETTING(name, type, initial) {#name, SETTING_##type, offsetof(struct platform_config, name)},
#include "settings.h"
};

static const struct setting function_settings[] = {
#define FUNCTION_SETTING(name, type) {#name, SETTING_##type, offsetof(struct function_config, name)},
#include "settings.h"
};

#define COUNT(list) (sizeof(list) / sizeof *(list))

static bool read_key(const char *key, char *value)
{
    if (strncmp(key, "platform.", strlen("platform.")) == 0) {
        char *end;
        long index = strtol(key + strlen("platform."), &end, 10);
        return index >= 0 && index < MAX_PLATFORMS && *end == '.' &&
               sidefile_set(platform_settings, COUNT(platform_settings), &config.platform[index], end + 1, value);
    }
    return sidefile_set(icd_settings, COUNT(icd_settings), &config, key, value) ||
           sidefile_set_function(function_settings, COUNT(function_settings), config.function, sizeof *config.function,
                                 key, value);
}

void config_load(void)
{
    config = (struct config){
#define SETTING(name, type, initial) .name = (initial),
#include "settings.h"
    };
    for (int i = 0; i < MAX_PLATFORMS; i++) {
        config.platform[i] = (struct platform_config){
#define PLATFORM_SETTING(name, type, initial) .name = (initial),
#include "settings.h"
        };
    }
    sidefile_load((const char *)&fault_names, FAULT_COUNT, read_key);
    for (int i = 0; i < MAX_PLATFORMS; i++) {
        if (!config.platform[i].name) {
            config.platform[i].name = mock_name;
        }
    }
}
