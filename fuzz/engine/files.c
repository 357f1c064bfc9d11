/* SPDX-License-Identifier: Apache-2.0 */
/* Files of the input, as the loader finds them: from memory. Descriptors are numbers of our own, which no
 * real one has; streams are real ones, over memory. */
#define _GNU_SOURCE
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* As many as an ordinary process can open beside its standard ones: fewer would turn a file that a loader does not
 * close into vendors and layers that it loses. */
enum { FIRST_DESCRIPTOR = 1 << 20, OPEN_MAX_FILES = 1021 };

static struct open opened[OPEN_MAX_FILES];
static size_t highest; /* no slot from here on was in use in this input */

struct open *files_open(const struct file *file, uintptr_t opener)
{
    for (size_t i = 0; i < OPEN_MAX_FILES; i++) {
        if (!opened[i].file) {
            opened[i].file = file;
            opened[i].at = 0;
            opened[i].stream = NULL;
            opened[i].is_stream = false;
            opened[i].opener = opener;
            highest = i + 1 > highest ? i + 1 : highest;
            return &opened[i];
        }
    }
    errno = EMFILE;
    return NULL;
}

struct file *files_find(const char *path, bool to_open)
{
    if (strlen(path) >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return NULL;
    }
    struct file *file = world_find(path);
    if (!file || file->kind == FILE_DANGLING_LINK) {
        errno = ENOENT;
        return NULL;
    }
    if (file->kind == FILE_LOOP || (file->kind == FILE_UNREADABLE && to_open)) {
        errno = file->kind == FILE_LOOP ? ELOOP : EACCES;
        return NULL;
    }
    return file;
}

/* A FIFO without a writer is opened when one comes. */
static _Noreturn void wait_for_ever(const struct file *file, uintptr_t caller)
{
    finding("hang", keep_text("fifo@%s", where(caller)), "the loader opens %s in %s, a FIFO, and waits for a writer",
            file->path, where(caller));
    leave_run();
}

/* --- descriptors --- */

struct open *files_of_descriptor(int descriptor)
{
    int number = descriptor - FIRST_DESCRIPTOR;
    struct open *open = number >= 0 && number < OPEN_MAX_FILES ? &opened[number] : NULL;
    if (!open || !open->file) {
        errno = EBADF;
        return NULL;
    }
    return open;
}

int files_descriptor(const struct open *open)
{
    return FIRST_DESCRIPTOR + (int)(open - opened);
}

static int open_path(const char *path, int flags, uintptr_t caller)
{
    struct file *file = files_find(path, true);
    if (!file) {
        return -1;
    }
    if ((flags & O_DIRECTORY) && file->kind != FILE_FOLDER) {
        errno = ENOTDIR;
        return -1;
    }
    if ((flags & O_NOFOLLOW) && file->kind == FILE_LINK) {
        errno = ELOOP;
        return -1;
    }
    if (file->kind == FILE_FIFO && !(flags & O_NONBLOCK)) {
        wait_for_ever(file, caller);
    }
    if ((flags & O_ACCMODE) != O_RDONLY) {
        errno = EROFS;
        return -1;
    }
    struct open *open = files_open(file, caller);
    return open ? files_descriptor(open) : -1;
}

static int my_open(const char *path, int flags, ...)
{
    return open_path(path, flags, CALLER);
}

static const char *below(int folder, const char *path)
{
    struct open *open = *path == '/' || folder == AT_FDCWD ? NULL : files_of_descriptor(folder);
    return open ? keep_text("%s/%s", open->file->path, path) : path;
}

static int my_openat(int folder, const char *path, int flags, ...)
{
    return open_path(below(folder, path), flags, CALLER);
}

static int my_close(int descriptor)
{
    struct open *open = files_of_descriptor(descriptor);
    if (!open) {
        return descriptor < FIRST_DESCRIPTOR ? close(descriptor) : -1;
    }
    open->file = NULL;
    return 0;
}

