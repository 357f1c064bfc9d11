/* SPDX-License-Identifier: Apache-2.0 */
/* The writer of the call log: what it writes is JSON whatever it is given, and survives whatever happens to it. */
#define _GNU_SOURCE
#include "calllog.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
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
    const char magic[32] = "clharness call log 2\n";
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

/* Whether `line` starts with one JSON list and a newline; moves it past them. */
static bool skip_line(const char **line)
{
    return **line == '[' && skip_value(line) && *(*line)++ == '\n';
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

static struct calllog nowhere; /* a log that is not open; times and threads are as they are */

/* The ended line's text, without the time and the thread. */
static const char *finished(struct calllog_line *line)
{
    static char rest[sizeof line->text];
    int before = 0;
    calllog_commit(&nowhere, line);
    line->text[line->length] = '\0';
    const char *at = line->text;
    check(skip_line(&at), "not JSON: %s", line->text);
    sscanf(line->text, "[\"%*c %*[0-9a-f] %*[0-9a-f]%n", &before);
    check(before > 0, "neither time nor thread: %s", line->text);
    snprintf(rest, sizeof rest, "[\"%c%s", line->text[2], line->text + before);
    return rest;
}

/* The number that follows: hexadecimal, ended by a blank or a quote. Moves past it. */
static uint64_t number_at(const char **text)
{
    char *end;
    uint64_t value = strtoull(*text, &end, 16);
    check(end > *text && (*end == ' ' || *end == '"'), "not a number: %s", *text);
    *text = end + (*end == ' ');
    return value;
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
    calllog_begin(&nowhere, &line, CALLLOG_CALL, "vendor", "clGetPlatformInfo", words, 3);
    calllog_words(&line, "words", words, 3);
    calllog_words(&line, "none", words, 0);
    calllog_open_object(&line, "in");
    calllog_string(&line, "name", "text", 4);
    calllog_hex(&line, "value", 0xff);
    calllog_close_object(&line);
    calllog_open_object(&line, "out");
    calllog_commit(&(struct calllog){0}, &(struct calllog_line){.length = 1, .text = "{"}); /* touches no other line */
    expect_line(&line, "[\"c 0 1 903\",\"vendor\",\"clGetPlatformInfo\",{\"words\":[\"0x0\",\"0x1\",\"0x903\"],"
                       "\"none\":[],\"in\":{\"name\":\"text\",\"value\":\"0xff\"},\"out\":{}}]\n");
}

static void test_kinds(void)
{
    const uint64_t result = 0xffffffffffffffdf;
    struct calllog_line line;
    calllog_begin(&nowhere, &line, CALLLOG_RETURN, "a", "clFinish", &result, 1);
    expect_line(&line, "[\"r ffffffffffffffdf\",\"a\",\"clFinish\"]\n");
    calllog_begin(&nowhere, &line, CALLLOG_RETURN, "a", "clSVMFree", NULL, 0);
    calllog_open_object(&line, "out");
    expect_line(&line, "[\"r\",\"a\",\"clSVMFree\",{\"out\":{}}]\n");
    calllog_begin(&nowhere, &line, CALLLOG_EVENT, "", "", NULL, 0);
    expect_line(&line, "[\"e\",\"\",\"\"]\n");
}

static void test_escapes(void)
{
    const char hostile[] = "a\"b\\c\n\t\x01\x1b[2J\x7f\xc3\xa9\0z";
    struct calllog_line line;
    calllog_begin(&nowhere, &line, CALLLOG_EVENT, "v\"", "new\nline", NULL, 0);
    calllog_string(&line, "text", hostile, sizeof hostile - 1);
    expect_line(&line, "[\"e\",\"v\\u0022\",\"new\\u000aline\",{\"text\":\"a\\u0022b\\u005cc\\u000a\\u0009"
                       "\\u0001\\u001b[2J\\u007f\\u00c3\\u00a9\\u0000z\"}]\n");
}

static void test_numbers(void)
{
    const uint64_t values[] = {0,
                               9,
                               10,
                               15,
                               16,
                               0xabcdef,
                               0x1200000000,
                               0x9a00000000000000,
                               0xffffffff,
                               0x100000000,
                               0x123456789abcdef,
                               1ULL << 63,
                               ~0ULL};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        char want[96];
        struct calllog_line line;
        calllog_begin(&nowhere, &line, CALLLOG_EVENT, "v", "e", &values[i], 1);
        calllog_hex(&line, "n", values[i]);
        snprintf(want, sizeof want, "[\"e %llx\",\"v\",\"e\",{\"n\":\"0x%llx\"}]\n", (unsigned long long)values[i],
                 (unsigned long long)values[i]);
        expect_line(&line, want);
    }
}

