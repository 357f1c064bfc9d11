/* SPDX-License-Identifier: Apache-2.0 */
/* The writer of the call log: what it writes is JSON whatever it is given, and survives whatever happens to it. */
#define _GNU_SOURCE
#include "calllog.h"

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int failures;
static char path[] = "/tmp/clharness-calllog-XXXXXX";

__attribute__((format(printf, 2, 3))) static void check(bool good, const char *format, ...)
{
    va_list list;
    if (!good) {
        failures++;
        va_start(list, format);
        vfprintf(stderr, format, list);
        va_end(list);
        fputc('\n', stderr);
    }
}

/* --- a log file, as Python makes it --- */

static void make_log(size_t room)
{
    int fd = open(path, O_WRONLY | O_TRUNC);
    const char magic[32] = "clharness call log 1\n";
    if (fd < 0 || write(fd, magic, sizeof magic) != sizeof magic ||
        ftruncate(fd, (off_t)(CALLLOG_HEADER + room)) != 0) {
        perror(path);
        exit(2);
    }
    close(fd);
}

/* The file's content: header, lines, and a NUL at the end. To be freed. */
static char *content(void)
{
    struct stat status;
    int fd = open(path, O_RDONLY);
    if (fd < 0 || fstat(fd, &status) != 0) {
        perror(path);
        exit(2);
    }
    char *bytes = calloc(1, (size_t)status.st_size + 1);
    if (!bytes || read(fd, bytes, (size_t)status.st_size) != status.st_size) {
        perror(path);
        exit(2);
    }
    close(fd);
    return bytes;
}

static uint64_t dropped(const char *bytes)
{
    uint64_t value;
    memcpy(&value, bytes + 40, sizeof value);
    return value;
}

/* --- a JSON reader that answers only whether it is JSON --- */

static bool skip_value(const char **at);

static bool skip_string(const char **at)
{
    if (*(*at)++ != '"') {
        return false;
    }
    for (; **at != '"'; (*at)++) {
        if ((unsigned char)**at < ' ') {
            return false;
        }
        if (**at == '\\') {
            if ((*at)[1] != 'u' || strspn(*at + 2, "0123456789abcdef") < 4) {
                return false;
            }
            *at += 5;
        }
    }
    (*at)++;
    return true;
}

/* NOLINTNEXTLINE(misc-no-recursion): values are nested, and bounded by the length of a line */
static bool skip_list(const char **at, char end, bool keys)
{
    (*at)++;
    if (**at == end) {
        (*at)++;
        return true;
    }
    for (;;) {
        if (keys && (!skip_string(at) || *(*at)++ != ':')) {
            return false;
        }
        if (!skip_value(at)) {
            return false;
        }
        if (*(*at)++ != ',') {
            return (*at)[-1] == end;
        }
    }
}

/* NOLINTNEXTLINE(misc-no-recursion) */
static bool skip_value(const char **at)
{
    size_t digits = strspn(*at, "0123456789");
    switch (**at) {
    case '{':
        return skip_list(at, '}', true);
    case '[':
        return skip_list(at, ']', false);
    case '"':
        return skip_string(at);
    default:
        *at += digits;
        return digits == 1 || (digits > 1 && (*at)[-(long)digits] != '0');
    }
}

/* Whether `line` starts with one JSON object and a newline; moves it past them. */
static bool skip_line(const char **line)
{
    return **line == '{' && skip_value(line) && *(*line)++ == '\n';
}

/* Checks that the log consists of whole lines; gives their number. */
static int whole_lines(const char *bytes, const char *what)
{
    int count = 0;
    const char *line = bytes + CALLLOG_HEADER;
    while (*line) {
        const char *start = line;
        if (!skip_line(&line)) {
            check(false, "%s: line %d is not JSON: %.200s", what, count, start);
            return count;
        }
        count++;
    }
    return count;
}

/* The ended line's text, without the time and the thread. */
static const char *finished(struct calllog_line *line)
{
    struct calllog nowhere = {0};
    calllog_commit(&nowhere, line);
    line->text[line->length] = '\0';
    const char *at = line->text;
    check(skip_line(&at), "not JSON: %s", line->text);
    const char *who = strstr(line->text, ",\"who\":");
    return who ? who : "";
}

static void expect_line(struct calllog_line *line, const char *want)
{
    const char *have = finished(line);
    check(strcmp(have, want) == 0, "have: %swant: %s", have, want);
}

/* --- tests --- */

