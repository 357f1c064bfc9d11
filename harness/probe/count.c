/* SPDX-License-Identifier: Apache-2.0 */
/* Counts instructions: executes a call one instruction at a time, and notes in which library each of them is.
 *
 * The processor's trap flag makes every instruction end in SIGTRAP. It is set and taken away by the handler of that
 * signal, in the flags that it returns to; a signal that we send ourselves starts it. Only the thread that asks for
 * it is stepped, and no tracer and no privilege is needed.
 *
 * Mocks are not of interest and have thousands of instructions, so they run freely: where one is entered, the address
 * that it will return to is exchanged for one at which there is a trap.
 *
 * Linux only.
 */
#define _GNU_SOURCE
#include "count.h"

#include <link.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#ifdef __x86_64__

enum { MAX_RANGES = 512, MAX_STRETCHES = 1 << 16, TRAP_FLAG = 0x100 };

/* Code of a library. */
static struct range {
    uintptr_t low, high;
    char *path; /* a copy: the library may be closed before anybody asks */
    bool free;  /* runs without being stepped */
} ranges[MAX_RANGES];
static int range_count;

/* Instructions in a row that are in the same range; -1: in none that was there when counting began. */
static struct stretch {
    int range;
    unsigned long instructions;
} stretches[MAX_STRETCHES];
static int stretch_count;

static bool stepping;
static greg_t return_address; /* of the mock that runs freely */

extern const char end_of_mock[];
__asm__(".pushsection .text\nend_of_mock: int3\n.popsection");

static int add_ranges(struct dl_phdr_info *info, size_t size, void *data)
{
    const char *folder = data;
    bool is_free = *folder && strncmp(info->dlpi_name, folder, strlen(folder)) == 0;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum && range_count < MAX_RANGES; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type == PT_LOAD && (part->p_flags & PF_X)) {
            uintptr_t low = info->dlpi_addr + part->p_vaddr;
            char *path = strdup(info->dlpi_name);
            ranges[range_count++] = (struct range){low, low + part->p_memsz, path, is_free};
        }
    }
    return 0;
}

static bool is_in(uintptr_t address, int range)
{
    return range >= 0 && address >= ranges[range].low && address < ranges[range].high;
}

static int range_of(uintptr_t address)
{
    for (int i = 0; i < range_count; i++) {
        if (is_in(address, i)) {
            return i;
        }
    }
    return -1;
}

/* `address` is that of the instruction that comes next. Gives its range. */
static int note(uintptr_t address)
{
    struct stretch *last = stretch_count ? &stretches[stretch_count - 1] : NULL;
    int range = last && is_in(address, last->range) ? last->range : range_of(address);
    if (last && last->range == range) {
        last->instructions++;
    } else if (stretch_count < MAX_STRETCHES) {
        stretches[stretch_count++] = (struct stretch){range, 1};
    }
    return range;
}

/* At the first instruction of a function, whose return address is on top of the stack. */
static void run_freely(greg_t *registers)
{
    greg_t *top = (greg_t *)(uintptr_t)registers[REG_RSP];
    return_address = *top;
    *top = (greg_t)(uintptr_t)end_of_mock;
    registers[REG_EFL] &= ~(greg_t)TRAP_FLAG;
}

static void trapped(int number, siginfo_t *info, void *context)
{
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    (void)number;
    if (info->si_code <= 0) { /* sent by us */
        stepping = !stepping;
    } else if (registers[REG_RIP] == (greg_t)(uintptr_t)end_of_mock + 1) {
        registers[REG_RIP] = return_address;
    }
    registers[REG_EFL] = stepping ? registers[REG_EFL] | TRAP_FLAG : registers[REG_EFL] & ~(greg_t)TRAP_FLAG;
    int range = note((uintptr_t)registers[REG_RIP]);
    if (stepping && range >= 0 && ranges[range].free) {
        run_freely(registers);
    }
}

/* By the system call itself: the C library's functions may keep signals off while they run, which ends a process that
 * is being stepped. */
static void turn(void)
{
    syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), SIGTRAP);
}

uint64_t count_invoke(const char *folder, enum function function, void (*address)(void), const uint64_t *arguments)
{
    struct sigaction before;
    struct sigaction action = {.sa_sigaction = trapped, .sa_flags = SA_SIGINFO};
    while (range_count > 0) {
        free(ranges[--range_count].path);
    }
    stretch_count = 0;
    dl_iterate_phdr(add_ranges, (void *)(uintptr_t)folder);
    sigaction(SIGTRAP, &action, &before);
    turn();
    uint64_t result = invoke(function, address, arguments);
    turn();
    sigaction(SIGTRAP, &before, NULL);
    return result;
}

char *count_text(size_t *length)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, length);
    if (!out) {
        return NULL;
    }
    for (int i = 0; i < stretch_count; i++) {
        const char *path = stretches[i].range < 0 ? NULL : ranges[stretches[i].range].path;
        fprintf(out, "%lu %s\n", stretches[i].instructions, path ? path : "?");
    }
    fclose(out);
    return stretch_count < MAX_STRETCHES ? text : (free(text), NULL);
}

#else

uint64_t count_invoke(const char *folder, enum function function, void (*address)(void), const uint64_t *arguments)
{
    (void)folder;
    return invoke(function, address, arguments);
}

char *count_text(size_t *length)
{
    (void)length;
    return NULL;
}

#endif
