/* File descriptors of this process, to be handed to a vendor: shared memory, copies, and what is closed. */
#define _GNU_SOURCE
#include "probe.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int make_memory(size_t size)
{
    int fd = memfd_create("clharness memory", MFD_CLOEXEC);
    if (fd >= 0 && ftruncate(fd, (off_t)size) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

const char *descriptor_make(char **words, int count, int64_t *made)
{
    uint64_t fd = 0;
    if (count < 2 || (strcmp(words[0], "memory") != 0 && !token_value(words[1], &fd))) {
        return "no such descriptor";
    }
    if (strcmp(words[0], "memory") == 0) {
        *made = make_memory(strtoul(words[1], NULL, 10));
    } else if (strcmp(words[0], "copy") == 0 && count == 3) {
        int number = (int)strtol(words[2], NULL, 10);
        *made = number < 0 ? fcntl((int)fd, F_DUPFD_CLOEXEC, 3) : dup2((int)fd, number);
    } else if (strcmp(words[0], "close") == 0) {
        *made = close((int)fd);
    } else {
        return "memory SIZE, copy TOKEN NUMBER or close TOKEN";
    }
    return *made < 0 ? strerror(errno) : NULL;
}
