/* SPDX-License-Identifier: Apache-2.0 */
/* Display adapters in the order in which DXGI prefers them (Microsoft Learn, dxgi.h, dxgi1_6.h): a factory and its
 * adapters, as COM objects that live as long as the process. Of their methods there are those that enumerate and
 * describe; all others fail. */
#define COBJMACROS
#include "machine.h"

#include <initguid.h> /* the identifiers of the interfaces are defined here */

#include <dxgi1_6.h>
#include <string.h>

struct object {
    const void *methods;
    const struct adapter *adapter; /* NULL: the factory */
    long references;
};

static long held;
static long held_objects;

long dxgi_held(void)
{
    return held;
}

static struct object factory;
static struct object adapters[MAX_ADAPTERS];

/* Whose library goes has no code any more: the objects that are left must not even be released. */
void dxgi_count(long more)
{
    held += more;
    if (more < 0 && held == held_objects && held_objects > 0) {
        count_close(&factory, false);
    }
}

static HRESULT reference(struct object *object, void **to)
{
    object->references++;
    held++;
    held_objects++;
    *to = object;
    return S_OK;
}

/* An object without references is no object any more: who uses it reads another's memory. */
static bool is_alive(const void *at)
{
    const struct object *object = at;
    if (object->references > 0) {
        return true;
    }
    count_close(object, false);
    return false;
}

static HRESULT STDMETHODCALLTYPE fail(void)
{
    return E_NOTIMPL;
}

/* What they give is for tests only, as documented. */
static ULONG STDMETHODCALLTYPE add_reference(void *object)
{
    return is_alive(object) && reference(object, &object) == S_OK ? 2 : 0;
}

static ULONG STDMETHODCALLTYPE release(void *at)
{
    struct object *object = at;
    if (!is_alive(object)) {
        return 0;
    }
    held--;
    held_objects--;
    return (ULONG)--object->references;
}

/* All versions of the interfaces begin alike: each object is all of them that its table has room for. */
static bool has_interface(bool is_factory, REFIID id)
{
    static const IID *const of_factories[] = {
        &IID_IDXGIFactory,  &IID_IDXGIFactory1, &IID_IDXGIFactory2, &IID_IDXGIFactory3,
        &IID_IDXGIFactory4, &IID_IDXGIFactory5, &IID_IDXGIFactory6,
    };
    static const IID *const of_adapters[] = {
        &IID_IDXGIAdapter, &IID_IDXGIAdapter1, &IID_IDXGIAdapter2, &IID_IDXGIAdapter3, &IID_IDXGIAdapter4,
    };
    const IID *const *known = is_factory ? of_factories : of_adapters;
    size_t count = is_factory ? sizeof of_factories / sizeof *known : sizeof of_adapters / sizeof *known;
    bool found = IsEqualIID(id, &IID_IUnknown) || IsEqualIID(id, &IID_IDXGIObject);
    for (size_t i = 0; i < count; i++) {
        found = found || IsEqualIID(id, known[i]);
    }
    return found;
}

static HRESULT STDMETHODCALLTYPE query_interface(void *at, REFIID id, void **to)
{
    struct object *object = at;
    *to = NULL;
    return is_alive(object) && has_interface(!object->adapter, id) ? reference(object, to) : E_NOINTERFACE;
}

/* The adapter at a place of DXGI's order: places are compared, not used as indices. */
static HRESULT at_place(UINT place, void **to)
{
    *to = NULL;
    for (unsigned i = 0; i < machine.adapter_count; i++) {
        const struct adapter *adapter = &machine.adapters[i];
        UINT before = 0;
        for (unsigned other = 0; other < machine.adapter_count; other++) {
            int its = machine.adapters[other].dxgi;
            before += its >= 0 && (its < adapter->dxgi || (its == adapter->dxgi && other < i));
        }
        if (adapter->dxgi >= 0 && before == place) {
            return reference(&adapters[i], to);
        }
    }
    return DXGI_ERROR_NOT_FOUND;
}

static HRESULT STDMETHODCALLTYPE enum_adapters(void *object, UINT place, void **to)
{
    return to && is_alive(object) ? at_place(place, to) : DXGI_ERROR_INVALID_CALL;
}

static HRESULT STDMETHODCALLTYPE enum_by_preference(void *object, UINT place, int preference, REFIID id, void **to)
{
    (void)preference;
    (void)id;
    return enum_adapters(object, place, to);
}

