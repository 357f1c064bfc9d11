/* SPDX-License-Identifier: Apache-2.0 */
/* Display adapters as the kernel lists them: D3DKMTEnumAdapters and relatives, and the values of their software keys
 * (Microsoft Learn, d3dkmthk.h and d3dukmdt.h). */
#include "machine.h"

#include <string.h>

/* NTSTATUS */
#define SUCCESS ((LONG)0)
#define UNSUCCESSFUL ((LONG)0xC0000001)
#define INVALID_PARAMETER ((LONG)0xC000000D)
#define BUFFER_TOO_SMALL ((LONG)0xC0000023)
#define NOT_FOUND ((LONG)0xC0000225)

struct adapter_info { /* D3DKMT_ADAPTERINFO */
    UINT adapter;
    LUID luid;
    ULONG sources;
    BOOL precise;
};

struct enum_adapters { /* D3DKMT_ENUMADAPTERS: room for 16 */
    ULONG count;
    struct adapter_info adapters[16];
};

struct enum_adapters2 { /* D3DKMT_ENUMADAPTERS2 */
    ULONG count;
    struct adapter_info *adapters;
};

struct enum_adapters3 { /* D3DKMT_ENUMADAPTERS3 */
    ULONGLONG filter;
    ULONG count;
    struct adapter_info *adapters;
};

struct query_adapter { /* D3DKMT_QUERYADAPTERINFO */
    UINT adapter;
    int type;
    void *data;
    UINT size;
};

enum { QUERY_REGISTRY = 48 }; /* KMTQAITYPE_QUERYREGISTRY */

struct query_registry { /* D3DDDI_QUERYREGISTRY_INFO; what was read follows */
    int type;
    UINT flags;
    WCHAR name[MAX_PATH];
    ULONG value_type;
    ULONG physical;
    ULONG size;
    int status;
    unsigned char output[8];
};

enum { KEY_OF_SERVICE, KEY_OF_ADAPTER, STORE_PATH, IMAGE_PATH };
enum { STATUS_READ, STATUS_OVERFLOW, STATUS_FAIL };

/* Each listing opens the adapters that it lists; who asked closes them. */
static long held;

long adapters_held(void)
{
    return held;
}

/* Handles are the numbers of adapters from 1. */
static ULONG list(struct adapter_info *to)
{
    ULONG count = 0;
    for (unsigned i = 0; i < machine.adapter_count; i++) {
        if (machine.adapters[i].kernel && !machine.adapters[i].late) {
            if (to) {
                ULONG sources = machine.adapters[i].headless ? 0 : 1;
                to[count] = (struct adapter_info){i + 1, machine.adapters[i].luid, sources, FALSE};
            }
            count++;
        }
    }
    return count;
}

static void opened(const struct adapter_info *listed, ULONG count)
{
    for (ULONG i = 0; i < count; i++) {
        machine.adapters[listed[i].adapter - 1].opened++;
    }
    held += (long)count;
}

/* A handle that was not given, or was closed, may be another's by now. */
static bool is_open(UINT adapter)
{
    bool open = adapter >= 1 && adapter <= machine.adapter_count && machine.adapters[adapter - 1].opened > 0;
    count_close((const void *)(uintptr_t)adapter, open);
    return open;
}

/* Without room, the most that there may be: more than there are. */
static LONG fill(ULONG *count, struct adapter_info *to)
{
    ULONG all = list(NULL);
    if (!to) {
        *count = all + 2;
        for (unsigned i = 0; i < machine.adapter_count; i++) {
            machine.adapters[i].late = false;
        }
        return machine.fails == FAILS_COUNT_OF_ADAPTERS ? UNSUCCESSFUL : SUCCESS;
    }
    if (*count < all) {
        return BUFFER_TOO_SMALL;
    }
    *count = list(to);
    if (machine.fails == FAILS_LIST_OF_ADAPTERS) { /* nothing is opened, whatever stands there */
        return UNSUCCESSFUL;
    }
    opened(to, *count);
    return SUCCESS;
}

static LONG WINAPI hook_D3DKMTEnumAdapters(struct enum_adapters *all)
{
    struct adapter_info adapters[MAX_ADAPTERS];
    ULONG count = list(adapters);
    all->count = count < 16 ? count : 16;
    memcpy(all->adapters, adapters, all->count * sizeof *adapters);
    opened(all->adapters, all->count);
    return SUCCESS;
}

