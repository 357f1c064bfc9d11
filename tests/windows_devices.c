/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the configuration manager what Microsoft's documentation says of it (Microsoft Learn, cfgmgr32.h), a line for
 * each answer: a library in the place of a loader, whose first call does it, so that the functions are those of a case
 * (harness/probe/windows/devices.c). ANSWERS is the file that they are written to. */
#include <windows.h>

#include <cfgmgr32.h>
#include <stdio.h>
#include <string.h>

enum { MARK = 0x5A }; /* of bytes that nobody wrote to */

static const DEVPROPKEY class_number = {{0xa45c254e, 0xdf1c, 0x4efd, {0x80, 0x20, 0x67, 0xd1, 0x46, 0xa8, 0x50, 0xe0}},
                                        10};
static FILE *answers;

static DEVINST instance_at(unsigned number)
{
    static WCHAR ids[4096];
    DEVINST instance = 0;
    const WCHAR *id = ids;
    CM_Get_Device_ID_ListW(NULL, ids, 4096, CM_GETIDLIST_FILTER_NONE);
    while (number-- > 0 && *id) {
        id += wcslen(id) + 1;
    }
    return *id && CM_Locate_DevNodeW(&instance, (DEVINSTID_W)id, 0) == CR_SUCCESS ? instance : 0;
}

static const char *state_of(const BYTE *data, ULONG room)
{
    ULONG kept = 0;
    for (ULONG i = 0; i < room; i++) {
        kept += data[i] == MARK;
    }
    return kept == room ? "kept" : "written";
}

static void ask_property(const char *name, DEVINST instance, const DEVPROPKEY *key, ULONG room, ULONG flags)
{
    BYTE data[64];
    GUID class = {0};
    ULONG type = 0;
    ULONG length = room;
    memset(data, MARK, sizeof data);
    CONFIGRET status = CM_Get_DevNode_PropertyW(instance, key, &type, room ? data : NULL, &length, flags);
    fprintf(answers, "property of %s room %lu: %lu", name, room, status);
    if (status == CR_SUCCESS || status == CR_BUFFER_SMALL) {
        fprintf(answers, " type %lu size %lu", type, length);
    }
    if (status == CR_SUCCESS) {
        memcpy(&class, data, sizeof class);
        fprintf(answers, " %08lx, past its end %s", class.Data1, state_of(data + sizeof class, 64 - sizeof class));
    } else {
        fprintf(answers, ", all %s", state_of(data, 64));
    }
    fprintf(answers, "\n");
}

static void ask_properties(DEVINST adapter, DEVINST component, DEVINST other)
{
    const DEVPROPKEY unknown_number = {class_number.fmtid, 9999};
    const DEVPROPKEY unknown_set = {{1, 2, 3, {4}}, 10};
    BYTE data[16];
    ULONG type;
    ULONG length = sizeof data;
    ask_property("an adapter", adapter, &class_number, 16, 0);
    ask_property("a component", component, &class_number, 64, 0);
    ask_property("another device", other, &class_number, 17, 0);
    ask_property("an adapter", adapter, &class_number, 15, 0);
    ask_property("an adapter", adapter, &class_number, 0, 0);
    ask_property("an unknown number", adapter, &unknown_number, 16, 0);
    ask_property("an unknown set", adapter, &unknown_set, 16, 0);
    ask_property("no device", 0, &class_number, 16, 0);
    ask_property("a device that is not there", 999, &class_number, 16, 0);
    ask_property("an adapter with a flag", adapter, &class_number, 16, 1);
    fprintf(answers, "property without a key: %lu\n", CM_Get_DevNode_PropertyW(adapter, NULL, &type, data, &length, 0));
    fprintf(answers, "property without a type: %lu\n",
            CM_Get_DevNode_PropertyW(adapter, &class_number, NULL, data, &length, 0));
    fprintf(answers, "property without a size: %lu\n",
            CM_Get_DevNode_PropertyW(adapter, &class_number, &type, data, NULL, 0));
}

static void ask_registry_property(DEVINST instance, ULONG property, ULONG room)
{
    BYTE data[128];
    ULONG type = 0;
    ULONG length = room;
    memset(data, MARK, sizeof data);
    CONFIGRET status = CM_Get_DevNode_Registry_PropertyW(instance, property, &type, room ? data : NULL, &length, 0);
    fprintf(answers, "registry property %lu room %lu: %lu", property, room, status);
    if (status == CR_SUCCESS || status == CR_BUFFER_SMALL) {
        fprintf(answers, " type %lu size %lu", type, length);
    }
    fprintf(answers, ", %s\n", state_of(data, sizeof data));
}

static void ask_id(DEVINST instance)
{
    WCHAR id[MAX_DEVICE_ID_LEN];
    ULONG length = 0;
    CONFIGRET status = CM_Get_Device_ID_Size(&length, instance, 0);
    fprintf(answers, "size of an ID: %lu\n", status);
    status = CM_Get_Device_IDW(instance, id, length + 1, 0);
    fprintf(answers, "ID with room for all: %lu, its size is %d\n", status, wcslen(id) == length);
    fprintf(answers, "ID with less room: %lu\n", CM_Get_Device_IDW(instance, id, length - 1, 0));
    fprintf(answers, "ID of no device: %lu\n", CM_Get_Device_IDW(0, id, MAX_DEVICE_ID_LEN, 0));
}

