/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of the system other than those of the heap by which a library asks for resources (torture.c): files,
 * folders, libraries, mappings, threads.
 */
#define _GNU_SOURCE
#include "torture.h"
#include "torture_internal.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define CALLER __builtin_return_address(0)

/* The function of that name that would be called without us. */
static void *next(const char *name)
{
    void *address = dlsym(RTLD_NEXT, name);
    if (!address) {
        abort();
    }
    return address;
}

/* Each place keeps what it looked up. */
#define NEXT(name)                                               \
    __extension__({                                              \
        static __typeof__(&(name)) known;                        \
        if (!known) {                                            \
            known = (__typeof__(&(name)))(uintptr_t)next(#name); \
        }                                                        \
        known;                                                   \
    })

/* Descriptors and handles of libraries are resources by keys that no address has. */
static const void *key_of_descriptor(int fd)
{
    return fd < 0 ? NULL : (const void *)(uintptr_t)(0xf000000000000000U + (unsigned)fd);
}

static const void *key_of_library(const void *handle)
{
    return handle ? (const void *)((uintptr_t)handle + 1) : NULL;
}

/* --- files and folders --- */

static mode_t mode_of(int flags, va_list arguments)
{
    return flags & (O_CREAT | O_TMPFILE) ? (mode_t)va_arg(arguments, int) : 0;
}

static int refused(int error)
{
    errno = error;
    return -1;
}

#define OPEN(name)                                                        \
    int name(const char *path, int flags, ...)                            \
    {                                                                     \
        va_list arguments;                                                \
        va_start(arguments, flags);                                       \
        mode_t mode = mode_of(flags, arguments);                          \
        va_end(arguments);                                                \
        bool fails;                                                       \
        int place = torture_call("open", CALLER, &fails);                 \
        int fd = fails ? refused(EMFILE) : NEXT(name)(path, flags, mode); \
        torture_takes(TORTURE_OTHER, key_of_descriptor(fd), place);       \
        return fd;                                                        \
    }

OPEN(open)
OPEN(open64)

#define OPENAT(name)                                                              \
    int name(int folder, const char *path, int flags, ...)                        \
    {                                                                             \
        va_list arguments;                                                        \
        va_start(arguments, flags);                                               \
        mode_t mode = mode_of(flags, arguments);                                  \
        va_end(arguments);                                                        \
        bool fails;                                                               \
        int place = torture_call("openat", CALLER, &fails);                       \
        int fd = fails ? refused(EMFILE) : NEXT(name)(folder, path, flags, mode); \
        torture_takes(TORTURE_OTHER, key_of_descriptor(fd), place);               \
        return fd;                                                                \
    }

OPENAT(openat)
OPENAT(openat64)

/* What fortified programs call. */
#define OPEN_2(name, plain)                                          \
    int name(const char *path, int flags);                           \
    int name(const char *path, int flags)                            \
    {                                                                \
        bool fails;                                                  \
        int place = torture_call("open", CALLER, &fails);            \
        int fd = fails ? refused(EMFILE) : NEXT(plain)(path, flags); \
        torture_takes(TORTURE_OTHER, key_of_descriptor(fd), place);  \
        return fd;                                                   \
    }

OPEN_2(__open_2, open)
OPEN_2(__open64_2, open64)

int close(int fd)
{
    torture_gives_back(key_of_descriptor(fd));
    return NEXT(close)(fd);
}

#define FOPEN(name)                                        \
    FILE *name(const char *path, const char *mode)         \
    {                                                      \
        bool fails;                                        \
        int place = torture_call("fopen", CALLER, &fails); \
        if (fails) {                                       \
            errno = EMFILE;                                \
            return NULL;                                   \
        }                                                  \
        torture_enter(place);                              \
        FILE *file = NEXT(name)(path, mode);               \
        torture_leave();                                   \
        return file;                                       \
    }

FOPEN(fopen)
FOPEN(fopen64)

DIR *opendir(const char *path)
{
    bool fails;
    int place = torture_call("opendir", CALLER, &fails);
    if (fails) {
        errno = EMFILE;
        return NULL;
    }
    torture_enter(place);
    DIR *folder = NEXT(opendir)(path);
    torture_leave();
    return folder;
}

DIR *fdopendir(int fd)
{
    bool fails;
    int place = torture_call("fdopendir", CALLER, &fails);
    if (fails) {
        errno = ENOMEM;
        return NULL;
    }
    torture_enter(place);
    DIR *folder = NEXT(fdopendir)(fd);
    torture_leave();
    if (folder) {
        torture_gives_back(key_of_descriptor(fd)); /* closedir closes it */
    }
    return folder;
}

#define SCANDIR(name, entry)                                                              \
    int name(const char *path, struct entry ***list, int (*wanted)(const struct entry *), \
             int (*order)(const struct entry **, const struct entry **))                  \
    {                                                                                     \
        bool fails;                                                                       \
        int place = torture_call("scandir", CALLER, &fails);                              \
        if (fails) {                                                                      \
            return refused(ENOMEM);                                                       \
        }                                                                                 \
        torture_enter(place);                                                             \
        int count = NEXT(name)(path, list, wanted, order);                                \
        torture_leave();                                                                  \
        return count;                                                                     \
    }

SCANDIR(scandir, dirent)
SCANDIR(scandir64, dirent64)

/* --- libraries and mappings --- */

void *dlopen(const char *path, int flags)
{
    bool fails;
    int place = torture_call("dlopen", CALLER, &fails);
    if (fails) {
        return NULL;
    }
    torture_enter(TORTURE_NOBODY); /* what the dynamic linker keeps is its own */
    void *handle = NEXT(dlopen)(path, flags);
    torture_leave();
    torture_takes(TORTURE_OTHER, key_of_library(handle), place);
    return handle;
}

int dlclose(void *handle)
{
    torture_gives_back(key_of_library(handle));
    return NEXT(dlclose)(handle);
}

#define MMAP(name, offset_type)                                                                     \
    void *name(void *address, size_t length, int protection, int flags, int fd, offset_type offset) \
    {                                                                                               \
        bool fails;                                                                                 \
        int place = torture_call("mmap", CALLER, &fails);                                           \
        if (fails) {                                                                                \
            errno = ENOMEM;                                                                         \
            return MAP_FAILED;                                                                      \
        }                                                                                           \
        void *memory = NEXT(name)(address, length, protection, flags, fd, offset);                  \
        torture_takes(TORTURE_OTHER, memory == MAP_FAILED ? NULL : memory, place);                  \
        return memory;                                                                              \
    }

MMAP(mmap, off_t)
MMAP(mmap64, off64_t)

int munmap(void *address, size_t length)
{
    torture_gives_back(address);
    return NEXT(munmap)(address, length);
}

/* --- threads: what may fail for want of resources --- */

static bool fails_for_thread(const char *function, const void *caller)
{
    bool fails;
    torture_call(function, caller, &fails);
    return fails;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument)
{
    return fails_for_thread("pthread_create", CALLER) ? EAGAIN
                                                      : NEXT(pthread_create)(thread, attributes, start, argument);
}

int pthread_key_create(pthread_key_t *key, void (*end)(void *))
{
    return fails_for_thread("pthread_key_create", CALLER) ? EAGAIN : NEXT(pthread_key_create)(key, end);
}

int pthread_setspecific(pthread_key_t key, const void *value)
{
    return fails_for_thread("pthread_setspecific", CALLER) ? ENOMEM : NEXT(pthread_setspecific)(key, value);
}

int pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes)
{
    return fails_for_thread("pthread_mutex_init", CALLER) ? ENOMEM : NEXT(pthread_mutex_init)(mutex, attributes);
}

int pthread_rwlock_init(pthread_rwlock_t *rwlock, const pthread_rwlockattr_t *attributes)
{
    return fails_for_thread("pthread_rwlock_init", CALLER) ? ENOMEM : NEXT(pthread_rwlock_init)(rwlock, attributes);
}

int pthread_cond_init(pthread_cond_t *condition, const pthread_condattr_t *attributes)
{
    return fails_for_thread("pthread_cond_init", CALLER) ? ENOMEM : NEXT(pthread_cond_init)(condition, attributes);
}
