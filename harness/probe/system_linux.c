/* SPDX-License-Identifier: Apache-2.0 */
/* The program's start and end on Linux, where the machine of a case is made of files and mounts. */
#define _GNU_SOURCE
#include "system.h"

#include "stacks.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { MOST_ARGUMENTS = 64 };

const char *system_program;
static char *own_arguments[MOST_ARGUMENTS + 1]; /* NULL ends them, also where the copy did not succeed */

void system_begin(char **arguments)
{
    for (unsigned i = 0; i < MOST_ARGUMENTS && arguments[i]; i++) { /* a subject may write over those of main */
        own_arguments[i] = strdup(arguments[i]);
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* whoever started us is gone: nobody wants an answer */
    stacks_install();
}

void system_begin_again(const char *argument)
{
    char *arguments[MOST_ARGUMENTS + 2] = {NULL};
    unsigned count = 0;
    for (unsigned i = 0; own_arguments[i]; i++) {
        if (strcmp(own_arguments[i], argument) != 0) {
            arguments[count++] = own_arguments[i];
        }
    }
    arguments[count] = (char *)argument;
    errno = ENOMEM;
    if (count > 0) {
        execv(system_program ? system_program : "/proc/self/exe", arguments);
    }
}

bool system_replace_standard(int file)
{
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    bool done = nothing >= 0 && dup2(nothing, STDIN_FILENO) >= 0 && dup2(file, STDOUT_FILENO) >= 0;
    if (nothing >= 0) {
        close(nothing);
    }
    return done;
}

const char *system_furnish(const char *path)
{
    (void)path;
    return "only on Windows a file describes the machine";
}

void system_end(void)
{
}
