/* SPDX-License-Identifier: Apache-2.0 */
/* See guard_files.h. */
#define _GNU_SOURCE
#include "guard_files.h"
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#define SHARED_FILES "/dev/shm"
#define SANDBOX "clharness-case-" /* how the names of sandboxes begin (harness/sandbox/sandbox.py) */
enum { MAX_KEPT = 1024 };         /* entries of a place */

/* Of <linux/mount.h>, and calls for which older C libraries have no function. */
enum { OPEN_TREE = 428, MOVE_MOUNT = 429, TREE_CLONE = 1, MOVE_FROM_DESCRIPTOR = 4 };
#ifndef AT_RECURSIVE
#define AT_RECURSIVE 0x8000
#endif

/* A file or a folder that stays what it is in a place that becomes the program's own, or a link that is made again. */
struct kept {
    char name[NAME_MAX + 1];
    mode_t mode;
    int tree;     /* descriptor of its mount */
    char *target; /* of a link */
};

struct place {
    int folder;
    int count;
    struct kept kept[MAX_KEPT];
};

static char own_places[2][PATH_MAX];
static int own_count;

/* Whether a library that is tested lies there, as in the self-test: the harness names such sandboxes, with a / after
 * each. */
static bool is_shared(const char *sandbox)
{
    const char *names = getenv("CLHARNESS_SHARED");
    for (size_t length = strcspn(names ? names : "", "/"); names && *names; length = strcspn(names, "/")) {
        if (length == strlen(sandbox) && strncmp(names, sandbox, length) == 0) {
            return true;
        }
        names += length + 1;
    }
    return false;
}

static bool is_sandbox(const char *name)
{
    return strncmp(name, SANDBOX, strlen(SANDBOX)) == 0;
}

static char *read_link(int folder, const char *name)
{
    char target[PATH_MAX];
    ssize_t length = readlinkat(folder, name, target, sizeof target);
    return length < 0 ? NULL : strndup(target, (size_t)length);
}

/* Keeps an entry of the kind that is wanted. What cannot be kept is not there for the program. */
static void keep(struct place *place, const char *name, bool wants_folders)
{
    struct stat state;
    if (place->count == MAX_KEPT || fstatat(place->folder, name, &state, AT_SYMLINK_NOFOLLOW) != 0 ||
        S_ISDIR(state.st_mode) != wants_folders) {
        return;
    }
    struct kept *kept = &place->kept[place->count];
    *kept = (struct kept){.mode = state.st_mode, .tree = -1};
    if (S_ISLNK(state.st_mode)) {
        kept->target = read_link(place->folder, name);
    } else {
        int flags = TREE_CLONE | AT_RECURSIVE | AT_SYMLINK_NOFOLLOW | O_CLOEXEC;
        kept->tree = (int)syscall(OPEN_TREE, place->folder, name, flags);
    }
    snprintf(kept->name, sizeof kept->name, "%s", name);
    place->count += kept->target || kept->tree >= 0;
}

/* Keeps all but the sandboxes of others: sandboxes first, then folders, then files, as far as there is room. */
static void keep_all(struct place *place, const char *own)
{
    DIR *entries = fdopendir(dup(place->folder));
    for (int turn = 0; entries && turn < 3; turn++) {
        rewinddir(entries);
        for (struct dirent *entry = readdir(entries); entry; entry = readdir(entries)) {
            const char *name = entry->d_name;
            bool is_seen = !is_sandbox(name) || strcmp(name, own) == 0 || is_shared(name);
            if (is_seen && (turn == 0) == is_sandbox(name) && strcmp(name, ".") != 0 && strcmp(name, "..") != 0) {
                keep(place, name, turn < 2);
            }
        }
    }
    if (entries) {
        closedir(entries);
    }
}

/* Whether it is again where it was, in the new place. */
static bool put_back(int place, const struct kept *kept)
{
    if (kept->target) {
        return symlinkat(kept->target, place, kept->name) == 0;
    }
    int file =
        S_ISDIR(kept->mode) ? mkdirat(place, kept->name, 0700) : openat(place, kept->name, O_CREAT | O_CLOEXEC, 0600);
    if (file > 0) {
        close(file);
    }
    return file >= 0 && syscall(MOVE_MOUNT, kept->tree, "", place, kept->name, MOVE_FROM_DESCRIPTOR) == 0;
}

/* A file system over the old place, for at most so many bytes, a quarter of the memory, and no more files than a
 * sandbox may have. */
static bool cover(const char *path, int folder, uint64_t size)
{
    char options[96];
    struct stat state;
    struct sysinfo machine;
    if (fstat(folder, &state) != 0 || sysinfo(&machine) != 0) {
        return false;
    }
    uint64_t most = (uint64_t)machine.totalram * machine.mem_unit / 4;
    snprintf(options, sizeof options, "mode=%o,size=%" PRIu64 ",nr_inodes=100k", state.st_mode & 07777U,
             size < most ? size : most);
    return mount("clharness", path, "tmpfs", 0, options) == 0;
}

