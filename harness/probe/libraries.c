/* SPDX-License-Identifier: Apache-2.0 */
/* Commands: the loader under test, its symbols, and other libraries. */
#include "dynamic_linker.h"
#include "loader.h"
#include "topics.h"

#include <stdlib.h>
#include <string.h>

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
    char path[4096];
    if (linker_path_at(a[0].value, path, sizeof path)) {
        reply_bytes(reply, path, strlen(path));
    } else {
        reply_error(reply, "no library lies at %s", a[0].text);
    }
}

static void load_library(const struct argument *a, const struct reply *reply)
{
    void *library = linker_open(a[0].text);
    if (!library || !a[1].text) {
        reply_problem(reply, library ? NULL : linker_problem());
        return;
    }
    void *symbol = linker_symbol(library, a[1].text);
    if (symbol) {
        reply_result(reply, a[2].value, (uint64_t)(uintptr_t)symbol);
    } else {
        reply_error(reply, "no symbol %s", a[1].text);
    }
}

static void is_loaded(const struct argument *a, const struct reply *reply)
{
    reply_value(reply, linker_has(a[0].text));
}

static void show_exports(const struct argument *a, const struct reply *reply)
{
    size_t length = 0;
    char *text = linker_exports(&length);
    (void)a;
    if (text) {
        reply_bytes(reply, text, length);
    } else {
        reply_error(reply, "the symbol table cannot be read");
    }
    free(text);
}

static bool find_symbol(const char *name, uint64_t *value)
{
    *value = (uint64_t)(uintptr_t)loader_symbol(name, NULL);
    return *value != 0;
}

static const struct command rows[] = {
    /* Opens and closes the loader under test. */
    {"open", "", open_loader, false},
    {"close", "", close_loader, false},
    /* ok ADDRESS of a symbol of the loader, 0 for none. */
    {"symbol", "NAME", show_symbol, false},
    {"symbol", "NAME VERSION", show_symbol, false},
    /* ok BYTES: the path of the file that an address lies in. */
    {"module", "TOKEN", show_module, false},
    /* Loads the library with a path, and keeps it loaded. */
    {"load", "HEX", load_library, false},
    /* The same; ok ADDRESS of its symbol, which is kept. */
    {"load", "HEX HEX RESULT", load_library, false},
    /* ok 1 where the library with a path is loaded, else 0. */
    {"loaded", "HEX", is_loaded, false},
    /* ok BYTES: all symbols of the loader (linker_exports). */
    {"exports", "", show_exports, false},
    {0},
};

const struct command_table library_commands = {.rows = rows, .prefix = '@', .find = find_symbol};
