/* SPDX-License-Identifier: Apache-2.0 */
/* The machine that the loader finds: files, libraries and variables, all of them from the input. */
#define _GNU_SOURCE
#include "internal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { VARIABLES = 32, LIBRARIES = 64, FILE_BUCKETS = 512 };

const char *const file_kind_words[] = {
    "a file",           "a folder", "an unreadable file", "a dangling link",
    "a link to itself", "a FIFO",   "a link to a file",   "a file without a type in its folder"};

struct file *world_files;
static struct file **last_file = &world_files;
static struct file *by_hash[FILE_BUCKETS];
struct library *world_libraries;
size_t world_library_count;

static char *variables[VARIABLES + 1];
static char *variables_before[VARIABLES + 1];
static size_t variable_count;
static size_t library_room;
static char *contents_before[VARIABLES + 1];

/* What the target sets, at the beginning or later, is not a change by the loader. */
static void remember_variables(void)
{
    for (size_t i = 0; i < VARIABLES + 1; i++) {
        variables_before[i] = variables[i];
        size_t size = variables[i] ? strlen(variables[i]) + 1 : 0;
        contents_before[i] = variables[i] ? memcpy(keep(size), variables[i], size) : NULL;
    }
}

void world_room_for_libraries(unsigned count)
{
    world_libraries = keep(count * sizeof *world_libraries);
    world_library_count = 0;
    library_room = count;
}

uint32_t world_hash(const char *text)
{
    uint32_t hash = 2166136261U;
    for (; *text; text++) {
        hash = (hash ^ (unsigned char)*text) * 16777619U;
    }
    return hash;
}

void world_clear(void)
{
    world_files = NULL;
    last_file = &world_files;
    memset(by_hash, 0, sizeof by_hash);
    world_room_for_libraries(LIBRARIES);
    variable_count = 0;
    memset(variables, 0, sizeof variables);
    remember_variables();
}

/* An absolute path without "//", "/./" and "/../". */
static char *normal(const char *path)
{
    char *to = keep(strlen(path) + 2);
    char *end = to;
    while (*path) {
        size_t length = strcspn(path, "/");
        if (length == 2 && strncmp(path, "..", 2) == 0) {
            while (end > to && *--end != '/') {
            }
        } else if (length > 0 && !(length == 1 && *path == '.')) {
            *end++ = '/';
            memcpy(end, path, length);
            end += length;
        }
        path += length;
        path += *path == '/';
    }
    if (end == to) {
        *end++ = '/';
    }
    *end = '\0';
    return to;
}

static struct file *exact(const char *path)
{
    uint32_t hash = world_hash(path);
    for (struct file *file = by_hash[hash % FILE_BUCKETS]; file; file = file->next_of_hash) {
        if (file->hash == hash && texts_equal(file->path, path)) {
            return file;
        }
    }
    return NULL;
}

struct file *world_find(const char *path)
{
    size_t length = strlen(path);
    struct file *file = length && length < 4096 ? exact(normal(path)) : NULL;
    /* A slash at the end, or a step beyond, is for folders only. */
    return file && file->kind != FILE_FOLDER && path[length - 1] == '/' ? NULL : file;
}

static void add(char *path, enum file_kind kind, const void *data, size_t size)
{
    struct file *file = keep(sizeof *file);
    uint32_t hash = world_hash(path);
    *file = (struct file){path, kind, data, size, hash, NULL, by_hash[hash % FILE_BUCKETS]};
    by_hash[hash % FILE_BUCKETS] = file;
    *last_file = file;
    last_file = &file->next;
}

void world_file(const char *path, enum file_kind kind, const void *data, size_t size)
{
    char *full = normal(path);
    if (texts_equal(full, "/")) {
        return; /* is there, and a folder */
    }
    for (char *slash = strchr(full + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        struct file *folder = exact(full);
        if (!folder) {
            char *copy = keep(strlen(full) + 1);
            memcpy(copy, full, strlen(full) + 1);
            add(copy, FILE_FOLDER, NULL, 0);
        } else if (folder->kind != FILE_FOLDER) {
            return; /* below a file: nothing can be there */
        }
        *slash = '/';
    }
    if (!exact(full)) {
        add(full, kind, data, size);
    }
}

void world_variable(const char *name, const char *value)
{
    size_t length = strlen(name);
    for (size_t i = 0; i < variable_count; i++) {
        if (strncmp(variables[i], name, length) == 0 && variables[i][length] == '=') {
            variables[i] = variables[--variable_count];
            break;
        }
    }
    if (value && variable_count < VARIABLES) {
        variables[variable_count] = keep(length + strlen(value) + 2);
        stpcpy(stpcpy(stpcpy(variables[variable_count++], name), "="), value);
    }
    variables[variable_count] = NULL;
    remember_variables();
}

void world_variables_move(void)
{
    for (size_t i = 0; i < variable_count; i++) {
        char *before = variables[i];
        if (before != variables_before[i]) {
            continue; /* the loader has set it */
        }
        size_t length = strlen(before);
        variables[i] = variables_before[i] = memcpy(keep(length + 1), before, length + 1);
        memset(before, '0', length); /* a number, too, and no crash, which may be known */
    }
}

struct library *world_library(const char *name, library_symbol *symbol, int number)
{
    if (world_library_count == library_room) {
        stop("a target has more than %zu libraries", library_room);
    }
    struct library *library = &world_libraries[world_library_count++];
    *library = (struct library){.name = strchr(name, '/') ? normal(name) : name, .symbol = symbol, .number = number};
    library->hash = world_hash(library->name);
    if (*library->name == '/') {
        world_file(library->name, FILE_REGULAR, "\177ELF", 4);
    }
    return library;
}

bool world_library_opened(int number)
{
    for (size_t i = 0; i < world_library_count; i++) {
        if (world_libraries[i].number == number && world_libraries[i].opened > world_libraries[i].closed) {
            return true;
        }
    }
    return false;
}

char **world_variables(void)
{
    return variables;
}

void world_check_variables(void)
{
    if (environ != variables) {
        finding("environment", "environment", "the loader gave the process another environment");
        return;
    }
    for (size_t i = 0; i < VARIABLES + 1; i++) {
        const char *now = variables[i];
        const char *then = contents_before[i];
        if (now == variables_before[i] && (!now || texts_equal(now, then))) {
            continue;
        }
        const char *of = then ? then : now;
        finding("environment", keep_text("environment-%.*s", (int)strcspn(of, "="), of),
                "the loader changed the environment of the process: \"%s\" is \"%s\" now", then ? then : "(nothing)",
                now ? now : "(nothing)");
        return;
    }
}
