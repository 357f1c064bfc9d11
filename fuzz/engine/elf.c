/* SPDX-License-Identifier: Apache-2.0 */
/* What stands in the file of the loader, and not in its mapped segments: sections and local symbols. */
#define _GNU_SOURCE
#include "internal.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct elf {
    const char *start;
    size_t size;
    const ElfW(Ehdr) * head;
    const ElfW(Shdr) * sections;
    const char *names;
};

static bool elf_open(struct elf *elf, const char *path)
{
    struct stat about;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0 || fstat(file, &about) < 0) {
        stop("%s: cannot be read", path);
    }
    elf->size = (size_t)about.st_size;
    void *mapped = mmap(NULL, elf->size, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    if (mapped == MAP_FAILED) {
        stop("%s: cannot be mapped", path);
    }
    elf->start = mapped;
    elf->head = mapped;
    size_t end = elf->head->e_shoff + (size_t)elf->head->e_shnum * sizeof(ElfW(Shdr));
    if (elf->head->e_shoff == 0 || end > elf->size || elf->head->e_shstrndx >= elf->head->e_shnum) {
        return false; /* without section headers: nothing to leave out that we could know of */
    }
    elf->sections = (const void *)(elf->start + elf->head->e_shoff);
    elf->names = elf->start + elf->sections[elf->head->e_shstrndx].sh_offset;
    return true;
}

/* Where compilers count what ran: sanitizer coverage, source coverage, gcov. */
static bool is_counters(const char *name)
{
    return strncmp(name, "__sancov", 8) == 0 || strncmp(name, "__llvm_prf", 10) == 0 || strncmp(name, ".gcov", 5) == 0;
}

/* The name of the function at an address of the file, or "". */
static const char *symbol_at(const struct elf *elf, uintptr_t offset)
{
    for (int i = 0; i < elf->head->e_shnum; i++) {
        const ElfW(Shdr) *section = &elf->sections[i];
        if (section->sh_type != SHT_SYMTAB) {
            continue;
        }
        const ElfW(Sym) *symbols = (const void *)(elf->start + section->sh_offset);
        const char *names = elf->start + elf->sections[section->sh_link].sh_offset;
        for (size_t s = 0; s < section->sh_size / sizeof *symbols; s++) {
            if (symbols[s].st_value == offset && (symbols[s].st_info & 15) == STT_FUNC) {
                return names + symbols[s].st_name;
            }
        }
    }
    return "";
}

static bool has_symbols(const struct elf *elf)
{
    for (int i = 0; i < elf->head->e_shnum; i++) {
        if (elf->sections[i].sh_type == SHT_SYMTAB) {
            return true;
        }
    }
    return false;
}

/* The destructors that the loader's authors wrote. Those of the compiler (the first of them, in a library without a
 * symbol table) take the library out of registers that it is still needed in. */
static void read_destructors(struct subject *subject, const struct elf *elf, const ElfW(Shdr) * section)
{
    void (**list)(void) = (void (**)(void))(subject->base + section->sh_addr);
    bool named = has_symbols(elf);
    for (size_t i = 0; i < section->sh_size / sizeof *list; i++) {
        const char *name = symbol_at(elf, (uintptr_t)list[i] - subject->base);
        bool compilers = named ? strncmp(name, "__do_global_dtors", 17) == 0 || strncmp(name, "asan.", 5) == 0 ||
                                     strncmp(name, "__sanitizer", 11) == 0
                               : i == 0 || subject->instrumented;
        if (!compilers && subject->at_end_count < sizeof subject->at_end / sizeof *subject->at_end) {
            subject->at_end[subject->at_end_count++] = list[i];
        }
    }
}

/* Names of functions, those that are not exported among them, so that a place in the loader has a name. */
static void read_symbols(struct subject *subject, const struct elf *elf, const ElfW(Shdr) * section)
{
    const ElfW(Sym) *symbols = (const void *)(elf->start + section->sh_offset);
    const char *names = elf->start + elf->sections[section->sh_link].sh_offset;
    size_t count = section->sh_size / sizeof *symbols;
    subject->symbols = malloc(count * sizeof *subject->symbols + 1);
    for (size_t s = 0; subject->symbols && s < count; s++) {
        if ((symbols[s].st_info & 15) == STT_FUNC && symbols[s].st_shndx != SHN_UNDEF) {
            uintptr_t begin = subject->base + symbols[s].st_value;
            subject->symbols[subject->symbol_count++] =
                (struct symbol){{begin, begin + symbols[s].st_size}, names + symbols[s].st_name};
        }
    }
}

void elf_read(struct subject *subject)
{
    struct elf elf;
    if (!elf_open(&elf, subject->path)) {
        return;
    }
    for (int i = 0; i < elf.head->e_shnum; i++) {
        const ElfW(Shdr) *section = &elf.sections[i];
        const char *name = elf.names + section->sh_name;
        uintptr_t begin = subject->base + section->sh_addr;
        if ((section->sh_flags & SHF_ALLOC) && is_counters(name)) {
            subject_leave_out(subject, (struct span){begin, begin + section->sh_size});
        } else if (section->sh_type == SHT_FINI_ARRAY) {
            read_destructors(subject, &elf, section);
        } else if (section->sh_type == SHT_SYMTAB) {
            read_symbols(subject, &elf, section);
        }
    }
}
