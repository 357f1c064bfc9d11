/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the registry what Microsoft's documentation says of it, a line for each answer: "real" of the machine's own
 * keys, "own" of the volatile tree that the probe puts in their place (harness/probe/windows/registry.c). */
#include <stdio.h>
#include <string.h>
#include <windows.h>

#define KEY "SOFTWARE\\clharness-table"

static HKEY open_key(void)
{
    HKEY key = NULL;
    LSTATUS status = RegOpenKeyExA(HKEY_LOCAL_MACHINE, KEY, 0, KEY_QUERY_VALUE, &key);
    printf("open %ld\n", status);
    return key;
}

static void set(HKEY key, const char *name, DWORD type, const void *data, DWORD size)
{
    printf("set %ld\n", RegSetValueExA(key, name, 0, type, data, size));
}

static void ask_value(HKEY key, const char *name, DWORD room)
{
    BYTE data[64] = {0};
    DWORD type = 0;
    DWORD size = room;
    LSTATUS status = RegQueryValueExA(key, name, NULL, &type, room ? data : NULL, &size);
    printf("query %s room %lu: %ld type %lu size %lu\n", name, room, status, type, size);
}

static void enumerate(HKEY key, DWORD room, DWORD data_room)
{
    static char name[70000];
    BYTE data[64];
    for (DWORD i = 0;; i++) {
        DWORD length = room;
        DWORD type = 0;
        DWORD size = data_room;
        LSTATUS status =
            RegEnumValueA(key, i, name, &length, NULL, &type, data_room ? data : NULL, data_room ? &size : NULL);
        if (status == ERROR_NO_MORE_ITEMS) {
            printf("end %lu\n", i);
            return;
        }
        printf("value %lu rooms %lu %lu: %ld", i, room, data_room, status);
        if (status == ERROR_SUCCESS) {
            printf(" length %lu is %d type %lu size %lu", length, length == strlen(name), type, data_room ? size : 0);
        }
        printf("\n");
    }
}

static void table(void)
{
    static char longest[16400];
    HKEY key = NULL;
    DWORD number = 0;
    printf("make %ld\n",
           RegCreateKeyExA(HKEY_LOCAL_MACHINE, KEY, 0, NULL, REG_OPTION_VOLATILE, KEY_ALL_ACCESS, NULL, &key, NULL));
    set(key, "a number", REG_DWORD, &number, sizeof number);
    set(key, "b text", REG_SZ, "text", 5);
    set(key, "c long text", REG_SZ, "a longer text", 14);
    set(key, "d nothing", REG_NONE, NULL, 0);
    set(key, "", REG_SZ, "default", 8);
    memset(longest, 'n', 16383);
    set(key, longest, REG_DWORD, &number, sizeof number);
    longest[16383] = 'n';
    printf("a name too long is refused: %d\n", RegSetValueExA(key, longest, 0, REG_DWORD, (BYTE *)&number, 4) != 0);
    RegCloseKey(key);
    key = open_key();
    ask_value(key, "a number", 4);
    ask_value(key, "a number", 3);
    ask_value(key, "A NUMBER", 4);
    ask_value(key, "c long text", 4);
    ask_value(key, "c long text", 0);
    ask_value(key, "missing", 4);
    enumerate(key, 70000, 4);
    enumerate(key, 70000, 64);
    enumerate(key, 5, 64);
    enumerate(key, 70000, 0);
    printf("close %ld\n", RegCloseKey(key));
    printf("close again %ld\n", RegCloseKey(key));
    printf("missing key %ld\n", RegOpenKeyExA(HKEY_LOCAL_MACHINE, KEY "\\missing", 0, KEY_QUERY_VALUE, &key));
    printf("delete %ld\n", RegDeleteKeyA(HKEY_LOCAL_MACHINE, KEY));
}

int main(int count, char **arguments)
{
    HKEY root = NULL;
    if (count > 1 && strcmp(arguments[1], "own") == 0) {
        HKEY software = NULL;
        RegCreateKeyExA(HKEY_CURRENT_USER, "Software\\clharness-table-root", 0, NULL, REG_OPTION_VOLATILE,
                        KEY_ALL_ACCESS, NULL, &root, NULL);
        RegCreateKeyExA(root, "SOFTWARE", 0, NULL, REG_OPTION_VOLATILE, KEY_ALL_ACCESS, NULL, &software, NULL);
        RegOverridePredefKey(HKEY_LOCAL_MACHINE, root);
        RegCloseKey(software);
    }
    table();
    if (root) {
        RegOverridePredefKey(HKEY_LOCAL_MACHINE, NULL);
        RegDeleteKeyA(root, "SOFTWARE");
        RegCloseKey(root);
        RegDeleteKeyA(HKEY_CURRENT_USER, "Software\\clharness-table-root");
    }
    return 0;
}
