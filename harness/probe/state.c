/* What a library should leave as it is in the process that loads it. */
#define _GNU_SOURCE
#include "probe.h"

#include <dirent.h>
#include <locale.h>
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

char *state_text(size_t *length)
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
