/* SPDX-License-Identifier: Apache-2.0 */
/* Preloaded: writes the name of each variable of the environment that is asked for, a line each, into the file that
 * CLHARNESS_VARIABLES_WATCH names. A search through environ itself is not seen.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LONGEST = 200 }; /* names of variables, and a line of them */

typedef char *lookup_function(const char *);

char *__secure_getenv(const char *name);

static char report[4096]; /* the program may change its environment */

static lookup_function *next_named(const char *function)
{
    return (lookup_function *)(uintptr_t)dlsym(RTLD_NEXT, function);
}

/* By system calls: open may be another preloaded library's. A name that cannot be noted is a sign that is not seen. */
static void note(const char *name)
{
    char line[LONGEST + 2];
    int length = report[0] ? snprintf(line, sizeof line, "%.*s\n", LONGEST, name) : 0;
    int fd = length > 0 ? (int)syscall(SYS_openat, AT_FDCWD, report, O_WRONLY | O_APPEND | O_CLOEXEC) : -1;
    if (fd >= 0) {
        syscall(SYS_write, fd, line, length);
        syscall(SYS_close, fd);
    }
}

__attribute__((constructor)) static void configure(void)
{
    const char *path = next_named("getenv")("CLHARNESS_VARIABLES_WATCH");
    snprintf(report, sizeof report, "%s", path ? path : "");
}

__attribute__((visibility("default"))) char *getenv(const char *name)
{
    note(name);
    return next_named("getenv")(name);
}

__attribute__((visibility("default"))) char *secure_getenv(const char *name)
{
    note(name);
    return next_named("secure_getenv")(name);
}

/* As libraries that were built with glibc before 2.17 call it. */
__attribute__((visibility("default"))) char *__secure_getenv(const char *name)
{
    return secure_getenv(name);
}
