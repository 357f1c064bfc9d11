/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the description of a machine. */
#include "machine.h"

#include "system.h"
#include "values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct machine machine = {.integrity = 0x2000};

enum { MAX_WORDS = 6 };

/* --- words --- */

/* Bytes of a word, in its place, with two NULs after them; false where it is not hexadecimal. */
static bool read_bytes(char *word, size_t *length)
{
    long bytes = strcmp(word, "-") == 0 ? 0 : hex_bytes(word, NULL);
    if (bytes < 0) {
        return false;
    }
    if (bytes > 0) {
        hex_bytes(word, (unsigned char *)word);
    }
    word[bytes] = '\0';
    *length = (size_t)bytes;
    return true;
}

static bool read_text(char *word, WCHAR *to, size_t room)
{
    size_t length = 0;
    return read_bytes(word, &length) && MultiByteToWideChar(CP_UTF8, 0, word, -1, to, (int)room) > 0;
}

static long number_of(const char *word)
{
    return strtol(word, NULL, 0);
}

/* --- values --- */

static bool set_value(HKEY key, char **words)
{
    static WCHAR name[16384 + 16];
    size_t size = 0;
    return read_text(words[0], name, sizeof name / sizeof *name) && read_bytes(words[2], &size) &&
           RegSetValueExW(key, name, 0, (DWORD)number_of(words[1]), (const BYTE *)words[2], (DWORD)size) ==
               ERROR_SUCCESS;
}

static const char *add_value(char **words)
{
    static WCHAR key[512];
    static WCHAR name[16384 + 16];
    size_t size = 0;
    bool good = read_text(words[0], key, sizeof key / sizeof *key) &&
                read_text(words[1], name, sizeof name / sizeof *name) && read_bytes(words[3], &size);
    return good && registry_set(key, name, (DWORD)number_of(words[2]), (const BYTE *)words[3], (DWORD)size)
               ? NULL
               : "the value cannot be set";
}

static const char *add_key(char **words)
{
    static WCHAR key[512];
    bool good = read_text(words[0], key, sizeof key / sizeof *key);
    return good && registry_set(key, NULL, REG_NONE, NULL, 0) ? NULL : "the key cannot be made";
}

static const char *deny_key(char **words)
{
    if (machine.denied_count == MAX_DENIED || !read_text(words[0], machine.denied[machine.denied_count], 128)) {
        return "too many keys are denied, or their names are too long";
    }
    machine.denied_count++;
    return NULL;
}

/* --- adapters and devices --- */

static const char *add_adapter(char **words)
{
    WCHAR path[64];
    struct adapter *adapter = &machine.adapters[machine.adapter_count];
    if (machine.adapter_count == MAX_ADAPTERS) {
        return "too many adapters";
    }
    swprintf(path, 64, L"Adapters\\%u", machine.adapter_count++);
    adapter->luid.LowPart = strtoul(words[0], NULL, 0);
    adapter->luid.HighPart = (LONG)strtoul(words[1], NULL, 0);
    adapter->kernel = number_of(words[2]) != 0;
    adapter->dxgi = (int)number_of(words[3]);
    adapter->key = registry_own_key(path);
    return NULL;
}

static const char *add_translated_value(char **words)
{
    WCHAR path[64];
    struct adapter *adapter = machine.adapter_count ? &machine.adapters[machine.adapter_count - 1] : NULL;
    if (adapter && !adapter->translated) {
        swprintf(path, 64, L"Translated\\%u", machine.adapter_count - 1);
        adapter->translated = registry_own_key(path);
    }
    return adapter && set_value(adapter->translated, words) ? NULL : "no adapter has this value";
}

static const char *add_adapter_value(char **words)
{
    bool good = machine.adapter_count > 0 && set_value(machine.adapters[machine.adapter_count - 1].key, words);
    return good ? NULL : "no adapter has this value";
}

static const char *add_adapter_trait(char **words)
{
    struct adapter *adapter = machine.adapter_count ? &machine.adapters[machine.adapter_count - 1] : NULL;
    bool *trait = !adapter                               ? NULL
                  : strcmp(words[0], "undescribed") == 0 ? &adapter->undescribed
                  : strcmp(words[0], "late") == 0        ? &adapter->late
                  : strcmp(words[0], "headless") == 0    ? &adapter->headless
                  : strcmp(words[0], "unreadable") == 0  ? &adapter->unreadable
                                                         : NULL;
    if (!trait) {
        return "no adapter has this trait";
    }
    *trait = true;
    return NULL;
}

static const char *add_device(char **words)
{
    struct device *device = &machine.devices[machine.device_count];
    if (machine.device_count == MAX_DEVICES) {
        return "too many devices";
    }
    device->class = strcmp(words[0], "display") == 0     ? DEVICE_DISPLAY
                    : strcmp(words[0], "component") == 0 ? DEVICE_COMPONENT
                                                         : DEVICE_OTHER;
    device->problem = (ULONG)number_of(words[1]);
    device->parent = (int)number_of(words[2]);
    swprintf(device->id, 64, L"CLHARNESS\\DEVICE&%u", machine.device_count);
    swprintf(device->key_path, 64, L"Devices\\%u", machine.device_count++);
    return NULL;
}

static const char *add_device_value(char **words)
{
    HKEY key = machine.device_count ? registry_own_key(machine.devices[machine.device_count - 1].key_path) : NULL;
    bool good = key && set_value(key, words);
    if (key) {
        RegCloseKey(key);
    }
    return good ? NULL : "no device has this value";
}

