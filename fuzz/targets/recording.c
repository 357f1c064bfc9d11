/* SPDX-License-Identifier: Apache-2.0 */
/* Our own reader of recorded exchanges (harness/probe): any text is read to its end, each line has one answer, "ok …"
 * or "error …", and nothing crashes or hangs.
 *
 * No loader takes part: calls reach a function that looks at nothing, and what a command does outside of the reader (a
 * process, a library, the environment, code at an address that the recording names) is left out.
 */
#include "clharness_callbacks.h"
#include "count.h"
#include "engine.h"
#include "loader.h"
#include "topics.h"
#include "vendor.h"

#include <stdlib.h>
#include <string.h>

const char *const target_name = "recording";
bool target_needs_loader = false;

enum { LINES = 128, ROOM = 4096, LARGEST_BUFFER = 1 << 20, CALLBACKS = 4 };

/* --- the loader's place --- */

/* Answers a call; some functions call the application back. */
static uint64_t answer_call(const struct vendor *vendor, enum function function, const uint64_t *arguments)
{
    static unsigned depth;
    const uint64_t values[3] = {arguments[0], function, 7};
    (void)vendor;
    for (unsigned i = 0; i < CALLBACKS && callbacks[i].name && depth == 0; i++) {
        if (strncmp(callbacks[i].name, function_info[function].name, strlen(function_info[function].name)) == 0) {
            depth++;
            callback_called(callbacks[i].name, 3, values);
            depth--;
        }
    }
    return arguments[0] + 1;
}

void *loader_symbol(const char *name, const char *version)
{
    int function = function_by_name(name);
    return function < 0 || version ? NULL : vendor_function(0, (enum function)function);
}

static bool find_symbol(const char *name, uint64_t *value)
{
    *value = (uint64_t)(uintptr_t)loader_symbol(name, NULL);
    return *value != 0;
}

uint64_t count_invoke(const char *folder, enum function function, void (*address)(void), const uint64_t *arguments)
{
    (void)folder;
    return invoke(function, address, arguments);
}

char *count_text(size_t *length)
{
    *length = 0;
    return NULL;
}

/* --- the exchange --- */

/* The rest of the topics does what no target may. */
static const struct command no_commands[] = {{0}};
static const struct command_table symbols = {.rows = no_commands, .prefix = '@', .find = find_symbol};
static const struct command_table *const tables[] = {&call_commands,     &memory_commands, &thread_commands,
                                                     &callback_commands, &symbols,         NULL};

/* Whether a command does what it says outside of the reader, wherever in the line it stands. */
static bool acts_outside(const char *line)
{
    static const char *const commands[] = {"address", "go"};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (strstr(line, commands[i])) {
            return true;
        }
    }
    const char *buffer = strstr(line, "buffer ");
    const char *size = buffer ? strchr(buffer + 7, ' ') : NULL;
    return size && strtoul(size, NULL, 10) > LARGEST_BUFFER;
}

static void execute(char *line, char **reply, size_t *room)
{
    const char *as_it_was = keep_text("%.300s", line);
    describe("%s", as_it_was);
    memset(*reply, '?', *room);
    command_execute(line, reply, room);
    const char *end = memchr(*reply, '\0', *room);
    if (!end || memchr(*reply, '\n', (size_t)(end - *reply)) ||
        (strncmp(*reply, "ok", 2) != 0 && strncmp(*reply, "error ", 6) != 0)) {
        finding("wrong", "answer", "the answer to \"%s\" is \"%.200s\"", as_it_was, *reply);
    }
}

void target_run(void)
{
    const uint8_t *bytes;
    size_t size = take_bytes(&bytes, SIZE_MAX);
    char *text = keep(size + 1);
    memcpy(text, bytes, size);
    vendor_answers = answer_call;
    vendor_answers_all = true;
    commands_use(tables);
    size_t room = ROOM;
    char *reply = malloc(room);
    char *end = text + size;
    for (int i = 0; i < LINES && text < end && reply; i++) {
        char *newline = memchr(text, '\n', (size_t)(end - text));
        newline = newline ? newline : end;
        *newline = '\0';
        if (*text && !acts_outside(text)) {
            execute(text, &reply, &room);
        }
        text = newline + 1;
    }
    free(reply);
    commands_forget();
    vendor_answers = NULL;
    vendor_answers_all = false;
}