/* Makes a place the program's own; gives whether it is that. */
static bool leave_place(const char *path, const char *own, uint64_t size)
{
    static struct place place;
    place.count = 0;
    place.folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (place.folder < 0) {
        return false;
    }
    keep_all(&place, own);
    bool is_new = cover(path, place.folder, size);
    close(place.folder);
    place.folder = is_new ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    bool whole = place.folder >= 0;
    for (int i = 0; i < place.count; i++) {
        bool is_back = whole && put_back(place.folder, &place.kept[i]);
        whole = whole && (is_back || !is_sandbox(place.kept[i].name));
        free(place.kept[i].target);
        close(place.kept[i].tree);
    }
    close(place.folder);
    if (is_new && !whole) {
        umount2(path, MNT_DETACH);
    } else if (is_new) {
        snprintf(own_places[own_count++], PATH_MAX, "%s", path);
    }
    return whole;
}

bool shared_files_are_own(void)
{
    return own_count > 0;
}

bool return_to_shared_files(void)
{
    bool done = true;
    while (own_count > 0) {
        done = umount2(own_places[--own_count], MNT_DETACH) == 0 && done;
    }
    return done;
}

bool leave_shared_files(uint64_t size)
{
    char here[PATH_MAX];
    char own[PATH_MAX];
    char above[PATH_MAX];
    if (!getcwd(here, sizeof here)) {
        return false;
    }
    snprintf(own, sizeof own, "%s", strrchr(here, '/') + 1);
    snprintf(above, sizeof above, "%s", here);
    char *parent = dirname(above);
    if (!is_sandbox(own)) {
        return true; /* a program of the harness's own, which has no sandbox */
    }
    bool whole = leave_place(SHARED_FILES, own, size);
    if (strcmp(parent, SHARED_FILES) != 0) {
        whole = leave_place(parent, own, size) && whole;
    }
    return chdir(here) == 0 && whole;
}

/* Puts an empty folder in the place of one of the machine's. */
static void hide_folder(const char *path)
{
    struct stat state;
    if (stat(path, &state) == 0 && S_ISDIR(state.st_mode)) {
        mount("clharness", path, "tmpfs", MS_RDONLY | MS_NOSUID | MS_NODEV, "mode=755,size=4k");
    }
}

void hide_own_vendors(void)
{
    static const char *const folders[] = {"/etc/OpenCL/vendors", "/etc/OpenCL/layers",
                                          "/system/vendor/Khronos/OpenCL/vendors"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        hide_folder(folders[i]);
    }
    const char *more = getenv("CLHARNESS_HIDDEN");
    for (size_t length = strcspn(more ? more : "", ":"); more && *more; length = strcspn(more, ":")) {
        char path[PATH_MAX];
        if (length < sizeof path) {
            snprintf(path, sizeof path, "%.*s", (int)length, more);
            hide_folder(path);
        }
        more += length + (more[length] == ':');
    }
}

/* The first of the names in a list with colons, and what comes after it; NULL where there is none. */
static const char *next_name(const char *list, char name[PATH_MAX])
{
    size_t length = strcspn(list, ":");
    if (length == 0 || length >= PATH_MAX) {
        return NULL;
    }
    snprintf(name, PATH_MAX, "%.*s", (int)length, list);
    return list + length + (list[length] == ':');
}

static bool make_read_only(const char *path)
{
    struct statvfs about;
    if (mount(path, path, NULL, MS_BIND | MS_REC, NULL) != 0 || statvfs(path, &about) != 0) {
        return false;
    }
    /* What the mount is like already must stay, where others made it. */
    unsigned long flags = about.f_flag & (MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_NOATIME | MS_NODIRATIME);
    flags |= about.f_flag & ST_RELATIME ? MS_RELATIME : 0;
    return mount(NULL, path, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | flags, NULL) == 0;
}

void keep_folder(void)
{
    char here[PATH_MAX];
    char whole[PATH_MAX];
    char name[PATH_MAX];
    const char *names = getenv("CLHARNESS_KEPT");
    names = names ? next_name(names, whole) : NULL;
    if (!names) {
        return;
    }
    for (names = next_name(names, name); names; names = next_name(names, name)) {
        if (mount(name, name, NULL, MS_BIND | MS_REC, NULL) != 0) {
            return;
        }
    }
    /* Names from the working folder on lead through the new mounts only if that is looked up again. */
    if (make_read_only(whole) && getcwd(here, sizeof here) && chdir(here) != 0) {
        _exit(126);
    }
}
