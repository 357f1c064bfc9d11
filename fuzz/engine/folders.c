/* SPDX-License-Identifier: Apache-2.0 */
/* Folders of the input, as the loader reads them: from memory. A DIR is what the loader has open (files.h). */
#define _GNU_SOURCE
#include "files.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static void rewind_folder(struct open *open)
{
    open->next_entry = world_files;
    open->dots = 0;
}

static DIR *folder_of(struct open *open)
{
    if (open) {
        rewind_folder(open);
    }
    return (DIR *)(void *)open;
}

static DIR *my_opendir(const char *path)
{
    struct file *file = files_find(path, true);
    if (file && file->kind != FILE_FOLDER) {
        errno = ENOTDIR;
        file = NULL;
    }
    return file ? folder_of(files_open(file, CALLER)) : NULL;
}

static DIR *my_fdopendir(int descriptor)
{
    struct open *open = files_of_descriptor(descriptor);
    if (open && open->file->kind != FILE_FOLDER) {
        errno = ENOTDIR;
        open = NULL;
    }
    return folder_of(open);
}

/* The name of a file, where it lies in a folder itself; else NULL. */
static const char *name_in(const struct file *folder, const struct file *file)
{
    size_t length = folder->path[1] ? strlen(folder->path) : 0;
    if (strncmp(file->path, folder->path, length) != 0 || file->path[length] != '/' || !file->path[length + 1]) {
        return NULL;
    }
    const char *name = file->path + length + 1;
    return strchr(name, '/') || strlen(name) > NAME_MAX ? NULL : name;
}

static unsigned char entry_type(enum file_kind kind)
{
    switch (kind) {
    case FILE_FOLDER:
        return DT_DIR;
    case FILE_DANGLING_LINK:
    case FILE_LOOP:
    case FILE_LINK:
        return DT_LNK;
    case FILE_UNTYPED:
        return DT_UNKNOWN;
    case FILE_FIFO:
        return DT_FIFO;
    default:
        return DT_REG;
    }
}

static struct dirent *my_readdir(DIR *folder)
{
    struct open *open = (struct open *)(void *)folder;
    const char *name = NULL;
    unsigned char type = DT_DIR;
    if (open->dots < 2) {
        name = open->dots++ ? ".." : ".";
    }
    while (!name && open->next_entry) {
        type = entry_type(open->next_entry->kind);
        name = name_in(open->file, open->next_entry);
        open->next_entry = open->next_entry->next;
    }
    if (!name) {
        return NULL;
    }
    open->entry = (struct dirent){.d_ino = 1, .d_reclen = sizeof open->entry, .d_type = type};
    memcpy(open->entry.d_name, name, strlen(name) + 1);
    return &open->entry;
}

static int my_readdir_r(DIR *folder, struct dirent *entry, struct dirent **result)
{
    struct dirent *next = my_readdir(folder);
    if (next) {
        *entry = *next;
    }
    *result = next ? entry : NULL;
    return 0;
}

static int my_closedir(DIR *folder)
{
    ((struct open *)(void *)folder)->file = NULL;
    return 0;
}

static void my_rewinddir(DIR *folder)
{
    rewind_folder((struct open *)(void *)folder);
}

static int my_dirfd(DIR *folder)
{
    return files_descriptor((struct open *)(void *)folder);
}

static void *loaders_memory(size_t size)
{
    static void *(*allocate)(size_t size);
    if (!allocate) {
        allocate = (void *(*)(size_t))heap_imports[0].function;
    }
    return allocate(size);
}

static int my_scandir(const char *path, struct dirent ***list, int (*wanted)(const struct dirent *),
                      int (*order)(const struct dirent **, const struct dirent **))
{
    DIR *folder = my_opendir(path);
    if (!folder) {
        return -1;
    }
    int count = 0;
    int room = 0;
    for (struct file *file = world_files; file; file = file->next) {
        room++;
    }
    *list = loaders_memory((size_t)(room + 2) * sizeof **list);
    for (struct dirent *entry; (entry = my_readdir(folder)) != NULL;) {
        if (!wanted || wanted(entry)) {
            (*list)[count] = loaders_memory(sizeof *entry);
            *(*list)[count++] = *entry;
        }
    }
    my_closedir(folder);
    if (order) {
        qsort(*list, (size_t)count, sizeof **list, (int (*)(const void *, const void *))(void (*)(void))order);
    }
    return count;
}

const struct import folder_imports[] = {
    FUNCTION("opendir", my_opendir),
    FUNCTION("fdopendir", my_fdopendir),
    FUNCTION("readdir", my_readdir),
    FUNCTION("readdir64", my_readdir),
    FUNCTION("closedir", my_closedir),
    FUNCTION("readdir_r", my_readdir_r),
    FUNCTION("dirfd", my_dirfd),
    FUNCTION("rewinddir", my_rewinddir),
    FUNCTION("scandir", my_scandir),
    FUNCTION("scandir64", my_scandir),
    {NULL, NULL, NULL},
};
