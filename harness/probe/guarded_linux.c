/* SPDX-License-Identifier: Apache-2.0 */
/* Guarded memory by mmap, and reading by a system call that fails where a read would fault. Windows has stand-ins for
 * these (harness/calllog/windows), and no memory that is shared.
 *
 * Small memory, of which a case makes dozens, lies in one mapping: for the kernel, mappings of their own cost more than
 * all that is done with them.
 */
#define _GNU_SOURCE
#include "guarded.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

static size_t page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static void *map_pages(size_t size)
{
    void *mapping = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return mapping == MAP_FAILED ? NULL : mapping;
}

#ifdef __linux__

enum { INSTALL_GUARD = 102 /* MADV_GUARD_INSTALL, since Linux 6.13 */ };

static const size_t PLACES = 512;

static _Atomic(char *) shared; /* places of two pages, the second of which cannot be read */
static atomic_size_t taken;    /* so many of them; none is used twice */

/* Whether the page is a guard now. Emulators say that they took advice that they do not know (qemu-user): it is
 * believed where the first page that got it cannot be read.
 */
static bool install_guard(void *page, size_t size)
{
    enum { UNKNOWN, HOLDS, DOES_NOT };
    static atomic_int guards;
    char byte;
    if (atomic_load(&guards) == DOES_NOT || madvise(page, size, INSTALL_GUARD) != 0) {
        return false;
    }
    if (atomic_load(&guards) == UNKNOWN) {
        bool unreadable = memory_read((uintptr_t)page, &byte, 1) < 0 && errno == EFAULT;
        atomic_store(&guards, unreadable ? HOLDS : DOES_NOT);
    }
    return atomic_load(&guards) == HOLDS;
}

static bool make_unreadable(void *page, size_t size)
{
    return install_guard(page, size) || mprotect(page, size, PROT_NONE) == 0;
}

/* The next free place; NULL where there is none. */
static char *take_place(void)
{
    size_t page = page_size();
    char *all = atomic_load(&shared);
    if (!all) {
        char *mapped = map_pages(PLACES * 2 * page);
        if (mapped && !atomic_compare_exchange_strong(&shared, &all, mapped)) {
            munmap(mapped, PLACES * 2 * page); /* another thread was faster */
        }
        all = atomic_load(&shared);
    }
    size_t number = all ? atomic_fetch_add(&taken, 1) : PLACES;
    char *place = number < PLACES ? all + number * 2 * page : NULL;
    return place && make_unreadable(place + page, page) ? place : NULL;
}

bool guarded_share(struct guarded *memory, size_t size)
{
    size_t page = page_size();
    char *place = size <= page ? take_place() : NULL;
    if (place) {
        *memory = (struct guarded){(unsigned char *)place + page - size, size, place, 2 * page, true};
    }
    return place != NULL;
}

void guarded_forget(void)
{
    char *all = atomic_exchange(&shared, NULL);
    if (all) {
        munmap(all, PLACES * 2 * page_size());
    }
    atomic_store(&taken, 0);
}

#else

bool guarded_share(struct guarded *memory, size_t size)
{
    (void)memory;
    (void)size;
    return false;
}

void guarded_forget(void)
{
}

#endif

bool guarded_make(struct guarded *memory, size_t size)
{
    size_t page = page_size();
    size_t readable = (size + page - 1) / page * page;
    void *mapping = map_pages(readable + page);
    if (!mapping) {
        return false;
    }
    mprotect((char *)mapping + readable, page, PROT_NONE);
    *memory = (struct guarded){(unsigned char *)mapping + readable - size, size, mapping, readable + page, false};
    return true;
}

void guarded_free(struct guarded *memory)
{
    if (memory->mapping) {
        if (memory->is_shared) {
            mprotect(memory->mapping, memory->mapping_size, PROT_NONE); /* the place stays taken */
        } else {
            munmap(memory->mapping, memory->mapping_size);
        }
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