static void ask_list(void)
{
    static const WCHAR display[] = L"{4D36E968-E325-11CE-BFC1-08002BE10318}";
    WCHAR ids[1024];
    ULONG all = 0;
    ULONG length = 0;
    DEVINST instance;
    WCHAR missing[] = L"ROOT\\MISSING\\0000";
    WCHAR absent[] = L"CLHARNESS\\DEVICE&5";
    CM_Get_Device_ID_List_SizeW(&all, NULL, CM_GETIDLIST_FILTER_NONE);
    CONFIGRET status = CM_Get_Device_ID_List_SizeW(&length, display, CM_GETIDLIST_FILTER_CLASS);
    fprintf(answers, "size of a list: %lu, shorter than that of all %d\n", status, length < all);
    status = CM_Get_Device_ID_ListW(display, ids, length, CM_GETIDLIST_FILTER_CLASS);
    fprintf(answers, "list: %lu, ends with two NULs %d\n", status, !ids[length - 1] && !ids[length - 2]);
    status = CM_Get_Device_ID_ListW(display, ids, length - 1, CM_GETIDLIST_FILTER_CLASS);
    fprintf(answers, "list with less room: %lu\n", status);
    fprintf(answers, "device that is not there: %lu\n", CM_Locate_DevNodeW(&instance, missing, 0));
    status = CM_Locate_DevNodeW(&instance, absent, CM_LOCATE_DEVNODE_NORMAL);
    fprintf(answers, "device that is not plugged in: %lu, for who asks for such ones %lu\n", status,
            CM_Locate_DevNodeW(&instance, absent, CM_LOCATE_DEVNODE_PHANTOM));
}

static void ask_family(DEVINST adapter, DEVINST component, DEVINST other)
{
    DEVINST next = 0;
    CONFIGRET status = CM_Get_Child(&next, adapter, 0);
    fprintf(answers, "child: %lu, the first %d\n", status, next == component);
    status = CM_Get_Sibling(&next, component, 0);
    fprintf(answers, "sibling: %lu, the second %d\n", status, next == other);
    fprintf(answers, "no further sibling: %lu\n", CM_Get_Sibling(&next, other, 0));
    fprintf(answers, "no child: %lu\n", CM_Get_Child(&next, component, 0));
    status = CM_Get_Parent(&next, other, 0);
    fprintf(answers, "parent: %lu, the adapter %d\n", status, next == adapter);
    fprintf(answers, "child of no device: %lu\n", CM_Get_Child(&next, 0, 0));
}

static void ask_state(const char *name, DEVINST instance)
{
    ULONG status = 0;
    ULONG problem = 0;
    CONFIGRET result = CM_Get_DevNode_Status(&status, &problem, instance, 0);
    fprintf(answers, "state of %s: %lu", name, result);
    if (result == CR_SUCCESS) {
        fprintf(answers, " has a problem %d number %lu", (status & DN_HAS_PROBLEM) != 0, problem);
    }
    fprintf(answers, "\n");
}

static void ask_key(const char *name, DEVINST instance, ULONG flags)
{
    HKEY key = NULL;
    CONFIGRET status = CM_Open_DevNode_Key(instance, KEY_QUERY_VALUE, 0, RegDisposition_OpenExisting, &key, flags);
    fprintf(answers, "key of %s: %lu, closed %d\n", name, status, key && RegCloseKey(key) == ERROR_SUCCESS);
}

/* Devices of the case: an adapter with a component and another device below it, an adapter whose driver waits, and one
 * without a key. */
__declspec(dllexport) int clGetPlatformIDs(unsigned room, void *platforms, unsigned *count)
{
    (void)room, (void)platforms;
    DEVINST adapter = instance_at(0);
    DEVINST component = instance_at(1);
    DEVINST other = instance_at(2);
    answers = fopen(ANSWERS, "w");
    ask_properties(adapter, component, other);
    ask_registry_property(adapter, CM_DRP_CLASSGUID, 128);
    ask_registry_property(adapter, CM_DRP_CLASSGUID, 77);
    ask_registry_property(adapter, CM_DRP_CLASSGUID, 0);
    ask_registry_property(adapter, CM_DRP_CLASS, 128);
    ask_registry_property(adapter, 0x30, 128);
    ask_registry_property(0, CM_DRP_CLASS, 128);
    ask_id(adapter);
    ask_list();
    ask_family(adapter, component, other);
    ask_state("an adapter", adapter);
    ask_state("one that waits", instance_at(3));
    ask_state("no device", 0);
    ask_key("an adapter", adapter, CM_REGISTRY_SOFTWARE);
    ask_key("one without", instance_at(4), CM_REGISTRY_SOFTWARE);
    ask_key("no device", 0, CM_REGISTRY_SOFTWARE);
    fclose(answers);
    *count = 0;
    return 0;
}
