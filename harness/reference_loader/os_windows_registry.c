/* SPDX-License-Identifier: Apache-2.0 */
/* Windows: what is installed, from the values of a registry key (ICD "ICD Loader Vendor Enumeration on Windows").
 *
 * The name of a value is the path of a library. Of a vendor, its number is 0 where it is enabled; of a layer, it is a
 * priority (no text has layers in the registry: this is what the Khronos loader does).
 */
#include "os_windows.h"

#include <stdlib.h>
#include <string.h>

struct value {
    char *name;
    DWORD number;
};

struct values {
    struct value *list;
    size_t count;
};

/* Longest name of a value by the registry's own limit, 16,383 characters, in any code page. */
enum { NAME_SIZE = 4 * 16384 };

static void values_append(struct values *values, const char *name, DWORD number)
{
    struct value *list = realloc(values->list, (values->count + 1) * sizeof *list);
    char *copy = _strdup(name);
    if (list) {
        values->list = list;
    }
    if (!list || !copy) {
        free(copy);
        return;
    }
    list[values->count++] = (struct value){copy, number};
}

/* Grey area 44: only numbers of 32 bits count (REG_DWORD). One of another kind, which may be longer than there is room
 * for (ERROR_MORE_DATA), is passed over, and those after it still count. */
static void values_read(HKEY key, struct values *values)
{
    char *name = malloc(NAME_SIZE);
    LSTATUS status = ERROR_SUCCESS;
    for (DWORD i = 0; name && (status == ERROR_SUCCESS || status == ERROR_MORE_DATA); i++) {
        DWORD length = NAME_SIZE;
        DWORD type = REG_NONE;
        DWORD number = 0;
        DWORD size = sizeof number;
        status = RegEnumValueA(key, i, name, &length, NULL, &type, (BYTE *)&number, &size);
        if (status == ERROR_SUCCESS && type == REG_DWORD && size == sizeof number && *name) {
            values_append(values, name, number);
        }
    }
    free(name);
}

/* Values are read before any is used: a vendor that is loaded may write to the registry. */
static struct values values_of(HKEY root, const char *path)
{
    struct values values = {NULL, 0};
    HKEY key;
    if (RegOpenKeyExA(root, path, 0, KEY_QUERY_VALUE, &key) == ERROR_SUCCESS) {
        values_read(key, &values);
        RegCloseKey(key);
    }
    return values;
}

static int by_number(const void *left, const void *right)
{
    DWORD a = ((const struct value *)left)->number;
    DWORD b = ((const struct value *)right)->number;
    return (a > b) - (a < b);
}

/* The registry has no order of its own: layers come by their priority, vendors as they are found (grey area 35). */
static void key_each(HKEY root, const char *path, bool layers, void (*use)(const char *library))
{
    struct values values = values_of(root, path);
    if (layers && values.count > 1) {
        qsort(values.list, values.count, sizeof *values.list, by_number);
    }
    for (size_t i = 0; i < values.count; i++) {
        if (layers || values.list[i].number == 0) {
            use(values.list[i].name);
        }
        free(values.list[i].name);
    }
    free(values.list);
}

/* The text has the devices' own keys first, then one key of the machine. The same key of the user is an addition of
 * ours, for those who may not write to the machine's; who has more privileges must not be led by it. OCL_ICD_VENDORS
 * and OPENCL_LAYER_PATH, folders elsewhere, name another key here: no text has them, and tests need a registry of their
 * own. A 32-bit process sees the 32-bit keys without our doing. */
void folder_each(const char *folder, const char *suffix, void (*use)(const char *library))
{
    bool layers = strcmp(suffix, ".lay") == 0;
    if (strcmp(folder, VENDORS_FOLDER) == 0) {
        devices_each(use);
    }
    key_each(HKEY_LOCAL_MACHINE, folder, layers, use);
    if (!process_is_elevated()) {
        key_each(HKEY_CURRENT_USER, folder, layers, use);
    }
}
