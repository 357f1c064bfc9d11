/* SPDX-License-Identifier: Apache-2.0 */
/* What one copy of the mock ICD is told to be (settings.h), and to do wrong (faults*.h). */
#ifndef CLHARNESS_MOCK_CONFIG_H
#define CLHARNESS_MOCK_CONFIG_H

#include "clharness_functions.h"
#include "sidefile.h"

enum fault {
#define FAULT(name) FAULT_##name,
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
    FAULT_COUNT
};

enum { MAX_PLATFORMS = 64 };

struct platform_config {
#define PLATFORM_SETTING(name, type, initial) setting_##type name;
#include "settings.h"
};

struct function_config {
#define FUNCTION_SETTING(name, type) setting_##type name;
#include "settings.h"
};

struct config {
#define SETTING(name, type, initial) setting_##type name;
#include "settings.h"
    struct platform_config platform[MAX_PLATFORMS];
    struct function_config function[FUNCTION_COUNT];
};

extern struct config config;

/* Reads the side file. Without one it is a plain vendor. */
void config_load(void);

#endif
