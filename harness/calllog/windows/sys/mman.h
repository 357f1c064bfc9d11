/* SPDX-License-Identifier: Apache-2.0 */
/* Memory and mapped files, by the names that POSIX has for them: whole mappings only. */
#ifndef CLHARNESS_WINDOWS_MMAN_H
#define CLHARNESS_WINDOWS_MMAN_H

#include <stddef.h>

#define PROT_NONE 0
#define PROT_READ 1
#define PROT_WRITE 2
#define MAP_SHARED 1
#define MAP_PRIVATE 2
#define MAP_ANONYMOUS 32
#define MAP_NORESERVE 0
#define MAP_FAILED ((void *)-1)
#define MADV_DONTNEED 4
#define MADV_NOHUGEPAGE 15
#define MFD_CLOEXEC 1

void *mmap(void *wanted, size_t size, int protection, int flags, int fd, long long offset);
int munmap(void *memory, size_t size);
int mprotect(void *memory, size_t size, int protection);
int memfd_create(const char *name, unsigned flags); /* fails: there are no such descriptors */
int madvise(void *memory, size_t size, int advice);

#endif
