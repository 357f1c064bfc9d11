/* SPDX-License-Identifier: Apache-2.0 */
/* Commands: this process and its environment, its state, and what this system has no counterpart of. */
#include "count.h"
#include "machine.h"
#include "problem.h"
#include "topics.h"

#include <locale.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tlhelp32.h>

static void say_hello(const struct argument *a, const struct reply *reply)
{
    (void)a;
    reply_write(reply, "ok pid=%lu secure=%d linked=0", (unsigned long)GetCurrentProcessId(),
                machine.integrity >= SECURITY_MANDATORY_HIGH_RID);
}

static void get_variable(const struct argument *a, const struct reply *reply)
{
    SetLastError(ERROR_SUCCESS);
    DWORD size = GetEnvironmentVariableA(a[0].text, NULL, 0);
    char *value = size ? calloc(size, 1) : NULL;
    if (value) {
        reply_bytes(reply, value, GetEnvironmentVariableA(a[0].text, value, size));
    } else if (GetLastError() == ERROR_ENVVAR_NOT_FOUND) {
        reply_write(reply, "ok unset");
    } else {
        reply_bytes(reply, "", 0);
    }
    free(value);
}

/* The system's environment alone, as of an application whose C library is another one than the subject's: each C
 * library has a copy of its own, which it makes when it is loaded and which hears nothing of this. */
static void change_variable(const struct reply *reply, const char *name, const char *value)
{
    if (SetEnvironmentVariableA(name, value) || (!value && GetLastError() == ERROR_ENVVAR_NOT_FOUND)) {
        reply_ok(reply);
    } else {
        reply_error(reply, "%s", problem_text());
    }
}

static void set_variable(const struct argument *a, const struct reply *reply)
{
    change_variable(reply, a[0].text, a[1].text);
}

static void unset_variable(const struct argument *a, const struct reply *reply)
{
    change_variable(reply, a[0].text, NULL);
}

static void show_environment(const struct argument *a, const struct reply *reply)
{
    char *all = GetEnvironmentStringsA();
    char *end = all;
    (void)a;
    while (*end) {
        end += strlen(end) + 1;
    }
    reply_bytes(reply, all, (size_t)(end - all));
    FreeEnvironmentStringsA(all);
}

static void change_folder(const struct argument *a, const struct reply *reply)
{
    if (SetCurrentDirectoryA(a[0].text)) {
        reply_ok(reply);
    } else {
        reply_error(reply, "%s", problem_text());
    }
}

static void refuse(const struct argument *a, const struct reply *reply)
{
    (void)a;
    reply_error(reply, "there is no such thing on Windows");
}

static void count_exit_handlers(const struct argument *a, const struct reply *reply)
{
    (void)a;
    reply_write(reply, "ok -1");
}

static const struct command process_rows[] = {
    {"hello", "", say_hello, false},
    {"getenv", "HEX", get_variable, false},
    {"setenv", "HEX HEX", set_variable, false},
    {"unsetenv", "HEX", unset_variable, false},
    {"environment", "", show_environment, false},
    {"chdir", "HEX", change_folder, false},
    {"fork", "", refuse, true},
    {"handlers", "", count_exit_handlers, false},
    {0},
};

const struct command_table process_commands = {.rows = process_rows};

/* --- what a library should leave as it is --- */

static unsigned count_threads(void)
{
    HANDLE all = CreateToolhelp32Snapshot(TH32CS_SNAPTHREAD, 0);
    THREADENTRY32 thread = {.dwSize = sizeof thread};
    unsigned count = 0;
    for (BOOL more = Thread32First(all, &thread); more; more = Thread32Next(all, &thread)) {
        count += thread.th32OwnerProcessID == GetCurrentProcessId();
    }
    CloseHandle(all);
    return count;
}

static unsigned long arithmetic(void)
{
    unsigned int control = 0;
    __asm__ volatile("stmxcsr %0" : "=m"(control));
    return control & ~0x3FU;
}

/* Of this thread: who has made it one of COM's kinds decides how the application may use COM. */
static const char *apartment(void)
{
    static const char *const kinds[] = {"single-threaded", "multithreaded", "neutral", "main"};
    HMODULE com = GetModuleHandleA("ole32.dll");
    HRESULT(WINAPI * ask)(int *, int *) = NULL;
    int kind = -1;
    int more = 0;
    if (com) {
        ask = (HRESULT(WINAPI *)(int *, int *))(uintptr_t)GetProcAddress(com, "CoGetApartmentType");
    }
    return ask && ask(&kind, &more) == S_OK && kind >= 0 && kind < 4 ? kinds[kind] : "none";
}

