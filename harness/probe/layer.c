/* SPDX-License-Identifier: Apache-2.0 */
/* Commands: the probe in the place of the loader: a table of functions that stands in for what is below a layer, and
 * the functions of a layer that was opened as the library under test.
 *
 * The table of the target ends where an unreadable page begins, so that a layer that reads past the number of entries
 * that it was given crashes. target.c has its functions.
 */
#include "clharness_functions.h"
#include "guarded.h"
#include "loader.h"
#include "log.h"
#include "target.h"
#include "topics.h"

#include <string.h>

enum { MAX_TARGET = 65536 };

static target_entry *entry_of_slot(size_t slot)
{
    if (slot >= TABLE_LENGTH) {
        return target_surplus_entry;
    }
    return function_of_slot[slot] < 0 ? target_windows_entry : entry_of_function[function_of_slot[slot]];
}

static void make_target(const struct argument *a, const struct reply *reply)
{
    struct guarded memory;
    size_t length = a[1].value;
    if (length > MAX_TARGET || !guarded_make(&memory, length * sizeof(target_entry *))) {
        reply_error(reply, "no room for a table of %s entries", a[1].text);
        return;
    }
    target_entry **table = (target_entry **)(void *)memory.bytes; /* stays: the layer keeps its address */
    for (size_t slot = 0; slot < length; slot++) {
        table[slot] = entry_of_slot(slot);
    }
    if (!strstr(a[2].text, "writable")) {
        guarded_protect(&memory);
    }
    target_set_silent(strstr(a[2].text, "silent") != NULL);
    reply_result(reply, a[0].value, (uint64_t)(uintptr_t)table);
}

/* --- a layer's functions: CL/cl_layer.h; the properties are words --- */

typedef int32_t info_function(uint32_t name, size_t size, void *value, size_t *size_ret);
typedef int32_t init_function(uint32_t count, const void *target, uint32_t *count_ret, const void **table_ret);
typedef int32_t init_with_properties_function(uint32_t count, const void *target, uint32_t *count_ret,
                                              const void **table_ret, const uint64_t *properties);
typedef int32_t deinit_function(void);

static void *pointer(const struct argument *argument)
{
    return (void *)(uintptr_t)argument->value;
}

static int32_t get_info(void *symbol, const struct argument *a)
{
    info_function *function = (info_function *)(uintptr_t)symbol;
    return function((uint32_t)a[0].value, a[1].value, pointer(&a[2]), pointer(&a[3]));
}

static int32_t init(void *symbol, const struct argument *a)
{
    init_function *function = (init_function *)(uintptr_t)symbol;
    return function((uint32_t)a[0].value, pointer(&a[1]), pointer(&a[2]), pointer(&a[3]));
}

static int32_t init_with_properties(void *symbol, const struct argument *a)
{
    init_with_properties_function *function = (init_with_properties_function *)(uintptr_t)symbol;
    return function((uint32_t)a[0].value, pointer(&a[1]), pointer(&a[2]), pointer(&a[3]), pointer(&a[4]));
}

static int32_t deinit(void *symbol, const struct argument *a)
{
    (void)a;
    return ((deinit_function *)(uintptr_t)symbol)();
}

/* a[0] is the function's name. */
static void call_layer(int32_t (*call)(void *symbol, const struct argument *a), const struct argument *a,
                       const struct reply *reply)
{
    uint64_t values[MAX_ARGUMENTS];
    unsigned count = argument_count(a + 1);
    void *symbol = loader_symbol(a[0].text, NULL);
    if (!symbol) {
        reply_error(reply, "the library has no %s", a[0].text);
        return;
    }
    for (unsigned i = 0; i < count; i++) {
        values[i] = a[1 + i].value;
    }
    probe_log_call(CALLLOG_CALL, a[0].text, values, count);
    int32_t result = call(symbol, a + 1);
    uint64_t logged = (uint64_t)(int64_t)result;
    probe_log_call(CALLLOG_RETURN, a[0].text, &logged, 1);
    reply_write(reply, "ok %d", result);
}

static void call_get_info(const struct argument *a, const struct reply *reply)
{
    call_layer(get_info, a, reply);
}

static void call_init(const struct argument *a, const struct reply *reply)
{
    call_layer(init, a, reply);
}

static void call_init_with_properties(const struct argument *a, const struct reply *reply)
{
    call_layer(init_with_properties, a, reply);
}

static void call_deinit(const struct argument *a, const struct reply *reply)
{
    call_layer(deinit, a, reply);
}

static const struct command rows[] = {
    /* A table of SIZE entries for a layer to call into, kept as a result. The last word may hold "writable" and
     * "silent" (calls are not logged). */
    {"target", "RESULT SIZE WORD", make_target, false},
    /* Calls a function of the layer that was opened as the loader; ok RESULT, a number. */
    {"layer", "clGetLayerInfo TOKEN TOKEN TOKEN TOKEN", call_get_info, false},
    {"layer", "clInitLayer TOKEN TOKEN TOKEN TOKEN", call_init, false},
    {"layer", "clInitLayerWithProperties TOKEN TOKEN TOKEN TOKEN TOKEN", call_init_with_properties, false},
    {"layer", "clDeinitLayer", call_deinit, false},
    {0},
};

const struct command_table layer_commands = {.rows = rows};
