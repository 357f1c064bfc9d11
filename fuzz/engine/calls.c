/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of the loader whose way to a vendor is checked. */
#define _GNU_SOURCE
#include "calls.h"

#include "internal.h"

#include <string.h>

/* A loader may offer the platforms of a library as often as files name it, which is some thousand times at most. */
enum { DIFFERENT = VENDORS * PLATFORMS, MOST_OFFERED = 1200 * DIFFERENT };

/* --- the list of platforms --- */

static bool seen_before(const struct offered *offered, const struct object *platform)
{
    for (cl_uint i = 0; i < offered->count; i++) {
        if (offered->platform[i] == platform) {
            return true;
        }
    }
    return false;
}

/* The list of platforms, in so much room and not more. */
static const cl_platform_id *listed(cl_uint room, cl_uint count)
{
    cl_platform_id *list = guarded(room * sizeof *list);
    cl_uint again = 0;
    cl_int result = room ? (cl_int)CALL(clGetPlatformIDs, room, AT(list), AT(&again)) : CL_SUCCESS;
    if (result != CL_SUCCESS) {
        finding("wrong", "list-fails", "clGetPlatformIDs(%u, list, &count) answers %d after the count was %u", room,
                result, count);
    } else if (room && again != count) {
        finding("wrong", "count-differs", "the loader counts %u platforms, then %u", count, again);
    }
    return list;
}

struct offered platforms_offered(void)
{
    struct offered offered = {0, {NULL}};
    cl_uint count = 0;
    cl_int result = (cl_int)CALL(clGetPlatformIDs, 0, 0, AT(&count));
    saw("result of the count call", (uint32_t)result);
    saw("number of platforms", count);
    if (result != CL_SUCCESS) {
        return offered;
    }
    if (count > MOST_OFFERED) {
        finding("wrong", "too-many-platforms", "the loader offers %u platforms, there are %d at most", count,
                MOST_OFFERED);
        return offered;
    }
    const cl_platform_id *list = listed(count, count);
    for (cl_uint room = 1; room <= count + 1; room += 1 + count / (DIFFERENT + 1)) {
        const cl_platform_id *other = room == count ? list : listed(room, count);
        if (memcmp(list, other, (room < count ? room : count) * sizeof *list) != 0) {
            finding("wrong", "lists-differ", "the list of %u platforms is another one where there is room for %u",
                    count, room);
        }
    }
    for (cl_uint i = 0; i < count; i++) {
        struct object *platform = object_of(AT(list[i]));
        if (!platform || platform->kind != HANDLE_cl_platform_id) {
            finding("wrong", "platform-of-nobody", "platform %u of the list, %p, belongs to no vendor", i,
                    (void *)list[i]);
            return offered;
        }
        if (seen_before(&offered, platform)) {
            grey("a library that is named twice may give its platforms twice");
            continue;
        }
        offered.platform[offered.count++] = platform;
    }
    /* Each loader has an order of its own. */
    for (int v = 0; v < VENDORS; v++) {
        for (int p = 0; p < PLATFORMS; p++) {
            if (seen_before(&offered, &vendors[v].platform[p].object[HANDLE_cl_platform_id])) {
                saw(keep_text("platform %d of vendor %d", p, v), 1);
            }
        }
    }
    return offered;
}

/* --- its arguments --- */

/* Whether a call of the function can be led to a vendor by an object (or a list with a platform). */
static bool has_way(enum function function)
{
    const struct function_info *about = &function_info[function];
    switch (function) {
    case FUNCTION_clGetExtensionFunctionAddressForPlatform: /* answered by the loader, too */
    case FUNCTION_clIcdGetFunctionAddressForPlatformKHR:
    case FUNCTION_clIcdSetPlatformDispatchDataKHR:
    case FUNCTION_clGetPlatformInfo: /* answered in an ordinary way by our vendors */
    case FUNCTION_clGetDeviceIDs:
        return false;
    default:
        break;
    }
    for (unsigned i = 0; i < about->parameter_count; i++) {
        enum parameter_kind kind = about->parameters[i].kind;
        if (kind == PARAMETER_HANDLE || kind == PARAMETER_HANDLES ||
            (kind == PARAMETER_PROPERTIES && about->parameters[i].handle == HANDLE_none && i == 0)) {
            return about->slot >= 0;
        }
    }
    return false;
}

