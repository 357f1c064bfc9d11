/* SPDX-License-Identifier: Apache-2.0 */
/* Commands: what a library should leave as it is in the process that loads it. Linux only. */
#define _GNU_SOURCE
#include "topics.h"

#include <dirent.h>
#include <locale.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static int threads(void)
{
    int count = 0;
    DIR *tasks = opendir("/proc/self/task");
    for (const struct dirent *task = tasks ? readdir(tasks) : NULL; task; task = readdir(tasks)) {
        count += task->d_name[0] != '.';
    }
    if (tasks) {
        closedir(tasks);
    }
    return count;
}

/* How floating-point numbers are rounded, and whether small ones become zero; not what happened so far. */
static unsigned long arithmetic(void)
{
#if defined(__x86_64__)
    unsigned int control = 0;
    unsigned short old_control = 0;
    __asm__ volatile("stmxcsr %0" : "=m"(control));
    __asm__ volatile("fnstcw %0" : "=m"(old_control));
    return (control & ~0x3FU) | (unsigned long)old_control << 32;
#elif defined(__aarch64__)
    unsigned long control = 0;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    return control;
#else
    return 0;
#endif
}

static void tell_signals(FILE *to)
{
    sigset_t blocked;
    pthread_sigmask(SIG_BLOCK, NULL, &blocked);
    for (int number = 1; number < NSIG; number++) {
        struct sigaction action;
        if (sigaction(number, NULL, &action) == 0) {
            fprintf(to, "handler of signal %d=%p\n", number, (void *)(uintptr_t)action.sa_handler);
            fprintf(to, "blocking of signal %d=%d\n", number, sigismember(&blocked, number));
        }
    }
}

/* A line NAME=VALUE each. NULL: no room. To be freed. */
static char *state_text(size_t *length)
{
    static const int limits[] = {RLIMIT_AS, RLIMIT_CORE, RLIMIT_NOFILE, RLIMIT_STACK};
    char *text = NULL;
    fflush(NULL); /* what was written so far is to be seen */
    FILE *to = open_memstream(&text, length);
    if (!to) {
        return NULL;
    }
    char *folder = getcwd(NULL, 0);
    mode_t mask = umask(0);
    umask(mask);
    fprintf(to, "locale=%s\n", setlocale(LC_ALL, NULL));
    fprintf(to, "working directory=%s\n", folder ? folder : "");
    fprintf(to, "umask=%o\n", (unsigned)mask);
    fprintf(to, "floating-point control=%#lx\n", arithmetic());
    fprintf(to, "threads=%d\n", threads());
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        struct rlimit limit = {0, 0};
        getrlimit(limits[i], &limit);
        fprintf(to, "resource limit %d=%llu\n", limits[i], (unsigned long long)limit.rlim_cur);
    }
    tell_signals(to);
    free(folder);
    fclose(to);
    return text;
}

static void show_state(const struct argument *a, const struct reply *reply)
{
    size_t length = 0;
    char *text = state_text(&length);
    (void)a;
    if (text) {
        reply_bytes(reply, text, length);
    } else {
        reply_error(reply, "out of memory");
    }
    free(text);
}

static void show_heap(const struct argument *a, const struct reply *reply)
{
    (void)a;
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 33)
    reply_write(reply, "ok %zu", mallinfo2().uordblks);
#else
    reply_error(reply, "not available with this C library");
#endif
}

static const struct command rows[] = {
    /* ok BYTES: lines NAME=VALUE of locale, signals, threads and so on. */
    {"state", "", show_state, false},
    /* ok NUMBER of bytes that are allocated. */
    {"heap", "", show_heap, false},
    {0},
};

const struct command_table state_commands = {.rows = rows};