static const char *add_device_trait(char **words)
{
    struct device *device = machine.device_count ? &machine.devices[machine.device_count - 1] : NULL;
    bool *trait = !device                             ? NULL
                  : strcmp(words[0], "waits") == 0    ? &device->waits
                  : strcmp(words[0], "gone") == 0     ? &device->gone
                  : strcmp(words[0], "silent") == 0   ? &device->silent
                  : strcmp(words[0], "absent") == 0   ? &device->absent
                  : strcmp(words[0], "late") == 0     ? &device->late
                  : strcmp(words[0], "solved") == 0   ? &device->solved
                  : strcmp(words[0], "measured") == 0 ? &device->measured
                                                      : NULL;
    if (!trait) {
        return "no device has this trait";
    }
    *trait = true;
    return NULL;
}

/* --- the rest --- */

static const char *add_package(char **words)
{
    struct package *package = &machine.packages[machine.package_count];
    if (machine.package_count == MAX_PACKAGES || !read_text(words[0], package->family, 256) ||
        !read_text(words[1], package->name, 256) || !read_text(words[2], package->path, MAX_PACKAGE_PATH)) {
        return "too many packages, or their names are too long";
    }
    machine.package_count++;
    return NULL;
}

static const char *set_integrity(char **words)
{
    machine.integrity = (DWORD)number_of(words[0]);
    return NULL;
}

static const char *set_wow64(char **words)
{
    (void)words;
    machine.wow64 = true;
    return NULL;
}

static const char *set_older(char **words)
{
    (void)words;
    machine.older = true;
    return NULL;
}

static const char *set_package_trait(char **words)
{
    struct package *package = machine.package_count ? &machine.packages[machine.package_count - 1] : NULL;
    bool *trait = !package                            ? NULL
                  : strcmp(words[0], "gone") == 0     ? &package->gone
                  : strcmp(words[0], "late") == 0     ? &package->late
                  : strcmp(words[0], "counted") == 0  ? &package->counted
                  : strcmp(words[0], "measured") == 0 ? &package->measured
                                                      : NULL;
    if (!trait) {
        return "no package has this trait";
    }
    *trait = true;
    return NULL;
}

static const char *set_no_packages(char **words)
{
    (void)words;
    machine.packages_missing = true;
    return NULL;
}

static const char *set_no_dxgi(char **words)
{
    machine.dxgi_absent = strcmp(words[0], "absent") == 0;
    machine.dxgi_missing = strcmp(words[0], "missing") == 0;
    machine.dxgi_fails = strcmp(words[0], "fail") == 0;
    return machine.dxgi_absent || machine.dxgi_missing || machine.dxgi_fails ? NULL : "not a way to have no DXGI";
}

static const char *set_no_token(char **words)
{
    (void)words;
    machine.no_token = true;
    return NULL;
}

static const char *set_class_numbers(char **words)
{
    (void)words;
    machine.class_numbers = true;
    return NULL;
}

static const char *set_strict_paths(char **words)
{
    (void)words;
    machine.strict_paths = true;
    return NULL;
}

static const char *set_failure(char **words)
{
    machine.fails = strcmp(words[0], "count-of-adapters") == 0   ? FAILS_COUNT_OF_ADAPTERS
                    : strcmp(words[0], "list-of-adapters") == 0  ? FAILS_LIST_OF_ADAPTERS
                    : strcmp(words[0], "length-of-devices") == 0 ? FAILS_LENGTH_OF_DEVICES
                    : strcmp(words[0], "list-of-devices") == 0   ? FAILS_LIST_OF_DEVICES
                                                                 : FAILS_NOTHING;
    return machine.fails ? NULL : "not a question that the system may fail to answer";
}

static const char *set_heap(char **words)
{
    machine.heap = strcmp(words[0], "end") == 0     ? HEAP_GUARDS_END
                   : strcmp(words[0], "front") == 0 ? HEAP_GUARDS_FRONT
                                                    : HEAP_OF_SYSTEM;
    return machine.heap ? NULL : "not a way to guard the heap";
}

static const struct {
    const char *name;
    int words;
    const char *(*run)(char **words);
} lines[] = {
    {"value", 4, add_value},
    {"key", 1, add_key},
    {"deny", 1, deny_key},
    {"adapter", 4, add_adapter},
    {"device", 3, add_device},
    {"adapter-value", 3, add_adapter_value},
    {"package", 3, add_package},
    {"package-trait", 1, set_package_trait},
    {"no-packages", 0, set_no_packages},
    {"device-value", 3, add_device_value},
    {"wow64", 0, set_wow64},
    {"integrity", 1, set_integrity},
    {"older", 0, set_older},
    {"adapter-trait", 1, add_adapter_trait},
    {"no-dxgi", 1, set_no_dxgi},
    {"device-trait", 1, add_device_trait},
    {"no-token", 0, set_no_token},
    {"class-numbers", 0, set_class_numbers},
    {"heap", 1, set_heap},
    {"fails", 1, set_failure},
    {"strict-paths", 0, set_strict_paths},
    {"adapter-translated", 3, add_translated_value},
};

const char *machine_line(char *line)
{
    char *words[MAX_WORDS] = {0};
    int count = 0;
    for (char *word = strtok(line, " \r\n"); word && count < MAX_WORDS; word = strtok(NULL, " \r\n")) {
        words[count++] = word;
    }
    for (size_t i = 0; count && i < sizeof lines / sizeof *lines; i++) {
        if (strcmp(lines[i].name, words[0]) == 0 && lines[i].words == count - 1) {
            return lines[i].run(words + 1);
        }
    }
    return count ? "not a line of such a file" : NULL;
}

const char *system_furnish(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *line = NULL;
    size_t room = 0;
    const char *wrong = file && registry_open() ? NULL : "cannot be read, or there is no registry";
    while (!wrong && getline(&line, &room, file) > 0) {
        wrong = machine_line(line);
    }
    free(line);
    if (file) {
        fclose(file);
    }
    return wrong;
}
