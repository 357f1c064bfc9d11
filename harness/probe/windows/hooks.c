/* SPDX-License-Identifier: Apache-2.0 */
/* Puts our functions in the place of those that a library imports by name, and of those that it looks up while it runs.
 * The system's own libraries keep theirs. */
#include "machine.h"

#include <string.h>

static const struct hook *const tables[] = {
    heap_hooks, adapter_hooks, creation_hooks, device_hooks, dxgi_hooks, library_hooks, system_hooks,
};

/* The heap is that of imports only: who looks up one of its functions means that of a certain library. */
static const struct hook *own_hook(const char *name, bool is_import)
{
    for (size_t i = machine.heap && is_import ? 0 : 1; i < sizeof tables / sizeof *tables; i++) {
        for (const struct hook *hook = tables[i]; hook->name; hook++) {
            if (strcmp(hook->name, name) == 0) {
                return hook;
            }
        }
    }
    return NULL;
}

static FARPROC WINAPI look_up(HMODULE library, LPCSTR name)
{
    bool by_number = (uintptr_t)name < 0x10000;
    if (!by_number && ((machine.older && strncmp(name, "D3DKMT", 6) == 0) ||
                       (machine.packages_missing && strncmp(name, "GetPackage", 10) == 0) ||
                       (machine.dxgi_missing && strncmp(name, "CreateDXGIFactory", 17) == 0))) {
        SetLastError(ERROR_PROC_NOT_FOUND);
        return NULL;
    }
    const struct hook *own = by_number ? NULL : own_hook(name, false);
    return own ? own->function : GetProcAddress(library, name);
}

static void put(FARPROC *place, FARPROC function)
{
    DWORD before;
    if (VirtualProtect(place, sizeof *place, PAGE_READWRITE, &before)) {
        *place = function;
        VirtualProtect(place, sizeof *place, before, &before);
    }
}

/* The imports from one library: their names, and the places of their addresses. */
static void hook_imports(unsigned char *base, DWORD names_at, DWORD places_at)
{
    const IMAGE_THUNK_DATA *names = (const void *)(base + names_at);
    FARPROC *places = (FARPROC *)(void *)(base + places_at);
    for (; names_at && names->u1.AddressOfData; names++, places++) {
        if (IMAGE_SNAP_BY_ORDINAL(names->u1.Ordinal)) {
            continue;
        }
        const IMAGE_IMPORT_BY_NAME *import = (const void *)(base + names->u1.AddressOfData);
        const char *name = (const char *)import->Name;
        const struct hook *own = own_hook(name, true);
        if (own && own->before) {
            *own->before = *places;
        }
        if (own) {
            put(places, own->function);
        } else if (strcmp(name, "GetProcAddress") == 0) {
            put(places, (FARPROC)(uintptr_t)look_up);
        }
    }
}

static void *directory(unsigned char *base, int number)
{
    const IMAGE_NT_HEADERS *headers = (const void *)(base + ((const IMAGE_DOS_HEADER *)(void *)base)->e_lfanew);
    DWORD at = headers->OptionalHeader.DataDirectory[number].VirtualAddress;
    return at ? base + at : NULL;
}

/* Imports that are bound when the library is loaded, and those that wait for their first call. */
void hooks_install(HMODULE library)
{
    unsigned char *base = (unsigned char *)library;
    const IMAGE_IMPORT_DESCRIPTOR *from = directory(base, IMAGE_DIRECTORY_ENTRY_IMPORT);
    const IMAGE_DELAYLOAD_DESCRIPTOR *later = directory(base, IMAGE_DIRECTORY_ENTRY_DELAY_IMPORT);
    if (!machine.root) {
        return;
    }
    for (; from && from->Name; from++) {
        hook_imports(base, from->OriginalFirstThunk, from->FirstThunk);
    }
    for (; later && later->DllNameRVA; later++) {
        hook_imports(base, later->ImportNameTableRVA, later->ImportAddressTableRVA);
    }
}
