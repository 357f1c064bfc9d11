/* SPDX-License-Identifier: Apache-2.0 */
/* What a library should not do to the process that loads it (faults.h). */
#define _GNU_SOURCE
#include "core/process_faults.h"

#include "base/config.h"
#include "base/loader.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#ifndef _WIN32
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#endif
#ifdef __x86_64__
#include <xmmintrin.h>
#endif

static void change_arithmetic(void)
{
#ifdef __x86_64__
    _MM_SET_ROUNDING_MODE(_MM_ROUND_DOWN);
    _MM_SET_FLUSH_ZERO_MODE(_MM_FLUSH_ZERO_ON);
#endif
}

static void block_termination(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
}

#ifndef _WIN32
/* Leaves a process that does nothing until it is ended; it is nobody's child where the one that starts it ends. */
static void leave_process(bool is_nobodys)
{
    pid_t child = fork();
    if (child == 0 && (!is_nobodys || fork() == 0)) {
        setsid();
        for (;;) {
            pause();
        }
    }
    if (child == 0) {
        _exit(0);
    }
    if (is_nobodys) {
        waitpid(child, NULL, 0);
    }
}

static void bind_to_one_processor(void)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);
}

/* By the value of constructor_changes_process. */
static void change_process(long what)
{
    static char stack[1 << 16];
    const struct rlimit data = {(rlim_t)1 << 46, RLIM_INFINITY};
    const struct sched_param plain = {0};
    const struct itimerval hour = {.it_value.tv_sec = 3600};
    const stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
    switch (what) {
    case 1:
        setrlimit(RLIMIT_DATA, &data);
        break;
    case 2:
        sched_setscheduler(0, SCHED_BATCH, &plain);
        break;
    case 3:
        setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + 1);
        break;
    case 4:
        setitimer(ITIMER_REAL, &hour, NULL);
        break;
    case 5:
        sigaltstack(&other, NULL);
        break;
    case 6:
        fcntl(STDERR_FILENO, F_SETFL, fcntl(STDERR_FILENO, F_GETFL) | O_NONBLOCK);
        break;
    case 7:
        prctl(PR_SET_NAME, "vendor");
        break;
    case 8:
        prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
        break;
    case 9:
    case 10:
        leave_process(what == 10);
        break;
    case 11:
        bind_to_one_processor();
        break;
    case 12:
        if (chroot("/dev") != 0) {
            log_event("chroot", "failed");
        }
        break;
    default:
        log_event("constructor_changes_process", "no such value");
        break;
    }
}
#else
static void change_process(long what)
{
    (void)what;
}
#endif

static bool is_on(enum fault what)
{
    return fault(what, ANY_PLATFORM);
}

void process_faults_at_load(void)
{
    if (is_on(FAULT_constructor_sets_environment)) {
        setenv("CLHARNESS_SET_BY_VENDOR", "1", 1);
    }
    if (is_on(FAULT_constructor_changes_folder) && chdir("/") != 0) {
        log_event("chdir", "failed");
    }
    if (is_on(FAULT_constructor_changes_umask)) {
        umask(0);
    }
    if (is_on(FAULT_constructor_handles_signals)) {
        signal(SIGSEGV, SIG_DFL);
        signal(SIGPIPE, SIG_IGN);
    }
    if (is_on(FAULT_constructor_blocks_signals)) {
        block_termination();
    }
    if (is_on(FAULT_constructor_sets_locale)) {
        setlocale(LC_NUMERIC, "C.UTF-8");
    }
    if (is_on(FAULT_constructor_changes_arithmetic)) {
        change_arithmetic();
    }
    if (is_on(FAULT_constructor_changes_process)) {
        change_process(fault_value(FAULT_constructor_changes_process, ANY_PLATFORM, 0));
    }
    if (is_on(FAULT_constructor_writes_output)) {
        puts("clharness mock ICD: loaded");
        fflush(stdout);
    }
    if (is_on(FAULT_constructor_writes_errors)) {
        fputs("clharness mock ICD: loaded\n", stderr);
    }
}

void process_faults_at_enumeration(void)
{
    if (is_on(FAULT_enumeration_sets_environment)) {
        setenv("CLHARNESS_SET_BY_VENDOR", "1", 1);
    }
}

void process_faults_at_context(void)
{
    if (is_on(FAULT_contexts_change_arithmetic)) {
        change_arithmetic();
    }
    if (is_on(FAULT_contexts_change_umask)) {
        umask(0);
    }
}

#ifndef _WIN32
/* The child has none of the loader's other threads, and whatever these hold. Where it waits for them, it is given some
 * seconds; where it does that in a loop, a quarter of one of the processor's time, which no answer needs. */
static void *fork_and_call(void *unused)
{
    enum { SECONDS = 3 };
    const struct itimerval computing = {.it_value.tv_usec = 250000};
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        alarm(SECONDS);
        setitimer(ITIMER_PROF, &computing, NULL);
        loader_list_platforms("child");
        _exit(0);
    }
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    bool in_time = !WIFSIGNALED(status) || (WTERMSIG(status) != SIGALRM && WTERMSIG(status) != SIGPROF);
    log_event("child", child < 0 ? "not forked" : !in_time ? "no answer" : WIFSIGNALED(status) ? "killed" : "ended");
    return unused;
}

void process_faults_at_count(void)
{
    static _Atomic bool ended;
    static _Atomic bool forked; /* the child's, too */
    if (is_on(FAULT_enumeration_forks) && !forked) {
        pthread_t thread;
        forked = true;
        if (pthread_create(&thread, NULL, fork_and_call, NULL) == 0) {
            pthread_join(thread, NULL);
        }
    }
    if (is_on(FAULT_enumeration_ends_thread) && getpid() != gettid() && !ended) {
        ended = true;
        log_event("thread", "ends");
        pthread_exit(NULL);
    }
}
#else
void process_faults_at_count(void)
{
}
#endif

void process_faults_sleep(long milliseconds)
{
    struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    nanosleep(&time, NULL);
}
