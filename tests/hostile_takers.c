/* SPDX-License-Identifier: Apache-2.0 */
/* A library that takes what there is: memory, files, processes, room. */
#define _GNU_SOURCE
#include "hostile_front.h"
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MANY = 200, PART = 1 << 20, DEPTH = 5000, ENOUGH = 11000 };

static char part[PART];

static void wait_for_ever(void)
{
    for (;;) {
        pause();
    }
}

static void fills_memory(void)
{
    for (;;) {
        char *more = mmap(NULL, 16 * PART, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (more == MAP_FAILED) {
            wait_for_ever();
        }
        memset(more, 1, 16 * PART);
    }
}

static void fills_memory_of_children(void)
{
    for (int i = 0; i < 8; i++) {
        if (fork() == 0) {
            fills_memory();
        }
    }
    wait_for_ever();
}

static void makes_files(void)
{
    char name[32];
    for (unsigned long i = 0;; i++) {
        snprintf(name, sizeof name, "file-%lu", i);
        int fd = open(name, O_CREAT | O_WRONLY, 0600);
        if (fd < 0) {
            wait_for_ever();
        }
        close(fd);
        if (i > ENOUGH) {
            usleep(100); /* until the harness looks, which is after many more; others may remove files meanwhile */
        }
    }
}

static void makes_deep_folders(void)
{
    int back = open(".", O_RDONLY | O_DIRECTORY);
    for (int i = 0; i < DEPTH; i++) {
        if (mkdir("a", 0700) != 0 || chdir("a") != 0) {
            break;
        }
    }
    if (fchdir(back) != 0) {
        abort();
    }
    usleep(700000); /* the harness looks at what it has */
}

static void makes_deep_folders_and_aborts(void)
{
    makes_deep_folders();
    abort();
}

static void makes_sparse_giants(void)
{
    char name[32];
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "giant-%d", i);
        int fd = open(name, O_CREAT | O_WRONLY, 0600);
        if (ftruncate(fd, 200L * PART) != 0) {
            abort();
        }
        close(fd);
    }
}

static void makes_too_large_a_file(void)
{
    int fd = open("giant", O_CREAT | O_WRONLY, 0600);
    if (ftruncate(fd, 1L << 40) != 0) {
        abort();
    }
}

static void fill(int fd)
{
    while (write(fd, part, sizeof part) > 0) {
    }
}

static void floods_stderr(void)
{
    memset(part, 'x', sizeof part);
    fill(STDERR_FILENO);
    abort();
}

static void floods_stdout(void)
{
    fill(STDOUT_FILENO);
    abort();
}

static void floods_sockets(void)
{
    struct stat state;
    memset(part, 'x', sizeof part);
    for (;;) {
        for (int fd = 3; fd < 64; fd++) {
            if (fstat(fd, &state) == 0 && S_ISSOCK(state.st_mode)) {
                fill(fd);
            }
        }
    }
}

static void floods_the_log(void)
{
    int fd = open("calllog", O_WRONLY);
    memset(part, '{', sizeof part);
    for (int i = 0; i < 8 && write(fd, part, sizeof part) > 0; i++) {
    }
}

/* There is an end, for the sake of the machine: so many tries of all processes together. */
static void forks_without_end(void)
{
    enum { TRIES = 8000 };
    int *tries = mmap(NULL, sizeof *tries, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    while (__atomic_add_fetch(tries, 1, __ATOMIC_RELAXED) < TRIES) {
        fork();
    }
    wait_for_ever();
}

static void *thread(void *unused)
{
    wait_for_ever();
    return unused;
}

static void starts_threads_without_end(void)
{
    pthread_t new;
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 1 << 16);
    for (;;) {
        pthread_create(&new, &small, thread, NULL);
    }
}

/* It answers while a child of its makes more and more of them. */
static void leaves_a_bomb(void)
{
    if (fork() == 0) {
        setsid();
        if (fork() != 0) {
            _exit(0);
        }
        forks_without_end();
    }
}

static void leaves_writers(void)
{
    char name[64];
    for (int i = 0; i < 4; i++) {
        if (fork() == 0) {
            setsid();
            for (unsigned n = 0;; n++) {
                snprintf(name, sizeof name, "w%d-%u", i, n % 500);
                mkdir(name, n % 3 ? 0700 : 0);
                rename(name, "moved");
            }
        }
    }
}

static void fills_shared_memory(void)
{
    char name[PATH_MAX];
    for (int i = 0; i < 64; i++) {
        snprintf(name, sizeof name, "/dev/shm/filled-%d", i);
        int fd = open(name, O_CREAT | O_WRONLY, 0600);
        for (int n = 0; n < 200 && fd >= 0 && write(fd, part, sizeof part) > 0; n++) {
        }
        close(fd);
    }
}

static void opens_all_that_it_may(void)
{
    struct rlimit files;
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    for (int n = 0; n < 10000 && open("/dev/null", O_RDONLY) >= 0; n++) {
    }
}

const struct deed deeds[] = {
    DEED(fills_memory),
    DEED(fills_memory_of_children),
    DEED(makes_files),
    DEED(makes_deep_folders),
    DEED(makes_deep_folders_and_aborts),
    DEED(makes_sparse_giants),
    DEED(makes_too_large_a_file),
    DEED(floods_stderr),
    DEED(floods_stdout),
    DEED(floods_sockets),
    DEED(floods_the_log),
    DEED(forks_without_end),
    DEED(starts_threads_without_end),
    DEED(leaves_a_bomb),
    DEED(leaves_writers),
    DEED(fills_shared_memory),
    DEED(opens_all_that_it_may),
    {NULL, NULL},
};
