/* SPDX-License-Identifier: Apache-2.0 */
/* See process_state.h. */
#define _GNU_SOURCE
#include "process_state.h"

#include <dirent.h>
#include <fcntl.h>
#include <locale.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

static void tell_count(FILE *to, const char *what, int count)
{
    if (count < 0) { /* no descriptor is left, or no /proc */
        fprintf(to, "%s=unknown\n", what);
    } else {
        fprintf(to, "%s=%d\n", what, count);
    }
}

static int threads(void)
{
    DIR *tasks = opendir("/proc/self/task");
    int count = tasks ? 0 : -1;
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

/* The parent of a process that /proc names; -1 where there is none, or none that may be seen. */
static long parent_in_proc(const char *process)
{
    char path[64];
    char text[512] = "";
    snprintf(path, sizeof path, "/proc/%.20s/stat", process);
    FILE *file = fopen(path, "re");
    if (file) {
        text[fread(text, 1, sizeof text - 1, file)] = 0;
        fclose(file);
    }
    const char *after_name = strrchr(text, ')'); /* of which come a blank, one letter, a blank, and the parent */
    return after_name && strlen(after_name) > 4 ? strtol(after_name + 4, NULL, 10) : -1;
}

/* Processes that come from this one: its children, and those that lost their parent, which whoever started this one
 * takes in. Where that one is not to be seen, no process is but those that come from here. */
static int processes(void)
{
    DIR *all = opendir("/proc");
    int count = all ? 0 : -1;
    for (const struct dirent *one = all ? readdir(all) : NULL; one; one = readdir(all)) {
        long number = strtol(one->d_name, NULL, 10);
        if (number > 0 && number != getpid()) {
            long parent = parent_in_proc(one->d_name);
            count += parent >= 0 && (getppid() == 0 || parent == getpid() || parent == getppid());
        }
    }
    if (all) {
        closedir(all);
    }
    return count;
}

static void tell_limits(FILE *to)
{
    for (int which = 0; which < RLIM_NLIMITS; which++) {
        struct rlimit limit = {0, 0};
        getrlimit(which, &limit);
        fprintf(to, "resource limit %d=%llu\n", which, (unsigned long long)limit.rlim_cur);
        fprintf(to, "largest resource limit %d=%llu\n", which, (unsigned long long)limit.rlim_max);
    }
}

static void tell_scheduling(FILE *to)
{
    struct sched_param how = {0};
    cpu_set_t processors;
    CPU_ZERO(&processors);
    sched_getaffinity(0, sizeof processors, &processors);
    sched_getparam(0, &how);
    fprintf(to, "scheduling=%d, %d\n", sched_getscheduler(0), how.sched_priority);
    fprintf(to, "priority=%d\n", getpriority(PRIO_PROCESS, 0));
    fputs("processors=", to);
    for (int number = 0; number < CPU_SETSIZE; number++) {
        if (CPU_ISSET(number, &processors)) {
            fprintf(to, " %d", number);
        }
    }
    fputs("\n", to);
}

static void tell_timers(FILE *to)
{
    static const struct {
        int which;
        const char *name;
    } timers[] = {{ITIMER_REAL, "real"}, {ITIMER_VIRTUAL, "virtual"}, {ITIMER_PROF, "profiling"}};
    for (size_t i = 0; i < sizeof timers / sizeof *timers; i++) {
        struct itimerval value = {{0, 0}, {0, 0}};
        getitimer(timers[i].which, &value);
        bool runs = value.it_value.tv_sec || value.it_value.tv_usec;
        fprintf(to, "%s timer=%s\n", timers[i].name, runs ? "runs" : "does not run");
    }
}

static void tell_streams(FILE *to)
{
    for (int number = 0; number < 3; number++) {
        struct stat about = {0};
        int flags = fcntl(number, F_GETFL);
        if (flags >= 0 && fstat(number, &about) == 0) {
            fprintf(to, "standard stream %d=file %llu, flags %#x\n", number, (unsigned long long)about.st_ino,
                    (unsigned)flags);
        }
    }
}

static void tell_identity(FILE *to)
{
    char name[32] = "";
    stack_t other = {0};
    int signal_of_parent = 0;
    int takes_in = 0;
    prctl(PR_GET_NAME, name);
    prctl(PR_GET_PDEATHSIG, &signal_of_parent);
    prctl(PR_GET_CHILD_SUBREAPER, &takes_in);
    sigaltstack(NULL, &other);
    fprintf(to, "name=%s\n", name);
    fprintf(to, "user and group=%u, %u, %u, %u\n", (unsigned)getuid(), (unsigned)geteuid(), (unsigned)getgid(),
            (unsigned)getegid());
    fprintf(to, "process group and session=%ld, %ld\n", (long)getpgrp(), (long)getsid(0));
    fprintf(to, "dumpable=%d\n", prctl(PR_GET_DUMPABLE));
    fprintf(to, "no new privileges=%d\n", prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0));
    fprintf(to, "orphans are taken in=%d\n", takes_in);
    fprintf(to, "signal at the end of the parent=%d\n", signal_of_parent);
    fprintf(to, "signal stack=%p\n", other.ss_flags & SS_DISABLE ? NULL : other.ss_sp);
}

char *process_state(size_t *length)
{
    char *text = NULL;
    fflush(NULL); /* what was written so far is to be seen */
    FILE *to = open_memstream(&text, length);
    if (!to) {
        return NULL;
    }
    struct stat root = {0};
    char *folder = getcwd(NULL, 0);
    mode_t mask = umask(0);
    umask(mask);
    stat("/", &root);
    fprintf(to, "locale=%s\n", setlocale(LC_ALL, NULL));
    fprintf(to, "working directory=%s\n", folder ? folder : "");
    fprintf(to, "root folder=%llu on %llu\n", (unsigned long long)root.st_ino, (unsigned long long)root.st_dev);
    fprintf(to, "umask=%o\n", (unsigned)mask);
    fprintf(to, "floating-point control=%#lx\n", arithmetic());
    tell_limits(to);
    tell_count(to, "threads", threads());
    tell_count(to, "processes", processes());
    tell_scheduling(to);
    tell_timers(to);
    tell_streams(to);
    tell_identity(to);
    tell_signals(to);
    free(folder);
    fclose(to);
    return text;
}
