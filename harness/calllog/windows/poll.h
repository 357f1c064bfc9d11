/* SPDX-License-Identifier: Apache-2.0 */
/* This system waits for handles and not for descriptors: each call fails. */
#ifndef CLHARNESS_WINDOWS_POLL_H
#define CLHARNESS_WINDOWS_POLL_H

#define POLLIN 1

struct pollfd {
    int fd;
    short events;
    short revents;
};

int poll(struct pollfd *descriptors, unsigned long count, int milliseconds);

#endif
