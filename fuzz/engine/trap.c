/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the handler of SIGTRAP; see trap.h. */
#define _GNU_SOURCE
#include "trap.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

#define EXPORTED __attribute__((visibility("default"))) extern

static trap_handler *handler;   /* NULL: nothing is replaced */
static struct sigaction others; /* what everybody else believes the action of SIGTRAP to be */

/* Declarations of their own: headers may have these as macros, or not at all.
 * NOLINTBEGIN(readability-redundant-declaration) */
typedef void simple_handler(int);
typedef int set_action(int, const struct sigaction *, struct sigaction *);
typedef int set_mask(int, const sigset_t *, sigset_t *);

EXPORTED set_action sigaction;
EXPORTED set_mask sigprocmask, pthread_sigmask;
EXPORTED simple_handler *signal(int, simple_handler *);
EXPORTED simple_handler *bsd_signal(int, simple_handler *);
EXPORTED simple_handler *ssignal(int, simple_handler *);
EXPORTED simple_handler *sysv_signal(int, simple_handler *);
EXPORTED simple_handler *__sysv_signal(int, simple_handler *);
/* NOLINTEND(readability-redundant-declaration) */

/* The next function of this name after the program's own: the C library's. */
static void *next(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

static int set_in_system(int number, const struct sigaction *action, struct sigaction *before)
{
    static set_action *function;
    if (!function) {
        *(void **)&function = next("sigaction");
    }
    return function(number, action, before);
}

int sigaction(int number, const struct sigaction *restrict action, struct sigaction *restrict before)
{
    if (!handler) {
        return set_in_system(number, action, before);
    }
    struct sigaction unblocking;
    if (action) {
        unblocking = *action;
        sigdelset(&unblocking.sa_mask, SIGTRAP);
        action = &unblocking;
    }
    if (number != SIGTRAP) {
        return set_in_system(number, action, before);
    }
    struct sigaction now = others;
    if (action) {
        others = *action;
    }
    if (before) {
        *before = now;
    }
    return 0;
}

static simple_handler *set_simple(int number, simple_handler *function, int flags)
{
    struct sigaction action = {.sa_handler = function, .sa_flags = flags};
    struct sigaction before;
    sigemptyset(&action.sa_mask);
    return sigaction(number, &action, &before) == 0 ? before.sa_handler : SIG_ERR;
}

simple_handler *signal(int number, simple_handler *function)
{
    return set_simple(number, function, SA_RESTART);
}

simple_handler *bsd_signal(int number, simple_handler *function)
{
    return set_simple(number, function, SA_RESTART);
}

simple_handler *ssignal(int number, simple_handler *function)
{
    return set_simple(number, function, SA_RESTART);
}

simple_handler *__sysv_signal(int number, simple_handler *function)
{
    return set_simple(number, function, (int)(SA_RESETHAND | SA_NODEFER));
}

simple_handler *sysv_signal(int number, simple_handler *function)
{
    return set_simple(number, function, (int)(SA_RESETHAND | SA_NODEFER));
}

/* SIGTRAP stays unblocked: a thread that blocks it dies of the first breakpoint. */
static int mask(set_mask *function, int how, const sigset_t *set, sigset_t *before)
{
    sigset_t unblocking;
    if (handler && set && how != SIG_UNBLOCK) {
        unblocking = *set;
        sigdelset(&unblocking, SIGTRAP);
        set = &unblocking;
    }
    return function(how, set, before);
}

int sigprocmask(int how, const sigset_t *restrict set, sigset_t *restrict before)
{
    static set_mask *function;
    if (!function) {
        *(void **)&function = next("sigprocmask");
    }
    return mask(function, how, set, before);
}

int pthread_sigmask(int how, const sigset_t *set, sigset_t *before)
{
    static set_mask *function;
    if (!function) {
        *(void **)&function = next("pthread_sigmask");
    }
    return mask(function, how, set, before);
}

static void pass_on(int number, siginfo_t *info, void *context)
{
    struct sigaction action = others;
    if (action.sa_flags & (int)SA_RESETHAND) {
        others = (struct sigaction){.sa_handler = SIG_DFL};
    }
    if (action.sa_flags & SA_SIGINFO) {
        action.sa_sigaction(number, info, context);
    } else if (action.sa_handler == SIG_DFL) {
        handler = NULL;
        set_in_system(number, &action, NULL);
        raise(number);
    } else if (action.sa_handler != SIG_IGN) {
        action.sa_handler(number);
    }
}

static void on_trap(int number, siginfo_t *info, void *context)
{
    int kept = errno;
    if (!handler(context)) {
        pass_on(number, info, context);
    }
    errno = kept;
}

static void install(void)
{
    struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
    sigemptyset(&action.sa_mask);
    set_in_system(SIGTRAP, &action, &others);
}

void trap_keep(trap_handler *of)
{
    handler = of;
    install();
}

void trap_check(void)
{
    struct sigaction now;
    if (handler && set_in_system(SIGTRAP, NULL, &now) == 0 &&
        (!(now.sa_flags & SA_SIGINFO) || now.sa_sigaction != on_trap)) {
        install();
    }
}
