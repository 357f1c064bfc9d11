/* SPDX-License-Identifier: Apache-2.0 */
/* Devices as the PnP configuration manager lists them (Microsoft Learn, cfgmgr32.h). A device instance is the number of
 * a device from 1. */
#include "machine.h"

#include <cfgmgr32.h>
#include <stdio.h>
#include <string.h>

#define DISPLAY L"{4d36e968-e325-11ce-bfc1-08002be10318}"
#define COMPONENT L"{5c4c3332-344d-483c-8739-259e934c9cc8}"
#define OTHER L"{4d36e97d-e325-11ce-bfc1-08002be10318}"

static const WCHAR *const class_names[] = {
    [DEVICE_DISPLAY] = DISPLAY,
    [DEVICE_COMPONENT] = COMPONENT,
    [DEVICE_OTHER] = OTHER,
};

static const struct device *device_of(DEVINST instance)
{
    return instance >= 1 && instance <= machine.device_count ? &machine.devices[instance - 1] : NULL;
}

static bool is_listed(const struct device *device, const WCHAR *filter, ULONG flags)
{
    if (device->late || (device->absent && (flags & CM_GETIDLIST_FILTER_PRESENT))) {
        return false;
    }
    return !(flags & CM_GETIDLIST_FILTER_CLASS) || !filter || _wcsicmp(class_names[device->class], filter) == 0;
}

/* Names one after the other, an empty one last; gives the number of characters with all NULs. */
static ULONG list(const WCHAR *filter, ULONG flags, WCHAR *to)
{
    ULONG length = 0;
    for (unsigned i = 0; i < machine.device_count; i++) {
        const struct device *device = &machine.devices[i];
        if (is_listed(device, filter, flags)) {
            ULONG own = (ULONG)wcslen(device->id) + 1;
            if (to) {
                memcpy(to + length, device->id, own * sizeof *to);
            }
            length += own;
        }
    }
    if (to) {
        to[length] = L'\0';
    }
    return length + 1;
}

static const WCHAR *wide(const char *text, WCHAR *to, int room)
{
    return text && MultiByteToWideChar(CP_ACP, 0, text, -1, to, room) ? to : NULL;
}

/* Names of ours are ASCII. */
static void narrow(const WCHAR *from, char *to, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        to[i] = (char)from[i];
    }
}

static CONFIGRET WINAPI hook_CM_Get_Device_ID_List_SizeW(PULONG length, PCWSTR filter, ULONG flags)
{
    if (!length) {
        return CR_INVALID_POINTER;
    }
    *length = list(filter, flags, NULL);
    for (unsigned i = 0; i < machine.device_count; i++) {
        machine.devices[i].late = false;
    }
    return machine.fails == FAILS_LENGTH_OF_DEVICES ? CR_FAILURE : CR_SUCCESS;
}

static CONFIGRET WINAPI hook_CM_Get_Device_ID_List_SizeA(PULONG length, PCSTR filter, ULONG flags)
{
    WCHAR text[128];
    return hook_CM_Get_Device_ID_List_SizeW(length, wide(filter, text, 128), flags);
}

static CONFIGRET WINAPI hook_CM_Get_Device_ID_ListW(PCWSTR filter, PWSTR to, ULONG room, ULONG flags)
{
    if (!to) {
        return CR_INVALID_POINTER;
    }
    if (room < list(filter, flags, NULL)) {
        return CR_BUFFER_SMALL;
    }
    list(filter, flags, to);
    return machine.fails == FAILS_LIST_OF_DEVICES ? CR_FAILURE : CR_SUCCESS;
}

static CONFIGRET WINAPI hook_CM_Get_Device_ID_ListA(PCSTR filter, PSTR to, ULONG room, ULONG flags)
{
    WCHAR text[128];
    static WCHAR names[MAX_DEVICES * 64 + 1];
    CONFIGRET result = hook_CM_Get_Device_ID_ListW(wide(filter, text, 128), to ? names : NULL, room, flags);
    if (result == CR_SUCCESS || result == CR_FAILURE) {
        narrow(names, to, list(wide(filter, text, 128), flags, NULL));
    }
    return result;
}