static LONG WINAPI hook_D3DKMTEnumAdapters2(struct enum_adapters2 *all)
{
    return fill(&all->count, all->adapters);
}

static LONG WINAPI hook_D3DKMTEnumAdapters3(struct enum_adapters3 *all)
{
    return fill(&all->count, all->adapters);
}

static LONG WINAPI hook_D3DKMTCloseAdapter(const UINT *adapter)
{
    if (!is_open(*adapter)) {
        return INVALID_PARAMETER;
    }
    machine.adapters[*adapter - 1].opened--;
    held--;
    return SUCCESS;
}

struct open_by_luid {
    LUID luid;
    UINT adapter;
};

static LONG WINAPI hook_D3DKMTOpenAdapterFromLuid(struct open_by_luid *open)
{
    for (unsigned i = 0; i < machine.adapter_count; i++) {
        if (memcmp(&machine.adapters[i].luid, &open->luid, sizeof open->luid) == 0) {
            open->adapter = i + 1;
            machine.adapters[i].opened++;
            held++;
            return SUCCESS;
        }
    }
    return INVALID_PARAMETER;
}

/* The value as it is to be read: translated, where that is asked for and makes a difference. */
static HKEY key_of(const struct adapter *adapter, const struct query_registry *query)
{
    enum { TRANSLATE_PATH = 1 };
    bool differs = adapter->translated &&
                   RegQueryValueExW(adapter->translated, query->name, NULL, NULL, NULL, NULL) == ERROR_SUCCESS;
    return differs && (query->flags & TRANSLATE_PATH) ? adapter->translated : adapter->key;
}

/* A value of the wanted type; the size that is needed is told where it does not fit. */
static void read_value(HKEY key, struct query_registry *query, UINT room)
{
    DWORD type = REG_NONE;
    DWORD size = 0;
    query->status = STATUS_FAIL;
    if (RegQueryValueExW(key, query->name, NULL, &type, NULL, &size) != ERROR_SUCCESS || type != query->value_type) {
        return;
    }
    query->size = size;
    query->status = STATUS_OVERFLOW;
    if (size <= room &&
        RegQueryValueExW(key, query->name, NULL, NULL, (BYTE *)query + offsetof(struct query_registry, output),
                         &size) == ERROR_SUCCESS) {
        query->status = STATUS_READ;
    }
}

static LONG WINAPI hook_D3DKMTQueryAdapterInfo(const struct query_adapter *about)
{
    struct query_registry *query = about->data;
    if (!is_open(about->adapter) || about->type != QUERY_REGISTRY || !query || about->size < sizeof *query) {
        return INVALID_PARAMETER;
    }
    if (query->physical > 0) { /* of several that are linked as one: there are none */
        return INVALID_PARAMETER;
    }
    if (query->type != KEY_OF_ADAPTER) {
        query->status = STATUS_FAIL;
        return SUCCESS;
    }
    const struct adapter *adapter = &machine.adapters[about->adapter - 1];
    read_value(key_of(adapter, query), query, about->size - (UINT)offsetof(struct query_registry, output));
    if (adapter->unreadable && query->status == STATUS_READ) {
        query->status = STATUS_FAIL; /* the function succeeds: the value has a status of its own */
        return SUCCESS;
    }
    return query->status == STATUS_FAIL ? NOT_FOUND : SUCCESS;
}

/* Never called: by this function loaders recognise the systems that have all of the others. */
static LONG WINAPI hook_D3DKMTSubmitPresentBltToHwQueue(const void *arguments)
{
    (void)arguments;
    return INVALID_PARAMETER;
}

const struct hook adapter_hooks[] = {
    HOOK(D3DKMTEnumAdapters),
    HOOK(D3DKMTEnumAdapters2),
    HOOK(D3DKMTEnumAdapters3),
    HOOK(D3DKMTCloseAdapter),
    HOOK(D3DKMTOpenAdapterFromLuid),
    HOOK(D3DKMTQueryAdapterInfo),
    HOOK(D3DKMTSubmitPresentBltToHwQueue),
    {0},
};
