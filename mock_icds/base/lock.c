/* SPDX-License-Identifier: Apache-2.0 */
/* One call at a time. */
#define _GNU_SOURCE
#include "base/lock.h"

#include <pthread.h>
#include <time.h>

static pthread_mutex_t lock;
static pthread_once_t once = PTHREAD_ONCE_INIT;
/* Of the thread that has it. Not in memory of each thread: a library that has such memory costs the process some of its
 * heap when it is loaded, which checks of leaks would see. */
static int depth;
static pthread_t owner; /* a number on each system that mocks are built for, and never 0 */

static void make(void)
{
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&lock, &attributes);
    pthread_mutexattr_destroy(&attributes);
}

void lock_take(void)
{
    pthread_once(&once, make);
    pthread_mutex_lock(&lock);
    __atomic_store_n(&owner, pthread_self(), __ATOMIC_RELAXED);
    depth++;
}

void lock_give(void)
{
    if (--depth == 0) {
        __atomic_store_n(&owner, 0, __ATOMIC_RELAXED);
    }
    pthread_mutex_unlock(&lock);
}

void lock_pause(void)
{
    const struct timespec moment = {0, 100000};
    int taken = __atomic_load_n(&owner, __ATOMIC_RELAXED) == pthread_self() ? depth : 0;
    for (int i = 0; i < taken; i++) {
        lock_give();
    }
    if (taken) {
        nanosleep(&moment, NULL);
    }
    for (int i = 0; i < taken; i++) {
        lock_take();
    }
}
