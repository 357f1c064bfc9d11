/* SPDX-License-Identifier: Apache-2.0 */
/* What is wrong, and what the application saw. */
#define _GNU_SOURCE
#include "internal.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SEEN = 16384, MOST_GREY = 8 };

struct seen {
    const char *what;
    uint64_t value;
    const char *text; /* or NULL */
};

static struct seen seen[MOST_SEEN];
static size_t seen_count;
static struct seen *before; /* what the first loader showed */
static size_t before_count;
static const char *greys[MOST_GREY];
static size_t grey_count;

static char **known;
static size_t known_count;
bool describing;

/* The function at an address, and where it begins; NULL where nothing is known but the file. */
static const char *named(uintptr_t address, uintptr_t *begin)
{
    for (size_t i = 0; subject && i < subject->symbol_count; i++) {
        const struct symbol *symbol = &subject->symbols[i];
        if (address >= symbol->code.begin && address < symbol->code.end) {
            *begin = symbol->code.begin;
            return symbol->name;
        }
    }
    Dl_info about;
    if (!dladdr((void *)address, &about)) {
        return NULL;
    }
    *begin = (uintptr_t)(about.dli_sname ? about.dli_saddr : about.dli_fbase);
    const char *slash = strrchr(about.dli_fname, '/');
    return about.dli_sname ? about.dli_sname : slash ? slash + 1 : about.dli_fname;
}

const char *where(uintptr_t address)
{
    uintptr_t begin = 0;
    const char *name = named(address, &begin);
    return keep_text("%s+%#lx", name ? name : "", (unsigned long)(address - begin));
}

const char *function_at(uintptr_t address)
{
    uintptr_t begin;
    const char *name = named(address, &begin);
    return name ? name : "nowhere";
}

const char *of_loader(void)
{
    return subject && subject_count > 1 ? keep_text(" (in %s)", subject->path) : "";
}

void findings_load_known(const char *path)
{
    FILE *file = fopen(path, "r");
    char line[512];
    if (!file) {
        stop("%s: the list of known findings cannot be read", path);
    }
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        known = realloc(known, (known_count + 1) * sizeof *known);
        known[known_count++] = strdup(line);
    }
    fclose(file);
}

static bool quiet; /* in this life of the loader */

void pass_over_findings(void)
{
    quiet = true;
}

bool is_known(const char *key)
{
    if (quiet) {
        return true;
    }
    for (size_t i = 0; i < known_count; i++) {
        if (strcmp(known[i], key) == 0) {
            return true;
        }
    }
    return false;
}

const char *doing;

void findings_begin(void)
{
    quiet = false;
    doing = NULL;
    seen_count = 0;
    grey_count = 0;
}

void saw(const char *what, uint64_t value)
{
    if (describing) {
        fprintf(stderr, "clharness-fuzz: seen: %s %#llx\n", what, (unsigned long long)value);
    }
    if (seen_count < MOST_SEEN) {
        seen[seen_count++] = (struct seen){what, value, NULL};
    }
}

void saw_text(const char *what, const char *text)
{
    if (describing) {
        fprintf(stderr, "clharness-fuzz: seen: %s \"%s\"\n", what, text);
    }
    if (seen_count < MOST_SEEN) {
        seen[seen_count++] = (struct seen){what, 0, keep_text("%s", text)};
    }
}

void grey(const char *why)
{
    if (grey_count < MOST_GREY) {
        greys[grey_count++] = why;
    }
}

bool describing_inputs(void)
{
    return describing;
}

void describe(const char *format, ...)
{
    if (!describing) {
        return;
    }
    char text[8192];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fputs("clharness-fuzz: input: ", stderr);
    for (const char *c = text; *c; c++) {
        if (*c == '\n') {
            fputs("\\n", stderr);
        } else if ((unsigned char)*c < ' ' || (unsigned char)*c >= 127) {
            fprintf(stderr, "\\x%02x", (unsigned char)*c);
        } else {
            fputc(*c, stderr);
        }
    }
    fputc('\n', stderr);
}

void describe_machine(const char *which)
{
    if (describing) {
        fprintf(stderr, "clharness-fuzz: machine: %s\n", which);
    }
}

static uint64_t hashed(uint64_t hash, const void *data, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        hash = (hash ^ ((const uint8_t *)data)[i]) * 1099511628211U;
    }
    return hash;
}

uint64_t findings_digest(void)
{
    uint64_t hash = 14695981039346656037U;
    for (size_t i = 0; i < seen_count; i++) {
        hash = hashed(hash, seen[i].what, strlen(seen[i].what) + 1);
        hash = hashed(hash, &seen[i].value, sizeof seen[i].value);
        hash = seen[i].text ? hashed(hash, seen[i].text, strlen(seen[i].text) + 1) : hash;
    }
    return hash;
}

void findings_keep_for_comparison(void)
{
    before = keep((seen_count + 1) * sizeof *before);
    memcpy(before, seen, seen_count * sizeof *before);
    before_count = seen_count;
}

static const char *shown(const struct seen *one)
{
    return one->text ? keep_text("%s \"%s\"", one->what, one->text)
                     : keep_text("%s %#llx", one->what, (unsigned long long)one->value);
}

static bool same(const struct seen *a, const struct seen *b)
{
    return strcmp(a->what, b->what) == 0 && a->value == b->value && !a->text == !b->text &&
           (!a->text || strcmp(a->text, b->text) == 0);
}

void findings_compare(void)
{
    if (grey_count > 0) {
        return;
    }
    for (size_t i = 0; i < before_count || i < seen_count; i++) {
        if (i < before_count && i < seen_count && same(&before[i], &seen[i])) {
            continue;
        }
        const char *what = i < before_count ? before[i].what : seen[i].what;
        size_t size = strlen("difference-") + strlen(what) + 1;
        char *key = keep(size);
        snprintf(key, size, "difference-%s", what);
        for (char *space = strchr(key, ' '); space; space = strchr(space, ' ')) {
            *space = '-';
        }
        finding("difference", key, "%s shows %s, %s shows %s", subjects[0].path,
                i < before_count ? shown(&before[i]) : "nothing more", subjects[1].path,
                i < seen_count ? shown(&seen[i]) : "nothing more");
        return;
    }
}

static void say_arguments(const char *kind, const char *key, const char *format, va_list arguments)
{
    static char text[16384];
    int length = snprintf(text, sizeof text, "clharness-fuzz: finding: %s %s: ", kind, key);
    vsnprintf(text + length, sizeof text - (size_t)length, format, arguments);
    const char *line = keep_text("%s%s\n", text, strcmp(kind, "difference") == 0 ? "" : of_loader());
    fprintf(stderr, "\n%s", line);
    kept_inputs_words(line);
}

void say_finding(const char *kind, const char *key, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say_arguments(kind, key, format, arguments);
    va_end(arguments);
}

void finding(const char *kind, const char *key, const char *format, ...)
{
    va_list arguments;
    if (is_known(key)) {
        return;
    }
    va_start(arguments, format);
    say_arguments(kind, key, format, arguments);
    va_end(arguments);
    abort();
}
