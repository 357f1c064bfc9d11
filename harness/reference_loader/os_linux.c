/* SPDX-License-Identifier: Apache-2.0 */
/* Linux: threads, the dynamic linker, the environment, and configuration files. */
#define _GNU_SOURCE
#include "loader.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t watched = PTHREAD_ONCE_INIT;

/* A child has the thread that forked and no other: one that was in discovery will not unlock. What it had found stays,
 * and discovery begins again. */
static void in_child(void)
{
    pthread_mutex_init(&lock, NULL);
}

static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, in_child);
}

void discovery_lock(void)
{
    pthread_once(&watched, watch_forks);
    pthread_mutex_lock(&lock);
}

void discovery_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

uintptr_t thread_number(void)
{
    return (uintptr_t)pthread_self();
}

/* All symbols at once, so that a library that lacks one is ignored here and not a crash later; and locally, so that
 * vendors do not see one another (grey area 19: the text says dlopen, not with which flags). The empty name would be
 * the program itself (grey area 16: ignored). */
void *library_open(const char *name)
{
    return *name ? dlopen(name, RTLD_NOW | RTLD_LOCAL) : NULL;
}

void library_close(void *library)
{
    dlclose(library);
}

static char inside; /* this library */

/* dlsym looks into what a library needs, too: a vendor's own dependency may have its functions, the loader may not. */
entry library_symbol(void *library, const char *name)
{
    void *symbol = dlsym(library, name);
    Dl_info self;
    Dl_info about;
    bool own = symbol && dladdr(&inside, &self) && dladdr(symbol, &about) && about.dli_fbase == self.dli_fbase;
    return own ? NULL : (entry)(uintptr_t)symbol;
}

bool library_is_self(void *library)
{
    Dl_info self;
    void *own = dladdr(&inside, &self) ? dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    if (own) {
        dlclose(own);
    }
    return own != NULL && own == library;
}

/* Grey area 22: no OpenCL text keeps a set-uid program from running a library of its caller's choice; we do. */
char *selecting_variable(const char *name)
{
    const char *value = secure_getenv(name);
    return value ? strdup(value) : NULL;
}

bool variable_is_true(const char *name)
{
    const char *value = getenv(name);
    return value && (strcmp(value, "True") == 0 || strcmp(value, "true") == 0 || strcmp(value, "T") == 0 ||
                     strcmp(value, "1") == 0);
}

/* The first line of a regular file, without its newline; NULL where there is none. To be given to free().
 *
 * ICD "ICD Loader Vendor Enumeration on Linux": a single line of text, which is the name of the library. Nothing else
 * of the line is taken for something else (grey area 15: blanks, carriage returns and comment signs are part of the
 * name; what follows the line is not read), and an empty one is passed over (16). Opened without waiting, because a
 * FIFO would wait for its writer; a line longer than any path is not read to its end. */
static char *first_line(int folder, const char *name)
{
    struct stat status;
    char *line = NULL;
    int file = openat(folder, name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (file < 0) {
        return NULL;
    }
    if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && (line = calloc(1, PATH_MAX + 1)) != NULL) {
        ssize_t length = read(file, line, PATH_MAX + 1);
        char *end = length > 0 ? memchr(line, '\n', (size_t)length) : NULL;
        if (end) {
            *end = '\0';
        }
        if (length <= 0 || (!end && length > PATH_MAX) || *line == '\0') {
            free(line);
            line = NULL;
        }
    }
    close(file);
    return line;
}

static bool has_suffix(const char *name, const char *suffix)
{
    size_t length = strlen(name);
    return length >= strlen(suffix) && strcmp(name + length - strlen(suffix), suffix) == 0;
}

/* In the order of names (grey area 35: the texts leave it open; a defined one spares users surprises). Only names that
 * end in the suffix count (14: the text says every file, all loaders leave editors' and packages' spare copies out). */
void folder_each(const char *folder, const char *suffix, void (*use)(const char *library))
{
    struct dirent **entries;
    int count = scandir(folder, &entries, NULL, alphasort);
    int fd = count < 0 ? -1 : open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int i = 0; i < count; i++) {
        char *line = fd >= 0 && has_suffix(entries[i]->d_name, suffix) ? first_line(fd, entries[i]->d_name) : NULL;
        if (line) {
            use(line);
            free(line);
        }
        free(entries[i]);
    }
    if (count >= 0) {
        free(entries);
    }
    if (fd >= 0) {
        close(fd);
    }
}