/* What is not printable ASCII, a quote or a backslash is escaped in any place of a string, and nothing else. */
static void test_byte(int byte, size_t place, size_t length)
{
    char name[] = "abcdefghijklmnopqrstuvwxyzabcdefghi";
    char want[64];
    char whole[320];
    struct calllog_line line;
    bool plain = byte >= ' ' && byte <= '~' && byte != '"' && byte != '\\';
    name[length] = '\0';
    name[place] = (char)byte;
    snprintf(want, sizeof want, plain ? "%.*s%c%s" : "%.*s\\u%04x%s", (int)place, name, byte, name + place + 1);
    calllog_begin(&nowhere, &line, CALLLOG_EVENT, name, name, NULL, 0);
    calllog_string(&line, "text", name, strlen(name));
    snprintf(whole, sizeof whole, "[\"e\",\"%s\",\"%s\",{\"text\":\"%s\"}]\n", want, want, want);
    expect_line(&line, whole);
}

static void test_every_byte_in_every_place(void)
{
    for (int byte = 1; byte < 256; byte++) {
        for (size_t length = 1; length < 36; length++) {
            for (size_t place = 0; place < length; place++) {
                test_byte(byte, place, length);
            }
        }
    }
}

static unsigned long long nanoseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (unsigned long long)now.tv_sec * 1000000000 + (unsigned long long)now.tv_nsec;
}

/* Time is that of CLOCK_MONOTONIC in nanoseconds, whatever digits it has, after that of the log. */
static void test_time(void)
{
    struct calllog logs[] = {{0}, {.start = nanoseconds()}, {.start = UINT64_MAX}};
    for (int i = 0; i < 10000; i++) {
        struct calllog_line line;
        unsigned long long before = nanoseconds();
        calllog_begin(&logs[i % 3], &line, CALLLOG_EVENT, "v", "e", NULL, 0);
        unsigned long long after = nanoseconds();
        finished(&line);
        const char *at = line.text + strlen("[\"e ");
        unsigned long long time = logs[i % 3].start + number_at(&at);
        check(before <= time && time <= after, "time %llu between %llu and %llu", time, before, after);
    }
}

struct noted {
    struct calllog log;
    uint64_t thread; /* as a line has it */
};

static void *open_and_note(void *argument)
{
    struct noted *noted = argument;
    struct calllog_line line;
    check(calllog_open(&noted->log, path) == 0, "cannot open a log");
    calllog_begin(&noted->log, &line, CALLLOG_EVENT, "v", "e", NULL, 0);
    finished(&line);
    const char *at = line.text + strlen("[\"e ");
    number_at(&at);
    noted->thread = number_at(&at);
    return NULL;
}

/* Who opens the log first says what all lines are relative to; a thread is the same in all of them. */
static void test_header(void)
{
    struct noted first, again, other;
    pthread_t thread;
    uint64_t header[2];
    make_log(1000);
    unsigned long long before = nanoseconds();
    open_and_note(&first);
    unsigned long long after = nanoseconds();
    open_and_note(&again);
    check(pthread_create(&thread, NULL, open_and_note, &other) == 0 && pthread_join(thread, NULL) == 0, "no thread");
    char *bytes = content();
    memcpy(header, bytes + 48, sizeof header);
    check(before <= header[0] && header[0] <= after && header[1], "the header's start and thread");
    check(first.log.start == header[0] && again.log.start == header[0] && other.log.start == header[0],
          "another start");
    check(first.log.thread == header[1] && again.log.thread == header[1] && other.log.thread == header[1],
          "relative to another thread");
    check(first.thread == 0 && again.thread == 0 && other.thread != 0, "threads %llx, %llx, %llx",
          (unsigned long long)first.thread, (unsigned long long)again.thread, (unsigned long long)other.thread);
    calllog_close(&first.log);
    calllog_close(&again.log);
    calllog_close(&other.log);
    free(bytes);
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
            calllog_begin(&nowhere, &line, CALLLOG_CALL, text, text, NULL, 0);
            for (int i = 0; i < depth; i++) {
                calllog_open_object(&line, "deeper");
            }
            for (size_t i = 0; i < members; i++) {
                calllog_string(&line, "text", text, i * 100);
                calllog_words(&line, "args", words, 64);
            }
            bool cut = strstr(finished(&line), ",\"cut\":1}]\n") != NULL;
            check(cut || (members < 3 && depth < 17), "%zu members in depth %d: no word of a cut", members, depth);
            check(line.length <= CALLLOG_LINE, "a line of %zu bytes", line.length);
        }
    }
    uint64_t many[65];
    memset(many, 0xff, sizeof many);
    for (size_t count = 64; count < 66; count++) {
        calllog_begin(&nowhere, &line, CALLLOG_CALL, text, text, many, count);
        const char *end = strstr(finished(&line), "\",{\"cut\":1}]\n");
        check((end != NULL) == (count > 64), "%zu arguments: %s", count, line.text);
        check(strstr(line.text, " ffffffffffffffff\",") != NULL, "%zu arguments: %s", count, line.text);
    }
    calllog_begin(&nowhere, &line, CALLLOG_EVENT, "v", "e", NULL, 0);
    memset(text, 'a', sizeof text);
    calllog_string(&line, "text", text, sizeof text);
    const char *shown = strstr(finished(&line), "aaa");
    check(shown && strspn(shown, "a") == 512 && strcmp(shown + 512, "...\"}]\n") == 0, "have: %s", line.text);
}

