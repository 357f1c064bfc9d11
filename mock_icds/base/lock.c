/* SPDX-License-Identifier: Apache-2.0 */
/* One call at a time. */
#define _GNU_SOURCE
#include "base/lock.h"

#include <pthread.h>
#include <time.h>

static pthread_mutex_t lock;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Thread_local int depth;

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
    depth++;
}

void lock_give(void)
{
    depth--;
    pthread_mutex_unlock(&lock);
}

void lock_pause(void)
{
    const struct timespec moment = {0, 100000};
    int taken = depth;
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
