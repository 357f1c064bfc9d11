/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a program that sees AT_SECURE=1, as a set-uid program would, without any privilege.
 *
 *   at_secure PROGRAM [ARGUMENT…]
 *
 * A tracer stops the program at its exec, before the dynamic linker runs, sets the value in the auxiliary vector on
 * its stack and lets it go. Exit codes: those of the program (128 + signal for a signal); 125 where tracing fails.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <sys/reg.h>
#endif

/* Bytes of a word of the program. */
static unsigned width = 8;

static uint64_t word_at(pid_t child, uint64_t address)
{
    uint64_t word = (uint64_t)ptrace(PTRACE_PEEKDATA, child, (void *)(uintptr_t)address, NULL);
    return width == 8 ? word : word & 0xFFFFFFFFU;
}

#if defined(__x86_64__)
/* A 32-bit program has another set of registers, which is shorter. */
static uint64_t stack_of(pid_t child)
{
    struct user_regs_struct registers;
    struct iovec io = {&registers, sizeof registers};
    if (ptrace(PTRACE_GETREGSET, child, (void *)NT_PRSTATUS, &io) == 0 && io.iov_len < sizeof registers) {
        width = 4;
    }
    return (uint64_t)ptrace(PTRACE_PEEKUSER, child, (void *)(sizeof(long) * RSP), NULL);
}
#else
static uint64_t stack_of(pid_t child)
{
    struct user_regs_struct registers;
    struct iovec io = {&registers, sizeof registers};
    return ptrace(PTRACE_GETREGSET, child, (void *)NT_PRSTATUS, &io) == 0 ? registers.sp : 0;
}
#endif

/* A long is written at once, so that what follows a shorter word is written as it is. */
static int set_word(pid_t child, uint64_t address, uint64_t value)
{
    if (width == 4) {
        uint64_t both = (uint64_t)ptrace(PTRACE_PEEKDATA, child, (void *)(uintptr_t)address, NULL);
        value |= both & ~(uint64_t)0xFFFFFFFFU;
    }
    return (int)ptrace(PTRACE_POKEDATA, child, (void *)(uintptr_t)address, (void *)(uintptr_t)value);
}

/* At exec the stack holds: argc, arguments, NULL, environment, NULL, auxiliary vector. */
static int set_at_secure(pid_t child)
{
    uint64_t at = stack_of(child);
    uint64_t count = word_at(child, at);
    at += width * (count + 2);
    while (word_at(child, at) != 0) {
        at += width;
    }
    for (at += width; word_at(child, at) != AT_NULL; at += 2 * (uint64_t)width) {
        if (word_at(child, at) == AT_SECURE) {
            return set_word(child, at + width, 1);
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
