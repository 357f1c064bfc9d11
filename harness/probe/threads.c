/* SPDX-License-Identifier: Apache-2.0 */
/* Commands: lines that threads run at once. */
#include "topics.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_THREADS = 256, MAX_THREAD_LINES = 64 };

static char *thread_lines[MAX_THREADS][MAX_THREAD_LINES];
static int thread_line_count[MAX_THREADS];
static char *thread_error[MAX_THREADS];
static pthread_barrier_t start;

static void keep_line(const struct argument *a, const struct reply *reply)
{
    size_t thread = a[0].value;
    if (thread >= MAX_THREADS || thread_line_count[thread] == MAX_THREAD_LINES || !command_can_nest(a[1].text)) {
        reply_error(reply, "no thread %s, no line that can be kept, or too many of them", a[0].text);
        return;
    }
    thread_lines[thread][thread_line_count[thread]++] = strdup(a[1].text);
    reply_ok(reply);
}

static void *run_lines(void *data)
{
    size_t thread = (size_t)(uintptr_t)data;
    size_t room = 512;
    char *text = malloc(room);
    pthread_barrier_wait(&start);
    for (int i = 0; text && i < thread_line_count[thread]; i++) {
        command_execute(thread_lines[thread][i], &text, &room);
        if (strncmp(text, "ok", 2) != 0 && !thread_error[thread]) {
            thread_error[thread] = strdup(text);
        }
    }
    free(text);
    return NULL;
}

static void drop_lines(size_t thread)
{
    while (thread_line_count[thread] > 0) {
        free(thread_lines[thread][--thread_line_count[thread]]);
    }
    free(thread_error[thread]);
    thread_error[thread] = NULL;
}

static void run_threads(const struct argument *a, const struct reply *reply)
{
    pthread_t threads[MAX_THREADS];
    unsigned count = 0;
    (void)a;
    for (size_t i = 0; i < MAX_THREADS; i++) {
        count += thread_line_count[i] > 0;
    }
    reply_write(reply, "ok %u", count);
    if (count == 0) {
        return;
    }
    pthread_barrier_init(&start, NULL, count);
    for (size_t i = 0; i < MAX_THREADS; i++) {
        if (thread_line_count[i] > 0 && pthread_create(&threads[i], NULL, run_lines, (void *)(uintptr_t)i) != 0) {
            abort(); /* the barrier would never open */
        }
    }
    for (size_t i = 0; i < MAX_THREADS; i++) {
        if (thread_line_count[i] > 0) {
            pthread_join(threads[i], NULL);
        }
        if (thread_error[i]) {
            reply_write(reply, "%s", thread_error[i]);
        }
        drop_lines(i);
    }
    pthread_barrier_destroy(&start);
}

static void forget(void)
{
    for (size_t i = 0; i < MAX_THREADS; i++) {
        drop_lines(i);
    }
}

static const struct command rows[] = {
    /* Keeps a line for a thread. */
    {"thread", "THREAD LINE", keep_line, true},
    /* Runs all threads at once; ok NUMBER of them, or an error of one. */
    {"go", "", run_threads, true},
    {0},
};

const struct command_table thread_commands = {.rows = rows, .forget = forget};
