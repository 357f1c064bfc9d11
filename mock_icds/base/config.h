/* What one copy of the mock ICD was told to be, besides what sidefile.h knows. */
#ifndef CLHARNESS_MOCK_CONFIG_H
#define CLHARNESS_MOCK_CONFIG_H

#include "clharness_functions.h"
#include "sidefile.h"

enum fault {
#define FAULT(name) FAULT_##name,
#include "faults.h"
#include "faults_compute.h"
#include "faults_external.h"
#include "faults_gl.h"
#include "faults_hygiene.h"
#include "faults_properties.h"
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
    const char *features; /* words: what its devices can do besides the least, where the mock validates (creation.h) */
    bool unloadable;
};

/* What can be told of each function: `KEY = FUNCTION`, or `KEY = all` for every function that has a slot. */
struct function_config {
    bool answers;             /* takes any arguments and answers values that tell this function from all others */
    bool takes_anything;      /* refuses no arguments, where the mock validates */
    bool silent;              /* the same, but writes nothing through its arguments */
    bool lacks;               /* has no such function: NULL in the table and to queries */
    uint64_t lacks_on;        /* `lacks = FUNCTION N`: NULL to queries for the function of platform N; a bit for each */
    bool without_dispatch;    /* the objects that it makes have NULL in place of their dispatch table */
    bool without_data;        /* the objects that it makes have no dispatch data (ICD 2) */
    bool calls_back;          /* calls the callback that it is given, before it returns */
    bool calls_back_threaded; /* the same in a thread of its own, and waits for that */
    const char *waits_at;     /* `waits_at = FUNCTION PATH`: opens that FIFO for reading, so waits for its writer */
    const char *arrives_at;   /* `arrives_at = FUNCTION PATH`: opens that FIFO for writing */
};

struct config {
    int platform_count;
    int table_length;
    bool icd2;
    bool exact_objects;   /* every object ends where an unreadable page begins, and is unreadable once released */
    bool table_per_class; /* each class of objects has a table of its own, that holds the functions of the class only */
    bool validates;       /* checks arguments as the specification says, and remembers them for queries */
    bool refuses; /* refuses what rules.toml of the checks of ICDs has, NULL handles, wrong wait lists (validity.h) */
    struct platform_config platform[MAX_PLATFORMS];
    struct function_config function[FUNCTION_COUNT];
};

extern struct config config;

/* Reads the side file. Without one it is a plain vendor. */
void config_load(void);

#endif