/* Places that arguments point to; nothing stands there that a loader may follow. Those of lists are for themselves:
 * what stands in them does not change, but for the objects of the platform. */
static char places[MAX_PARAMETERS][256];
static uint64_t lists[MAX_PARAMETERS][4];
static char texts[MAX_PARAMETERS][8];

/* The arguments of a function: made once, but for what is the platform's. Their redzones are those of the arrays above;
 * nothing of the loader's is touched here, so that it is done without the sanitizer. */
struct plan {
    bool made;
    bool has_way;
    int error;       /* which argument is the place for an error; -1: none */
    unsigned owners; /* how many of its arguments depend on the platform */
    struct {
        unsigned argument;
        enum parameter_kind kind;
        enum handle_kind handle;
    } owner[MAX_PARAMETERS];
    uint64_t argument[MAX_PARAMETERS];
};
static struct plan plans[FUNCTION_COUNT];

static uint64_t argument_for(const struct function_info *about, unsigned i)
{
    static uint64_t text_lists[MAX_PARAMETERS];
    switch (about->parameters[i].kind) {
    case PARAMETER_HANDLES:
    case PARAMETER_PROPERTIES:
        return AT(lists[i]);
    case PARAMETER_STRING:
        strcpy(texts[i], "text");
        return AT(texts[i]);
    case PARAMETER_STRINGS:
        text_lists[i] = AT("text");
        return AT(&text_lists[i]);
    case PARAMETER_INTEGER:
        if (i + 1 < about->parameter_count && about->parameters[i + 1].kind != PARAMETER_INTEGER) {
            return 1; /* it may say how much stands there */
        }
        return 0x1111 + i;
    default:
        return AT(places[i]);
    }
}

static void make_plan(struct plan *plan, enum function function)
{
    const struct function_info *about = &function_info[function];
    plan->made = true;
    plan->has_way = has_way(function);
    plan->error = -1;
    for (unsigned i = 0; i < about->parameter_count; i++) {
        enum parameter_kind kind = about->parameters[i].kind;
        plan->argument[i] = argument_for(about, i);
        plan->error = kind == PARAMETER_ERRCODE ? (int)i : plan->error;
        if (kind == PARAMETER_HANDLE || kind == PARAMETER_HANDLES || kind == PARAMETER_PROPERTIES) {
            plan->owner[plan->owners].argument = i;
            plan->owner[plan->owners].kind = kind;
            plan->owner[plan->owners++].handle = about->parameters[i].handle;
        }
    }
}

static const struct plan *plan_of(enum function function)
{
    if (!plans[function].made) {
        make_plan(&plans[function], function);
    }
    return &plans[function];
}

/* Fills in the platform's own objects. */
__attribute__((no_sanitize("address"))) static void fill_in(const struct plan *plan, struct object *platform,
                                                            uint64_t *arguments)
{
    struct platform *of = &vendors[platform->vendor].platform[platform->platform];
    for (unsigned i = 0; i < MAX_PARAMETERS; i++) {
        arguments[i] = plan->argument[i];
    }
    for (unsigned i = 0; i < plan->owners; i++) {
        unsigned argument = plan->owner[i].argument;
        enum handle_kind handle = plan->owner[i].handle;
        uint64_t object = AT(handle == HANDLE_cl_device_id ? &of->device[0] : &of->object[handle]);
        switch (plan->owner[i].kind) {
        case PARAMETER_HANDLE:
            arguments[argument] = object;
            break;
        case PARAMETER_HANDLES:
            lists[argument][0] = object;
            break;
        default:
            lists[argument][0] = CL_CONTEXT_PLATFORM;
            lists[argument][1] = AT(platform);
            lists[argument][2] = 0;
            break;
        }
    }
}

/* --- one call --- */

/* What the vendor answers, and what the caller must see then. */
static uint64_t pattern_of_result(enum function function, int vendor)
{
    switch (function_info[function].result) {
    case RESULT_SIGNED:
        return (uint64_t)(int64_t)(-2000 - (int)function - 200 * vendor);
    case RESULT_UNSIGNED:
        return 2000U + (unsigned)function + 200U * (unsigned)vendor;
    case RESULT_POINTER:
        return 0x7000000000U + (uint64_t)16 * (unsigned)function;
    default:
        return 0;
    }
}

