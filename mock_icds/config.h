/* What one copy of the mock ICD was told to be, besides what sidefile.h knows. */
#ifndef CLHARNESS_MOCK_CONFIG_H
#define CLHARNESS_MOCK_CONFIG_H

#include "sidefile.h"

enum fault {
#define FAULT(name) FAULT_##name,
#include "faults.h"
#undef FAULT
    FAULT_COUNT
};

enum { MAX_PLATFORMS = 64 };

struct platform_config {
    const char *name;
    const char *suffix;
    const char *extensions;
    const char *version;
    const char *profile;
    int gpus;
    int cpus;
    int accelerators;
    bool unloadable;
};

struct config {
    int platform_count;
    int table_length;
    bool icd2;
    struct platform_config platform[MAX_PLATFORMS];
};

extern struct config config;

/* Reads the side file. Without one it is a plain vendor. */
void config_load(void);

#endif
