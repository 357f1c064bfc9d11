/* SPDX-License-Identifier: Apache-2.0 */
/* Libraries that the system has or has not, and keys that are made (Microsoft Learn, libloaderapi.h, winreg.h). */
#include "log.h"
#include "machine.h"

#include <string.h>
#include <wchar.h>

/* --- libraries --- */

static const WCHAR *file_name(const WCHAR *path)
{
    const WCHAR *name = path;
    for (const WCHAR *c = path; *c; c++) {
        name = *c == L'\\' || *c == L'/' ? c + 1 : name;
    }
    return name;
}

static bool is_named(const WCHAR *name, const WCHAR *library)
{
    size_t length = wcslen(library);
    return _wcsnicmp(name, library, length) == 0 && (!name[length] || _wcsicmp(name + length, L".dll") == 0);
}

/* The libraries of which everything that a loader asks for is answered here (adapters.c, dxgi.c). The system's own
 * would bring all of Direct3D into the process. */
static bool is_answered(const WCHAR *path)
{
    const WCHAR *name = file_name(path);
    WCHAR folder[MAX_PATH];
    UINT length = GetSystemDirectoryW(folder, MAX_PATH);
    bool of_system = name == path || (length < MAX_PATH && _wcsnicmp(path, folder, length) == 0);
    return of_system && (is_named(name, L"dxgi") || is_named(name, L"gdi32"));
}

static bool is_absolute(const WCHAR *path)
{
    return (path[0] == L'\\' || path[0] == L'/') || (path[0] && path[1] == L':');
}

static bool is_absent(const WCHAR *path)
{
    return machine.dxgi_absent && is_named(file_name(path), L"dxgi");
}

static long libraries;
static long libraries_of_system;

long libraries_held(void)
{
    return libraries;
}

long system_libraries_held(void)
{
    return libraries_of_system;
}

/* Stands for DXGI's library, which no process needs to have: who loads it for a while gives it back. */
static HMODULE dxgi_library(void)
{
    return GetModuleHandleW(L"ntdll.dll");
}

/* Whether it is one of the system's folder, or stands for one: no vendor or layer. */
static bool is_of_system(HMODULE library)
{
    WCHAR folder[MAX_PATH];
    WCHAR path[MAX_PATH];
    UINT length = GetSystemDirectoryW(folder, MAX_PATH);
    DWORD got = GetModuleFileNameW(library, path, MAX_PATH);
    return library == GetModuleHandleW(NULL) ||
           (length > 0 && length < MAX_PATH && got > length && _wcsnicmp(path, folder, length) == 0);
}

static HMODULE counted(HMODULE library)
{
    if (library) {
        InterlockedIncrement(&libraries);
    }
    if (library && is_of_system(library)) {
        InterlockedIncrement(&libraries_of_system);
    }
    return library;
}

/* The program stands for gdi32, which stays in nearly every process. */
static HMODULE answered_library(const WCHAR *path)
{
    if (!is_named(file_name(path), L"dxgi")) {
        return GetModuleHandleW(NULL);
    }
    dxgi_count(1);
    return dxgi_library();
}

static HMODULE WINAPI hook_LoadLibraryExW(LPCWSTR path, HANDLE file, DWORD flags)
{
    if (path && is_absent(path)) {
        SetLastError(ERROR_MOD_NOT_FOUND);
        return NULL;
    }
    if (path && machine.strict_paths && (flags & LOAD_WITH_ALTERED_SEARCH_PATH) && !is_absolute(path)) {
        SetLastError(ERROR_INVALID_PARAMETER);
        return NULL;
    }
    return counted(path && is_answered(path) ? answered_library(path) : LoadLibraryExW(path, file, flags));
}

static HMODULE WINAPI hook_LoadLibraryExA(LPCSTR path, HANDLE file, DWORD flags)
{
    WCHAR wide[1024];
    if (!path || !MultiByteToWideChar(CP_ACP, 0, path, -1, wide, 1024)) {
        return counted(LoadLibraryExA(path, file, flags)); /* what is too long for anyone */
    }
    return hook_LoadLibraryExW(wide, file, flags);
}