static cl_int pattern_of_error(enum function function)
{
    return -3000 - (cl_int)function;
}

static uint64_t answer(const struct vendor *vendor, enum function function, const uint64_t *arguments)
{
    const struct function_info *about = &function_info[function];
    int error = plan_of(function)->error;
    if (error >= 0 && arguments[error]) {
        *(cl_int *)(uintptr_t)arguments[error] = pattern_of_error(function);
    }
    if (about->result == RESULT_HANDLE) {
        return AT(&vendor->platform[0].object[about->result_handle]);
    }
    return pattern_of_result(function, vendor->number);
}

/* The first argument that is not what arrived; the number of them where all are. */
__attribute__((no_sanitize("address"))) static unsigned first_changed(const struct function_info *about,
                                                                      const uint64_t *arguments)
{
    unsigned i = 0;
    while (i < about->parameter_count && received[0].argument[i] == arguments[i]) {
        i++;
    }
    return i;
}

static void check_arrival(struct object *platform, enum function function, const uint64_t *arguments)
{
    const struct function_info *about = &function_info[function];
    if (received_count != 1) {
        finding("wrong", keep_text("calls-%s", about->name), "%s with objects of vendor %d caused %zu calls of vendors",
                about->name, platform->vendor, received_count);
        return;
    }
    if (received[0].vendor != platform->vendor || received[0].function != function) {
        finding("wrong", keep_text("way-%s", about->name), "%s with objects of vendor %d arrived as %s at vendor %d",
                about->name, platform->vendor, function_info[received[0].function].name, received[0].vendor);
        return;
    }
    unsigned changed = first_changed(about, arguments);
    if (changed < about->parameter_count) {
        finding("wrong", keep_text("argument-%s", about->name), "argument %s of %s is %#llx and arrived as %#llx",
                parameter_name(&about->parameters[changed]), about->name, (unsigned long long)arguments[changed],
                (unsigned long long)received[0].argument[changed]);
    }
}

static void check_answer(struct object *platform, enum function function, uint64_t result, const cl_int *error)
{
    const struct function_info *about = &function_info[function];
    uint64_t expected = about->result == RESULT_HANDLE
                            ? AT(&vendors[platform->vendor].platform[0].object[about->result_handle])
                            : pattern_of_result(function, platform->vendor);
    if (about->result != RESULT_VOID && result != expected) {
        finding("wrong", keep_text("result-%s", about->name),
                "the vendor answered %#llx to %s, the application got %#llx", (unsigned long long)expected, about->name,
                (unsigned long long)result);
    }
    if (error && *error != pattern_of_error(function)) {
        finding("wrong", keep_text("error-%s", about->name),
                "the vendor gave the error %d to %s, the application got %d", pattern_of_error(function), about->name,
                *error);
    }
}

/* The loader's own function for one that it does not export, the same for all platforms; NULL where it has none. */
static address trampoline(struct object *platform, enum function function)
{
    static address entries[FUNCTION_COUNT];
    static unsigned long inputs[FUNCTION_COUNT]; /* in which each was queried */
    if (inputs[function] != input_number) {
        uint64_t name = AT(function_info[function].name);
        uint64_t answered = CALL(clGetExtensionFunctionAddressForPlatform, AT(platform), name);
        entries[function] = in_loader(answered) ? (address)(uintptr_t)answered : NULL;
        inputs[function] = input_number;
    }
    return entries[function];
}

void check_call(struct object *platform, enum function function, bool there)
{
    address entry = loader_function(function) ? loader_function(function) : trampoline(platform, function);
    if (!entry) {
        return;
    }
    const struct function_info *about = &function_info[function];
    const struct plan *plan = plan_of(function);
    uint64_t arguments[MAX_PARAMETERS];
    fill_in(plan, platform, arguments);
    cl_int *error = plan->error < 0 ? NULL : (cl_int *)(uintptr_t)arguments[plan->error];
    if (error) {
        *error = 12345;
    }
    received_count = 0;
    vendor_answers = answer;
    uint64_t result = invoke(function, entry, arguments);
    vendor_answers = NULL;
    if (there) {
        check_arrival(platform, function, arguments);
        check_answer(platform, function, result, error);
    } else if (received_count > 0) {
        finding("wrong", keep_text("absent-%s", about->name),
                "vendor %d has no %s; a call of it arrived as %s at vendor %d", platform->vendor, about->name,
                function_info[received[0].function].name, received[0].vendor);
    }
}

