/* SPDX-License-Identifier: Apache-2.0 */
/* This system has no such descriptors: each call fails. */
#ifndef CLHARNESS_WINDOWS_EVENTFD_H
#define CLHARNESS_WINDOWS_EVENTFD_H

#define EFD_CLOEXEC 0
#define EFD_NONBLOCK 0

int eventfd(unsigned initial, int flags);

#endif