static HMODULE WINAPI hook_LoadLibraryW(LPCWSTR path)
{
    return hook_LoadLibraryExW(path, NULL, 0);
}

static HMODULE WINAPI hook_LoadLibraryA(LPCSTR path)
{
    return hook_LoadLibraryExA(path, NULL, 0);
}

static bool process_ends;

void loading_ends(void)
{
    process_ends = true;
}

/* A line of the call log, for what happens when nobody can ask any more. */
static void tell_that_it_is_freed(HMODULE library)
{
    struct calllog_line line;
    char path[MAX_PATH] = "";
    GetModuleFileNameA(library, path, MAX_PATH);
    calllog_begin(&probe_log, &line, CALLLOG_EVENT, "application", "freed at the end", NULL, 0);
    calllog_string(&line, "detail", path, strlen(path));
    calllog_commit(&probe_log, &line);
}

static BOOL WINAPI hook_FreeLibrary(HMODULE library)
{
    bool of_system = is_of_system(library);
    if (process_ends && !of_system) {
        tell_that_it_is_freed(library);
    }
    BOOL freed = FreeLibrary(library);
    count_close(library, freed);
    if (freed) {
        InterlockedDecrement(&libraries);
    }
    if (freed && of_system) {
        InterlockedDecrement(&libraries_of_system);
    }
    if (freed && library == dxgi_library()) {
        dxgi_count(-1);
    }
    return freed;
}

const struct hook library_hooks[] = {
    HOOK(LoadLibraryA), HOOK(LoadLibraryW), HOOK(LoadLibraryExA), HOOK(LoadLibraryExW), HOOK(FreeLibrary), {0},
};

/* --- keys that are made --- */

/* Who may not make it opens what is there. A key below a volatile one can only be volatile. */
static LSTATUS WINAPI hook_RegCreateKeyExW(HKEY parent, LPCWSTR path, DWORD reserved, LPWSTR class, DWORD options,
                                           REGSAM access, const LPSECURITY_ATTRIBUTES security, PHKEY key,
                                           LPDWORD disposition)
{
    LSTATUS status = registry_open_key(parent, path, 0, access, key);
    if (status != ERROR_FILE_NOT_FOUND) {
        if (status == ERROR_SUCCESS && disposition) {
            *disposition = REG_OPENED_EXISTING_KEY;
        }
        return status;
    }
    if (parent == HKEY_LOCAL_MACHINE && registry_refuses(KEY_CREATE_SUB_KEY)) {
        return ERROR_ACCESS_DENIED;
    }
    return RegCreateKeyExW(parent, path, reserved, class, options | REG_OPTION_VOLATILE, access, security, key,
                           disposition);
}

static LSTATUS WINAPI hook_RegCreateKeyExA(HKEY parent, LPCSTR path, DWORD reserved, LPSTR class, DWORD options,
                                           REGSAM access, const LPSECURITY_ATTRIBUTES security, PHKEY key,
                                           LPDWORD disposition)
{
    WCHAR wide[512];
    (void)class;
    if (!path || !MultiByteToWideChar(CP_ACP, 0, path, -1, wide, 512)) {
        return ERROR_INVALID_PARAMETER;
    }
    return hook_RegCreateKeyExW(parent, wide, reserved, NULL, options, access, security, key, disposition);
}

static LSTATUS WINAPI hook_RegCreateKeyW(HKEY parent, LPCWSTR path, PHKEY key)
{
    return hook_RegCreateKeyExW(parent, path, 0, NULL, 0, MAXIMUM_ALLOWED, NULL, key, NULL);
}

static LSTATUS WINAPI hook_RegCreateKeyA(HKEY parent, LPCSTR path, PHKEY key)
{
    return hook_RegCreateKeyExA(parent, path, 0, NULL, 0, MAXIMUM_ALLOWED, NULL, key, NULL);
}

const struct hook creation_hooks[] = {
    HOOK(RegCreateKeyExW), HOOK(RegCreateKeyExA), HOOK(RegCreateKeyW), HOOK(RegCreateKeyA), {0},
};