/* Whether the loader has a table of its own for the platform. */
static bool is_managed(const struct platform *platform)
{
    return platform->icd2 && platform->object[HANDLE_cl_platform_id].dispatch_data;
}

static bool is_there(const struct platform *platform, enum function function)
{
    unsigned slot = (unsigned)function_info[function].slot;
    bool missing = platform->missing[function / 8] & (1 << (function % 8));
    return !missing && (is_managed(platform) || !platform->table_length || slot < platform->table_length);
}

void check_calls(struct object *object)
{
    const struct platform *platform = &vendors[object->vendor].platform[object->platform];
    bool queries = is_there(platform, FUNCTION_clGetExtensionFunctionAddressForPlatform);
    for (int f = 0; f < FUNCTION_COUNT; f++) {
        enum function function = (enum function)f;
        if (!plan_of(function)->has_way) {
            continue;
        }
        bool there = is_there(platform, function);
        /* In a vendor's own table a loader cannot see the end, and need not look for holes: it calls what stands there.
         */
        if ((loader_function(function) || queries) && (there || is_managed(platform))) {
            check_call(object, function, there);
        }
    }
}

/* The first argument is NULL, and all others are as always; with or without a place for the error. */
static void check_null_handle(enum function function, cl_int *error)
{
    const struct function_info *about = &function_info[function];
    uint64_t arguments[MAX_PARAMETERS];
    /* A platform may be NULL, which is the default one. */
    if (about->parameters[0].kind != PARAMETER_HANDLE || about->parameters[0].handle == HANDLE_cl_platform_id) {
        return;
    }
    for (unsigned i = 0; i < about->parameter_count; i++) {
        bool number = about->parameters[i].kind == PARAMETER_INTEGER;
        arguments[i] = number ? 1 : i == 0 ? 0 : AT(places[i]);
        arguments[i] = about->parameters[i].kind == PARAMETER_ERRCODE ? AT(error) : arguments[i];
    }
    received_count = 0;
    uint64_t result = call(function, arguments);
    bool failed = about->result == RESULT_SIGNED ? (cl_int)result != CL_SUCCESS : result == 0;
    if (received_count > 0) {
        finding("wrong", keep_text("null-arrives-%s", about->name), "%s with NULL for %s arrived at vendor %d",
                about->name, parameter_name(&about->parameters[0]), received[0].vendor);
    } else if (!failed && about->result != RESULT_VOID) {
        finding("wrong", keep_text("null-succeeds-%s", about->name), "%s with NULL for %s answered %#llx", about->name,
                parameter_name(&about->parameters[0]), (unsigned long long)result);
    }
}

void check_null_handles(void)
{
    enum { UNTOUCHED = 4711 };
    for (int f = 0; f < FUNCTION_COUNT; f++) {
        if (loader_function((enum function)f) && plan_of((enum function)f)->has_way) {
            cl_int error = UNTOUCHED;
            check_null_handle((enum function)f, &error);
            if (error != UNTOUCHED) { /* it has a place for the error: once without */
                check_null_handle((enum function)f, NULL);
            }
        }
    }
}

void check_devices(struct object *object)
{
    const struct platform *platform = &vendors[object->vendor].platform[object->platform];
    cl_uint count = 0;
    cl_int result = (cl_int)CALL(clGetDeviceIDs, AT(object), CL_DEVICE_TYPE_ALL, 0, 0, AT(&count));
    if (result != (platform->device_count ? CL_SUCCESS : CL_DEVICE_NOT_FOUND) || count != platform->device_count) {
        finding("wrong", "devices", "platform %d of vendor %d has %u devices, the loader answers %d and %u",
                object->platform, object->vendor, platform->device_count, result, count);
    }
}

void check_queries(struct object *object, const char *name)
{
    const struct platform *platform = &vendors[object->vendor].platform[object->platform];
    if (is_there(platform, FUNCTION_clGetExtensionFunctionAddressForPlatform)) {
        uint64_t entry = CALL(clGetExtensionFunctionAddressForPlatform, AT(object), AT(name));
        if (!platform->icd2) { /* not every loader knows these */
            saw("address for the platform", entry != 0);
        }
    }
    saw("address", CALL(clGetExtensionFunctionAddress, AT(name)) != 0);
}
