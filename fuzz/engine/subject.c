/* SPDX-License-Identifier: Apache-2.0 */
/* The loader under test: loaded once, and put back into the state after loading before each input. */
#define _GNU_SOURCE
#include "internal.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* What a target is given where it does not say so itself. */
__attribute__((weak)) struct target_library target_library = {"libOpenCL.so.1", "clGetPlatformIDs",
                                                              "an OpenCL ICD loader"};

/* As the compiler's code calls it for variables of a thread in a library that was opened. */
struct thread_local_index {
    unsigned long module;
    unsigned long offset;
};
extern void *__tls_get_addr(struct thread_local_index *index);

/* What the dynamic linker makes read-only once it is filled in: the table of imports, among others. Whole pages. */
static struct span relocated;

static void protect_relocated(int protection)
{
    if (mprotect((void *)relocated.begin, relocated.end - relocated.begin, protection) != 0) {
        stop("the loader's table of imports cannot be changed");
    }
}

static int read_segments(struct dl_phdr_info *info, size_t size, void *data)
{
    struct subject *of = data;
    (void)size;
    if (info->dlpi_addr != of->base) {
        return 0;
    }
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    relocated = (struct span){0, 0};
    of->image = (struct span){UINTPTR_MAX, 0};
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uintptr_t begin = info->dlpi_addr + segment->p_vaddr;
        uintptr_t end = begin + segment->p_memsz;
        if (segment->p_type == PT_LOAD) {
            of->image.begin = begin < of->image.begin ? begin : of->image.begin;
            of->image.end = end > of->image.end ? end : of->image.end;
            if (segment->p_flags & PF_W) {
                of->writable[of->writable_count++] = (struct span){begin, end};
            }
        } else if (segment->p_type == PT_GNU_RELRO) {
            relocated = (struct span){begin & ~(page - 1), end & ~(page - 1)};
        } else if (segment->p_type == PT_TLS && segment->p_memsz) {
            struct thread_local_index index = {info->dlpi_tls_modid, 0};
            of->thread_data = __tls_get_addr(&index);
            of->thread_data_size = segment->p_memsz;
        }
    }
    return 1;
}

/* What is copied may be poisoned for the sanitizer (zones between variables), so that memcpy is not our own here. */
__attribute__((no_sanitize("address"))) static void copy(void *to, const void *from, size_t size)
{
    volatile uint64_t *words = to;
    const uint64_t *source = from;
    for (size_t i = 0; i < size / sizeof *words; i++) {
        words[i] = source[i];
    }
    for (size_t i = size / sizeof *words * sizeof *words; i < size; i++) {
        ((volatile char *)to)[i] = ((const char *)from)[i];
    }
}

static char *room_for(char *room, size_t size)
{
    room = room ? room : malloc(size + 1);
    if (!room) {
        stop("out of memory");
    }
    return room;
}

void subject_checkpoint(struct subject *of)
{
    for (size_t i = 0; i < of->writable_count; i++) {
        struct span span = of->writable[i];
        of->saved[i] = room_for(of->saved[i], span.end - span.begin);
        copy(of->saved[i], (void *)span.begin, span.end - span.begin);
    }
    if (of->thread_data) {
        of->thread_data_saved = room_for(of->thread_data_saved, of->thread_data_size);
        copy(of->thread_data_saved, of->thread_data, of->thread_data_size);
    }
}

void subject_restore(struct subject *of)
{
    for (size_t i = 0; i < of->writable_count; i++) {
        copy((void *)of->writable[i].begin, of->saved[i], of->writable[i].end - of->writable[i].begin);
    }
    if (of->thread_data) {
        copy(of->thread_data, of->thread_data_saved, of->thread_data_size);
    }
}

/* As dlclose would. */
void subject_run_destructors(struct subject *of)
{
    for (size_t i = of->at_end_count; i-- > 0;) {
        of->at_end[i]();
    }
}

void subject_load(const char *path)
{
    struct subject *of = &subjects[subject_count];
    /* The environment at loading is empty: constructors of the loader find nothing. */
    of->path = path;
    of->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!of->handle) {
        stop("the loader cannot be loaded: %s", dlerror());
    }
    struct link_map *map = NULL;
    dlinfo(of->handle, RTLD_DI_LINKMAP, &map);
    of->base = map->l_addr;
    if (!dl_iterate_phdr(read_segments, of)) {
        stop("%s: its segments cannot be found", path);
    }
    for (int f = 0; f < FUNCTION_COUNT; f++) {
        *(void **)&of->function[f] = dlsym(of->handle, function_info[f].name);
    }
    if (!dlsym(of->handle, target_library.function)) {
        stop("%s has no %s: give %s", path, target_library.function, target_library.words);
    }
    protect_relocated(PROT_READ | PROT_WRITE);
    imports_replace(of, (uintptr_t)map->l_ld);
    protect_relocated(PROT_READ);
    subject_leave_out(of, relocated);
    elf_read(of);
    subject_checkpoint(of);
    subject_count++;
}

address loader_function(enum function function)
{
    return subject->function[function];
}

address subject_symbol(const char *name)
{
    address function;
    *(void **)&function = dlsym(subject->handle, name);
    return function;
}

uint64_t call(enum function function, const uint64_t *arguments)
{
    return subject->function[function] ? invoke(function, subject->function[function], arguments) : 0;
}
