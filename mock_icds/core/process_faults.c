/* SPDX-License-Identifier: Apache-2.0 */
/* What a library should not do to the process that loads it (faults.h). */
#define _GNU_SOURCE
#include "core/process_faults.h"

#include "base/config.h"
#include "base/loader.h"

#include <errno.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#ifndef _WIN32
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
 * seconds; where it does that in a loop, one of the processor's time, which no answer needs. */
static void *fork_and_call(void *unused)
{
    enum { SECONDS = 3 };
    const struct itimerval computing = {.it_value.tv_sec = 1};
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