static void test_members(void)
{
    const uint64_t words[] = {0, 1, 0x903};
    struct calllog_line line;
    calllog_begin(&line, "vendor", "call", "clGetPlatformInfo");
    calllog_words(&line, "args", words, 3);
    calllog_words(&line, "none", words, 0);
    calllog_open_object(&line, "in");
    calllog_string(&line, "name", "text", 4);
    calllog_hex(&line, "value", 0xff);
    calllog_close_object(&line);
    calllog_open_object(&line, "out");
    calllog_commit(&(struct calllog){0}, &(struct calllog_line){.length = 1, .text = "{"}); /* touches no other line */
    expect_line(&line, ",\"who\":\"vendor\",\"call\":\"clGetPlatformInfo\",\"args\":[\"0x0\",\"0x1\",\"0x903\"],"
                       "\"none\":[],\"in\":{\"name\":\"text\",\"value\":\"0xff\"},\"out\":{}}\n");
}

static void test_escapes(void)
{
    const char hostile[] = "a\"b\\c\n\t\x01\x1b[2J\x7f\xc3\xa9\0z";
    struct calllog_line line;
    calllog_begin(&line, "v\"", "event", "new\nline");
    calllog_string(&line, "text", hostile, sizeof hostile - 1);
    expect_line(&line, ",\"who\":\"v\\u0022\",\"event\":\"new\\u000aline\",\"text\":\"a\\u0022b\\u005cc\\u000a\\u0009"
                       "\\u0001\\u001b[2J\\u007f\\u00c3\\u00a9\\u0000z\"}\n");
}

static void test_numbers(void)
{
    const uint64_t values[] = {9, 10, 15, 16, 0xabcdef, 0xffffffff, 0x100000000, 0x123456789abcdef, 1ULL << 63, ~0ULL};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        char want[96];
        struct calllog_line line;
        calllog_begin(&line, "v", "event", "e");
        calllog_hex(&line, "n", values[i]);
        snprintf(want, sizeof want, ",\"who\":\"v\",\"event\":\"e\",\"n\":\"0x%llx\"}\n",
                 (unsigned long long)values[i]);
        expect_line(&line, want);
    }
}

/* What is not printable ASCII, a quote or a backslash is escaped wherever it stands, and nothing else. */
static void test_every_byte_in_every_place(void)
{
    for (int byte = 1; byte < 256; byte++) {
        for (size_t place = 0; place < 19; place++) {
            char name[] = "abcdefghijklmnopqrs";
            char want[96];
            struct calllog_line line;
            name[place] = (char)byte;
            bool plain = byte >= ' ' && byte <= '~' && byte != '"' && byte != '\\';
            snprintf(want, sizeof want, plain ? "%.*s%c%s" : "%.*s\\u%04x%s", (int)place, name, byte, name + place + 1);
            calllog_begin(&line, name, "event", name);
            calllog_string(&line, "text", name, strlen(name));
            char whole[320];
            snprintf(whole, sizeof whole, ",\"who\":\"%s\",\"event\":\"%s\",\"text\":\"%s\"}\n", want, want, want);
            expect_line(&line, whole);
        }
    }
}

static unsigned long long nanoseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (unsigned long long)now.tv_sec * 1000000000 + (unsigned long long)now.tv_nsec;
}

/* Time is that of CLOCK_MONOTONIC in nanoseconds, whatever digits it has. */
static void test_time(void)
{
    for (int i = 0; i < 10000; i++) {
        struct calllog_line line;
        unsigned long long before = nanoseconds();
        calllog_begin(&line, "v", "event", "e");
        unsigned long long after = nanoseconds();
        finished(&line);
        unsigned long long time = strtoull(line.text + strlen("{\"t\":"), NULL, 10);
        check(before <= time && time <= after, "time %llu between %llu and %llu", time, before, after);
    }
}

/* Long strings are shortened, and lines that are too long are cut between members. */
static void test_cuts(void)
{
    char text[5000];
    uint64_t words[64];
    struct calllog_line line;
    memset(text, '\x01', sizeof text);
    memset(words, 0xff, sizeof words);
    text[sizeof text - 1] = '\0';
    for (size_t members = 0; members < 8; members++) {
        for (int depth = 0; depth < 40; depth += 13) {
            calllog_begin(&line, text, "call", text);
            for (int i = 0; i < depth; i++) {
                calllog_open_object(&line, "deeper");
            }
            for (size_t i = 0; i < members; i++) {
                calllog_string(&line, "text", text, i * 100);
                calllog_words(&line, "args", words, 64);
            }
            bool cut = strstr(finished(&line), ",\"cut\":1}\n") != NULL;
            check(cut || (members < 3 && depth < 17), "%zu members in depth %d: no word of a cut", members, depth);
            check(line.length <= CALLLOG_LINE, "a line of %zu bytes", line.length);
        }
    }
    calllog_begin(&line, "v", "event", "e");
    memset(text, 'a', sizeof text);
    calllog_string(&line, "text", text, sizeof text);
    const char *shown = strstr(finished(&line), "aaa");
    check(shown && strspn(shown, "a") == 512 && strcmp(shown + 512, "...\"}\n") == 0, "have: %s", line.text);
}

