/* SPDX-License-Identifier: Apache-2.0 */
/* The program's start and end, and the stacks that it shows where it crashes. */
#include "system.h"

#include "machine.h"
#include "topics.h"

#include <fcntl.h>
#include <io.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tlhelp32.h>
#include <unistd.h>

/* One more line of the description, while the subject runs. */
static void change_machine(const struct argument *a, const struct reply *reply)
{
    const char *problem = machine.root ? machine_line(a[0].text) : "there is no machine of its own";
    if (problem) {
        reply_error(reply, "%s", problem);
    } else {
        reply_ok(reply);
    }
}

/* What discovery could have changed. */
static void show_registry(const struct argument *a, const struct reply *reply)
{
    char *text = machine.root ? registry_text() : NULL;
    (void)a;
    if (text) {
        reply_bytes(reply, text, strlen(text));
    } else {
        reply_error(reply, "there is no registry of its own");
    }
    free(text);
}

static const struct command machine_rows[] = {
    /* Changes the machine: a line of machine.h. */
    {"machine", "LINE", change_machine, false},
    /* ok HEX: a text with the keys of the case's registry and the names of their values. */
    {"registry", "", show_registry, false},
    {0},
};

static const struct command_table machine_commands = {.rows = machine_rows};

const struct command_table *const topics[] = {
    &call_commands,    &memory_commands, &thread_commands, &callback_commands, &library_commands,    &machine_commands,
    &process_commands, &state_commands,  &layer_commands,  &vulkan_commands,   &descriptor_commands, NULL,
};

/* --- stacks --- */

enum { MAX_FRAMES = 48 };

static void write_error(const char *text)
{
    DWORD written;
    WriteFile(GetStdHandle(STD_ERROR_HANDLE), text, (DWORD)strlen(text), &written, NULL);
}

/* As harness/probe/stacks.c writes it. */
static void write_stack(CONTEXT context, int number)
{
    char text[64 + MAX_FRAMES * 20];
    int length = snprintf(text, sizeof text, "\nclharness stack %lu %d:", (unsigned long)GetCurrentThreadId(), number);
    for (int i = 0; i < MAX_FRAMES && context.Rip; i++) {
        DWORD64 base = 0;
        void *handler_data = NULL;
        DWORD64 frame = 0;
        length += snprintf(text + length, sizeof text - (size_t)length, " 0x%llx",
                           (unsigned long long)(i ? context.Rip - 1 : context.Rip));
        PRUNTIME_FUNCTION function = RtlLookupFunctionEntry(context.Rip, &base, NULL);
        if (function) {
            RtlVirtualUnwind(UNW_FLAG_NHANDLER, base, context.Rip, function, &context, &handler_data, &frame, NULL);
        } else if (i == 0 && !IsBadReadPtr((void *)(uintptr_t)context.Rsp, 8)) { /* a jump into nowhere */
            memcpy(&context.Rip, (void *)(uintptr_t)context.Rsp, sizeof context.Rip);
            context.Rsp += 8;
        } else {
            break;
        }
    }
    snprintf(text + length, sizeof text - (size_t)length, "\n");
    write_error(text);
}

/* The libraries, as Linux shows its memory map: under Wine, drive Z: is the root. */
static void write_maps(void)
{
    HANDLE all = CreateToolhelp32Snapshot(TH32CS_SNAPMODULE, GetCurrentProcessId());
    MODULEENTRY32 module = {.dwSize = sizeof module};
    write_error("clharness maps\n");
    for (BOOL more = Module32First(all, &module); more; more = Module32Next(all, &module)) {
        char line[MAX_PATH + 64];
        uint64_t start = (uint64_t)(uintptr_t)module.modBaseAddr;
        char *path = module.szExePath + (strncmp(module.szExePath, "Z:", 2) == 0 ? 2 : 0);
        for (char *c = path; *c; c++) {
            *c = *c == '\\' ? '/' : *c;
        }
        snprintf(line, sizeof line, "%llx-%llx r-xp 0 00:00 0 %s%s\n", (unsigned long long)start,
                 (unsigned long long)(start + module.modBaseSize), *path == '/' ? "" : "/", path);
        write_error(line);
    }
    CloseHandle(all);
    write_error("clharness end\n");
}

/* The signal that the same thing would be on Linux. */
static int signal_of(DWORD code)
{
    switch (code) {
    case EXCEPTION_ILLEGAL_INSTRUCTION:
    case EXCEPTION_PRIV_INSTRUCTION:
        return 4;
    case EXCEPTION_INT_DIVIDE_BY_ZERO:
    case EXCEPTION_INT_OVERFLOW:
    case EXCEPTION_FLT_DIVIDE_BY_ZERO:
    case EXCEPTION_FLT_INVALID_OPERATION:
        return 8;
    case EXCEPTION_BREAKPOINT:
        return 5;
    case (DWORD)0xC0000374: /* STATUS_HEAP_CORRUPTION */
        return 6;
    default:
        return 11;
    }
}

static LONG WINAPI crashed(EXCEPTION_POINTERS *about)
{
    write_stack(*about->ContextRecord, signal_of(about->ExceptionRecord->ExceptionCode));
    write_maps();
    return EXCEPTION_EXECUTE_HANDLER; /* the process ends, with the exception's code */
}

static void aborted(int number)
{
    CONTEXT context;
    (void)number;
    RtlCaptureContext(&context);
    write_stack(context, 6);
    write_maps();
    _exit(3);
}

/* --- start and end --- */

/* The harness, which reads standard error, then knows that what goes wrong is not the system's. */
static void say_that_it_begins(void)
{
    write_error("clharness start\n");
}

void system_begin(char **arguments)
{
    (void)arguments;
    SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX | SEM_NOOPENFILEERRORBOX); /* no box waits for a user */
    SetUnhandledExceptionFilter(crashed);
    signal(SIGABRT, aborted);
    _setmode(STDERR_FILENO, _O_BINARY);
    _setmode(STDIN_FILENO, _O_BINARY);
    _setmode(STDOUT_FILENO, _O_BINARY);
}

bool system_replace_standard(int file)
{
    int nothing = open("NUL", O_RDONLY | O_CLOEXEC);
    bool done = nothing >= 0 && dup2(nothing, STDIN_FILENO) == 0 && dup2(file, STDOUT_FILENO) == 0;
    if (done) {
        say_that_it_begins();
        SetStdHandle(STD_INPUT_HANDLE, (HANDLE)_get_osfhandle(STDIN_FILENO));
        SetStdHandle(STD_OUTPUT_HANDLE, (HANDLE)_get_osfhandle(STDOUT_FILENO));
    }
    if (nothing >= 0) {
        close(nothing);
    }
    return done;
}

void system_end(void)
{
    registry_close();
    loading_ends();
}
