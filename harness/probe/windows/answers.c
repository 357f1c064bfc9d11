/* SPDX-License-Identifier: Apache-2.0 */
/* What the system says of the process, and of keys and packages: integrity, WOW64, views of the registry, keys that
 * nobody may open (Microsoft Learn, winnt.h, winreg.h, appmodel.h). */
#include "machine.h"

#include <string.h>
#include <wchar.h>

/* --- handles --- */

static long refused;

void count_close(const void *handle, bool closed)
{
    if (!closed && handle && handle != INVALID_HANDLE_VALUE) {
        InterlockedIncrement(&refused);
    }
}

long closes_refused(void)
{
    return refused;
}

static BOOL WINAPI hook_CloseHandle(HANDLE handle)
{
    BOOL closed = CloseHandle(handle);
    count_close(handle, closed);
    return closed;
}

static LSTATUS WINAPI hook_RegCloseKey(HKEY key)
{
    LSTATUS status = RegCloseKey(key);
    count_close(key, status == ERROR_SUCCESS);
    return status;
}

/* --- the token --- */

static BOOL too_small(PDWORD length, DWORD needed)
{
    *length = needed;
    SetLastError(ERROR_INSUFFICIENT_BUFFER);
    return FALSE;
}

/* Whether this token may be asked: with TOKEN_QUERY, or by a number that stands for the process's own. */
static bool may_be_asked(HANDLE token)
{
    DWORD length = 0;
    return (intptr_t)token < 0 || GetTokenInformation(token, TokenUser, NULL, 0, &length) ||
           GetLastError() == ERROR_INSUFFICIENT_BUFFER;
}

static BOOL answer_label(void *to, DWORD room, PDWORD length)
{
    struct {
        TOKEN_MANDATORY_LABEL label;
        SID sid;
    } *answer = to;
    if (!to || room < sizeof *answer) {
        return too_small(length, sizeof *answer);
    }
    memset(answer, 0, sizeof *answer);
    answer->label.Label.Sid = &answer->sid;
    answer->label.Label.Attributes = SE_GROUP_INTEGRITY | SE_GROUP_INTEGRITY_ENABLED;
    answer->sid.Revision = SID_REVISION;
    answer->sid.SubAuthorityCount = 1;
    answer->sid.IdentifierAuthority.Value[5] = 16; /* SECURITY_MANDATORY_LABEL_AUTHORITY */
    answer->sid.SubAuthority[0] = machine.integrity;
    *length = sizeof *answer;
    return TRUE;
}

static BOOL answer_number(DWORD number, void *to, DWORD room, PDWORD length)
{
    if (!to || room < sizeof number) {
        return too_small(length, sizeof number);
    }
    memcpy(to, &number, sizeof number);
    *length = sizeof number;
    return TRUE;
}

static BOOL WINAPI hook_GetTokenInformation(HANDLE token, TOKEN_INFORMATION_CLASS class, LPVOID to, DWORD room,
                                            PDWORD length)
{
    bool elevated = machine.integrity >= SECURITY_MANDATORY_HIGH_RID;
    if (!length) {
        SetLastError(ERROR_NOACCESS);
        return FALSE;
    }
    if (!may_be_asked(token)) {
        return FALSE; /* with the system's own error */
    }
    if (machine.no_token) {
        SetLastError(ERROR_ACCESS_DENIED);
        return FALSE;
    }
    switch (class) {
    case TokenIntegrityLevel:
        return answer_label(to, room, length);
    case TokenElevation:
        return answer_number(elevated, to, room, length);
    case TokenElevationType:
        return answer_number(elevated ? TokenElevationTypeFull : TokenElevationTypeLimited, to, room, length);
    default:
        return GetTokenInformation(token, class, to, room, length);
    }
}

/* --- a 32-bit process of a 64-bit system --- */

static BOOL WINAPI hook_IsWow64Process(HANDLE process, PBOOL wow64)
{
    (void)process;
    *wow64 = machine.wow64;
    return TRUE;
}

static BOOL WINAPI hook_IsWow64Process2(HANDLE process, USHORT *machine_of_process, USHORT *machine_of_system)
{
    (void)process;
    *machine_of_process = machine.wow64 ? IMAGE_FILE_MACHINE_I386 : IMAGE_FILE_MACHINE_UNKNOWN;
    if (machine_of_system) {
        *machine_of_system = IMAGE_FILE_MACHINE_AMD64;
    }
    return TRUE;
}

/* --- keys --- */

static bool is_denied(HKEY parent, const WCHAR *path)
{
    for (unsigned i = 0; parent == HKEY_LOCAL_MACHINE && path && i < machine.denied_count; i++) {
        if (_wcsicmp(machine.denied[i], path) == 0) {
            return true;
        }
    }
    return false;
}

/* Who is not elevated may not write to the keys of the machine. */
bool registry_refuses(REGSAM access)
{
    const REGSAM writing = KEY_SET_VALUE | KEY_CREATE_SUB_KEY | KEY_CREATE_LINK | DELETE | WRITE_DAC | WRITE_OWNER |
                           GENERIC_WRITE | GENERIC_ALL;
    return (access & writing) && machine.integrity < SECURITY_MANDATORY_HIGH_RID;
}