static HRESULT STDMETHODCALLTYPE enum_by_luid(void *object, LUID luid, REFIID id, void **to)
{
    (void)object;
    (void)id;
    for (unsigned i = 0; i < machine.adapter_count; i++) {
        if (memcmp(&machine.adapters[i].luid, &luid, sizeof luid) == 0) {
            return reference(&adapters[i], to);
        }
    }
    return DXGI_ERROR_NOT_FOUND;
}

static BOOL STDMETHODCALLTYPE is_current(void *object)
{
    (void)object;
    return TRUE;
}

/* The one that DXGI prefers least. */
static const struct adapter *last_adapter(void)
{
    const struct adapter *last = machine.adapters;
    for (unsigned i = 1; i < machine.adapter_count; i++) {
        last = machine.adapters[i].dxgi > last->dxgi ? &machine.adapters[i] : last;
    }
    return last;
}

/* DXGI_ADAPTER_DESC1 to 3 go on after this one. Where it fails, what it leaves may be anything, such as the description
 * of another adapter. */
static HRESULT describe(const struct object *object, DXGI_ADAPTER_DESC *to)
{
    bool fails = !is_alive(object) || object->adapter->undescribed;
    memset(to, 0, sizeof *to);
    wcscpy(to->Description, L"clharness adapter");
    to->AdapterLuid = (fails ? last_adapter() : object->adapter)->luid;
    return fails ? DXGI_ERROR_DEVICE_REMOVED : S_OK;
}

static HRESULT STDMETHODCALLTYPE get_desc(void *object, DXGI_ADAPTER_DESC *to)
{
    return describe(object, to);
}

static HRESULT STDMETHODCALLTYPE get_desc1(void *object, DXGI_ADAPTER_DESC1 *to)
{
    memset(to, 0, sizeof *to);
    return describe(object, (DXGI_ADAPTER_DESC *)(void *)to);
}

static IDXGIFactory6Vtbl factory_methods;
static IDXGIAdapter4Vtbl adapter_methods;

#define SET(table, method, function) memcpy(&(table).method, &(void *){(void *)(uintptr_t)(function)}, sizeof(void *))

static void fill(void *table, size_t size)
{
    void **entries = table;
    for (size_t i = 0; i < size / sizeof *entries; i++) {
        entries[i] = (void *)(uintptr_t)fail;
    }
    entries[0] = (void *)(uintptr_t)query_interface;
    entries[1] = (void *)(uintptr_t)add_reference;
    entries[2] = (void *)(uintptr_t)release;
}

static HRESULT make_factory(REFIID id, void **to)
{
    if (!to) {
        return DXGI_ERROR_INVALID_CALL;
    }
    if (!has_interface(true, id)) {
        *to = NULL;
        return E_NOINTERFACE;
    }
    if (machine.dxgi_fails) {
        *to = NULL;
        return DXGI_ERROR_UNSUPPORTED;
    }
    fill(&factory_methods, sizeof factory_methods);
    fill(&adapter_methods, sizeof adapter_methods);
    SET(factory_methods, EnumAdapters, enum_adapters);
    SET(factory_methods, EnumAdapters1, enum_adapters);
    SET(factory_methods, EnumAdapterByGpuPreference, enum_by_preference);
    SET(factory_methods, EnumAdapterByLuid, enum_by_luid);
    SET(factory_methods, IsCurrent, is_current);
    SET(adapter_methods, GetDesc, get_desc);
    SET(adapter_methods, GetDesc1, get_desc1);
    factory.methods = &factory_methods;
    for (unsigned i = 0; i < machine.adapter_count; i++) {
        adapters[i].methods = &adapter_methods;
        adapters[i].adapter = &machine.adapters[i];
    }
    return reference(&factory, to);
}

static HRESULT WINAPI hook_CreateDXGIFactory(REFIID id, void **to)
{
    return make_factory(id, to);
}

static HRESULT WINAPI hook_CreateDXGIFactory1(REFIID id, void **to)
{
    return make_factory(id, to);
}

static HRESULT WINAPI hook_CreateDXGIFactory2(UINT flags, REFIID id, void **to)
{
    (void)flags;
    return make_factory(id, to);
}

const struct hook dxgi_hooks[] = {
    HOOK(CreateDXGIFactory),
    HOOK(CreateDXGIFactory1),
    HOOK(CreateDXGIFactory2),
    {0},
};
