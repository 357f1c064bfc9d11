/* SPDX-License-Identifier: Apache-2.0 */
/* Commands: this process and its environment. Linux only. */
#define _GNU_SOURCE
#include "loader.h"
#include "system.h"
#include "topics.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static void say_hello(const struct argument *a, const struct reply *reply)
{
    (void)a;
    reply_write(reply, "ok pid=%d secure=%d linked=%d", (int)getpid(), getauxval(AT_SECURE) != 0, loader_is_linked);
}

static void reply_done(const struct reply *reply, bool failed)
{
    if (failed) {
        reply_error(reply, "%s", strerror(errno));
    } else {
        reply_ok(reply);
    }
}

static void get_variable(const struct argument *a, const struct reply *reply)
{
    const char *value = getenv(a[0].text);
    if (value) {
        reply_bytes(reply, value, strlen(value));
    } else {
        reply_write(reply, "ok unset");
    }
}

static void set_variable(const struct argument *a, const struct reply *reply)
{
    reply_done(reply, setenv(a[0].text, a[1].text, 1) != 0);
}

static void unset_variable(const struct argument *a, const struct reply *reply)
{
    reply_done(reply, unsetenv(a[0].text) != 0);
}

static void show_environment(const struct argument *a, const struct reply *reply)
{
    size_t length = 0;
    (void)a;
    for (char **entry = environ; *entry; entry++) {
        length += strlen(*entry) + 1;
    }
    char *all = malloc(length + 1);
    if (!all) {
        reply_error(reply, "out of memory");
        return;
    }
    char *to = all;
    for (char **entry = environ; *entry; entry++) {
        to = stpcpy(to, *entry) + 1;
    }
    reply_bytes(reply, all, length);
    free(all);
}

static void change_folder(const struct argument *a, const struct reply *reply)
{
    reply_done(reply, chdir(a[0].text) != 0);
}

static void fork_process(const struct argument *a, const struct reply *reply)
{
    int status;
    pid_t child = fork();
    (void)a;
    if (child > 0) {
        while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
        }
        if (WIFSIGNALED(status)) {
            signal(WTERMSIG(status), SIG_DFL);
            kill(getpid(), WTERMSIG(status));
        }
        _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 98);
    }
    if (child == 0) {
        reply_write(reply, "ok pid=%d", (int)getpid());
    } else {
        reply_error(reply, "%s", strerror(errno));
    }
}

/* The child ends at once and without a word, as one does whose program cannot be started. */
static void fork_and_end(const struct argument *a, const struct reply *reply)
{
    int status = 0;
    pid_t child = fork();
    (void)a;
    if (child == 0) {
        _exit(0);
    }
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (child > 0 && WIFSIGNALED(status)) {
        reply_error(reply, "the child ended with signal %d", WTERMSIG(status));
    } else {
        reply_done(reply, child < 0);
    }
}

/* A new process of this program goes on with the conversation; its first word is the answer to this command
 * (application.c). */
static void execute_again(const struct argument *a, const struct reply *reply)
{
    (void)a;
    system_begin_again("--again");
    reply_error(reply, "%s", strerror(errno));
}

static void do_nothing(int number)
{
    (void)number;
}

/* Not SA_RESTART: what can be interrupted, is. */
static void run_interrupted(const struct argument *a, const struct reply *reply)
{
    const struct itimerval often = {{0, (suseconds_t)a[0].value}, {0, (suseconds_t)a[0].value}};
    const struct itimerval never = {{0, 0}, {0, 0}};
    const struct sigaction handler = {.sa_handler = do_nothing};
    struct sigaction before;
    if (!command_can_nest(a[1].text)) {
        reply_error(reply, "this line cannot be interrupted");
        return;
    }
    sigaction(SIGALRM, &handler, &before);
    setitimer(ITIMER_REAL, &often, NULL);
    command_execute(a[1].text, reply->text, reply->room);
    setitimer(ITIMER_REAL, &never, NULL);
    sigaction(SIGALRM, &before, NULL);
}

static void count_exit_handlers(const struct argument *a, const struct reply *reply)
{
    const long *count = dlsym(RTLD_DEFAULT, "clharness_exit_handlers");
    (void)a;
    reply_write(reply, "ok %ld", count ? *count : -1);
}

static const struct command rows[] = {
    /* ok pid=… secure=0|1 linked=0|1 */
    {"hello", "", say_hello, false},
    /* ok BYTES of a variable's value, or "ok unset". */
    {"getenv", "HEX", get_variable, false},
    {"setenv", "HEX HEX", set_variable, false},
    {"unsetenv", "HEX", unset_variable, false},
    /* ok BYTES: all variables, a NUL after each. */
    {"environment", "", show_environment, false},
    {"chdir", "HEX", change_folder, false},
    /* The child goes on with the conversation; the parent waits for it and ends as it ended. */
    {"fork", "", fork_process, true},
    /* Forks a child that ends at once, and waits for it. */
    {"forkend", "", fork_and_end, true},
    /* Executes the same program in this process, from its beginning; it goes on with the conversation. */
    {"exec", "", execute_again, true},
    /* Runs a line while a signal arrives every SIZE microseconds, whose handler does nothing. */
    {"interrupted", "SIZE LINE", run_interrupted, true},
    /* ok NUMBER of exit handlers registered so far; -1 where nobody counts them (exit_watch.c). */
    {"handlers", "", count_exit_handlers, false},
    {0},
};

const struct command_table process_commands = {.rows = rows};
