/* SPDX-License-Identifier: Apache-2.0 */
/* Reading and writing memory that may not be there. */
#ifndef CLHARNESS_WINDOWS_UIO_H
#define CLHARNESS_WINDOWS_UIO_H

#include <stddef.h>
#include <sys/types.h>

struct iovec {
    void *iov_base;
    size_t iov_len;
};

/* Of this process only; stops at the first piece that cannot be read. */
ssize_t process_vm_readv(int pid, const struct iovec *to, unsigned long to_count, const struct iovec *from,
                         unsigned long from_count, unsigned long flags);
/* Of this process only, and of one piece; all of it or nothing. */
ssize_t process_vm_writev(int pid, const struct iovec *from, unsigned long from_count, const struct iovec *to,
                          unsigned long to_count, unsigned long flags);

#endif
