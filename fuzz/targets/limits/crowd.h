/* SPDX-License-Identifier: Apache-2.0 */
/* Vendors and platforms by the hundred, all of whose answers are right: what a loader does with many, and with long
 * texts, is to be seen, not what it does with wrong answers. Each vendor has the functions that decide on a way itself
 * (clFlush, clCreateContext and its kin, clWaitForEvents), and shares all others.
 */
#ifndef CLHARNESS_FUZZ_CROWD_H
#define CLHARNESS_FUZZ_CROWD_H

#include "engine.h"

/* Room for the most of everything: a vendor without platforms would be another case than the input describes. */
enum { MEMBERS = 1100, CROWD_PLATFORMS = 2 * MEMBERS, CROWD_DEVICES = 12000 };

/* What every handle begins with; cl_khr_icd 2.0 puts the loader's data after the table. */
struct handle {
    void *const *dispatch;
    void *dispatch_data;
    unsigned platform; /* its number among all */
    enum handle_kind kind;
};

/* How many devices of each type a platform has. */
struct devices {
    unsigned gpus, cpus, others;
};

struct crowd_platform {
    struct handle object[HANDLE_COUNT];
    struct handle *device;
    struct devices devices;
    unsigned handed; /* how often it was given dispatch data */
    const char *suffix, *name, *version, *extensions;
    bool unloadable;
    unsigned member;
};

/* Ways in which loaders may refuse a vendor. */
enum flaw { FLAW_NONE, FLAW_NO_FUNCTIONS, FLAW_NO_PLATFORMS, FLAW_ERROR, FLAW_NO_LIBRARY, FLAW_NO_LIST, FLAWS };

struct member {
    unsigned first; /* of its platforms, which stand together */
    unsigned count;
    bool icd2;
    enum flaw flaw;
    unsigned counted, listed; /* how often the loader asked for the number of its platforms, and for the list */
    struct library *library;
    void *table[TABLE_LENGTH];
};

extern struct member members[MEMBERS];
extern unsigned member_count;
extern struct crowd_platform crowd_platforms[CROWD_PLATFORMS];
extern unsigned crowd_platform_count;

/* The last call that reached a vendor by something else than a query, and how many there were. */
struct arrival {
    enum function function;
    unsigned count;
    unsigned member;
    uint64_t argument[MAX_PARAMETERS];
};
extern struct arrival arrived;

void crowd_clear(void);
/* Adds an ordinary vendor without platforms, or NULL where there are too many. */
struct member *crowd_member(void);
/* Adds an ordinary platform to the last vendor, or NULL where there are too many. */
struct crowd_platform *crowd_platform(struct devices devices);
/* Makes their tables and devices; the texts of the platforms may be changed before. */
void crowd_make(void);
/* Adds its library to the world, unless that is its flaw. */
void crowd_library(unsigned member, const char *name);
/* The platform of a handle, or NULL where it is not one of a platform. */
struct crowd_platform *crowd_platform_of(uint64_t handle);
/* What a vendor answers to a query of an address of its own: every name that begins with EXTENSION_NAME. */
#define EXTENSION_NAME "clEx"
uint64_t crowd_address(unsigned member);

#endif
