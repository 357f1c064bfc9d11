/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of POSIX that mocks and probe use, made of those of Windows. */
#include "posix.h"

#include "dlfcn.h"
#include "poll.h"
#include "sys/eventfd.h"
#include "sys/mman.h"
#include "sys/uio.h"

#include <errno.h>
#include <io.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

/* --- the environment: the system's, and the copy that the C library has --- */

int setenv(const char *name, const char *value, int overwrite)
{
    if (!overwrite && GetEnvironmentVariableA(name, NULL, 0)) {
        return 0;
    }
    _putenv_s(name, value);
    return SetEnvironmentVariableA(name, value) ? 0 : -1;
}

int unsetenv(const char *name)
{
    _putenv_s(name, "");
    SetEnvironmentVariableA(name, NULL);
    return 0;
}

#undef raise
int raise_signal(int number)
{
    if (number == SIGSEGV) {
        RaiseException(EXCEPTION_ACCESS_VIOLATION, EXCEPTION_NONCONTINUABLE, 0, NULL);
    }
    return raise(number);
}

/* --- strings and lines --- */

char *strsep(char **text, const char *ends)
{
    char *start = *text;
    if (start) {
        char *end = start + strcspn(start, ends);
        *text = *end ? end + 1 : NULL;
        *end = '\0';
    }
    return start;
}

char *stpcpy(char *to, const char *from)
{
    size_t length = strlen(from);
    memcpy(to, from, length + 1);
    return to + length;
}

char *strndup(const char *text, size_t length)
{
    size_t kept = strnlen(text, length);
    char *copy = calloc(1, kept + 1);
    return copy ? memcpy(copy, text, kept) : NULL;
}

ssize_t getline(char **line, size_t *room, FILE *from)
{
    size_t length = 0;
    for (int c = getc(from); c != EOF; c = getc(from)) {
        if (length + 2 > *room) {
            size_t more = *room ? 2 * *room : 256;
            char *bigger = realloc(*line, more);
            if (!bigger) {
                return -1;
            }
            *line = bigger;
            *room = more;
        }
        (*line)[length++] = (char)c;
        if (c == '\n') {
            break;
        }
    }
    if (length) {
        (*line)[length] = '\0';
    }
    return length ? (ssize_t)length : -1;
}

/* Our names are absolute: only the sign between folders is another one. */
char *realpath(const char *path, char *real)
{
    char *to = real;
    for (const char *from = path; *from && to < real + PATH_MAX - 1; from++) {
        *to++ = *from == '\\' ? '/' : *from;
    }
    *to = '\0';
    return real;
}

/* --- descriptors --- */

long sysconf(int name)
{
    SYSTEM_INFO about;
    GetSystemInfo(&about);
    return name == _SC_PAGESIZE ? (long)about.dwPageSize : -1;
}

int fcntl(int fd, int command, ...)
{
    return command == F_GETFD && _get_osfhandle(fd) != -1 ? 0 : -1;
}

int eventfd(unsigned initial, int flags)
{
    (void)initial;
    (void)flags;
    errno = ENOSYS;
    return -1;
}

int memfd_create(const char *name, unsigned flags)
{
    (void)name;
    (void)flags;
    errno = ENOSYS;
    return -1;
}

int poll(struct pollfd *descriptors, unsigned long count, int milliseconds)
{
    (void)descriptors;
    (void)count;
    (void)milliseconds;
    errno = ENOSYS;
    return -1;
}

/* --- memory --- */

static DWORD protection_of(int protection)
{
    if (protection & PROT_WRITE) {
        return PAGE_READWRITE;
    }
    return protection & PROT_READ ? PAGE_READONLY : PAGE_NOACCESS;
}

static void *map_file(size_t size, int protection, int fd)
{
    HANDLE file = (HANDLE)_get_osfhandle(fd);
    bool writable = protection & PROT_WRITE;
    HANDLE mapping = CreateFileMappingA(file, NULL, writable ? PAGE_READWRITE : PAGE_READONLY, 0, 0, NULL);
    void *view = mapping ? MapViewOfFile(mapping, writable ? FILE_MAP_WRITE : FILE_MAP_READ, 0, 0, size) : NULL;
    if (mapping) {
        CloseHandle(mapping); /* the view keeps it */
    }
    return view;
}