/* The path in the view that a process asks for: 32-bit keys of software lie below WOW6432Node. */
static const WCHAR *in_view(HKEY parent, const WCHAR *path, REGSAM access, WCHAR *to, size_t room)
{
    bool view32 = machine.wow64 ? !(access & KEY_WOW64_64KEY) : (access & KEY_WOW64_32KEY) != 0;
    const WCHAR *software = L"SOFTWARE\\";
    if (!view32 || parent != HKEY_LOCAL_MACHINE || !path || _wcsnicmp(path, software, wcslen(software)) != 0) {
        return path;
    }
    swprintf(to, room, L"SOFTWARE\\WOW6432Node\\%ls", path + wcslen(software));
    return to;
}

LSTATUS WINAPI registry_open_key(HKEY parent, LPCWSTR path, DWORD options, REGSAM access, PHKEY key)
{
    WCHAR room[512];
    if (is_denied(parent, path) || (parent == HKEY_LOCAL_MACHINE && registry_refuses(access))) {
        return ERROR_ACCESS_DENIED;
    }
    const REGSAM views = KEY_WOW64_32KEY | KEY_WOW64_64KEY;
    return RegOpenKeyExW(parent, in_view(parent, path, access, room, 512), options, access & ~views, key);
}

static LSTATUS WINAPI hook_RegOpenKeyExA(HKEY parent, LPCSTR path, DWORD options, REGSAM access, PHKEY key)
{
    WCHAR wide[512];
    if (path && !MultiByteToWideChar(CP_ACP, 0, path, -1, wide, 512)) {
        return ERROR_INVALID_PARAMETER;
    }
    return registry_open_key(parent, path ? wide : NULL, options, access, key);
}

static LSTATUS WINAPI hook_RegOpenKeyW(HKEY parent, LPCWSTR path, PHKEY key)
{
    return registry_open_key(parent, path, 0, MAXIMUM_ALLOWED, key);
}

static LSTATUS WINAPI hook_RegOpenKeyA(HKEY parent, LPCSTR path, PHKEY key)
{
    return hook_RegOpenKeyExA(parent, path, 0, MAXIMUM_ALLOWED, key);
}

/* --- packages --- */

static bool is_of_family(const struct package *package, const WCHAR *family)
{
    return !package->late && !package->removed && _wcsicmp(package->family, family) == 0;
}

static void packages_come_and_go(void)
{
    for (unsigned i = 0; i < machine.package_count; i++) {
        machine.packages[i].late = false;
        machine.packages[i].removed = machine.packages[i].counted;
    }
}

/* Counts and lengths are those of all names of the family, with their NULs. */
static LONG WINAPI hook_GetPackagesByPackageFamily(PCWSTR family, UINT32 *count, PWSTR *names, UINT32 *length,
                                                   WCHAR *buffer)
{
    UINT32 needed = 0;
    UINT32 package_count = 0;
    if (!family || !count || !length) {
        return ERROR_INVALID_PARAMETER;
    }
    for (unsigned i = 0; i < machine.package_count; i++) {
        if (is_of_family(&machine.packages[i], family)) {
            needed += (UINT32)wcslen(machine.packages[i].name) + 1;
            package_count++;
        }
    }
    bool fits = *count >= package_count && *length >= needed && (package_count == 0 || (names && buffer));
    *count = package_count;
    *length = needed;
    if (!fits) {
        packages_come_and_go();
        return ERROR_INSUFFICIENT_BUFFER;
    }
    for (unsigned i = 0, at = 0; i < machine.package_count; i++) {
        if (is_of_family(&machine.packages[i], family)) {
            names[at++] = wcscpy(buffer, machine.packages[i].name);
            buffer += wcslen(buffer) + 1;
        }
    }
    return ERROR_SUCCESS;
}

static LONG WINAPI hook_GetPackagePathByFullName(PCWSTR name, UINT32 *length, PWSTR path)
{
    for (unsigned i = 0; name && length && i < machine.package_count; i++) {
        const struct package *package = &machine.packages[i];
        if (_wcsicmp(package->name, name) == 0 && !package->gone && !package->removed) {
            UINT32 needed = (UINT32)wcslen(package->path) + 1;
            bool fits = path && *length >= needed;
            *length = needed;
            if (fits) {
                wcscpy(path, package->path);
            }
            return !fits ? ERROR_INSUFFICIENT_BUFFER : package->measured ? ERROR_NOT_FOUND : ERROR_SUCCESS;
        }
    }
    return name && length ? ERROR_NOT_FOUND : ERROR_INVALID_PARAMETER;
}

const struct hook system_hooks[] = {
    HOOK(CloseHandle),
    HOOK(RegCloseKey),
    HOOK(GetTokenInformation),
    HOOK(IsWow64Process),
    HOOK(IsWow64Process2),
    {"RegOpenKeyExW", (FARPROC)(uintptr_t)registry_open_key, NULL},
    HOOK(RegOpenKeyExA),
    HOOK(RegOpenKeyW),
    HOOK(RegOpenKeyA),
    HOOK(GetPackagesByPackageFamily),
    HOOK(GetPackagePathByFullName),
    {0},
};
