/* SPDX-License-Identifier: Apache-2.0 */
/* The dynamic linker, as the loader finds it: libraries of the input, which answer as the target says. */
#define _GNU_SOURCE
#include "internal.h"

#include <dlfcn.h>
#include <limits.h>
#include <string.h>

static const char *failure;
static unsigned closings; /* in this life of the loader */

/* What stands for the program itself (dlopen(NULL) and dlopen("")): an application that is linked to the loader. */
static void *of_program(const struct library *library, const char *name)
{
    (void)library;
    return dlsym(subject->handle, name);
}

static struct library program = {.name = "the program", .symbol = of_program};

static struct library *named(const char *name)
{
    const struct file *file = strchr(name, '/') ? world_find(name) : NULL;
    const char *wanted = file ? file->path : name;
    uint32_t hash = world_hash(wanted);
    for (size_t i = 0; i < world_library_count; i++) {
        const char *own = world_libraries[i].name;
        if (world_libraries[i].hash == hash && texts_equal(own, wanted) && (file || *own != '/')) {
            return &world_libraries[i];
        }
    }
    return NULL;
}

/* What a vendor or a layer exports is nobody else's (DISC-LNX-033, LAY-DSC-016), what the program has comes first, and
 * what can be unloaded goes with its last handle. */
static void check_flags(const struct library *library, int flags)
{
    if (flags & (RTLD_GLOBAL | RTLD_DEEPBIND | RTLD_NODELETE)) {
        finding("wrong", keep_text("flags@%s", where(library->opener)), "the loader opens %s with%s%s%s", library->name,
                flags & RTLD_GLOBAL ? " RTLD_GLOBAL" : "", flags & RTLD_DEEPBIND ? " RTLD_DEEPBIND" : "",
                flags & RTLD_NODELETE ? " RTLD_NODELETE" : "");
    }
}

static void *my_dlopen(const char *name, int flags)
{
    if (!(flags & (RTLD_NOW | RTLD_LAZY))) {
        failure = "invalid mode for dlopen(): Invalid argument";
        return NULL;
    }
    if (!name || !*name) {
        return &program;
    }
    if (texts_equal(name, subject->path) || texts_equal(name, "libOpenCL.so.1") ||
        texts_equal(name, "/lib/libOpenCL.so.1")) {
        return &program; /* the loader itself, which is loaded already */
    }
    struct library *library = named(name);
    if (!library || ((flags & RTLD_NOLOAD) && library->opened == library->closed)) {
        failure = keep_text("%.4096s: cannot open shared object file: No such file or directory", name);
        return NULL;
    }
    library->opened++;
    library->opener = (uintptr_t)__builtin_return_address(0);
    check_flags(library, flags);
    return library;
}

/* The library of a handle that is open; anything else is an error of the loader. */
static struct library *library_of(void *handle, const char *what)
{
    struct library *library = handle;
    if (library == &program) {
        return library;
    }
    if (library < world_libraries || library >= world_libraries + world_library_count) {
        finding("wrong", keep_text("%s-of-no-handle", what), "the loader called %s with %p, which is not a handle",
                what, handle);
        return NULL;
    }
    if (library->opened == library->closed) {
        finding("wrong", keep_text("%s-of-closed-library", what),
                "the loader called %s with the handle of %s after it had closed it as often as it had opened it", what,
                library->name);
        return NULL;
    }
    return library;
}

static void *my_dlsym(void *handle, const char *name)
{
    if (handle == RTLD_DEFAULT || handle == RTLD_NEXT) {
        return NULL;
    }
    struct library *library = library_of(handle, "dlsym");
    void *entry = library ? library->symbol(library, name) : NULL;
    if (!entry) {
        failure = keep_text("%s: undefined symbol: %.200s", library ? library->name : "?", name);
    }
    return entry;
}

static void *my_dlvsym(void *handle, const char *name, const char *version)
{
    (void)version;
    return my_dlsym(handle, name);
}

static int my_dlclose(void *handle)
{
    struct library *library = library_of(handle, "dlclose");
    if (library && library != &program) {
        library->closed++;
        library->close_number = ++closings;
    }
    return library ? 0 : -1;
}

/* Libraries of the input are in no file: what asks where one is gets no answer. */
static int my_dlinfo(void *handle, int request, void *answer)
{
    (void)handle;
    (void)request;
    (void)answer;
    failure = "no information";
    return -1;
}

static int my_dladdr(const void *address, void *answer)
{
    (void)address;
    (void)answer;
    return 0;
}

static char *my_dlerror(void)
{
    char *last = (char *)(uintptr_t)failure;
    failure = NULL;
    return last;
}

const struct import library_imports[] = {
    FUNCTION("dlopen", my_dlopen),   FUNCTION("dlsym", my_dlsym),
    FUNCTION("dlvsym", my_dlvsym),   FUNCTION("dlclose", my_dlclose),
    FUNCTION("dlerror", my_dlerror), FUNCTION("dlinfo", my_dlinfo),
    FUNCTION("dladdr", my_dladdr),   {NULL, NULL, NULL},
};

void libraries_reset(void)
{
    failure = NULL;
    closings = 0;
}
