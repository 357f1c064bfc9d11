/* SPDX-License-Identifier: Apache-2.0 */
/* Libraries of the process, by the names that POSIX has for that. */
#ifndef CLHARNESS_WINDOWS_DLFCN_H
#define CLHARNESS_WINDOWS_DLFCN_H

#define RTLD_LAZY 1
#define RTLD_NOW 2
#define RTLD_NOLOAD 4
#define RTLD_LOCAL 0
#define RTLD_GLOBAL 8
#define RTLD_DEFAULT ((void *)0)

typedef struct {
    const char *dli_fname; /* as this system writes it */
    void *dli_fbase;
} Dl_info;

void *dlopen(const char *path, int flags);
/* NULL for RTLD_DEFAULT: this system has no such search. */
void *dlsym(void *library, const char *name);
int dlclose(void *library);
/* The name stays until the next call in this thread. */
int dladdr(const void *address, Dl_info *info);

#endif
