/* SPDX-License-Identifier: Apache-2.0 */
/* Guarded memory by mmap, and reading by a system call that fails where a read would fault. Linux only. */
#define _GNU_SOURCE
#include "guarded.h"

#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

static size_t page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

bool guarded_make(struct guarded *memory, size_t size)
{
    size_t page = page_size();
    size_t readable = (size + page - 1) / page * page;
    void *mapping = mmap(NULL, readable + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapping == MAP_FAILED) {
        return false;
    }
    mprotect((char *)mapping + readable, page, PROT_NONE);
    *memory = (struct guarded){(unsigned char *)mapping + readable - size, size, mapping, readable + page};
    return true;
}

void guarded_free(struct guarded *memory)
{
    if (memory->mapping) {
        munmap(memory->mapping, memory->mapping_size);
        *memory = (struct guarded){0};
    }
}

bool guarded_protect(const struct guarded *memory)
{
    return mprotect(memory->mapping, memory->mapping_size - page_size(), PROT_READ) == 0;
}

long memory_read(uint64_t address, void *to, size_t length)
{
    struct iovec local = {to, length};
    struct iovec remote = {(void *)(uintptr_t)address, length};
    return process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
}

long memory_write(uint64_t address, const void *from, size_t length)
{
    struct iovec local = {(void *)(uintptr_t)from, length};
    struct iovec remote = {(void *)(uintptr_t)address, length};
    return process_vm_writev(getpid(), &local, 1, &remote, 1, 0);
}
