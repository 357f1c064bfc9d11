/* SPDX-License-Identifier: Apache-2.0 */
/* What a library leaves behind in the process that uses it (faults_load.h). */
#define _GNU_SOURCE
#include "core/load_faults.h"

#include "base/config.h"
#include "core/process_faults.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifndef _WIN32
#include <sys/mman.h>
#include <unistd.h>
#endif

static const char mark[] = "CLHARNESS_USED_BY_PARENT";
static bool given_up;

static bool is_on(enum fault what)
{
    return fault(what, ANY_PLATFORM);
}

#ifndef _WIN32
static void *go_on(void *unused)
{
    const struct timespec moment = {0, 1000000};
    for (;;) {
        nanosleep(&moment, NULL);
    }
    return unused;
}

static void start_thread(void *(*function)(void *))
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, function, NULL) != 0) {
        log_event("thread", "not started");
    }
}

static void give_up(void)
{
    given_up = true;
}

static void leave_pages(void)
{
    enum { SIZE = 1 << 16 };
    void *pages = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages != MAP_FAILED) {
        memset(pages, 1, SIZE);
    }
}

static void leave_something(void)
{
    enum { SIZE = 1 << 10 };
    if (is_on(FAULT_contexts_leave_descriptors) && open("/dev/null", O_RDONLY | O_CLOEXEC) < 0) {
        log_event("descriptor", "not opened");
    }
    if (is_on(FAULT_contexts_leave_memory)) {
        static void *volatile last;
        last = malloc(SIZE);
        (void)last;
    }
    if (is_on(FAULT_contexts_leave_pages)) {
        leave_pages();
    }
    if (is_on(FAULT_contexts_mark_the_environment)) {
        setenv(mark, "1", 1);
    }
}

static void first_context(void)
{
    if (is_on(FAULT_forks_end_the_platforms)) {
        pthread_atfork(NULL, give_up, NULL);
    }
    if (is_on(FAULT_unloading_leaves_a_thread)) { /* in code that stays, so that it is seen, and does not crash */
        start_thread((void *(*)(void *))(uintptr_t)pause);
    }
}

static void leave_memory(void)
{
    enum { SIZE = 1 << 10 };
    static void *volatile last;
    last = malloc(SIZE);
    (void)last;
}

/* What calls leave behind that make something else than contexts. */
static void follow_others(enum function function)
{
    if ((function == FUNCTION_clEnqueueMapBuffer && is_on(FAULT_mappings_leave_memory)) ||
        (function == FUNCTION_clCreateUserEvent && is_on(FAULT_user_events_leave_memory))) {
        leave_memory();
    }
    if (function == FUNCTION_clBuildProgram && is_on(FAULT_builds_leave_descriptors) &&
        open("/dev/null", O_RDONLY | O_CLOEXEC) < 0) {
        log_event("descriptor", "not opened");
    }
}

void load_faults_follow(enum function function, const uint64_t *arguments, uint64_t *result)
{
    static _Atomic bool is_done;
    (void)arguments;
    follow_others(function);
    if (function != FUNCTION_clCreateContext || !*result) {
        return;
    }
    leave_something();
    if (!is_done) {
        is_done = true;
        first_context();
        process_faults_at_context();
    }
    if (is_on(FAULT_contexts_leave_threads)) {
        start_thread(go_on);
    }
}
#else
void load_faults_follow(enum function function, const uint64_t *arguments, uint64_t *result)
{
    (void)function;
    (void)arguments;
    (void)result;
}
#endif

bool load_faults_no_platforms(void)
{
    static _Atomic int marked = -1;
    if (marked < 0) {
        marked = is_on(FAULT_contexts_mark_the_environment) && getenv(mark) != NULL;
    }
    return given_up || marked == 1;
}