static ssize_t read_at(const struct open *open, void *to, size_t size, size_t from)
{
    if (open->file->kind == FILE_FOLDER) {
        errno = EISDIR;
        return -1;
    }
    size_t left = from < open->file->size ? open->file->size - from : 0;
    size = size < left ? size : left;
    memcpy(to, open->file->data, size ? size : 0);
    return (ssize_t)size;
}

static ssize_t my_read(int descriptor, void *to, size_t size)
{
    struct open *open = files_of_descriptor(descriptor);
    ssize_t got = open ? read_at(open, to, size, open->at) : -1;
    if (got > 0) {
        open->at += (size_t)got;
    }
    return got;
}

static ssize_t my_pread(int descriptor, void *to, size_t size, off_t from)
{
    struct open *open = files_of_descriptor(descriptor);
    return open ? read_at(open, to, size, (size_t)from) : -1;
}

static off_t my_lseek(int descriptor, off_t by, int from)
{
    struct open *open = files_of_descriptor(descriptor);
    if (!open) {
        return -1;
    }
    off_t start = from == SEEK_CUR ? (off_t)open->at : from == SEEK_END ? (off_t)open->file->size : 0;
    if (start + by < 0) {
        errno = EINVAL;
        return -1;
    }
    open->at = (size_t)(start + by);
    return start + by;
}

/* --- what a file is --- */

static int about(const struct file *file, struct stat *to)
{
    if (!file) {
        return -1;
    }
    bool folder = file->kind == FILE_FOLDER;
    memset(to, 0, sizeof *to);
    to->st_mode = folder ? S_IFDIR | 0755 : S_IFREG | (file->kind == FILE_UNREADABLE ? 0 : 0644);
    if (file->kind == FILE_DANGLING_LINK || file->kind == FILE_LOOP) {
        to->st_mode = S_IFLNK | 0777;
    }
    to->st_mode = file->kind == FILE_FIFO ? S_IFIFO | 0644 : to->st_mode;
    to->st_size = folder ? 4096 : (off_t)file->size;
    to->st_ino = (ino_t)(uintptr_t)file;
    to->st_dev = 1;
    to->st_nlink = 1;
    to->st_blksize = 4096;
    to->st_blocks = (to->st_size + 511) / 512;
    return 0;
}

static int my_stat(const char *path, struct stat *to)
{
    return about(files_find(path, false), to);
}

static int my_lstat(const char *path, struct stat *to)
{
    struct file *file = world_find(path);
    int result = file ? about(file, to) : my_stat(path, to);
    if (file && file->kind == FILE_LINK) {
        to->st_mode = S_IFLNK | 0777;
    }
    return result;
}

static int my_fstat(int descriptor, struct stat *to)
{
    struct open *open = files_of_descriptor(descriptor);
    return open ? about(open->file, to) : -1;
}

static int my_fstatat(int folder, const char *path, struct stat *to, int flags)
{
    if (!*path && (flags & AT_EMPTY_PATH)) {
        return my_fstat(folder, to);
    }
    path = below(folder, path);
    return flags & AT_SYMLINK_NOFOLLOW ? my_lstat(path, to) : my_stat(path, to);
}

static int my_xstat(int version, const char *path, struct stat *to)
{
    (void)version;
    return my_stat(path, to);
}

static int my_lxstat(int version, const char *path, struct stat *to)
{
    (void)version;
    return my_lstat(path, to);
}

static int my_fxstat(int version, int descriptor, struct stat *to)
{
    (void)version;
    return my_fstat(descriptor, to);
}

static int my_access(const char *path, int mode)
{
    struct file *file = files_find(path, (mode & R_OK) != 0);
    if (file && (mode & W_OK)) {
        errno = EROFS;
        return -1;
    }
    return file ? 0 : -1;
}

static char *my_realpath(const char *path, char *to)
{
    struct file *file = files_find(path, false);
    if (!file) {
        return NULL;
    }
    return to ? memcpy(to, file->path, strlen(file->path) + 1) : heap_adopt(strdup(file->path));
}

/* --- streams --- */

