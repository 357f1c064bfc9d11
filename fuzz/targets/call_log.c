/* SPDX-License-Identifier: Apache-2.0 */
/* Our own writer of call logs (harness/calllog): whatever names, strings and numbers are written, each line is JSON,
 * bounded, says what was written or that it was cut, and stands in the log after the one before it.
 *
 * No loader takes part.
 */
#define _GNU_SOURCE
#include "calllog.h"
#include "engine.h"

#include <stdio.h>
#include <string.h>

const char *const target_name = "call_log";
bool target_needs_loader = false;

enum { LINES = 32, PARTS = 128, VALUES = 64, HEAD_NEXT = 32, HEAD_DROPPED = 40, DEPTH_MOST = 17 };

static const char *const keys[] = {"args", "result", "in", "out", "detail", "x", "a_rather_long_key_of_a_member"};

/* --- What was written, and what is read, both as words: one for each key, value and bracket. --- */

struct words {
    size_t count;
    uint64_t word[4 * PARTS + 1024];
};

static struct words written, in_log;

static void add(struct words *words, uint64_t word)
{
    if (words->count < sizeof words->word / sizeof *words->word) {
        words->word[words->count++] = word;
    }
}

static const uint64_t NOTHING = 14695981039346656037U;

static uint64_t hashed(uint64_t hash, uint8_t byte)
{
    return (hash ^ byte) * 1099511628211U;
}

static uint64_t hash_of(const void *bytes, size_t size)
{
    uint64_t hash = NOTHING;
    for (size_t i = 0; i < size; i++) {
        hash = hashed(hash, ((const uint8_t *)bytes)[i]);
    }
    return hash;
}

static uint64_t hash_of_text(const char *text)
{
    return hash_of(text, strlen(text));
}

/* As the writer shows it: cut after `limit`. */
static void add_string(struct words *words, const void *bytes, size_t size, size_t limit)
{
    uint64_t hash = hash_of(bytes, size < limit ? size : limit);
    for (int i = 0; size > limit && i < 3; i++) {
        hash = hashed(hash, '.');
    }
    add(words, hash);
}

static void add_hex(struct words *words, uint64_t value)
{
    char text[20];
    snprintf(text, sizeof text, "0x%llx", (unsigned long long)value);
    add(words, hash_of_text(text));
}

/* --- a strict reader of the lines --- */

static const char *at;
static const char *end;

static void bad(const char *what, const char *line, size_t length)
{
    finding("wrong", keep_text("log-%s", what), "a line of the log is wrong (%s, %zu bytes): %.*s", what, length,
            (int)(length < 2000 ? length : 2000), line);
}