/* What is not plugged in is told to who asks for it (CM_LOCATE_DEVNODE_PHANTOM). */
static CONFIGRET WINAPI hook_CM_Locate_DevNodeW(PDEVINST instance, DEVINSTID_W id, ULONG flags)
{
    if (!instance) {
        return CR_INVALID_POINTER;
    }
    for (unsigned i = 0; id && i < machine.device_count; i++) {
        const struct device *device = &machine.devices[i];
        bool is_there = !device->gone && (!device->absent || (flags & CM_LOCATE_DEVNODE_PHANTOM));
        if (_wcsicmp(device->id, id) == 0 && is_there) {
            *instance = i + 1;
            return CR_SUCCESS;
        }
    }
    return CR_NO_SUCH_DEVNODE;
}

static CONFIGRET WINAPI hook_CM_Locate_DevNodeA(PDEVINST instance, DEVINSTID_A id, ULONG flags)
{
    WCHAR text[128];
    return hook_CM_Locate_DevNodeW(instance, (DEVINSTID_W)(uintptr_t)wide(id, text, 128), flags);
}

static CONFIGRET WINAPI hook_CM_Get_DevNode_Status(PULONG status, PULONG problem, DEVINST instance, ULONG flags)
{
    const struct device *device = device_of(instance);
    (void)flags;
    if (!device) {
        return CR_INVALID_DEVNODE;
    }
    if (!status || !problem) {
        return CR_INVALID_POINTER;
    }
    if (device->silent) {
        return CR_FAILURE;
    }
    *status = DN_DRIVER_LOADED | DN_STARTED | (device->problem && !device->solved ? DN_HAS_PROBLEM : 0) |
              (device->waits ? DN_NEED_RESTART : 0);
    *problem = device->problem;
    return CR_SUCCESS;
}

/* The key that was opened last of a device whose values go when their length was asked for. */
static HKEY measured_key;
static const struct device *measured_device;

static void value_goes(HKEY key, const WCHAR *name)
{
    HKEY own = NULL;
    if (!measured_device || key != measured_key || !name ||
        RegOpenKeyExW(machine.root, measured_device->key_path, 0, KEY_SET_VALUE, &own) != ERROR_SUCCESS) {
        return;
    }
    RegDeleteValueW(own, name);
    RegCloseKey(own);
}

static LSTATUS WINAPI hook_RegQueryValueExW(HKEY key, LPCWSTR name, LPDWORD reserved, LPDWORD type, LPBYTE data,
                                            LPDWORD size)
{
    LSTATUS status = RegQueryValueExW(key, name, reserved, type, data, size);
    if (!data || status == ERROR_MORE_DATA) {
        value_goes(key, name);
    }
    return status;
}

static LSTATUS WINAPI hook_RegQueryValueExA(HKEY key, LPCSTR name, LPDWORD reserved, LPDWORD type, LPBYTE data,
                                            LPDWORD size)
{
    WCHAR text[128];
    LSTATUS status = RegQueryValueExA(key, name, reserved, type, data, size);
    if (!data || status == ERROR_MORE_DATA) {
        value_goes(key, wide(name, text, 128));
    }
    return status;
}

static CONFIGRET WINAPI hook_CM_Open_DevNode_Key(DEVINST instance, REGSAM access, ULONG profile,
                                                 REGDISPOSITION disposition, PHKEY key, ULONG flags)
{
    const struct device *device = device_of(instance);
    (void)profile;
    if (!device) {
        return CR_INVALID_DEVNODE;
    }
    if (!key) {
        return CR_INVALID_POINTER;
    }
    if (registry_refuses(access)) {
        return CR_ACCESS_DENIED;
    }
    if (flags == CM_REGISTRY_SOFTWARE &&
        RegOpenKeyExW(machine.root, device->key_path, 0, access, key) == ERROR_SUCCESS) {
        measured_key = *key;
        measured_device = device->measured ? device : NULL;
        return CR_SUCCESS;
    }
    if (flags != CM_REGISTRY_SOFTWARE || disposition != RegDisposition_OpenAlways) {
        return CR_NO_SUCH_REGISTRY_KEY;
    }
    *key = registry_refuses(KEY_CREATE_SUB_KEY) ? NULL : registry_own_key(device->key_path);
    return *key ? CR_SUCCESS : CR_ACCESS_DENIED;
}

