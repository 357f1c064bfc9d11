/* SPDX-License-Identifier: Apache-2.0 */
/* What one copy of the mock Vulkan driver is told to be (settings.h), and to do wrong (faults.h). */
#ifndef CLHARNESS_MOCK_VULKAN_CONFIG_H
#define CLHARNESS_MOCK_VULKAN_CONFIG_H

#include "clharness_vulkan_functions.h"
#include "sidefile.h"

#include <vulkan/vulkan_core.h>

enum fault {
#define FAULT(name) FAULT_##name,
#include "faults.h"
#undef FAULT
    FAULT_COUNT
};

enum { MAX_DEVICES = 16, MAX_EXTENSIONS = 32 };

struct function_config {
#define FUNCTION_SETTING(name, type) setting_##type name;
#include "settings.h"
};

struct config {
#define SETTING(name, type, initial) setting_##type name;
#include "settings.h"
    struct function_config function[VULKAN_FUNCTION_COUNT];
};

extern struct config config;

/* Reads the side file. Without one it is a plain driver. */
void config_load(void);

/* A version as Vulkan has it, out of a text "1.2.3". */
uint32_t config_version(const char *text);

/* Takes the next word of a list with blanks between; its length, 0 at the end. */
size_t config_next_word(const char **list, const char **word);
/* Whether a list has a word; a colon and what follows in the list do not count. */
int config_has_word(const char *list, const char *word);

#endif
