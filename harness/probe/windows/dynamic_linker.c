/* SPDX-License-Identifier: Apache-2.0 */
/* The dynamic linker of Windows: libraries, and the symbols that the loader under test shows. */
#include "dynamic_linker.h"

#include "loader.h"
#include "problem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

const char *problem_text(void)
{
    static char text[64];
    snprintf(text, sizeof text, "error %lu of Windows", (unsigned long)GetLastError());
    return text;
}

const char *linker_problem(void)
{
    return problem_text();
}

void *linker_open(const char *path)
{
    return LoadLibraryExA(path, NULL, LOAD_WITH_ALTERED_SEARCH_PATH);
}

void *linker_symbol(void *library, const char *name)
{
    return (void *)(uintptr_t)GetProcAddress(library, name);
}

bool linker_has(const char *path)
{
    return GetModuleHandleA(path) != NULL;
}

static HMODULE library_at(const void *address)
{
    HMODULE library = NULL;
    DWORD how = GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT;
    return GetModuleHandleExA(how, address, &library) ? library : NULL;
}

bool linker_path_at(uint64_t address, char *path, size_t room)
{
    HMODULE library = library_at((void *)(uintptr_t)address);
    return library && GetModuleFileNameA(library, path, (DWORD)room);
}

/* Windows knows no versions of symbols. */
char *linker_exports(size_t *length)
{
    void *inside = loader_symbol("clGetPlatformIDs", NULL);
    HMODULE library = inside ? library_at(inside) : NULL;
    if (!library) {
        return NULL;
    }
    const unsigned char *base = (const unsigned char *)library;
    const IMAGE_NT_HEADERS *headers = (const void *)(base + ((const IMAGE_DOS_HEADER *)(const void *)base)->e_lfanew);
    const IMAGE_EXPORT_DIRECTORY *exports =
        (const void *)(base + headers->OptionalHeader.DataDirectory[IMAGE_DIRECTORY_ENTRY_EXPORT].VirtualAddress);
    const DWORD *names = (const void *)(base + exports->AddressOfNames);
    const WORD *numbers = (const void *)(base + exports->AddressOfNameOrdinals);
    const DWORD *functions = (const void *)(base + exports->AddressOfFunctions);
    size_t room = 1;
    for (DWORD i = 0; i < exports->NumberOfNames; i++) {
        room += strlen((const char *)base + names[i]) + 32;
    }
    char *text = calloc(1, room);
    *length = 0;
    for (DWORD i = 0; text && i < exports->NumberOfNames; i++) {
        *length += (size_t)snprintf(text + *length, room - *length, "%s - 0x%llx\n", (const char *)base + names[i],
                                    (unsigned long long)(uintptr_t)(base + functions[numbers[i]]));
    }
    return text;
}
