/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a program that sees AT_SECURE=1, as a set-uid program would, without any privilege.
 *
 *   at_secure PROGRAM [ARGUMENT…]
 *
 * A tracer stops the program at its exec, before the dynamic linker runs, sets the value in the auxiliary vector on
 * its stack and lets it go. Exit codes: those of the program (128 + signal for a signal); 125 where tracing fails.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/reg.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

static uint64_t word_at(pid_t child, uint64_t address)
{
    return (uint64_t)ptrace(PTRACE_PEEKDATA, child, (void *)(uintptr_t)address, NULL);
}

#if defined(__x86_64__)
static uint64_t stack_of(pid_t child)
{
    return (uint64_t)ptrace(PTRACE_PEEKUSER, child, (void *)(sizeof(long) * RSP), NULL);
}
#else
#include <linux/elf.h>
static uint64_t stack_of(pid_t child)
{
    struct user_regs_struct registers;
    struct iovec io = {&registers, sizeof registers};
    return ptrace(PTRACE_GETREGSET, child, (void *)NT_PRSTATUS, &io) == 0 ? registers.sp : 0;
}
#endif

/* At exec the stack holds: argc, arguments, NULL, environment, NULL, auxiliary vector. */
static int set_at_secure(pid_t child)
{
    uint64_t at = stack_of(child);
    uint64_t count = word_at(child, at);
    at += 8 * (count + 2);
    while (word_at(child, at) != 0) {
        at += 8;
    }
    for (at += 8; word_at(child, at) != AT_NULL; at += 16) {
        if (word_at(child, at) == AT_SECURE) {
            return (int)ptrace(PTRACE_POKEDATA, child, (void *)(uintptr_t)(at + 8), (void *)1);
        }
    }
    return -1;
}

int main(int count, char **arguments)
{
    int status;
    if (count < 2) {
        fprintf(stderr, "usage: %s PROGRAM [ARGUMENT...]\n", arguments[0]);
        return 125;
    }
    pid_t traced = fork();
    if (traced == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* it does not outlive this process */
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        execv(arguments[1], arguments + 1);
        fprintf(stderr, "at_secure: cannot run %s: %s\n", arguments[1], strerror(errno));
        _exit(125);
    }
    if (traced < 0 || waitpid(traced, &status, 0) < 0 || !WIFSTOPPED(status) || set_at_secure(traced) != 0) {
        fprintf(stderr, "at_secure: cannot trace: %s\n", strerror(errno));
        if (traced > 0) {
            kill(traced, SIGKILL);
        }
        return 125;
    }
    ptrace(PTRACE_DETACH, traced, NULL, NULL);
    while (waitpid(traced, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