static void write_lines(struct calllog *log, const char *who, int count)
{
    for (int i = 0; i < count; i++) {
        struct calllog_line line;
        calllog_begin(log, &line, CALLLOG_CALL, who, "clFinish", NULL, 0);
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
    check(lines > 5 && lines < 40, "%d lines in 1000 bytes", lines);
    check(dropped(bytes) == 100 - (uint64_t)lines, "%d lines and %d dropped of 100", lines, (int)dropped(bytes));
    free(bytes);
    make_log(1000);
    check(calllog_open(&log, path) == 0, "cannot open a log");
    memset(log.map + 32, 0xff, 8); /* by a subject */
    write_lines(&log, "v", 1);
    calllog_close(&log);
    bytes = content();
    check(dropped(bytes) == 1, "%d lines dropped where there is no room", (int)dropped(bytes));
    free(bytes);
}

/* How many pages of a log are in memory after that of its last line. */
static int pages_ahead(const struct calllog *log)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint64_t used;
    memcpy(&used, log->map + 32, sizeof used);
    size_t next = (CALLLOG_HEADER + (size_t)used + page - 1) / page;
    size_t all = (CALLLOG_HEADER + log->size) / page;
    unsigned char *resident = calloc(all - next, 1);
    int count = 0;
    check(resident && mincore(log->map + next * page, (all - next) * page, resident) == 0, "no answer about memory");
    for (size_t i = 0; resident && i < all - next; i++) {
        count += resident[i] & 1;
    }
    free(resident);
    return count;
}

/* Memory for lines to come is a part of what lines have taken, and bounded; a short log, or a component that writes a
 * line here and there, takes none. Where one component has taken it, another one's lines arrive all the same. */
static void test_memory_ahead(void)
{
    struct calllog log, other;
    char usual[sizeof path];
    int fd = memfd_create("calllog", 0); /* on a disk, memory is read ahead */
    memcpy(usual, path, sizeof path);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    make_log((size_t)1 << 22);
    check(calllog_open(&log, path) == 0 && calllog_open(&other, path) == 0, "cannot open a log");
    write_lines(&log, "v", 100);
    check(pages_ahead(&log) == 0, "%d pages ahead of 100 lines", pages_ahead(&log));
    int most = 0;
    for (int i = 0; i < 200; i++) {
        write_lines(&log, "v", 99);
        write_lines(&other, "o", 1);
        most = pages_ahead(&log) > most ? pages_ahead(&log) : most;
    }
    check(most <= 16, "%d pages ahead", most);
    calllog_close(&log);
    check(calllog_open(&log, path) == 0, "cannot open a log");
    int before = pages_ahead(&log);
    write_lines(&log, "v", 1);
    check(pages_ahead(&log) <= before, "pages ahead of one line");
    calllog_close(&log);
    calllog_close(&other);
    char *bytes = content();
    check(whole_lines(bytes, "memory ahead") == 100 + 200 * 100 + 1, "lines are missing");
    free(bytes);
    make_log((size_t)1 << 22);
    check(calllog_open(&log, path) == 0, "cannot open a log");
    for (int i = 0; i < 100; i++) {
        uint64_t next;
        memcpy(&next, log.map + 32, sizeof next);
        next += 20000; /* lines of others */
        memcpy(log.map + 32, &next, sizeof next);
        write_lines(&log, "v", 1);
    }
    check(pages_ahead(&log) == 0, "%d pages ahead of a line here and there", pages_ahead(&log));
    calllog_close(&log);
    close(fd);
    memcpy(path, usual, sizeof path);
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
        int who = strstr(line, ",\"b\",") != NULL;
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
    check(pwrite(fd, "clharness call log 3\n", 21, 0) == 21 && calllog_open(&log, path) == -1, "opened a newer log");
    check(pwrite(fd, "clharness call log 1\n", 21, 0) == 21 && calllog_open(&log, path) == 0, "refused an older log");
    calllog_close(&log);
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
    test_kinds();
    test_escapes();
    test_numbers();
    test_every_byte_in_every_place();
    test_time();
    test_header();
    test_cuts();
    test_overflow();
    test_memory_ahead();
    test_two_processes();
    test_sigkill();
    test_refusals();
    unlink(path);
    if (failures) {
        fprintf(stderr, "%d checks failed\n", failures);
    }
    return failures != 0;
}
