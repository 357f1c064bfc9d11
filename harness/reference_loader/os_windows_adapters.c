/* SPDX-License-Identifier: Apache-2.0 */
/* Windows: display adapters as the kernel lists them, with a value of their software keys, in DXGI's order.
 *
 * The text has the devices' keys first and no order among them ("ICD Loader Vendor Enumeration on Windows"); that of
 * DXGI is the user's choice of a graphics processor, and what the Khronos loader takes. The kernel's functions are in
 * gdi32, which has no declarations of them but in the driver kit: they are repeated here from Microsoft Learn,
 * d3dkmthk.h and d3dukmdt.h. Older systems lack them; then there is the configuration manager (os_windows_devices.c).
 */
#define COBJMACROS
/* clang-format off: the order is Windows' own */
#include <windows.h>
/* clang-format on */
#include "os_windows_adapters.h"

#include <dxgi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { QUERY_REGISTRY = 48, ADAPTER_KEY = 1, TRANSLATE_PATH = 1, VALUE_READ = 0, VALUE_OVERFLOW = 1 };

struct kernel_adapter { /* D3DKMT_ADAPTERINFO */
    UINT handle;
    LUID luid;
    ULONG sources;
    BOOL precise;
};

struct kernel_list { /* D3DKMT_ENUMADAPTERS2 */
    ULONG count;
    struct kernel_adapter *adapters;
};

struct kernel_query { /* D3DKMT_QUERYADAPTERINFO */
    UINT handle;
    int type;
    void *data;
    UINT size;
};

struct registry_query { /* D3DDDI_QUERYREGISTRY_INFO; the value follows */
    int key;
    UINT flags;
    WCHAR name[MAX_PATH];
    ULONG type;
    ULONG physical;
    ULONG size;
    int status;
    union {
        WCHAR text[4];
        uint64_t number;
    } value;
};

typedef LONG WINAPI list_function(struct kernel_list *list);
typedef LONG WINAPI query_function(const struct kernel_query *query);
typedef LONG WINAPI close_function(const UINT *handle);
typedef HRESULT WINAPI factory_function(REFIID id, void **factory);

static list_function *list_adapters;
static query_function *query_adapter;
static close_function *close_adapter;

/* The library of the kernel's functions, to be given to FreeLibrary(), or NULL where it has not all of them. */
static HMODULE open_kernel(void)
{
    HMODULE gdi = LoadLibraryA("gdi32.dll");
    if (!gdi) {
        return NULL;
    }
    list_adapters = (list_function *)(uintptr_t)GetProcAddress(gdi, "D3DKMTEnumAdapters2");
    query_adapter = (query_function *)(uintptr_t)GetProcAddress(gdi, "D3DKMTQueryAdapterInfo");
    close_adapter = (close_function *)(uintptr_t)GetProcAddress(gdi, "D3DKMTCloseAdapter");
    if (!list_adapters || !query_adapter || !close_adapter) {
        FreeLibrary(gdi);
        return NULL;
    }
    return gdi;
}

/* The adapters, to be given to free(). They come and go: where there are more than a moment ago, it asks again. */
static struct kernel_adapter *adapters_now(ULONG *count)
{
    struct kernel_list list = {0};
    for (int attempt = 0; attempt < 8 && list_adapters(&list) >= 0 && list.count > 0; attempt++) {
        list.adapters = calloc(list.count, sizeof *list.adapters);
        if (list.adapters && list_adapters(&list) >= 0) {
            *count = list.count;
            return list.adapters;
        }
        free(list.adapters);
        list = (struct kernel_list){0};
    }
    return NULL;
}

/* --- the value of an adapter's key --- */

/* Asks once, with room for so many bytes of the value. NULL where there is no such value. To be given to free(). */
static struct registry_query *ask(UINT handle, const wchar_t *name, ULONG type, size_t room)
{
    struct registry_query *query = calloc(1, sizeof *query + room + sizeof(WCHAR));
    if (!query) {
        return NULL;
    }
    *query = (struct registry_query){.key = ADAPTER_KEY, .flags = TRANSLATE_PATH, .type = type};
    wcsncpy(query->name, name, MAX_PATH - 1);
    struct kernel_query outer = {handle, QUERY_REGISTRY, query, (UINT)(sizeof *query + room)};
    if (query_adapter(&outer) < 0 || (query->status != VALUE_READ && query->status != VALUE_OVERFLOW)) {
        free(query);
        return NULL;
    }
    return query;
}