static void write_lines(struct calllog *log, const char *who, int count)
{
    for (int i = 0; i < count; i++) {
        struct calllog_line line;
        calllog_begin(&line, who, "call", "clFinish");
        calllog_hex(&line, "n", (uint64_t)i);
        calllog_commit(log, &line);
    }
}

static void test_overflow(void)
{
    struct calllog log;
    make_log(1000);
    check(calllog_open(&log, path) == 0, "cannot open a log");
    write_lines(&log, "v", 100);
    calllog_close(&log);
    char *bytes = content();
    int lines = whole_lines(bytes, "overflow");
    check(lines > 5 && lines < 20, "%d lines in 1000 bytes", lines);
    check(dropped(bytes) == 100 - (uint64_t)lines, "%d lines and %d dropped of 100", lines, (int)dropped(bytes));
    free(bytes);
}

static void test_two_processes(void)
{
    enum { LINES = 100000 }; /* long enough that both run at once on a busy machine, too */
    const char *const names[] = {"a", "b"};
    int gate[2]; /* opens for both at once, when its other end is closed */
    make_log((size_t)LINES * 2 * 160);
    check(pipe(gate) == 0, "no pipe");
    for (int i = 0; i < 2; i++) {
        if (fork() == 0) {
            char nothing;
            struct calllog log;
            int failed = calllog_open(&log, path);
            close(gate[1]);
            failed |= read(gate[0], &nothing, 1) != 0;
            write_lines(&log, names[i], LINES);
            _exit(failed);
        }
    }
    close(gate[0]);
    close(gate[1]);
    for (int i = 0; i < 2; i++) {
        int status = 1;
        wait(&status);
        check(status == 0, "a writer ended with status %d", status);
    }
    char *bytes = content();
    int lines = whole_lines(bytes, "two processes");
    check(lines == 2 * LINES && dropped(bytes) == 0, "%d lines of %d", lines, 2 * LINES);
    uint64_t next[2] = {0, 0};
    char *line = bytes + CALLLOG_HEADER;
    for (char *end = strchr(line, '\n'); end; end = strchr(line, '\n')) {
        *end = '\0'; /* a search must not go on to the end of all lines: sanitizers measure what is searched */
        int who = strstr(line, "\"who\":\"b\"") != NULL;
        const char *number = strstr(line, "\"n\":\"");
        uint64_t n = number ? strtoull(number + 5, NULL, 16) : UINT64_MAX;
        check(n == next[who], "line %d of %s where %d was next", (int)n, names[who], (int)next[who]);
        next[who] = n + 1;
        line = end + 1;
    }
    free(bytes);
}

static void test_sigkill(void)
{
    int status = 0;
    make_log(1 << 20);
    pid_t child = fork();
    if (child == 0) {
        struct calllog log;
        calllog_open(&log, path);
        write_lines(&log, "v", 1000);
        raise(SIGKILL);
    }
    waitpid(child, &status, 0);
    check(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "the writer ended with status %d", status);
    char *bytes = content();
    int lines = whole_lines(bytes, "SIGKILL");
    check(lines == 1000, "%d lines of 1000 survived", lines);
    free(bytes);
}

/* A file that is not a log is refused, and a log that is not open takes lines without a word. */
static void test_refusals(void)
{
    struct calllog log;
    check(calllog_open(&log, "/nonexistent/log") == -1, "opened a log that does not exist");
    write_lines(&log, "v", 3);
    calllog_close(&log);
    make_log(1000);
    check(truncate(path, CALLLOG_HEADER) == 0 && calllog_open(&log, path) == -1, "opened a log without room");
    int fd = open(path, O_WRONLY | O_TRUNC);
    check(fd >= 0 && ftruncate(fd, 1 << 16) == 0 && calllog_open(&log, path) == -1, "opened a file that is not a log");
    close(fd);
    write_lines(&log, "v", 3);
}

int main(void)
{
    int fd = mkstemp(path);
    if (fd < 0) {
        perror(path);
        return 2;
    }
    close(fd);
    test_members();
    test_escapes();
    test_numbers();
    test_every_byte_in_every_place();
    test_time();
    test_cuts();
    test_overflow();
    test_two_processes();
    test_sigkill();
    test_refusals();
    unlink(path);
    if (failures) {
        fprintf(stderr, "%d checks failed\n", failures);
    }
    return failures != 0;
}
