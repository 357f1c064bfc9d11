/* SPDX-License-Identifier: Apache-2.0 */
/* A registry for this process: a volatile tree below the user's own key, in the place of HKLM and HKCU, and nowhere
 * else. It is the system's registry in all that it does. */
#include "machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HOME L"Software\\clharness"

static WCHAR own_path[64];
static HKEY machine_key;
static HKEY user_key;

static HKEY make_key(HKEY parent, const WCHAR *path)
{
    HKEY key = NULL;
    LSTATUS status = RegCreateKeyExW(parent, path, 0, NULL, REG_OPTION_VOLATILE, KEY_ALL_ACCESS, NULL, &key, NULL);
    return status == ERROR_SUCCESS ? key : NULL;
}

bool registry_open(void)
{
    swprintf(own_path, 64, HOME L"\\%lu-%lu", (unsigned long)GetCurrentProcessId(), (unsigned long)GetTickCount());
    machine.root = make_key(HKEY_CURRENT_USER, own_path);
    machine_key = machine.root ? make_key(machine.root, L"HKLM") : NULL;
    user_key = machine.root ? make_key(machine.root, L"HKCU") : NULL;
    return machine_key && user_key && RegOverridePredefKey(HKEY_LOCAL_MACHINE, machine_key) == ERROR_SUCCESS &&
           RegOverridePredefKey(HKEY_CURRENT_USER, user_key) == ERROR_SUCCESS;
}

static void delete_tree(HKEY key)
{
    WCHAR name[256];
    DWORD length = 256;
    while (RegEnumKeyExW(key, 0, name, &length, NULL, NULL, NULL, NULL) == ERROR_SUCCESS) {
        HKEY inner;
        if (RegOpenKeyExW(key, name, 0, KEY_ALL_ACCESS, &inner) != ERROR_SUCCESS) {
            return;
        }
        delete_tree(inner);
        RegCloseKey(inner);
        if (RegDeleteKeyW(key, name) != ERROR_SUCCESS) {
            return;
        }
        length = 256;
    }
}

void registry_close(void)
{
    if (!machine.root) {
        return;
    }
    RegOverridePredefKey(HKEY_LOCAL_MACHINE, NULL);
    RegOverridePredefKey(HKEY_CURRENT_USER, NULL);
    RegCloseKey(machine_key);
    RegCloseKey(user_key);
    delete_tree(machine.root);
    RegCloseKey(machine.root);
    machine.root = NULL;
    RegDeleteKeyW(HKEY_CURRENT_USER, own_path);
}

bool registry_set(const WCHAR *path, const WCHAR *name, DWORD type, const BYTE *data, DWORD size)
{
    bool of_user = wcsncmp(path, L"HKCU\\", 5) == 0;
    if (!of_user && wcsncmp(path, L"HKLM\\", 5) != 0) {
        return false;
    }
    HKEY key = make_key(of_user ? user_key : machine_key, path + 5);
    bool done = key && (!name || RegSetValueExW(key, name, 0, type, data, size) == ERROR_SUCCESS);
    if (key) {
        RegCloseKey(key);
    }
    return done;
}

HKEY registry_own_key(const WCHAR *path)
{
    return make_key(machine.root, path);
}

/* --- what there is, as a text --- */

struct text {
    char *start;
    size_t length;
    size_t room;
};

static void add_line(struct text *text, const WCHAR *key, const WCHAR *value)
{
    size_t needed = 4 * (wcslen(key) + wcslen(value)) + 4;
    if (text->length + needed > text->room) {
        size_t room = 2 * (text->room + needed);
        char *larger = realloc(text->start, room);
        if (!larger) {
            return;
        }
        text->start = larger;
        text->room = room;
    }
    int length = snprintf(text->start + text->length, needed, "%ls: %ls\n", key, value);
    text->length += length > 0 ? (size_t)length : 0;
}

static void add_key(struct text *text, HKEY key, const WCHAR *path)
{
    static WCHAR name[16384];
    DWORD length = 16384;
    add_line(text, path, L"");
    for (DWORD i = 0; RegEnumValueW(key, i, name, &length, NULL, NULL, NULL, NULL) == ERROR_SUCCESS; i++) {
        add_line(text, path, name);
        length = 16384;
    }
    WCHAR below[512];
    size_t own = wcslen(path);
    wcscpy(below, path);
    below[own] = L'\\';
    length = 256;
    for (DWORD i = 0;
         own + 258 < 512 && RegEnumKeyExW(key, i, below + own + 1, &length, NULL, NULL, NULL, NULL) == ERROR_SUCCESS;
         i++) {
        HKEY inner;
        if (RegOpenKeyExW(key, below + own + 1, 0, KEY_READ, &inner) == ERROR_SUCCESS) {
            add_key(text, inner, below);
            RegCloseKey(inner);
        }
        length = 256;
    }
}

char *registry_text(void)
{
    struct text text = {0};
    add_key(&text, machine.root, L"");
    return text.start;
}