static bool eat(char c)
{
    bool is_there = at < end && *at == c;
    at += is_there;
    return is_there;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* A string: printable ASCII, and the escape \u00XX for the rest. */
static bool read_string(struct words *to)
{
    uint64_t hash = NOTHING;
    if (!eat('"')) {
        return false;
    }
    while (at < end && *at != '"') {
        unsigned char c = (unsigned char)*at++;
        if (c == '\\') {
            bool is_escape =
                end - at >= 5 && memcmp(at, "u00", 3) == 0 && hex_digit(at[3]) >= 0 && hex_digit(at[4]) >= 0;
            if (!is_escape) {
                return false;
            }
            c = (unsigned char)(hex_digit(at[3]) * 16 + hex_digit(at[4]));
            at += 5;
        } else if (c < ' ' || c > 126) {
            return false;
        }
        hash = hashed(hash, c);
    }
    add(to, hash);
    return eat('"');
}

static bool read_number(struct words *to)
{
    const char *begin = at;
    while (at < end && *at >= '0' && *at <= '9') {
        at++;
    }
    add(to, hash_of(begin, (size_t)(at - begin)));
    return at > begin && (*begin != '0' || at == begin + 1);
}

static bool read_list(struct words *to)
{
    add(to, '[');
    while (at < end && *at == '"') {
        if (!read_string(to)) {
            return false;
        }
        if (!eat(',')) {
            break;
        }
    }
    add(to, ']');
    return eat(']');
}

/* The members of an object and of those in it; the depth is known to be small. */
static bool read_members(struct words *to)
{
    int depth = 0;
    bool first = true;
    for (;;) {
        while (depth >= 0 && eat('}')) {
            add(to, '}');
            depth--;
            first = false;
        }
        if (depth < 0) {
            return true;
        }
        if ((!first && !eat(',')) || !read_string(to) || !eat(':')) {
            return false;
        }
        first = eat('{');
        if (first) {
            add(to, '{');
            depth++;
        } else if (at < end && *at == '"' ? !read_string(to) : eat('[') ? !read_list(to) : !read_number(to)) {
            return false;
        }
    }
}

/* The digits of a number without zeros in front, or of 0. */
static bool read_hex(struct words *to)
{
    const char *begin = at;
    while (at < end && hex_digit(*at) >= 0) {
        at++;
    }
    add(to, hash_of(begin, (size_t)(at - begin)));
    return at > begin && at - begin <= 16 && (*begin != '0' || at == begin + 1);
}

/* The kind of a line, its time and thread, which are left out, and its values. */
static bool read_numbers(struct words *to)
{
    struct words own = {0};
    if (!eat('"') || at == end || !strchr("cre", *at)) {
        return false;
    }
    add(to, (uint64_t)*at++);
    if (!eat(' ') || !read_hex(&own) || !eat(' ') || !read_hex(&own)) {
        return false;
    }
    while (eat(' ')) {
        if (!read_hex(to)) {
            return false;
        }
    }
    return eat('"');
}

static bool read_list_of_line(struct words *to)
{
    bool has_head = eat('[') && read_numbers(to) && eat(',') && read_string(to) && eat(',') && read_string(to);
    return has_head && (!eat(',') || (eat('{') && read_members(to))) && eat(']') && eat('\n');
}

static bool read_line(const char *line, size_t length)
{
    at = line;
    end = line + length;
    in_log.count = 0;
    bool is_whole = read_list_of_line(&in_log) && at == end;
    at = end = NULL; /* the line is the caller's */
    return is_whole;
}

/* --- the checks --- */

/* What is read is what was written; of a line that was cut it is the beginning. */
static void check_line(const char *line, size_t length, bool is_cut)
{
    if (length > CALLLOG_LINE) {
        bad("too-long", line, length);
    }
    if (!read_line(line, length)) {
        bad("no-json", line, length);
    }
    bool says_cut = memmem(line, length, "\"cut\":1", 7) != NULL; /* elsewhere it would be escaped */
    if (is_cut != says_cut) {
        bad("cut", line, length);
    }
    size_t same = 0;
    while (same < written.count && same < in_log.count && written.word[same] == in_log.word[same]) {
        same++;
    }
    if (!is_cut && (same != written.count || same != in_log.count)) {
        bad("other-content", line, length);
    }
    /* A cut line ends with "cut", 1 and the brackets that close it. */
    for (size_t i = same; is_cut && i < in_log.count; i++) {
        uint64_t word = in_log.word[i];
        if (word != '}' && word != hash_of_text("cut") && word != hash_of_text("1")) {
            bad("other-content", line, length);
        }
    }
}

/* --- writing --- */

static int depth;

static void draw_string(struct calllog_line *line, const char *key)
{
    const uint8_t *bytes;
    size_t size = take_bytes(&bytes, take_below(1024));
    size_t times = 1 + take_below(8); /* long ones of few bytes */
    char *text = guarded(size * times);
    for (size_t i = 0; i < times; i++) {
        memcpy(text + i * size, bytes, size);
    }
    calllog_string(line, key, text, size * times);
    add_string(&written, text, size * times, 512);
}

static void draw_words(struct calllog_line *line, const char *key)
{
    size_t count = take_below(take_chance(8) ? 300 : 12);
    uint64_t *words = guarded(count * sizeof *words);
    add(&written, '[');
    for (size_t i = 0; i < count; i++) {
        words[i] = take_long();
        add_hex(&written, words[i]);
    }
    add(&written, ']');
    calllog_words(line, key, words, count);
}

static void draw_part(struct calllog_line *line)
{
    const char *key = keys[take_byte() % (sizeof keys / sizeof *keys)];
    unsigned kind = take_byte() % 8;
    if (kind == 7) {
        if (depth > 0) {
            add(&written, '}');
            depth--;
        }
        calllog_close_object(line);
        return;
    }
    add(&written, hash_of_text(key));
    uint64_t number;
    switch (kind) {
    case 0:
        number = take_long();
        calllog_hex(line, key, number);
        add_hex(&written, number);
        break;
    case 1:
    case 2:
        draw_words(line, key);
        break;
    case 3:
    case 4:
        calllog_open_object(line, key);
        add(&written, '{');
        depth++;
        break;
    default:
        draw_string(line, key);
        break;
    }
}

static void draw_head(const struct calllog *log, struct calllog_line *line)
{
    static const enum calllog_kind kinds[] = {CALLLOG_CALL, CALLLOG_RETURN, CALLLOG_EVENT};
    enum calllog_kind kind = kinds[take_byte() % 3];
    const char *who = take_text(200);
    const char *name = take_text(200);
    size_t count = take_below(take_chance(8) ? 2 * VALUES : 8);
    uint64_t *values = guarded(count * sizeof *values);
    written.count = 0;
    add(&written, kind);
    for (size_t i = 0; i < count; i++) {
        char text[20];
        values[i] = take_long();
        snprintf(text, sizeof text, "%llx", (unsigned long long)values[i]);
        if (i < VALUES) {
            add(&written, hash_of_text(text));
        }
    }
    add_string(&written, who, strlen(who), 128);
    add_string(&written, name, strlen(name), 128);
    calllog_begin(log, line, kind, who, name, values, count);
    if (line->cut != (count > VALUES)) {
        bad("cut", line->text, line->length);
    }
}

static void draw_line(const struct calllog *log, struct calllog_line *line)
{
    draw_head(log, line);
    depth = 0;
    size_t head = written.count;
    unsigned parts = take_below(PARTS);
    for (unsigned i = 0; i < parts && !input_ended(); i++) {
        draw_part(line);
    }
    for (; depth >= 0 && written.count > head; depth--) {
        add(&written, '}');
    }
}

void target_run(void)
{
    size_t size = 8 * (1 + (size_t)take_below(1400)); /* numbers in its head are read and written at once: aligned */
    char *file = guarded(CALLLOG_HEADER + size);
    struct calllog log = {.map = (unsigned char *)file, .size = size};
    log.start = take_long();
    log.thread = take_long();
    size_t used = 0;
    uint64_t lost = 0;
    for (int i = 0; i < LINES && !input_ended(); i++) {
        struct calllog_line line;
        draw_line(&log, &line);
        calllog_commit(&log, &line);
        check_line(line.text, line.length, line.cut);
        used += line.length;
        lost += used > size;
        if (used <= size && memcmp(file + CALLLOG_HEADER + used - line.length, line.text, line.length) != 0) {
            bad("not-in-the-log", line.text, line.length);
        }
        uint64_t header[2];
        memcpy(header, file + HEAD_NEXT, sizeof header);
        if (header[0] != used || header[1] != lost) {
            bad("counts", line.text, line.length);
        }
    }
}
