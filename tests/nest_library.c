/* SPDX-License-Identifier: Apache-2.0 */
/* An ICD's entry, in a library that counts, leaves a process behind, and may do something when it is loaded. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <unistd.h>

__attribute__((unused)) static void *wait_for_ever(void *nothing)
{
    pause();
    return nothing;
}

__attribute__((constructor)) static void begin(void)
{
#if defined THREADS
    pthread_t thread;
    pthread_create(&thread, NULL, wait_for_ever, NULL);
#elif defined DESCRIPTORS
    open("/dev/null", O_RDONLY);
#elif defined MEMORY
    mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
#elif defined HANDLERS
    signal(SIGUSR1, SIG_IGN);
#elif defined CHILDREN
    if (fork() == 0) {
        pause();
        _exit(0);
    }
#elif defined FOLDER
    if (chdir("/tmp") != 0) {
        abort();
    }
#elif defined TIMERS
    alarm(1000);
#elif defined BLOCKED
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
#elif defined VARIABLES
    setenv("CLHARNESS_NEST", "1", 1);
#elif defined FORKS
    pthread_atfork(NULL, NULL, NULL);
#elif defined FILES
    close(open("made-by-a-library", O_CREAT | O_WRONLY, 0600));
#elif defined SHARED_FILES
    close(shm_open("/made-by-a-library", O_CREAT | O_RDWR, 0600));
#elif defined MOUNTS
    if (mount("clharness", "/dev/shm", "tmpfs", 0, NULL) == 0) {
        open("/dev/null", O_RDONLY);
    }
#endif
}

/* The number of this call; "leave" starts a process that does not end by itself. */
void *clGetExtensionFunctionAddress(const char *name)
{
    static char *calls;
    int ends[2];
    char byte = 0;
    if (strcmp(name, "leave") == 0 && pipe(ends) == 0) {
        if (fork() == 0) {
            setsid();
            prctl(PR_SET_NAME, "clh-left-behind");
            while (write(ends[1], &byte, 1) == 1) {
                pause();
            }
        }
        if (read(ends[0], &byte, 1) != 1) {
            return NULL;
        }
    }
    return ++calls;
}