void *mmap(void *wanted, size_t size, int protection, int flags, int fd, long long offset)
{
    void *memory = NULL;
    (void)wanted;
    if (offset == 0) {
        memory = flags & MAP_ANONYMOUS ? VirtualAlloc(NULL, size, MEM_RESERVE | MEM_COMMIT, protection_of(protection))
                                       : map_file(size, protection, fd);
    }
    errno = memory ? errno : ENOMEM;
    return memory ? memory : MAP_FAILED;
}

int munmap(void *memory, size_t size)
{
    MEMORY_BASIC_INFORMATION about = {0};
    (void)size;
    VirtualQuery(memory, &about, sizeof about);
    BOOL done = about.Type == MEM_MAPPED ? UnmapViewOfFile(memory) : VirtualFree(memory, 0, MEM_RELEASE);
    return done ? 0 : -1;
}

int mprotect(void *memory, size_t size, int protection)
{
    DWORD before;
    return VirtualProtect(memory, size, protection_of(protection), &before) ? 0 : -1;
}

int madvise(void *memory, size_t size, int advice)
{
    (void)memory;
    (void)size;
    (void)advice;
    return 0;
}

/* Whether all pages are there without one of these protections. Asked of the system: what it reads and writes for us
 * may pass over them. */
static bool is_without(DWORD protections, const char *memory, size_t length)
{
    const char *end = memory + length;
    MEMORY_BASIC_INFORMATION about;
    while (memory < end) {
        if (!VirtualQuery(memory, &about, sizeof about) || about.State != MEM_COMMIT || about.Protect & protections) {
            return false;
        }
        memory = (const char *)about.BaseAddress + about.RegionSize;
    }
    return true;
}

ssize_t process_vm_readv(int pid, const struct iovec *to, unsigned long to_count, const struct iovec *from,
                         unsigned long from_count, unsigned long flags)
{
    size_t done = 0;
    (void)pid;
    (void)flags;
    for (unsigned long i = 0; to_count == 1 && i < from_count; i++) {
        SIZE_T got = 0;
        size_t length = from[i].iov_len;
        if (done + length > to->iov_len || !is_without(PAGE_NOACCESS | PAGE_GUARD, from[i].iov_base, length) ||
            !ReadProcessMemory(GetCurrentProcess(), from[i].iov_base, (char *)to->iov_base + done, length, &got)) {
            break;
        }
        done += got;
    }
    errno = done ? errno : EFAULT;
    return done ? (ssize_t)done : -1;
}

ssize_t process_vm_writev(int pid, const struct iovec *from, unsigned long from_count, const struct iovec *to,
                          unsigned long to_count, unsigned long flags)
{
    const DWORD unwritable = PAGE_NOACCESS | PAGE_GUARD | PAGE_READONLY | PAGE_EXECUTE | PAGE_EXECUTE_READ;
    SIZE_T done = 0;
    (void)pid;
    (void)flags;
    if (from_count != 1 || to_count != 1 || from->iov_len != to->iov_len ||
        !is_without(unwritable, to->iov_base, to->iov_len) ||
        !WriteProcessMemory(GetCurrentProcess(), to->iov_base, from->iov_base, to->iov_len, &done)) {
        errno = EFAULT;
        return -1;
    }
    return (ssize_t)done;
}

/* --- libraries --- */

void *dlopen(const char *path, int flags)
{
    HMODULE library = NULL;
    if (flags & RTLD_NOLOAD) {
        return GetModuleHandleExA(0, path, &library) ? library : NULL;
    }
    return LoadLibraryExA(path, NULL, LOAD_WITH_ALTERED_SEARCH_PATH);
}

void *dlsym(void *library, const char *name)
{
    return library == RTLD_DEFAULT ? NULL : (void *)(uintptr_t)GetProcAddress(library, name);
}

int dlclose(void *library)
{
    return FreeLibrary(library) ? 0 : -1;
}

int dladdr(const void *address, Dl_info *info)
{
    static _Thread_local char name[MAX_PATH];
    DWORD how = GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT;
    HMODULE library = NULL;
    if (!GetModuleHandleExA(how, address, &library) || !GetModuleFileNameA(library, name, sizeof name)) {
        return 0;
    }
    *info = (Dl_info){name, library};
    return 1;
}

int process_is_ending(void)
{
    BOOLEAN(WINAPI * ending)(void) = NULL;
    FARPROC function = GetProcAddress(GetModuleHandleA("ntdll.dll"), "RtlDllShutdownInProgress");
    memcpy(&ending, &function, sizeof ending);
    return ending && ending();
}
