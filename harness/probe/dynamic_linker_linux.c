/* SPDX-License-Identifier: Apache-2.0 */
/* The dynamic linker of Linux: libraries, and the symbols that the loader under test shows. */
#define _GNU_SOURCE
#include "dynamic_linker.h"
#include "loader.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>

void *linker_open(const char *path)
{
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

const char *linker_problem(void)
{
    return dlerror();
}

void *linker_symbol(void *library, const char *name)
{
    return dlsym(library, name);
}

bool linker_has(const char *path)
{
    void *library = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
    return library && dlclose(library) == 0;
}

bool linker_path_at(uint64_t address, char *path, size_t room)
{
    Dl_info info;
    if (!dladdr((void *)(uintptr_t)address, &info)) {
        return false;
    }
    snprintf(path, room, "%s", info.dli_fname);
    return true;
}

/* --- the symbols of the loader --- */

struct symbol_table {
    uintptr_t base;
    const char *strings;
    const ElfW(Sym) * symbols;
    const uint32_t *hash;
    const uint32_t *gnu_hash;
    const ElfW(Versym) * versions;
    const ElfW(Verdef) * definitions;
};

/* Some C libraries turn the offsets of a loaded library into addresses, some do not. */
static const void *address_in(uintptr_t base, ElfW(Addr) value)
{
    return (const void *)(value < base ? base + value : value);
}

static bool table_read(const struct link_map *map, struct symbol_table *table)
{
    *table = (struct symbol_table){.base = map->l_addr};
    for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++) {
        const void *at = address_in(table->base, entry->d_un.d_ptr);
        switch (entry->d_tag) {
        case DT_STRTAB:
            table->strings = at;
            break;
        case DT_SYMTAB:
            table->symbols = at;
            break;
        case DT_HASH:
            table->hash = at;
            break;
        case DT_GNU_HASH:
            table->gnu_hash = at;
            break;
        case DT_VERSYM:
            table->versions = at;
            break;
        case DT_VERDEF:
            table->definitions = at;
            break;
        default:
            break;
        }
    }
    return table->strings && table->symbols && (table->hash || table->gnu_hash);
}

/* Only the hash tables say it: the older one has it, the newer one its last chain. */
static uint32_t symbol_count(const struct symbol_table *table)
{
    if (table->hash) {
        return table->hash[1];
    }
    const uint32_t buckets = table->gnu_hash[0], first = table->gnu_hash[1], filter = table->gnu_hash[2];
    const uint32_t *bucket = table->gnu_hash + 4 + filter * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
    const uint32_t *chain = bucket + buckets;
    uint32_t last = 0;
    for (uint32_t i = 0; i < buckets; i++) {
        last = bucket[i] > last ? bucket[i] : last;
    }
    while (last >= first && !(chain[last - first] & 1)) {
        last++;
    }
    return last + 1;
}

/* Name of a version by its number: its own (`which` 0) or its parent's (1); "-" for none. */
static const char *version_name(const struct symbol_table *table, unsigned number, unsigned which)
{
    const char *at = (const char *)table->definitions;
    for (bool more = at != NULL; more;) {
        const ElfW(Verdef) *definition = (const void *)at;
        if (definition->vd_ndx == number && !(definition->vd_flags & VER_FLG_BASE) && which < definition->vd_cnt) {
            const char *name = at + definition->vd_aux;
            const ElfW(Verdaux) *auxiliary = (const void *)name;
            if (which) {
                auxiliary = (const void *)(name + auxiliary->vda_next);
            }
            return table->strings + auxiliary->vda_name;
        }
        more = definition->vd_next != 0;
        at += definition->vd_next;
    }
    return "-";
}

static void write_table(const struct symbol_table *table, FILE *to)
{
    enum { NUMBER_BITS = 0x7fff, MAX_VERSIONS = 256 };
    uint32_t count = symbol_count(table);
    for (uint32_t i = 1; i < count; i++) {
        const ElfW(Sym) *symbol = &table->symbols[i];
        /* Versions themselves are symbols with absolute values. */
        if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx == SHN_ABS ||
            ELF64_ST_BIND(symbol->st_info) == STB_LOCAL) {
            continue;
        }
        unsigned number = table->versions ? table->versions[i] & NUMBER_BITS : 0;
        fprintf(to, "%s %s 0x%lx\n", table->strings + symbol->st_name, version_name(table, number, 0),
                (unsigned long)(table->base + symbol->st_value));
    }
    for (unsigned number = 0; number < MAX_VERSIONS; number++) {
        const char *name = version_name(table, number, 0);
        if (*name != '-') {
            fprintf(to, "= %s %s\n", name, version_name(table, number, 1));
        }
    }
}

char *linker_exports(size_t *length)
{
    Dl_info info;
    void *map = NULL;
    struct symbol_table table;
    char *text = NULL;
    void *inside = loader_symbol("clGetPlatformIDs", NULL);
    if (!inside || !dladdr1(inside, &info, &map, RTLD_DL_LINKMAP) || !map || !table_read(map, &table)) {
        return NULL;
    }
    FILE *to = open_memstream(&text, length);
    if (!to) {
        return NULL;
    }
    write_table(&table, to);
    fclose(to);
    return text;
}
