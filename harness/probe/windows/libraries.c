/* SPDX-License-Identifier: Apache-2.0 */
/* Commands: the loader under test, its symbols, and other libraries. */
#include "loader.h"
#include "machine.h"
#include "problem.h"
#include "topics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *problem_text(void)
{
    static char text[64];
    snprintf(text, sizeof text, "error %lu of Windows", (unsigned long)GetLastError());
    return text;
}

static void reply_problem(const struct reply *reply, const char *problem)
{
    if (problem) {
        reply_error(reply, "%s", problem);
    } else {
        reply_ok(reply);
    }
}

static void open_loader(const struct argument *a, const struct reply *reply)
{
    (void)a;
    reply_problem(reply, loader_open());
}

static void close_loader(const struct argument *a, const struct reply *reply)
{
    (void)a;
    reply_problem(reply, loader_close());
}

static void show_symbol(const struct argument *a, const struct reply *reply)
{
    reply_value(reply, (uint64_t)(uintptr_t)loader_symbol(a[0].text, a[1].text));
}

static void show_module(const struct argument *a, const struct reply *reply)
{
    HMODULE library = NULL;
    char path[MAX_PATH];
    DWORD how = GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT;
    if (GetModuleHandleExA(how, (void *)(uintptr_t)a[0].value, &library) &&
        GetModuleFileNameA(library, path, sizeof path)) {
        reply_bytes(reply, path, strlen(path));
    } else {
        reply_error(reply, "no library lies at %s", a[0].text);
    }
}

static void load_library(const struct argument *a, const struct reply *reply)
{
    HMODULE library = LoadLibraryExA(a[0].text, NULL, LOAD_WITH_ALTERED_SEARCH_PATH);
    if (!library || !a[1].text) {
        reply_problem(reply, library ? NULL : problem_text());
        return;
    }
    FARPROC symbol = GetProcAddress(library, a[1].text);
    if (symbol) {
        reply_result(reply, a[2].value, (uint64_t)(uintptr_t)symbol);
    } else {
        reply_error(reply, "no symbol %s", a[1].text);
    }
}

static void is_loaded(const struct argument *a, const struct reply *reply)
{
    reply_value(reply, GetModuleHandleA(a[0].text) != NULL);
}

/* One more line of the description, while the subject runs. */
static void change_machine(const struct argument *a, const struct reply *reply)
{
    reply_problem(reply, machine.root ? machine_line(a[0].text) : "there is no machine of its own");
}

static bool find_symbol(const char *name, uint64_t *value)
{
    *value = (uint64_t)(uintptr_t)loader_symbol(name, NULL);
    return *value != 0;
}

static const struct command rows[] = {
    {"open", "", open_loader, false},
    {"close", "", close_loader, false},
    {"symbol", "NAME", show_symbol, false},
    {"symbol", "NAME VERSION", show_symbol, false},
    {"module", "TOKEN", show_module, false},
    {"load", "HEX", load_library, false},
    {"load", "HEX HEX RESULT", load_library, false},
    /* ok 1 where the library with a path is loaded, else 0. */
    {"loaded", "HEX", is_loaded, false},
    /* Changes the machine: a line of machine.h. */
    {"machine", "LINE", change_machine, false},
    {0},
};

const struct command_table library_commands = {.rows = rows, .prefix = '@', .find = find_symbol};

/* --- the symbols that the loader shows --- */

static char *exports_text(size_t *length)
{
    HMODULE library = NULL;
    DWORD how = GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT;
    void *inside = loader_symbol("clGetPlatformIDs", NULL);
    if (!inside || !GetModuleHandleExA(how, inside, &library)) {
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

static void show_exports(const struct argument *a, const struct reply *reply)
{
    size_t length = 0;
    char *text = exports_text(&length);
    (void)a;
    if (text) {
        reply_bytes(reply, text, length);
    } else {
        reply_error(reply, "the symbol table cannot be read");
    }
    free(text);
}

static const struct command export_rows[] = {
    {"exports", "", show_exports, false},
    {0},
};

const struct command_table export_commands = {.rows = export_rows};