/* The first device after `last` with this parent. */
static CONFIGRET next_child(PDEVINST child, int parent, unsigned last)
{
    for (unsigned i = last; i < machine.device_count; i++) {
        if (machine.devices[i].parent == parent) {
            *child = i + 1;
            return CR_SUCCESS;
        }
    }
    return CR_NO_SUCH_DEVNODE;
}

static CONFIGRET WINAPI hook_CM_Get_Child(PDEVINST child, DEVINST instance, ULONG flags)
{
    (void)flags;
    return device_of(instance) ? next_child(child, (int)instance - 1, 0) : CR_INVALID_DEVNODE;
}

static CONFIGRET WINAPI hook_CM_Get_Sibling(PDEVINST sibling, DEVINST instance, ULONG flags)
{
    const struct device *device = device_of(instance);
    (void)flags;
    return device && device->parent >= 0 ? next_child(sibling, device->parent, instance) : CR_NO_SUCH_DEVNODE;
}

static CONFIGRET WINAPI hook_CM_Get_Parent(PDEVINST parent, DEVINST instance, ULONG flags)
{
    const struct device *device = device_of(instance);
    (void)flags;
    if (!device || device->parent < 0) {
        return CR_NO_SUCH_DEVNODE;
    }
    *parent = (DEVINST)device->parent + 1;
    return CR_SUCCESS;
}

static CONFIGRET WINAPI hook_CM_Get_Device_ID_Size(PULONG length, DEVINST instance, ULONG flags)
{
    const struct device *device = device_of(instance);
    (void)flags;
    if (!device) {
        return CR_INVALID_DEVNODE;
    }
    *length = (ULONG)wcslen(device->id); /* without the NUL */
    return CR_SUCCESS;
}

static CONFIGRET WINAPI hook_CM_Get_Device_IDW(DEVINST instance, PWSTR to, ULONG room, ULONG flags)
{
    const struct device *device = device_of(instance);
    (void)flags;
    if (!device) {
        return CR_INVALID_DEVNODE;
    }
    size_t length = wcslen(device->id) + 1;
    memcpy(to, device->id, (room < length ? room : length) * sizeof *to);
    return room < length ? CR_BUFFER_SMALL : CR_SUCCESS;
}

static CONFIGRET WINAPI hook_CM_Get_Device_IDA(DEVINST instance, PSTR to, ULONG room, ULONG flags)
{
    const struct device *device = device_of(instance);
    (void)flags;
    if (!device) {
        return CR_INVALID_DEVNODE;
    }
    size_t length = wcslen(device->id) + 1;
    narrow(device->id, to, room < length ? room : length);
    return room < length ? CR_BUFFER_SMALL : CR_SUCCESS;
}

/* Of properties only the class: CM_DRP_CLASS is its name, CM_DRP_CLASSGUID its number. */
static const WCHAR *property_of(const struct device *device, ULONG property)
{
    static const WCHAR *const names[] = {
        [DEVICE_DISPLAY] = L"Display",
        [DEVICE_COMPONENT] = L"SoftwareComponent",
        [DEVICE_OTHER] = L"System",
    };
    if (property == CM_DRP_CLASSGUID) {
        return class_names[device->class];
    }
    return property == CM_DRP_CLASS ? names[device->class] : NULL;
}

/* A number of the form {xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx}. CLSIDFromString would bring ole32 into every process,
 * and with it half of the system. */
static bool read_number(const WCHAR *text, GUID *to)
{
    unsigned long first;
    unsigned parts[10];
    if (swscanf(text, L"{%8lx-%4x-%4x-%2x%2x-%2x%2x%2x%2x%2x%2x}", &first, &parts[0], &parts[1], &parts[2], &parts[3],
                &parts[4], &parts[5], &parts[6], &parts[7], &parts[8], &parts[9]) != 11) {
        return false;
    }
    *to = (GUID){first, (WORD)parts[0], (WORD)parts[1], {0}};
    for (int i = 0; i < 8; i++) {
        to->Data4[i] = (BYTE)parts[2 + i];
    }
    return true;
}

