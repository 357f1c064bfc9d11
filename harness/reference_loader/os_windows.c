/* SPDX-License-Identifier: Apache-2.0 */
/* Windows: locks, libraries and the environment. What is installed is in the registry: os_windows_registry.c. */
#include "os_windows.h"

#include <stdlib.h>
#include <string.h>

static SRWLOCK lock = SRWLOCK_INIT;

void discovery_lock(void)
{
    AcquireSRWLockExclusive(&lock);
}

void discovery_unlock(void)
{
    ReleaseSRWLockExclusive(&lock);
}

uintptr_t thread_number(void)
{
    return GetCurrentThreadId();
}

/* Where the process ends (`reserved` is set), its other threads were stopped wherever they were, perhaps in a vendor
 * that holds a lock: nothing of them can be called any more, and the system takes everything back. */
BOOL WINAPI DllMain(HINSTANCE library, DWORD reason, LPVOID reserved);
BOOL WINAPI DllMain(HINSTANCE library, DWORD reason, LPVOID reserved)
{
    (void)library;
    if (reason == DLL_PROCESS_DETACH && !reserved) {
        loader_deinitialize();
    }
    return TRUE;
}

static bool is_absolute(const char *name)
{
    return name[0] != '\0' && (name[1] == ':' || (name[0] == '\\' && name[1] == '\\'));
}

/* ICD names no function to load with; ANSI names are those of the registry values. A library that is named by its whole
 * path finds its own libraries beside it. A damaged one is a failure here, not a message box for the user. */
void *library_open(const char *name)
{
    DWORD before = 0;
    if (!*name) {
        return NULL;
    }
    SetThreadErrorMode(SEM_FAILCRITICALERRORS | SEM_NOOPENFILEERRORBOX, &before);
    HMODULE library = LoadLibraryExA(name, NULL, is_absolute(name) ? LOAD_WITH_ALTERED_SEARCH_PATH : 0);
    SetThreadErrorMode(before, NULL);
    return library;
}

void library_close(void *library)
{
    FreeLibrary(library);
}

entry library_symbol(void *library, const char *name)
{
    return (entry)(uintptr_t)GetProcAddress(library, name);
}

bool library_is_self(void *library)
{
    static char inside;
    HMODULE self = NULL;
    DWORD how = GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT;
    return GetModuleHandleExA(how, &inside, &self) && self == library;
}

/* "Run as administrator", a service: its user gave it more than programs of that user have (grey area 22). */
bool process_is_elevated(void)
{
    TOKEN_ELEVATION elevation = {0};
    DWORD size = 0;
    HANDLE token = NULL;
    if (!OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &token)) {
        return true; /* not known: the careful side */
    }
    BOOL known = GetTokenInformation(token, TokenElevation, &elevation, sizeof elevation, &size);
    CloseHandle(token);
    return !known || elevation.TokenIsElevated;
}

/* A copy of a variable, or NULL. Of the system and not of the C library, which has one of its own for each library. */
static char *variable(const char *name)
{
    DWORD size = GetEnvironmentVariableA(name, NULL, 0);
    char *value = size ? calloc(size, 1) : NULL;
    if (value && GetEnvironmentVariableA(name, value, size) >= size) { /* another thread has changed it */
        free(value);
        return NULL;
    }
    return value;
}

char *selecting_variable(const char *name)
{
    return process_is_elevated() ? NULL : variable(name);
}

bool variable_is_true(const char *name)
{
    static const char *const truths[] = {"True", "true", "T", "1"};
    char *value = variable(name);
    bool is_true = false;
    for (size_t i = 0; value && i < sizeof truths / sizeof *truths; i++) {
        is_true = is_true || strcmp(value, truths[i]) == 0;
    }
    free(value);
    return is_true;
}
