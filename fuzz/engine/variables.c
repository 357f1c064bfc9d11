/* SPDX-License-Identifier: Apache-2.0 */
/* How the loader reads its environment: which variables it asks for, and whether the process has privileges that its
 * caller lacks.
 */
#define _GNU_SOURCE
#include "internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/types.h>
#include <unistd.h>

enum { MOST = 48, LENGTH = 64 };

static char asked[MOST][LENGTH];
static size_t asked_count;
static bool privileged;

bool world_variable_asked(const char *name)
{
    for (size_t i = 0; i < asked_count; i++) {
        if (texts_equal(asked[i], name)) {
            return true;
        }
    }
    return false;
}

void world_privileged(bool is)
{
    privileged = is;
}

static void note(const char *name)
{
    size_t length = strlen(name);
    if (asked_count < MOST && length < LENGTH && !world_variable_asked(name)) {
        memcpy(asked[asked_count++], name, length + 1);
    }
}

static char *my_getenv(const char *name)
{
    note(name);
    return getenv(name);
}

static char *my_secure_getenv(const char *name)
{
    note(name);
    return privileged ? NULL : getenv(name);
}

static unsigned long my_getauxval(unsigned long which)
{
    return privileged && which == AT_SECURE ? 1 : getauxval(which);
}

/* A set-uid program of root's, which an ordinary user started. */
static uid_t my_getuid(void)
{
    enum { USER = 1000 };
    return privileged ? USER : getuid();
}

static uid_t my_geteuid(void)
{
    return privileged ? 0 : geteuid();
}

const struct import variable_imports[] = {
    FUNCTION("getenv", my_getenv),
    FUNCTION("secure_getenv", my_secure_getenv),
    FUNCTION("__secure_getenv", my_secure_getenv),
    FUNCTION("getauxval", my_getauxval),
    FUNCTION("getuid", my_getuid),
    FUNCTION("geteuid", my_geteuid),
    {NULL, NULL, NULL},
};

void variables_reset(void)
{
    asked_count = 0;
    privileged = false;
}
