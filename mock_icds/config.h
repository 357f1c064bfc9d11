/* What one copy of the mock ICD was told to be: read from the file `<library>.conf` beside the copy. */
#ifndef CLHARNESS_MOCK_CONFIG_H
#define CLHARNESS_MOCK_CONFIG_H

#include "calllog.h"

#include <stdbool.h>

enum fault {
#define FAULT(name) FAULT_##name,
#include "faults.h"
#undef FAULT
    FAULT_COUNT
};

enum { MAX_PLATFORMS = 64, MAX_FAULTS = 64, ANY_PLATFORM = -1 };

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
    const char *name;   /* of the component in the call log */
    const char *loader; /* path of the loader under test, for faults that call back; or NULL */
    int platform_count;
    int table_length;
    bool icd2;
    struct platform_config platform[MAX_PLATFORMS];
};

extern struct config config;
extern struct calllog mock_log;

/* Reads the configuration of the library that this code is in. Without a file it is a plain vendor. */
void config_load(void);
void config_unload(void);

/* Whether a fault is on for a platform (ANY_PLATFORM: for the library). */
bool fault(enum fault which, int platform);
/* VALUE of a fault that is on, or `otherwise`. */
long fault_value(enum fault which, int platform, long otherwise);

/* Appends an event with one optional detail to the call log. */
void log_event(const char *event, const char *detail);

#endif
