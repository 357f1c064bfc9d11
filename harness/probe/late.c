/* SPDX-License-Identifier: Apache-2.0 */
/* Commands: lines that run while the process ends, in a child, or in another one after each that dies. Linux only.
 *
 * So what a line does to the process costs no other line. The log says of each which one it is ("late line", with its
 * number) and how it ended ("late line done", with its number, and 0 or the status that waitpid gives of its child).
 */
#define _GNU_SOURCE
#include "late.h"
#include "log.h"
#include "topics.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_LINES = 512, SECONDS = 3 };

/* When lines run: in an exit handler; in a destructor; in a thread that the destructor starts; at the command "now". */
enum point { EXIT, DESTRUCTOR, THREAD, NOW, POINTS };

static const char *const point_names[POINTS] = {"exit", "destructor", "thread", "now"};
static char *lines[POINTS][MAX_LINES];
static unsigned line_count[POINTS];

static void *run_line(void *line)
{
    size_t room = 512;
    char *text = malloc(room);
    if (text) {
        command_execute(line, &text, &room);
    }
    free(text);
    return NULL;
}

static void run_in_thread(char *line)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, run_line, line) == 0) {
        pthread_join(thread, NULL);
    }
}

static void log_end(unsigned number, int status)
{
    const uint64_t about[] = {number, (uint64_t)status};
    probe_log_call(CALLLOG_EVENT, "late line done", about, 2);
}

/* All lines from the first on, in this child; `current` is the one that runs. */
__attribute__((noreturn)) static void run_lines(enum point point, volatile unsigned *current)
{
    for (; *current < line_count[point]; ++*current) {
        const uint64_t number = *current;
        probe_log_call(CALLLOG_EVENT, "late line", &number, 1);
        alarm(SECONDS);
        if (point == THREAD) {
            run_in_thread(lines[point][number]);
        } else {
            run_line(lines[point][number]);
        }
        log_end((unsigned)number, 0);
    }
    _exit(0);
}

/* One child after another: where one dies, the next one goes on with the line after that. */
static void run_point(enum point point)
{
    volatile unsigned *current = mmap(NULL, sizeof *current, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    while (current != MAP_FAILED && *current < line_count[point]) {
        int status = 0;
        pid_t child = fork();
        if (child == 0) {
            run_lines(point, current);
        }
        while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
        }
        if (child < 0) {
            return;
        }
        if (*current < line_count[point]) {
            log_end((*current)++, status);
        }
    }
}

static void at_exit(void)
{
    run_point(EXIT);
}

static void in_destructor(void)
{
    run_point(DESTRUCTOR);
    run_point(THREAD);
}

static void register_handler(const struct argument *a, const struct reply *reply)
{
    (void)a;
    if (atexit(at_exit) == 0) {
        reply_ok(reply);
    } else {
        reply_error(reply, "out of memory");
    }
}

static void load_caller(const struct argument *a, const struct reply *reply)
{
    void *library = dlopen(a[1].text, RTLD_NOW | RTLD_LOCAL);
    late_function **function = library ? (late_function **)dlsym(library, LATE_CALLER) : NULL;
    if (function) {
        *function = in_destructor;
        reply_ok(reply);
    } else {
        reply_error(reply, "%s", dlerror());
    }
}

static void keep_line(const struct argument *a, const struct reply *reply)
{
    for (enum point point = 0; point < POINTS; point++) {
        if (strcmp(a[0].text, point_names[point]) == 0 && line_count[point] < MAX_LINES &&
            command_can_nest(a[1].text)) {
            lines[point][line_count[point]++] = strdup(a[1].text);
            commands_keep();
            reply_ok(reply);
            return;
        }
    }
    reply_error(reply, "no point %s, no line that can be kept, or too many of them", a[0].text);
}

static void run_now(const struct argument *a, const struct reply *reply)
{
    (void)a;
    run_point(NOW);
    reply_ok(reply);
}

static const struct command rows[] = {
    /* Registers the exit handler in which the lines for "exit" run. */
    {"late", "handler", register_handler, false},
    /* Loads the library with a path, in whose destructor the lines for "destructor" and "thread" run. */
    {"late", "library HEX", load_caller, false},
    /* Runs the lines for "now". */
    {"late", "run", run_now, true},
    /* Keeps a line for a point: exit, destructor, thread or now. */
    {"late", "WORD LINE", keep_line, true},
    {0},
};

const struct command_table late_commands = {.rows = rows};
