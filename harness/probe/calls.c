/* SPDX-License-Identifier: Apache-2.0 */
/* Commands: calls of OpenCL functions, and the instructions that they take. */
#include "count.h"
#include "loader.h"
#include "log.h"
#include "topics.h"

#include <stdlib.h>

static const char *count_without; /* set where instructions are to be counted: libraries to be left out */

/* Calls `address` with the signature of the function `name`; the arguments are the values of `tokens`. */
static void call(const struct argument *result, const char *name, uint64_t address, const struct argument *tokens,
                 const struct reply *reply)
{
    uint64_t arguments[MAX_PARAMETERS] = {0};
    int function = function_by_name(name);
    unsigned count = argument_count(tokens);
    if (function < 0) {
        reply_error(reply, "no function '%s' in the OpenCL-Headers", name);
        return;
    }
    const struct function_info *about = &function_info[function];
    if (count != about->parameter_count) {
        reply_error(reply, "%s takes %u arguments, not %u", name, about->parameter_count, count);
        return;
    }
    for (unsigned i = 0; i < count; i++) {
        arguments[i] = tokens[i].value;
    }
    if (!address) {
        reply_error(reply, "no symbol %s", name);
        return;
    }
    probe_log_call(CALLLOG_CALL, name, arguments, about->parameter_count);
    void (*target)(void) = (void (*)(void))(uintptr_t)address;
    uint64_t value = count_without ? count_invoke(count_without, (enum function)function, target, arguments)
                                   : invoke((enum function)function, target, arguments);
    probe_log_call(CALLLOG_RETURN, name, &value, 1);
    reply_result(reply, result->value, value);
}

static void call_exported(const struct argument *a, const struct reply *reply)
{
    call(&a[0], a[1].text, (uint64_t)(uintptr_t)loader_symbol(a[1].text, NULL), a + 2, reply);
}

static void call_address(const struct argument *a, const struct reply *reply)
{
    call(&a[0], a[2].text, a[1].value, a + 3, reply);
}

static void count_line(const struct argument *a, const struct reply *reply)
{
    if (!command_can_nest(a[1].text)) {
        reply_error(reply, "this line cannot be counted");
        return;
    }
    count_without = a[0].text;
    command_execute(a[1].text, reply->text, reply->room);
    count_without = NULL;
}

static void show_counts(const struct argument *a, const struct reply *reply)
{
    size_t length = 0;
    char *text = count_text(&length);
    (void)a;
    if (text) {
        reply_bytes(reply, text, length);
    } else {
        reply_error(reply, "instructions cannot be counted on this processor, or there were too many");
    }
    free(text);
}

static const struct command rows[] = {
    /* Calls the loader's exported function; ok RESULT, which is kept. */
    {"call", "RESULT FUNCTION TOKEN...", call_exported, false},
    /* Calls the function at an address with the signature of FUNCTION. */
    {"address", "RESULT TOKEN FUNCTION TOKEN...", call_address, false},
    /* Executes a line (call, address) as count_invoke does, with libraries below a folder left out. */
    {"count", "HEX LINE", count_line, true},
    /* ok BYTES of what count_text says of the last such line. */
    {"counted", "", show_counts, false},
    {0},
};

const struct command_table call_commands = {.rows = rows};
