/* SPDX-License-Identifier: Apache-2.0 */
/* Crashes of the loader: named by the place where they happen, and survived where they are known already. */
#define _GNU_SOURCE
#include "internal.h"

#include <execinfo.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

/* A fuzzer has its own way with SIGABRT and SIGALRM; where there is none (replay) they are caught, too. */
static const int caught[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGPROF, SIGABRT, SIGALRM};
enum { CAUGHT = sizeof caught / sizeof *caught, CAUGHT_BESIDE_FUZZER = 5 };
/* An input that still runs after so many ticks of the clock hangs. */
enum { TICK = 250000, TICKS = 12 }; /* microseconds of the processor's time */
/* No code is below this address on any system (vm.mmap_min_addr). */
enum { LOWEST_CODE = 65536 };
static struct sigaction before[CAUGHT];
static sigjmp_buf back;
static volatile sig_atomic_t running;
bool signals_end_with_known;
bool signals_reported;

bool run_or_leave(void (*function)(void))
{
    if (sigsetjmp(back, 0)) {
        running = 0;
        return false;
    }
    running = 1;
    function();
    running = 0;
    return true;
}

void leave_run(void)
{
    siglongjmp(back, 1);
}

bool in_loader(uintptr_t address)
{
    return subject && address >= subject->image.begin && address < subject->image.end;
}

static uintptr_t program_counter(const ucontext_t *context)
{
#if defined __x86_64__
    return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
#else
    return (uintptr_t)context->uc_mcontext.pc;
#endif
}

/* The innermost place of the loader on the stack, or 0. */
static uintptr_t place(const ucontext_t *context)
{
    uintptr_t at = program_counter(context);
    if (in_loader(at)) {
        return at;
    }
#if defined __x86_64__
    /* A call to where no code is leaves the caller on top of the stack. */
    if (at < LOWEST_CODE) {
        uintptr_t caller = *(uintptr_t *)context->uc_mcontext.gregs[REG_RSP];
        if (in_loader(caller)) {
            return caller;
        }
    }
#endif
    void *frames[64];
    int count = backtrace(frames, 64);
    for (int i = 0; i < count; i++) {
        if (in_loader((uintptr_t)frames[i])) {
            return (uintptr_t)frames[i];
        }
    }
    return 0;
}

/* A list or a table that is read past its end is another defect than a pointer that leads nowhere, though the same
 * instruction may show both. */
static const char *word(int number, const void *address)
{
    switch (number) {
    case SIGSEGV:
    case SIGBUS:
        return guard_is_past_end(address) ? "past-end" : "memory";
    case SIGABRT:
        return "abort";
    case SIGALRM:
    case SIGPROF:
        return "hang";
    default:
        return "instruction";
    }
}

static bool still_time(void)
{
    static unsigned long last;
    static unsigned ticks;
    ticks = input_number == last ? ticks + 1 : 0;
    last = input_number;
    return !running || ticks < TICKS;
}

/* Where it happened. A call of no code, such as an entry that is NULL, is named by its address, not by a function. */
static const char *happened_at(uintptr_t at, const ucontext_t *context)
{
    uintptr_t pc = program_counter(context);
    const char *caller = at ? keep_text(", by %s", where(at)) : "";
    return pc < LOWEST_CODE ? keep_text(" in a call of the address %#lx%s", (unsigned long)pc, caller)
           : at             ? keep_text(" in %s", where(at))
                            : " outside the loader";
}

static void on_signal(int number, siginfo_t *info, void *context)
{
    if (number == SIGPROF && still_time()) {
        return;
    }
    size_t slot = 0;
    while (caught[slot] != number) {
        slot++;
    }
    uintptr_t at = running ? place(context) : 0;
    if (at || (running && doing)) {
        bool hangs = number == SIGALRM || number == SIGPROF;
        const char *key = keep_text("%s@%s", word(number, info->si_addr),
                                    hangs   ? function_at(at)
                                    : doing ? doing
                                            : where(at));
        if (is_known(key)) {
            if (signals_end_with_known) {
                end_as_known();
            }
            sigset_t set;
            sigemptyset(&set);
            sigaddset(&set, number);
            sigprocmask(SIG_UNBLOCK, &set, NULL);
            siglongjmp(back, 1);
        }
        signals_reported = true;
        bool access = number == SIGSEGV || number == SIGBUS;
        say_finding(hangs ? "hang" : "crash", key, "%s%s%s%s",
                    access && guard_was_released(info->si_addr) ? "use after free: " : "", strsignal(number),
                    happened_at(at, context),
                    access && program_counter(context) >= LOWEST_CODE
                        ? keep_text(", at the address %p%s", info->si_addr,
                                    guard_is_past_end(info->si_addr) ? ", past the end of a block of memory" : "")
                        : "");
    }
    running = 0;
    bool nobody = before[slot].sa_handler == SIG_DFL && !(before[slot].sa_flags & SA_SIGINFO);
    sigaction(number, &before[slot], NULL);
    if (nobody && number != SIGABRT && number != SIGALRM) {
        abort(); /* the fuzzer keeps the input */
    }
    if (number == SIGABRT || number == SIGALRM) {
        raise(number);
    }
    /* The others come again, to whoever was there before: a sanitizer. */
}

void signals_catch(bool fuzzer)
{
    static char stack[65536];
    stack_t own = {.ss_sp = stack, .ss_size = sizeof stack};
    stack_t there;
    if (sigaltstack(NULL, &there) == 0 && (there.ss_flags & SS_DISABLE)) {
        sigaltstack(&own, NULL);
    }
    void *frame[1];
    backtrace(frame, 1); /* loads what it needs now and not in a handler */
    for (size_t i = 0; i < (fuzzer ? CAUGHT_BESIDE_FUZZER : CAUGHT); i++) {
        struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK};
        sigemptyset(&action.sa_mask);
        action.sa_flags |= caught[i] == SIGPROF ? SA_RESTART : 0;
        sigaction(caught[i], &action, &before[i]);
    }
    struct itimerval tick = {{0, TICK}, {0, TICK}};
    setitimer(ITIMER_PROF, &tick, NULL);
}
