/* SPDX-License-Identifier: Apache-2.0 */
/* What the loader has open of the files from memory: shared by files.c, which keeps it, and folders.c. */
#ifndef CLHARNESS_FUZZ_FILES_H
#define CLHARNESS_FUZZ_FILES_H

#include "internal.h"

#include <dirent.h>

/* Something that the loader opened: a descriptor, a stream or a folder. */
struct open {
    const struct file *file; /* NULL: not in use */
    size_t at;
    FILE *stream;
    struct file *next_entry; /* of a folder */
    union {
        struct dirent entry;
        struct dirent64 entry64;
    };
    uintptr_t opener;
    int dots; /* of a folder: how many of its two were read */
    bool is_stream;
};

/* Notes a file as open, for the code of the loader at `opener`; NULL and errno where too many are. */
struct open *files_open(const struct file *file, uintptr_t opener);
/* What opening or asking for a path gives: the file, or NULL and errno. */
struct file *files_find(const char *path, bool to_open);
/* What has a descriptor, or NULL and errno; and the descriptor of what is open. */
struct open *files_of_descriptor(int descriptor);
int files_descriptor(const struct open *open);

#define CALLER ((uintptr_t)__builtin_return_address(0))

#endif
