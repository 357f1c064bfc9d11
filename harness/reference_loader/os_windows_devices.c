/* SPDX-License-Identifier: Apache-2.0 */
/* Windows: drivers that name their library in the software key of their device (ICD "ICD Loader Vendor Enumeration on
 * Windows"). The key is asked of the PnP configuration manager, as the text says; its place is the system's business.
 */
#include "os_windows.h"
#include "os_windows_adapters.h"

#include <cfgmgr32.h>
#include <stdlib.h>
#include <string.h>

/* The device classes, as the configuration manager wants them. */
#define DISPLAY_ADAPTERS "{4d36e968-e325-11ce-bfc1-08002be10318}"
#define SOFTWARE_COMPONENTS "{5c4c3332-344d-483c-8739-259e934c9cc8}"

/* Whether this is a 32-bit process on a 64-bit system: the value has another name for those. */
static bool is_emulated(void)
{
    BOOL emulated = FALSE;
    return IsWow64Process(GetCurrentProcess(), &emulated) && emulated;
}

/* The library that a key names, to be given to free(), or NULL. The text has one string; drivers also write lists of
 * strings, of which the first counts (as in the Khronos loader). */
static char *library_of(HKEY key)
{
    DWORD type = REG_NONE;
    DWORD size = 0;
    const char *name = is_emulated() ? "OpenCLDriverNameWoW" : "OpenCLDriverName";
    if (RegQueryValueExA(key, name, NULL, &type, NULL, &size) != ERROR_SUCCESS || size == 0 ||
        (type != REG_SZ && type != REG_MULTI_SZ)) {
        return NULL;
    }
    char *library = calloc(1, (size_t)size + 1); /* the registry does not promise a terminator */
    if (library && RegQueryValueExA(key, name, NULL, NULL, (BYTE *)library, &size) != ERROR_SUCCESS) {
        free(library);
        return NULL;
    }
    return library;
}

/* A driver that waits for a restart is half installed, whether its device works with the old one until then or not at
 * all (no text; the Khronos loader passes over it, too). */
static bool is_ready(DEVINST device)
{
    ULONG status = 0;
    ULONG problem = 0;
    return CM_Get_DevNode_Status(&status, &problem, device, 0) == CR_SUCCESS &&
           !((status & DN_HAS_PROBLEM) && problem == CM_PROB_NEED_RESTART) && !(status & DN_NEED_RESTART);
}

static void device_use(char *id, void (*use)(const char *library))
{
    DEVINST device;
    HKEY key;
    if (CM_Locate_DevNodeA(&device, id, CM_LOCATE_DEVNODE_NORMAL) != CR_SUCCESS || !is_ready(device) ||
        CM_Open_DevNode_Key(device, KEY_QUERY_VALUE, 0, RegDisposition_OpenExisting, &key, CM_REGISTRY_SOFTWARE) !=
            CR_SUCCESS) {
        return;
    }
    char *library = library_of(key);
    RegCloseKey(key);
    if (library) {
        use(library);
        free(library);
    }
}

/* The IDs of the present devices of a class, one after the other, an empty one last. To be given to free(). Devices
 * come and go: where there are more than a moment ago, it asks again. */
static char *device_ids(const char *class)
{
    ULONG flags = CM_GETIDLIST_FILTER_CLASS | CM_GETIDLIST_FILTER_PRESENT;
    CONFIGRET status = CR_BUFFER_SMALL;
    char *ids = NULL;
    while (status == CR_BUFFER_SMALL) {
        ULONG length = 0;
        free(ids);
        ids = NULL;
        if (CM_Get_Device_ID_List_SizeA(&length, class, flags) != CR_SUCCESS || length == 0 ||
            !(ids = calloc(length, 1))) {
            return NULL;
        }
        status = CM_Get_Device_ID_ListA(class, ids, length, flags);
    }
    if (status != CR_SUCCESS) {
        free(ids);
        return NULL;
    }
    return ids;
}

static void class_each(const char *class, void (*use)(const char *library))
{
    char *ids = device_ids(class);
    for (char *id = ids; id && *id; id += strlen(id) + 1) {
        device_use(id, use);
    }
    free(ids);
}

/* Adapters in their order first; the configuration manager lists them again, and what the kernel does not list. */
void devices_each(void (*use)(const char *library))
{
    adapters_each(is_emulated() ? L"OpenCLDriverNameWoW" : L"OpenCLDriverName", use);
    class_each(DISPLAY_ADAPTERS, use);
    class_each(SOFTWARE_COMPONENTS, use);
}
