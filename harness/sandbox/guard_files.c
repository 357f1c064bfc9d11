/* SPDX-License-Identifier: Apache-2.0 */
/* See guard_files.h. */
#define _GNU_SOURCE
#include "guard_files.h"
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SHARED_FILES "/dev/shm"
#define SANDBOX "clharness-case-" /* how the names of sandboxes begin (harness/sandbox/sandbox.py) */
enum { MAX_KEPT = 256 };          /* entries of SHARED_FILES */

/* Of <linux/mount.h>, and calls for which older C libraries have no function. */
enum { OPEN_TREE = 428, MOVE_MOUNT = 429, TREE_CLONE = 1, MOVE_FROM_DESCRIPTOR = 4 };
#ifndef AT_RECURSIVE
#define AT_RECURSIVE 0x8000
#endif

/* A file or a folder that stays what it is in a place that becomes the program's own. */
struct kept {
    char name[NAME_MAX + 1];
    bool is_folder;
    int tree; /* descriptor of its mount */
};

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

/* Reads what stays: all but the sandboxes of others. Gives the number, or -1 where there is too much. */
static int read_kept(int place, const char *own, struct kept *kept)
{
    int count = 0;
    struct stat state;
    DIR *entries = fdopendir(dup(place));
    for (struct dirent *entry = entries ? readdir(entries) : NULL; entry; entry = readdir(entries)) {
        const char *name = entry->d_name;
        bool of_others = strncmp(name, SANDBOX, strlen(SANDBOX)) == 0 && strcmp(name, own) != 0 && !is_shared(name);
        if (of_others || strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
            fstatat(place, name, &state, AT_SYMLINK_NOFOLLOW) != 0 || S_ISLNK(state.st_mode)) {
            continue;
        }
        if (count == MAX_KEPT) {
            count = -1;
            break;
        }
        int tree = (int)syscall(OPEN_TREE, place, name, TREE_CLONE | AT_RECURSIVE | AT_SYMLINK_NOFOLLOW | O_CLOEXEC);
        if (tree >= 0) {
            snprintf(kept[count].name, sizeof kept->name, "%s", name);
            kept[count].is_folder = S_ISDIR(state.st_mode);
            kept[count++].tree = tree;
        }
    }
    if (entries) {
        closedir(entries);
    }
    return count;
}

/* Whether it is again where it was, in the new place. */
static bool put_back(int place, const struct kept *kept)
{
    int file =
        kept->is_folder ? mkdirat(place, kept->name, 0700) : openat(place, kept->name, O_CREAT | O_CLOEXEC, 0600);
    if (file > 0) {
        close(file);
    }
    return file >= 0 && syscall(MOVE_MOUNT, kept->tree, "", place, kept->name, MOVE_FROM_DESCRIPTOR) == 0;
}

void leave_shared_files(void)
{
    static struct kept kept[MAX_KEPT];
    char here[PATH_MAX];
    size_t length = strlen(SHARED_FILES);
    if (!getcwd(here, sizeof here) || strncmp(here, SHARED_FILES "/" SANDBOX, length + 1 + strlen(SANDBOX)) != 0) {
        return;
    }
    char *own = strndup(here + length + 1, strcspn(here + length + 1, "/"));
    int place = open(SHARED_FILES, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int count = own && place >= 0 ? read_kept(place, own, kept) : -1;
    bool is_new = count > 0 && mount("clharness", SHARED_FILES, "tmpfs", 0, "mode=1777,size=25%") == 0;
    close(place);
    place = is_new ? open(SHARED_FILES, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    bool whole = place >= 0;
    for (int i = 0; i < count; i++) {
        whole = whole && put_back(place, &kept[i]);
        close(kept[i].tree);
    }
    close(place);
    if (is_new && (!whole || chdir(here) != 0)) {
        umount2(SHARED_FILES, MNT_DETACH);
    }
    free(own);
}
