/* SPDX-License-Identifier: Apache-2.0 */
/* The same files and folders, really there: below a temporary folder, which stands for "/" where the loader names a
 * path. Slower than from memory; for loaders that read files in ways that files.c does not know
 * (CLHARNESS_FUZZ_FILES=real).
 */
#define _GNU_SOURCE
#include "internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[64];
static unsigned long written; /* the input whose files are there */
static int first_descriptor;  /* none from here on is open when an input begins */

static int take_away(const char *path, const struct stat *about, int kind, struct FTW *place)
{
    (void)about;
    (void)kind;
    return place->level ? remove(path) : 0;
}

static void empty(void)
{
    nftw(root, take_away, 16, FTW_DEPTH | FTW_PHYS);
}

static void remove_all(void)
{
    empty();
    rmdir(root);
}

static const char *below_root(const char *path)
{
    return keep_text("%s%s%s", root, *path == '/' ? "" : "/", path);
}

static bool make_regular(const struct file *file, const char *path)
{
    int to = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, file->kind == FILE_UNREADABLE ? 0 : 0644);
    bool whole = to >= 0 && write(to, file->data, file->size) == (ssize_t)file->size;
    if (to >= 0) {
        close(to);
    }
    return whole;
}

static bool make_file(const struct file *file, const char *path)
{
    if (file->kind == FILE_FOLDER) {
        return mkdir(path, 0755) == 0 || errno == EEXIST;
    }
    if (file->kind == FILE_DANGLING_LINK || file->kind == FILE_LOOP) {
        return symlink(file->kind == FILE_LOOP ? path : below_root("/missing"), path) == 0;
    }
    if (file->kind == FILE_FIFO) {
        return mkfifo(path, 0644) == 0;
    }
    if (file->kind == FILE_LINK) {
        const char *target = below_root(keep_text("/.linked%08x", file->hash));
        return make_regular(file, target) && symlink(target, path) == 0;
    }
    return make_regular(file, path);
}

static void write_file(const struct file *file)
{
    const char *path = below_root(file->path);
    /* From memory there are names that no file system has: such files are not there. */
    if (!make_file(file, path) && errno != ENAMETOOLONG && errno != ENOENT && errno != ENOTDIR) {
        stop("%s cannot be written: %s", path, strerror(errno));
    }
}

/* Where a path of the loader leads. Root reads what nobody may: such files are as if they were not there. */
static const char *real_path(const char *path)
{
    if (written != input_number) {
        empty();
        for (const struct file *file = world_files; file; file = file->next) {
            if (file->kind != FILE_UNREADABLE || geteuid() != 0) {
                write_file(file);
            }
        }
        written = input_number;
    }
    return below_root(path);
}

static int real_open(const char *path, int flags, ...)
{
    return open(real_path(path), flags & ~O_CREAT);
}

static int real_openat(int folder, const char *path, int flags, ...)
{
    bool from_root = *path == '/' || folder == AT_FDCWD;
    return openat(folder, from_root ? real_path(path) : path, flags & ~O_CREAT);
}

static FILE *real_fopen(const char *path, const char *mode)
{
    return fopen(real_path(path), *mode == 'r' ? "r" : "r+");
}

static DIR *real_opendir(const char *path)
{
    return opendir(real_path(path));
}

static int real_scandir(const char *path, struct dirent ***list, int (*wanted)(const struct dirent *),
                        int (*order)(const struct dirent **, const struct dirent **))
{
    int count = scandir(real_path(path), list, wanted, order);
    for (int i = 0; i < count; i++) {
        heap_adopt((*list)[i]);
    }
    return count >= 0 ? (heap_adopt(*list), count) : count;
}

static int real_stat(const char *path, struct stat *to)
{
    return stat(real_path(path), to);
}

static int real_lstat(const char *path, struct stat *to)
{
    return lstat(real_path(path), to);
}

static int real_xstat(int version, const char *path, struct stat *to)
{
    (void)version;
    return stat(real_path(path), to);
}

static int real_access(const char *path, int mode)
{
    return access(real_path(path), mode);
}

const struct import real_file_imports[] = {
    FUNCTION("open", real_open),         FUNCTION("open64", real_open),         FUNCTION("__open_2", real_open),
    FUNCTION("__open64_2", real_open),   FUNCTION("openat", real_openat),       FUNCTION("openat64", real_openat),
    FUNCTION("__openat_2", real_openat), FUNCTION("__openat64_2", real_openat), FUNCTION("fopen", real_fopen),
    FUNCTION("fopen64", real_fopen),     FUNCTION("opendir", real_opendir),     FUNCTION("scandir", real_scandir),
    FUNCTION("scandir64", real_scandir), FUNCTION("stat", real_stat),           FUNCTION("stat64", real_stat),
    FUNCTION("lstat", real_lstat),       FUNCTION("lstat64", real_lstat),       FUNCTION("__xstat", real_xstat),
    FUNCTION("__xstat64", real_xstat),   FUNCTION("access", real_access),       {NULL, NULL, NULL},
};

void real_files_use(void)
{
    const char *folder = getenv("TMPDIR");
    snprintf(root, sizeof root, "%s/clharness-fuzz-XXXXXX", folder && strlen(folder) < 32 ? folder : "/tmp");
    if (!mkdtemp(root)) {
        stop("no temporary folder can be made: %s", strerror(errno));
    }
    atexit(remove_all);
    first_descriptor = dup(STDERR_FILENO);
    close(first_descriptor);
}

bool real_files_are_used(void)
{
    return *root;
}

void real_files_report_leaks(void)
{
    for (int i = first_descriptor; i < first_descriptor + 64; i++) {
        if (fcntl(i, F_GETFD) >= 0) {
            char link[32];
            char target[256] = "";
            snprintf(link, sizeof link, "/proc/self/fd/%d", i);
            if (readlink(link, target, sizeof target - 1) >= 0 && strncmp(target, root, strlen(root)) == 0) {
                finding("leak", "open-file", "%s is open after the end of the loader", target + strlen(root));
            }
        }
    }
}

void real_files_reset(void)
{
    if (*root) {
        close_range((unsigned)first_descriptor, (unsigned)first_descriptor + 63, 0);
    }
}