static bool exceptions_are_own(void)
{
    static LPTOP_LEVEL_EXCEPTION_FILTER first;
    LPTOP_LEVEL_EXCEPTION_FILTER filter = SetUnhandledExceptionFilter(NULL);
    SetUnhandledExceptionFilter(filter);
    first = first ? first : filter;
    return filter == first;
}

static void show_state(const struct argument *a, const struct reply *reply)
{
    char text[2048];
    char folder[MAX_PATH] = "";
    char libraries[1024] = "";
    (void)a;
    fflush(NULL);
    GetCurrentDirectoryA(sizeof folder, folder);
    GetDllDirectoryA(sizeof libraries, libraries);
    int length = snprintf(text, sizeof text,
                          "locale=%s\nworking directory=%s\nfolder of libraries=%s\nfloating-point control=%#lx\n"
                          "threads=%u\nerror mode=%u\nerror mode of the thread=%lu\npriority class=%lu\n"
                          "priority of the thread=%d\napartment of the thread=%s\nexceptions=%s\n",
                          setlocale(LC_ALL, NULL), folder, libraries, arithmetic(), count_threads(), GetErrorMode(),
                          (unsigned long)GetThreadErrorMode(), (unsigned long)GetPriorityClass(GetCurrentProcess()),
                          GetThreadPriority(GetCurrentThread()), apartment(),
                          exceptions_are_own() ? "the application's" : "another's");
    reply_bytes(reply, text, (size_t)length);
}

/* Of all heaps of the process. */
static void show_heap(const struct argument *a, const struct reply *reply)
{
    HANDLE heaps[64];
    DWORD count = GetProcessHeaps(64, heaps);
    size_t bytes = 0;
    (void)a;
    for (DWORD i = 0; i < count && i < 64; i++) {
        PROCESS_HEAP_ENTRY entry = {0};
        HeapLock(heaps[i]);
        while (HeapWalk(heaps[i], &entry)) {
            bytes += entry.wFlags & PROCESS_HEAP_ENTRY_BUSY ? entry.cbData : 0;
        }
        HeapUnlock(heaps[i]);
    }
    reply_write(reply, "ok %zu", bytes);
}

/* GetProcessHandleCount; Wine answers it with 0, and gives handles the lowest free numbers, multiples of four. */
static unsigned long own_handles(void)
{
    enum { GAP = 256 };
    DWORD count = 0;
    GetProcessHandleCount(GetCurrentProcess(), &count);
    uintptr_t last = count ? 0 : 4 * GAP;
    for (uintptr_t number = 4; number <= last; number += 4) {
        DWORD flags = 0;
        if (GetHandleInformation((HANDLE)number, &flags)) {
            count++;
            last = number + 4 * GAP;
        }
    }
    return count;
}

static void count_handles(const struct argument *a, const struct reply *reply)
{
    char text[128];
    (void)a;
    reply_bytes(reply, text,
                (size_t)snprintf(text, sizeof text, "%lu %ld %ld %ld %ld %ld %ld", own_handles(), adapters_held(),
                                 dxgi_held(), libraries_held(), system_libraries_held(), blocks_held(),
                                 closes_refused()));
}

static void show_code_page(const struct argument *a, const struct reply *reply)
{
    (void)a;
    reply_write(reply, "ok %u", GetACP());
}

static const struct command state_rows[] = {
    {"state", "", show_state, false},
    {"heap", "", show_heap, false},
    /* ok HEX: a text with the numbers of what the subject holds: Held in harness/probe/windows_session.py. */
    {"handles", "", count_handles, false},
    /* ok NUMBER of the code page of narrow texts. */
    {"codepage", "", show_code_page, false},
    {0},
};

const struct command_table state_commands = {.rows = state_rows};

static const struct command descriptor_rows[] = {
    {"descriptor", "RESULT WORD...", refuse, false},
    {0},
};

const struct command_table descriptor_commands = {.rows = descriptor_rows};

/* --- instructions are not counted here --- */

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