static CONFIGRET get_property(DEVINST instance, ULONG property, PULONG type, void *to, PULONG length, bool is_wide)
{
    const struct device *device = device_of(instance);
    const WCHAR *text = device ? property_of(device, property) : NULL;
    if (!device || !length) {
        return device ? CR_INVALID_POINTER : CR_INVALID_DEVNODE;
    }
    if (!text) {
        return CR_NO_SUCH_VALUE;
    }
    if (machine.class_numbers && property == CM_DRP_CLASSGUID && to && *length == sizeof(GUID)) {
        return read_number(text, to) ? CR_SUCCESS : CR_FAILURE;
    }
    ULONG count = (ULONG)wcslen(text) + 1;
    ULONG needed = count * (is_wide ? sizeof *text : 1);
    bool fits = to && *length >= needed;
    if (type) {
        *type = REG_SZ;
    }
    *length = needed;
    if (fits && is_wide) {
        memcpy(to, text, needed);
    } else if (fits) {
        narrow(text, to, count);
    }
    return fits ? CR_SUCCESS : CR_BUFFER_SMALL;
}

static CONFIGRET WINAPI hook_CM_Get_DevNode_Registry_PropertyW(DEVINST instance, ULONG property, PULONG type, PVOID to,
                                                               PULONG length, ULONG flags)
{
    (void)flags;
    return get_property(instance, property, type, to, length, true);
}

static CONFIGRET WINAPI hook_CM_Get_DevNode_Registry_PropertyA(DEVINST instance, ULONG property, PULONG type, PVOID to,
                                                               PULONG length, ULONG flags)
{
    (void)flags;
    return get_property(instance, property, type, to, length, false);
}

/* The same by keys of another kind, which have the class as a number of its own type. */
static CONFIGRET WINAPI hook_CM_Get_DevNode_PropertyW(DEVINST instance, const DEVPROPKEY *property, DEVPROPTYPE *type,
                                                      PBYTE to, PULONG length, ULONG flags)
{
    static const GUID of_device = {0xa45c254e, 0xdf1c, 0x4efd, {0x80, 0x20, 0x67, 0xd1, 0x46, 0xa8, 0x50, 0xe0}};
    enum { CLASS_NUMBER = 10, TYPE_NUMBER = 13 }; /* DEVPKEY_Device_ClassGuid, DEVPROP_TYPE_GUID */
    const struct device *device = device_of(instance);
    GUID class;
    if (!device || !property || !type || !length || flags) {
        return !device ? CR_INVALID_DEVNODE : flags ? CR_INVALID_FLAG : CR_INVALID_POINTER;
    }
    if (memcmp(&property->fmtid, &of_device, sizeof of_device) != 0 || property->pid != CLASS_NUMBER ||
        !read_number(class_names[device->class], &class)) {
        return CR_NO_SUCH_VALUE;
    }
    bool fits = to && *length >= sizeof class;
    *type = TYPE_NUMBER;
    *length = sizeof class;
    if (fits) {
        memcpy(to, &class, sizeof class);
    }
    return fits ? CR_SUCCESS : CR_BUFFER_SMALL;
}

const struct hook device_hooks[] = {
    HOOK(CM_Get_Device_ID_List_SizeW),
    HOOK(CM_Get_Device_ID_List_SizeA),
    HOOK(CM_Get_Device_ID_ListW),
    HOOK(CM_Get_Device_ID_ListA),
    HOOK(CM_Locate_DevNodeW),
    HOOK(CM_Locate_DevNodeA),
    HOOK(CM_Get_DevNode_Status),
    HOOK(CM_Open_DevNode_Key),
    HOOK(CM_Get_Child),
    HOOK(CM_Get_Sibling),
    HOOK(CM_Get_Parent),
    HOOK(CM_Get_Device_ID_Size),
    HOOK(CM_Get_Device_IDW),
    HOOK(CM_Get_Device_IDA),
    HOOK(CM_Get_DevNode_Registry_PropertyW),
    HOOK(CM_Get_DevNode_Registry_PropertyA),
    HOOK(CM_Get_DevNode_PropertyW),
    HOOK(RegQueryValueExW),
    HOOK(RegQueryValueExA),
    {0},
};
