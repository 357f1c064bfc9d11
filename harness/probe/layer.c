/* The probe in the place of the loader: a table of functions that stands in for what is behind a layer, and the
 * functions of a layer that was opened as the library under test.
 *
 * Functions of the target answer patterns (harness/probe/patterns.py) as component "target". The table ends where an
 * unreadable page begins, so that a layer that reads past the number of entries that it was told crashes.
 */
#define _GNU_SOURCE
#include "clharness_functions.h"
#include "distinct.h"
#include "probe.h"

#include <dlfcn.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MAX_TARGET = 65536 };

typedef void entry(void);

static bool target_is_silent;

/* --- what stands in the target --- */

uint64_t component_call(enum function function, const uint64_t *arguments)
{
    return distinct_answer(&probe_log, "target", function, arguments, target_is_silent);
}

static void log_event(const char *event)
{
    struct calllog_line line;
    calllog_begin(&line, "target", "event", event);
    calllog_commit(&probe_log, &line);
}

/* Windows has functions there; tables of other systems may hold NULL. */
static void windows_entry(void)
{
    log_event("Windows entry called");
}

/* Stands behind the last slot that anybody knows. */
static void surplus_entry(void)
{
    log_event("surplus entry called");
}

static entry *entry_of_slot(size_t slot)
{
    if (slot >= TABLE_LENGTH) {
        return surplus_entry;
    }
    return function_of_slot[slot] < 0 ? windows_entry : entry_of_function[function_of_slot[slot]];
}

const void *target_make(size_t length, bool writable, bool silent)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t readable = (length * sizeof(entry *) + page - 1) / page * page;
    if (length > MAX_TARGET) {
        return NULL;
    }
    char *memory = mmap(NULL, readable + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        return NULL;
    }
    entry **table = (entry **)(void *)(memory + readable) - length; /* stays: the layer keeps its address */
    for (size_t slot = 0; slot < length; slot++) {
        table[slot] = entry_of_slot(slot);
    }
    if (!writable && readable > 0) {
        mprotect(memory, readable, PROT_READ);
    }
    mprotect(memory + readable, page, PROT_NONE);
    target_is_silent = silent;
    return table;
}

/* --- a layer's functions: CL/cl_layer.h; the properties are words --- */

typedef int32_t info_function(uint32_t name, size_t size, void *value, size_t *size_ret);
typedef int32_t init_function(uint32_t count, const void *target, uint32_t *count_ret, const void **table_ret);
typedef int32_t init_with_properties_function(uint32_t count, const void *target, uint32_t *count_ret,
                                              const void **table_ret, const uint64_t *properties);
typedef int32_t deinit_function(void);

static void *pointer(uint64_t value)
{
    return (void *)(uintptr_t)value;
}

bool layer_call(const char *name, const uint64_t *a, int count, int32_t *result)
{
    void *symbol = loader_symbol(name, NULL);
    if (symbol && count == 4 && strcmp(name, "clGetLayerInfo") == 0) {
        *result = ((info_function *)(uintptr_t)symbol)((uint32_t)a[0], (size_t)a[1], pointer(a[2]), pointer(a[3]));
    } else if (symbol && count == 4 && strcmp(name, "clInitLayer") == 0) {
        *result = ((init_function *)(uintptr_t)symbol)((uint32_t)a[0], pointer(a[1]), pointer(a[2]), pointer(a[3]));
    } else if (symbol && count == 5 && strcmp(name, "clInitLayerWithProperties") == 0) {
        *result = ((init_with_properties_function *)(uintptr_t)symbol)((uint32_t)a[0], pointer(a[1]), pointer(a[2]),
                                                                       pointer(a[3]), pointer(a[4]));
    } else if (symbol && count == 0 && strcmp(name, "clDeinitLayer") == 0) {
        *result = ((deinit_function *)(uintptr_t)symbol)();
    } else {
        return false;
    }
    return true;
}

long exit_handlers(void)
{
    const long *count = dlsym(RTLD_DEFAULT, "clharness_exit_handlers");
    return count ? *count : -1;
}
