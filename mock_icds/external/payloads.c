/* SPDX-License-Identifier: Apache-2.0 */
/* Payloads that are shared by descriptors. An opaque descriptor is shared memory that holds the payload, a sync
 * descriptor an event counter that can be read when it is signalled.
 */
#define _GNU_SOURCE
#include "external/payloads.h"

#include "base/config.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NO_DESCRIPTOR = -1 };

static const uint64_t shared_magic = 0x6572616870616d73;

void payload_open(struct payload *payload)
{
    payload->memory = &payload->own;
    payload->fd = NO_DESCRIPTOR;
}

void payload_close(struct payload *payload)
{
    if (payload->memory != &payload->own) {
        munmap(payload->memory, sizeof *payload->memory);
        payload->memory = &payload->own;
    }
    if (payload->fd != NO_DESCRIPTOR) {
        close(payload->fd);
    }
}

uint64_t payload_value(const struct payload *payload)
{
    return __atomic_load_n(&payload->memory->value, __ATOMIC_ACQUIRE);
}

void payload_set(struct payload *payload, bool signalled)
{
    __atomic_store_n(&payload->memory->value, signalled, __ATOMIC_RELEASE);
}

static bool attach(struct payload *payload, int fd)
{
    void *mapped = mmap(NULL, sizeof(struct payload_memory), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (mapped == MAP_FAILED) {
        return false;
    }
    payload->memory = mapped;
    payload->fd = fd;
    return true;
}

bool payload_share(struct payload *payload)
{
    int fd = memfd_create("clharness semaphore", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, sizeof(struct payload_memory)) != 0 || !attach(payload, fd)) {
        return false;
    }
    payload->memory->magic = shared_magic;
    return true;
}

bool payload_import_opaque(struct payload *payload, uint64_t value)
{
    struct stat about;
    struct payload shared = {0};
    bool fits = value <= INT_MAX && fstat((int)value, &about) == 0 && about.st_size == sizeof(struct payload_memory);
    if (!fits || !attach(&shared, (int)value)) {
        return false;
    }
    if (shared.memory->magic != shared_magic) {
        munmap(shared.memory, sizeof *shared.memory);
        return false;
    }
    if (fault(FAULT_opaque_fd_is_a_copy, ANY_PLATFORM)) {
        payload->own.value = shared.memory->value;
        munmap(shared.memory, sizeof *shared.memory);
        return close((int)value) == 0;
    }
    payload->memory = shared.memory;
    payload->fd = fault(FAULT_semaphore_leaves_descriptor_open, ANY_PLATFORM) ? dup((int)value) : (int)value;
    return true;
}

static bool is_minus_1(uint64_t value)
{
    return value == UINT64_MAX || value == UINT32_MAX;
}

bool payload_import_sync(struct payload *payload, uint64_t value)
{
    struct stat about;
    if (is_minus_1(value)) {
        payload->own.value = !fault(FAULT_sync_fd_minus_1_is_unsignalled, ANY_PLATFORM);
        return !fault(FAULT_sync_fd_minus_1_refused, ANY_PLATFORM);
    }
    /* a descriptor of the kernel's own, which is not a file of any kind */
    if (value > INT_MAX || fstat((int)value, &about) != 0 || (about.st_mode & S_IFMT) != 0) {
        return fault(FAULT_sync_fd_takes_anything, ANY_PLATFORM);
    }
    struct pollfd polled = {.fd = (int)value, .events = POLLIN};
    payload->own.value = poll(&polled, 1, 0) > 0 && polled.revents & POLLIN;
    return fault(FAULT_semaphore_leaves_descriptor_open, ANY_PLATFORM) || close((int)value) == 0;
}

int payload_export_opaque(const struct payload *payload)
{
    return fcntl(payload->fd, F_DUPFD_CLOEXEC, 0);
}

int payload_export_sync(struct payload *payload)
{
    uint64_t value = payload_value(payload);
    if (!fault(FAULT_sync_fd_export_does_not_wait, ANY_PLATFORM)) {
        payload_set(payload, false);
    }
    return eventfd((unsigned)value, EFD_CLOEXEC);
}
