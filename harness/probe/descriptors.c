/* SPDX-License-Identifier: Apache-2.0 */
/* Commands: file descriptors of this process, to be handed to a vendor: shared memory, copies, and what is closed.
 * Linux only. */
#define _GNU_SOURCE
#include "topics.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void reply_descriptor(const struct reply *reply, uint64_t index, int fd)
{
    if (fd < 0) {
        reply_error(reply, "%s", strerror(errno));
    } else {
        reply_result(reply, index, (uint64_t)fd);
    }
}

static void make_memory(const struct argument *a, const struct reply *reply)
{
    int fd = memfd_create("clharness memory", MFD_CLOEXEC);
    if (fd >= 0 && ftruncate(fd, (off_t)a[2].value) != 0) {
        reply_error(reply, "%s", strerror(errno));
        close(fd);
        return;
    }
    reply_descriptor(reply, a[0].value, fd);
}

static void copy(const struct argument *a, const struct reply *reply)
{
    int fd = (int)a[2].value;
    int number = (int)a[3].value;
    reply_descriptor(reply, a[0].value, number < 0 ? fcntl(fd, F_DUPFD_CLOEXEC, 3) : dup2(fd, number));
}

static void close_descriptor(const struct argument *a, const struct reply *reply)
{
    reply_descriptor(reply, a[0].value, close((int)a[2].value));
}

/* ok NUMBER of a descriptor, which is kept. */
static const struct command rows[] = {
    {"descriptor", "RESULT memory SIZE", make_memory, false},
    /* With that number; -1: any. */
    {"descriptor", "RESULT copy TOKEN NUMBER", copy, false},
    {"descriptor", "RESULT close TOKEN", close_descriptor, false},
    {0},
};

const struct command_table descriptor_commands = {.rows = rows};