static char *to_ansi(const WCHAR *text)
{
    int size = WideCharToMultiByte(CP_ACP, 0, text, -1, NULL, 0, NULL, NULL);
    char *ansi = size > 0 ? calloc((size_t)size, 1) : NULL;
    if (ansi) {
        WideCharToMultiByte(CP_ACP, 0, text, -1, ansi, size, NULL, NULL);
    }
    return ansi;
}

/* The first text of a value, to be given to free(); NULL where it has another type. */
static char *value_of(UINT handle, const wchar_t *name, ULONG type)
{
    enum { MOST = 1 << 16 };
    struct registry_query *query = ask(handle, name, type, 0);
    if (query && query->status == VALUE_OVERFLOW) {
        ULONG size = query->size < MOST ? query->size : 0;
        free(query);
        query = ask(handle, name, type, size);
    }
    char *library = query && query->status == VALUE_READ ? to_ansi(query->value.text) : NULL;
    free(query);
    return library;
}

/* The text has a string; drivers also write lists of strings, of which the first counts. */
static void adapter_use(UINT handle, const wchar_t *name, void (*use)(const char *library))
{
    char *library = value_of(handle, name, REG_SZ);
    if (!library) {
        library = value_of(handle, name, REG_MULTI_SZ);
    }
    if (library) {
        use(library);
    }
    free(library);
}

/* --- the order --- */

static IDXGIFactory *open_factory(HMODULE dxgi)
{
    static const IID factory_id = {0x7b7166ec, 0x21c7, 0x44ae, {0xb2, 0x1a, 0xc9, 0xae, 0x32, 0x1a, 0xe3, 0x69}};
    void *factory = NULL;
    factory_function *create = dxgi ? (factory_function *)(uintptr_t)GetProcAddress(dxgi, "CreateDXGIFactory") : NULL;
    return create && SUCCEEDED(create(&factory_id, &factory)) ? factory : NULL;
}

/* The place of the adapter with this LUID among those that were not used yet; `count` for none. */
static ULONG place_of(const struct kernel_adapter *adapters, const bool *used, ULONG count, LUID luid)
{
    ULONG place = 0;
    while (place < count && (used[place] || memcmp(&adapters[place].luid, &luid, sizeof luid) != 0)) {
        place++;
    }
    return place;
}

static void use_in_order(const struct kernel_adapter *adapters, bool *used, ULONG count, const wchar_t *name,
                         void (*use)(const char *library))
{
    HMODULE dxgi = LoadLibraryA("dxgi.dll");
    IDXGIFactory *factory = open_factory(dxgi);
    IDXGIAdapter *adapter = NULL;
    for (UINT i = 0; factory && SUCCEEDED(IDXGIFactory_EnumAdapters(factory, i, &adapter)); i++) {
        DXGI_ADAPTER_DESC about = {0};
        bool known = SUCCEEDED(IDXGIAdapter_GetDesc(adapter, &about));
        ULONG place = known ? place_of(adapters, used, count, about.AdapterLuid) : count;
        if (place < count) {
            used[place] = true;
            adapter_use(adapters[place].handle, name, use);
        }
        IDXGIAdapter_Release(adapter);
    }
    if (factory) {
        IDXGIFactory_Release(factory);
    }
    if (dxgi) {
        FreeLibrary(dxgi);
    }
}

void adapters_each(const wchar_t *name, void (*use)(const char *library))
{
    ULONG count = 0;
    HMODULE kernel = open_kernel();
    struct kernel_adapter *adapters = kernel ? adapters_now(&count) : NULL;
    bool *used = adapters ? calloc(count, sizeof *used) : NULL;
    if (used) {
        use_in_order(adapters, used, count, name, use);
    }
    for (ULONG i = 0; used && i < count; i++) {
        if (!used[i]) {
            adapter_use(adapters[i].handle, name, use);
        }
        close_adapter(&adapters[i].handle);
    }
    free(used);
    free(adapters);
    if (kernel) {
        FreeLibrary(kernel);
    }
}
