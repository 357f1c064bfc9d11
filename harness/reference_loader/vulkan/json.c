/* SPDX-License-Identifier: Apache-2.0 */
/* Reads JSON texts: all of the grammar, nothing kept. */
#include "vulkan_loader.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 64, MAX_TEXT = 4096 };

struct reader {
    const char *at;
    json_sink *sink;
    void *context;
    char path[1024];
};

static bool read_value(struct reader *reader, int depth);

static void skip_blanks(struct reader *reader)
{
    reader->at += strspn(reader->at, " \t\r\n");
}

static bool take(struct reader *reader, const char *word)
{
    size_t length = strlen(word);
    bool there = strncmp(reader->at, word, length) == 0;
    reader->at += there ? length : 0;
    return there;
}

/* Writes a character as UTF-8. */
static size_t write_character(unsigned long code, char *to)
{
    if (code < 0x80) {
        to[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        to[0] = (char)(0xC0 | code >> 6);
        to[1] = (char)(0x80 | (code & 0x3F));
        return 2;
    }
    if (code < 0x10000) {
        to[0] = (char)(0xE0 | code >> 12);
        to[1] = (char)(0x80 | (code >> 6 & 0x3F));
        to[2] = (char)(0x80 | (code & 0x3F));
        return 3;
    }
    to[0] = (char)(0xF0 | code >> 18);
    to[1] = (char)(0x80 | (code >> 12 & 0x3F));
    to[2] = (char)(0x80 | (code >> 6 & 0x3F));
    to[3] = (char)(0x80 | (code & 0x3F));
    return 4;
}

/* Four hexadecimal digits after "u". */
static bool read_code(struct reader *reader, unsigned long *code)
{
    char digits[5] = "";
    if (!take(reader, "u")) {
        return false;
    }
    for (int i = 0; i < 4; i++) {
        if (!isxdigit((unsigned char)*reader->at)) {
            return false;
        }
        digits[i] = *reader->at++;
    }
    *code = strtoul(digits, NULL, 16);
    return true;
}

/* One character after a backslash; its length in `to`, 0 where there is no such escape. */
static size_t read_escape(struct reader *reader, char *to)
{
    static const char letters[] = "\"\\/bfnrt";
    static const char meanings[] = "\"\\/\b\f\n\r\t";
    const char *letter = *reader->at ? strchr(letters, *reader->at) : NULL;
    if (letter) {
        reader->at++;
        *to = meanings[letter - letters];
        return 1;
    }
    unsigned long code;
    unsigned long second;
    if (!read_code(reader, &code)) {
        return 0;
    }
    if (code >= 0xD800 && code < 0xDC00) { /* the first half of a pair */
        if (!take(reader, "\\") || !read_code(reader, &second) || second < 0xDC00 || second > 0xDFFF) {
            return 0;
        }
        code = 0x10000 + ((code & 0x3FF) << 10 | (second & 0x3FF));
    }
    return write_character(code, to);
}

/* A string; what does not fit into `to` is cut off. */
static bool read_string(struct reader *reader, char *to)
{
    size_t length = 0;
    if (!take(reader, "\"")) {
        return false;
    }
    while (*reader->at != '"') {
        char character[4];
        size_t size = 1;
        if ((unsigned char)*reader->at < 0x20) {
            return false;
        }
        if (take(reader, "\\")) {
            size = read_escape(reader, character);
        } else {
            *character = *reader->at++;
        }
        if (size == 0) {
            return false;
        }
        if (length + size < MAX_TEXT) {
            memcpy(to + length, character, size);
            length += size;
        }
    }
    to[length] = '\0';
    reader->at++;
    return true;
}

static bool read_number(struct reader *reader)
{
    char *end;
    bool is_number = *reader->at == '-' || isdigit((unsigned char)*reader->at);
    strtod(reader->at, &end);
    is_number = is_number && end != reader->at;
    if (is_number) {
        char text[MAX_NAME];
        snprintf(text, sizeof text, "%.*s", (int)(end - reader->at), reader->at);
        reader->sink(reader->path, text, false, reader->context);
    }
    reader->at = end;
    return is_number;
}

/* The members of an object after its opening brace. */
/* NOLINTNEXTLINE(misc-no-recursion): no deeper than MAX_DEPTH */
static bool read_members(struct reader *reader, int depth)
{
    char key[MAX_TEXT];
    size_t length = strlen(reader->path);
    do {
        skip_blanks(reader);
        if (!read_string(reader, key)) {
            return false;
        }
        skip_blanks(reader);
        snprintf(reader->path + length, sizeof reader->path - length, "/%s", key);
        if (!take(reader, ":") || !read_value(reader, depth + 1)) {
            return false;
        }
        reader->path[length] = '\0';
        skip_blanks(reader);
    } while (take(reader, ","));
    return take(reader, "}");
}

/* NOLINTNEXTLINE(misc-no-recursion): no deeper than MAX_DEPTH */
static bool read_elements(struct reader *reader, int depth)
{
    size_t length = strlen(reader->path);
    snprintf(reader->path + length, sizeof reader->path - length, "/[]");
    do {
        if (!read_value(reader, depth + 1)) {
            return false;
        }
        skip_blanks(reader);
    } while (take(reader, ","));
    reader->path[length] = '\0';
    return take(reader, "]");
}

/* NOLINTNEXTLINE(misc-no-recursion): no deeper than MAX_DEPTH */
static bool read_value(struct reader *reader, int depth)
{
    char text[MAX_TEXT];
    skip_blanks(reader);
    if (depth > MAX_DEPTH) {
        return false;
    }
    if (*reader->at == '"') {
        if (!read_string(reader, text)) {
            return false;
        }
        reader->sink(reader->path, text, true, reader->context);
        return true;
    }
    if (take(reader, "{")) {
        reader->sink(reader->path, "{", false, reader->context);
        skip_blanks(reader);
        return take(reader, "}") || read_members(reader, depth);
    }
    if (take(reader, "[")) {
        reader->sink(reader->path, "[", false, reader->context);
        skip_blanks(reader);
        return take(reader, "]") || read_elements(reader, depth);
    }
    if (take(reader, "true")) {
        reader->sink(reader->path, "true", false, reader->context);
        return true;
    }
    return take(reader, "false") || take(reader, "null") || read_number(reader);
}

bool json_read(const char *text, json_sink *sink, void *context)
{
    struct reader reader = {.at = text, .sink = sink, .context = context};
    if (!read_value(&reader, 0)) {
        return false;
    }
    skip_blanks(&reader);
    return *reader.at == '\0';
}