static FILE *stream_of(struct open *open)
{
    static const char nothing[1];
    if (!open) {
        return NULL;
    }
    const struct file *file = open->file;
    void *data = file->size ? (void *)(uintptr_t)file->data : (void *)(uintptr_t)nothing;
    open->stream = file->kind == FILE_FOLDER ? NULL : fmemopen(data, file->size, "r");
    if (!open->stream && file->kind != FILE_FOLDER) {
        open->file = NULL;
    }
    if (file->kind == FILE_FOLDER) {
        open->stream = fopen("/", "r"); /* can be opened; reading it is EISDIR */
    }
    open->is_stream = open->stream != NULL;
    return open->stream;
}

static FILE *my_fopen(const char *path, const char *mode)
{
    struct file *file = files_find(path, true);
    if (file && file->kind == FILE_FIFO) {
        wait_for_ever(file, CALLER);
    }
    if (file && (*mode != 'r' || strchr(mode, '+'))) {
        errno = EROFS;
        return NULL;
    }
    return file ? stream_of(files_open(file, CALLER)) : NULL;
}

static FILE *my_fdopen(int descriptor, const char *mode)
{
    (void)mode;
    return stream_of(files_of_descriptor(descriptor));
}

static int my_fclose(FILE *stream)
{
    for (size_t i = 0; i < highest; i++) {
        if (opened[i].file && opened[i].stream == stream) {
            opened[i].file = NULL;
            break;
        }
    }
    return fclose(stream);
}

static int my_fileno(FILE *stream)
{
    for (size_t i = 0; i < highest; i++) {
        if (opened[i].file && opened[i].stream == stream) {
            return FIRST_DESCRIPTOR + (int)i;
        }
    }
    return fileno(stream);
}

const struct import file_imports[] = {
    FUNCTION("open", my_open),
    FUNCTION("open64", my_open),
    FUNCTION("__open_2", my_open),
    FUNCTION("__open64_2", my_open),
    FUNCTION("openat", my_openat),
    FUNCTION("openat64", my_openat),
    FUNCTION("__openat_2", my_openat),
    FUNCTION("__openat64_2", my_openat),
    FUNCTION("close", my_close),
    FUNCTION("read", my_read),
    FUNCTION("__read_chk", my_read),
    FUNCTION("pread", my_pread),
    FUNCTION("pread64", my_pread),
    FUNCTION("lseek", my_lseek),
    FUNCTION("lseek64", my_lseek),
    FUNCTION("stat", my_stat),
    FUNCTION("stat64", my_stat),
    FUNCTION("lstat", my_lstat),
    FUNCTION("lstat64", my_lstat),
    FUNCTION("fstat", my_fstat),
    FUNCTION("fstat64", my_fstat),
    FUNCTION("fstatat", my_fstatat),
    FUNCTION("fstatat64", my_fstatat),
    FUNCTION("__xstat", my_xstat),
    FUNCTION("__xstat64", my_xstat),
    FUNCTION("__lxstat", my_lxstat),
    FUNCTION("__lxstat64", my_lxstat),
    FUNCTION("__fxstat", my_fxstat),
    FUNCTION("__fxstat64", my_fxstat),
    FUNCTION("access", my_access),
    FUNCTION("realpath", my_realpath),
    FUNCTION("fopen", my_fopen),
    FUNCTION("fopen64", my_fopen),
    FUNCTION("fdopen", my_fdopen),
    FUNCTION("fclose", my_fclose),
    FUNCTION("fileno", my_fileno),
    {NULL, NULL, NULL},
};

/* --- what is left --- */

void files_report_leaks(void)
{
    for (size_t i = 0; i < highest; i++) {
        if (opened[i].file) {
            finding("leak", keep_text("open-file@%s", where(opened[i].opener)),
                    "%s, which the loader opened in %s, is open after it ended", opened[i].file->path,
                    where(opened[i].opener));
        }
    }
}

void files_reset(void)
{
    for (size_t i = 0; i < highest; i++) {
        if (opened[i].file && opened[i].is_stream) {
            fclose(opened[i].stream);
        }
        opened[i].file = NULL;
    }
    highest = 0;
}
