/* What a library should not do to the process that loads it (faults.h). */
#define _GNU_SOURCE
#include "icd.h"

#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
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

static bool told(enum fault what)
{
    return fault(what, ANY_PLATFORM);
}

void misbehave_when_loaded(void)
{
    if (told(FAULT_constructor_sets_environment)) {
        setenv("CLHARNESS_SET_BY_VENDOR", "1", 1);
    }
    if (told(FAULT_constructor_changes_folder) && chdir("/") != 0) {
        log_event("chdir", "failed");
    }
    if (told(FAULT_constructor_changes_umask)) {
        umask(0);
    }
    if (told(FAULT_constructor_handles_signals)) {
        signal(SIGSEGV, SIG_DFL);
        signal(SIGPIPE, SIG_IGN);
    }
    if (told(FAULT_constructor_blocks_signals)) {
        block_termination();
    }
    if (told(FAULT_constructor_sets_locale)) {
        setlocale(LC_NUMERIC, "C.UTF-8");
    }
    if (told(FAULT_constructor_changes_arithmetic)) {
        change_arithmetic();
    }
    if (told(FAULT_constructor_writes_output)) {
        puts("clharness mock ICD: loaded");
        fflush(stdout);
    }
    if (told(FAULT_constructor_writes_errors)) {
        fputs("clharness mock ICD: loaded\n", stderr);
    }
}

void misbehave_when_asked(void)
{
    if (told(FAULT_enumeration_sets_environment)) {
        setenv("CLHARNESS_SET_BY_VENDOR", "1", 1);
    }
}
