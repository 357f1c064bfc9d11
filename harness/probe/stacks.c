/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the stack of a thread from inside, by the unwinder that takes no lock; Python turns addresses into names.
 * Linux only. */
#define _GNU_SOURCE
#include "stacks.h"

#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <unwind.h>

enum { MAX_FRAMES = 48 };

struct text {
    size_t length;
    char bytes[64 + MAX_FRAMES * 19];
};

static void put_number(struct text *text, uint64_t value, unsigned base)
{
    char digits[24];
    size_t at = sizeof digits;
    do {
        digits[--at] = "0123456789abcdef"[value % base];
        value /= base;
    } while (value);
    memcpy(text->bytes + text->length, digits + at, sizeof digits - at);
    text->length += sizeof digits - at;
}

static void put_text(struct text *text, const char *more)
{
    memcpy(text->bytes + text->length, more, strlen(more));
    text->length += strlen(more);
}

static _Unwind_Reason_Code frame(struct _Unwind_Context *context, void *data)
{
    struct text *text = data;
    if (text->length + 32 > sizeof text->bytes) {
        return _URC_END_OF_STACK;
    }
    /* A return address may lie past the end of the function that called: a call of abort is often its last word. */
    int exact = 0;
    uint64_t address = _Unwind_GetIPInfo(context, &exact);
    put_text(text, " 0x");
    put_number(text, exact ? address : address - 1, 16);
    return _URC_NO_REASON;
}

static void write_stack(int signal)
{
    struct text text = {0};
    put_text(&text, "\nclharness stack ");
    put_number(&text, (uint64_t)syscall(SYS_gettid), 10);
    put_text(&text, " ");
    put_number(&text, (uint64_t)signal, 10);
    put_text(&text, ":");
    _Unwind_Backtrace(frame, &text);
    put_text(&text, "\n");
    if (write(STDERR_FILENO, text.bytes, text.length) < 0) {
        return; /* nobody reads: nothing to be done about it here */
    }
}

/* The memory map, so that addresses mean something after the end of the process. */
static void write_maps(void)
{
    char bytes[4096];
    ssize_t got;
    int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    ssize_t written = write(STDERR_FILENO, "clharness maps\n", 15);
    while (fd >= 0 && (got = read(fd, bytes, sizeof bytes)) > 0 && written > 0) {
        written = write(STDERR_FILENO, bytes, (size_t)got);
    }
    if (written > 0 && write(STDERR_FILENO, "clharness end\n", 14) < 0) {
        return;
    }
}

static void crashed(int signal)
{
    write_stack(signal);
    write_maps();
    raise(signal); /* the handler was reset: this time it does what it always does */
}

void stacks_install(void)
{
    static char alternate[64 << 10];
    const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    stack_t stack = {.ss_sp = alternate, .ss_size = sizeof alternate};
    struct sigaction action = {.sa_handler = crashed, .sa_flags = (int)(SA_RESETHAND | SA_ONSTACK | SA_NODEFER)};
    sigaltstack(&stack, NULL);
    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++) {
        struct sigaction present;
        sigaction(crashes[i], NULL, &present);
        if (present.sa_handler == SIG_DFL) { /* a sanitizer's handler prints more than ours */
            sigaction(crashes[i], &action, NULL);
        }
    }
    struct sigaction ask = {.sa_handler = write_stack, .sa_flags = SA_RESTART};
    sigaction(SIGRTMIN + 6, &ask, NULL);
}
