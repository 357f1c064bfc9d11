/* SPDX-License-Identifier: Apache-2.0 */
/* What /proc says of a process. */
#define _GNU_SOURCE
#include "guard_processes.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool read_about(pid_t process, const char *file, char *text)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", process, file);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd >= 0 ? read(fd, text, MAX_STATUS - 1) : -1;
    if (fd >= 0) {
        close(fd);
    }
    text[length > 0 ? length : 0] = '\0';
    return length > 0;
}

/* From "NUMBER (NAME) STATE PARENT GROUP …". */
bool read_parent(pid_t process, pid_t *parent, pid_t *group)
{
    char text[MAX_STATUS];
    char *after_name = read_about(process, "stat", text) ? strrchr(text, ')') : NULL;
    if (!after_name || strlen(after_name) < sizeof ") R 1 1") {
        return false;
    }
    *parent = (pid_t)strtol(after_name + strlen(") R "), &after_name, 10);
    *group = (pid_t)strtol(after_name, NULL, 10);
    return true;
}

pid_t parent_of(pid_t process)
{
    pid_t parent = 0;
    pid_t group = 0;
    return read_parent(process, &parent, &group) ? parent : 0;
}
