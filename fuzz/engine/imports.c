/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces what the loader asks of the system, in its own table of imports: nobody else sees the replacements. */
#define _GNU_SOURCE
#include "internal.h"

#include <link.h>
#include <string.h>

#if defined __x86_64__
enum { SLOT = R_X86_64_JUMP_SLOT, DATA = R_X86_64_GLOB_DAT, WORD = R_X86_64_64 };
#elif defined __aarch64__
enum { SLOT = R_AARCH64_JUMP_SLOT, DATA = R_AARCH64_GLOB_DAT, WORD = R_AARCH64_ABS64 };
#else
#error "fuzzing knows the relocations of x86-64 and AArch64"
#endif

/* Writes the replacement, where there is one. */
static void find_replacement(const char *name, uintptr_t *replacement)
{
    const struct import *files = real_files_are_used() ? real_file_imports : file_imports;
    const struct import *folders = real_files_are_used() ? real_file_imports : folder_imports;
    const struct import *const lists[] = {
        heap_imports, files, folders, library_imports, process_imports, variable_imports, sanitizer_imports};
    for (size_t l = 0; l < sizeof lists / sizeof *lists; l++) {
        for (const struct import *import = lists[l]; import->name; import++) {
            if (strcmp(import->name, name) == 0) {
                *replacement = import->function ? (uintptr_t)import->function : (uintptr_t)import->variable;
                return;
            }
        }
    }
}

struct tables {
    uintptr_t base;
    const ElfW(Sym) * symbols;
    const char *names;
};

/* Gives whether the library asks for a sanitizer of memory. */
static bool replace(const struct tables *tables, const ElfW(Rela) * relocations, size_t size)
{
    bool sanitized = false;
    if (!relocations || !tables->symbols) {
        return false;
    }
    for (size_t i = 0; i < size / sizeof *relocations; i++) {
        const ElfW(Rela) *relocation = &relocations[i];
        unsigned type = (unsigned)ELF64_R_TYPE(relocation->r_info);
        const ElfW(Sym) *symbol = &tables->symbols[ELF64_R_SYM(relocation->r_info)];
        if ((type != SLOT && type != DATA && type != WORD) || symbol->st_shndx != SHN_UNDEF) {
            continue;
        }
        const char *name = tables->names + symbol->st_name;
        sanitized |= strncmp(name, "__asan_", 7) == 0;
        find_replacement(name, (uintptr_t *)(tables->base + relocation->r_offset));
    }
    return sanitized;
}

void imports_replace(struct subject *of, uintptr_t dynamic)
{
    struct tables tables = {.base = of->base};
    const ElfW(Rela) *data = NULL;
    const ElfW(Rela) *calls = NULL;
    size_t data_size = 0;
    size_t calls_size = 0;
    for (const ElfW(Dyn) *entry = (const void *)dynamic; entry->d_tag != DT_NULL; entry++) {
        switch (entry->d_tag) {
        case DT_SYMTAB:
            tables.symbols = (const void *)entry->d_un.d_ptr;
            break;
        case DT_STRTAB:
            tables.names = (const void *)entry->d_un.d_ptr;
            break;
        case DT_RELA:
            data = (const void *)entry->d_un.d_ptr;
            break;
        case DT_RELASZ:
            data_size = entry->d_un.d_val;
            break;
        case DT_JMPREL:
            calls = (const void *)entry->d_un.d_ptr;
            break;
        case DT_PLTRELSZ:
            calls_size = entry->d_un.d_val;
            break;
        default:
            break;
        }
    }
    of->instrumented = replace(&tables, data, data_size);
    of->instrumented |= replace(&tables, calls, calls_size);
}
