/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the mock layer's settings from the side file. */
#include "layer.h"

#include <stddef.h>

struct function_config config_of_function[FUNCTION_COUNT];

static const struct {
#define FAULT(name) char name[sizeof #name];
#include "faults.h"
#undef FAULT
} fault_names = {
#define FAULT(name) #name,
#include "faults.h"
#undef FAULT
};

static const struct setting function_settings[] = {
#define FUNCTION_SETTING(name, type) {#name, SETTING_##type, offsetof(struct function_config, name)},
#include "settings.h"
};

static bool read_key(const char *key, char *value)
{
    return sidefile_set_function(function_settings, sizeof function_settings / sizeof *function_settings,
                                 config_of_function, sizeof *config_of_function, key, value);
}

void config_load(void)
{
    sidefile_load((const char *)&fault_names, FAULT_COUNT, read_key);
}
