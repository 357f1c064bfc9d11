/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the command of a line in the topics' tables, and reads and checks its arguments. */
#include "commands.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum kind { LITERAL, WORD, COUNT, NUMBER, TOKEN, HEX, LINE };

static const struct {
    const char *name;
    enum kind kind;
} kinds[] = {
    {"BUFFER", COUNT},  {"RESULT", COUNT},  {"THREAD", COUNT},  {"SIZE", COUNT}, {"LENGTH", COUNT}, {"TYPE", COUNT},
    {"OFFSET", NUMBER}, {"NUMBER", NUMBER}, {"TOKEN", TOKEN},   {"HEX", HEX},    {"LINE", LINE},    {"NAME", WORD},
    {"VERSION", WORD},  {"FUNCTION", WORD}, {"CALLBACK", WORD}, {"UUID", WORD},  {"WORD", WORD},
};

static const char *const must_be[] = {
    [LITERAL] = "another word",
    [WORD] = "a word",
    [COUNT] = "a number of 0 or more",
    [NUMBER] = "a number",
    [TOKEN] = "the name of a value",
    [HEX] = "bytes in hexadecimal",
    [LINE] = "a line",
};

static const struct command_table *const *used;

/* --- what rows say of arguments --- */

struct part {
    const char *text;
    size_t length;
    bool repeats;
};

/* Takes the next word of a row's arguments; false at the end. */
static bool next_part(const char **arguments, struct part *part)
{
    size_t length = strcspn(*arguments, " ");
    if (length == 0) {
        return false;
    }
    bool repeats = length > 3 && memcmp(*arguments + length - 3, "...", 3) == 0;
    *part = (struct part){*arguments, repeats ? length - 3 : length, repeats};
    *arguments += length + ((*arguments)[length] == ' ');
    return true;
}

static bool is_word(const char *text, size_t length, const char *word)
{
    return strlen(word) == length && memcmp(text, word, length) == 0;
}

/* Words that nobody knows are -1. */
static int kind_of(const struct part *part)
{
    if (*part->text >= 'a' && *part->text <= 'z') {
        return LITERAL;
    }
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (is_word(part->text, part->length, kinds[i].name)) {
            return (int)kinds[i].kind;
        }
    }
    return -1;
}

bool command_arguments_are_known(const char *arguments)
{
    struct part part;
    while (next_part(&arguments, &part)) {
        bool last = *arguments == '\0';
        int kind = kind_of(&part);
        if (kind < 0 || ((part.repeats || kind == LINE) && !last)) {
            return false;
        }
    }
    return *arguments == '\0';
}

/* --- finding the command --- */

/* Whether the words of a line are those of a row, and as many. `rest` is what follows the name, NULL for nothing. */
static bool fits(const char *arguments, const char *rest)
{
    struct part part;
    while (next_part(&arguments, &part)) {
        int kind = kind_of(&part);
        if (part.repeats || (rest && kind == LINE)) {
            return true;
        }
        size_t length = rest ? strcspn(rest, " ") : 0;
        if (!rest || (kind == LITERAL && (length != part.length || memcmp(rest, part.text, length) != 0))) {
            return false;
        }
        rest = rest[length] ? rest + length + 1 : NULL;
    }
    return rest == NULL;
}

/* The row after `last` (NULL: the first one) whose name is that of `length` bytes; NULL where there is none. */
static const struct command *next_named(const struct command *last, const char *name, size_t length)
{
    bool begun = last == NULL;
    for (const struct command_table *const *table = used; table && *table; table++) {
        for (const struct command *row = (*table)->rows; row && row->name; row++) {
            if (begun && is_word(name, length, row->name)) {
                return row;
            }
            begun = begun || row == last;
        }
    }
    return NULL;
}

bool command_can_nest(const char *line)
{
    const struct command *command = next_named(NULL, line, strcspn(line, " "));
    return !command || !command->outermost;
}

bool command_is_own(const char *line)
{
    size_t length = strcspn(line, " \n");
    for (const struct command_table *const *table = used; table && *table; table++) {
        for (const struct command *row = (*table)->own ? (*table)->rows : NULL; row && row->name; row++) {
            if (is_word(line, length, row->name)) {
                return true;
            }
        }
    }
    return false;
}

static void append(char *text, size_t room, const char *format, ...)
{
    size_t length = strlen(text);
    va_list list;
    va_start(list, format);
    vsnprintf(text + length, room - length, format, list);
    va_end(list);
}

/* The error of a line whose words are those of no row. */
static void refuse_line(const struct reply *reply)
{
    char expected[512] = "";
    const struct command *row = NULL;
    size_t length = strlen(reply->command);
    while ((row = next_named(row, reply->command, length)) != NULL) {
        append(expected, sizeof expected, "%s'%s%s%s'", *expected ? " or " : "", row->name, *row->arguments ? " " : "",
               row->arguments);
    }
    if (*expected) {
        reply_error(reply, "wrong arguments; expected %s", expected);
    } else {
        reply_error(reply, "unknown command");
    }
}

/* --- reading arguments --- */

/* Takes the first word of what is left of a line, and the space after it. */
static char *take_word(char **rest)
{
    char *word = *rest;
    char *space = strchr(word, ' ');
    if (space) {
        *space++ = '\0';
    }
    *rest = space;
    return word;
}

static bool read_argument(enum kind kind, char *word, struct argument *argument)
{
    long bytes;
    *argument = (struct argument){word, strlen(word), 0};
    switch (kind) {
    case COUNT:
        return *word != '-' && number_value(word, &argument->value);
    case NUMBER:
        return number_value(word, &argument->value);
    case TOKEN:
        return token_value(word, &argument->value);
    case HEX:
        bytes = hex_bytes(word, NULL);
        if (bytes < 0) {
            return false;
        }
        hex_bytes(word, (unsigned char *)word); /* in place: two digits become one byte */
        word[bytes] = '\0';
        argument->length = (size_t)bytes;
        return true;
    default:
        return true;
    }
}

/* Reads what follows the name of a command whose row fits. */
static bool read_arguments(const struct command *command, char *rest, struct argument *arguments,
                           const struct reply *reply)
{
    const char *shape = command->arguments;
    struct part part = {0};
    unsigned count = 0;
    for (; rest; count++) {
        if (!part.repeats) {
            next_part(&shape, &part);
        }
        if (count == MAX_ARGUMENTS) {
            reply_error(reply, "more than %d arguments", MAX_ARGUMENTS);
            return false;
        }
        enum kind kind = (enum kind)kind_of(&part);
        char *word = rest;
        if (kind == LINE) {
            rest = NULL;
        } else {
            word = take_word(&rest);
        }
        if (!read_argument(kind, word, &arguments[count])) {
            reply_error(reply, "argument %u, '%.200s', is not %s; expected '%s %s'", count + 1, word, must_be[kind],
                        command->name, command->arguments);
            return false;
        }
    }
    arguments[count] = (struct argument){0};
    return true;
}

unsigned argument_count(const struct argument *arguments)
{
    unsigned count = 0;
    while (arguments[count].text) {
        count++;
    }
    return count;
}

/* --- for the main loop --- */

void commands_use(const struct command_table *const *tables)
{
    used = tables;
    for (const struct command_table *const *table = used; *table; table++) {
        if ((*table)->prefix) {
            token_finder_set((*table)->prefix, (*table)->find);
        }
    }
}

void command_execute(char *line, char **text, size_t *room)
{
    struct argument arguments[MAX_ARGUMENTS + 1];
    char *rest = line;
    const struct reply reply = {take_word(&rest), text, room};
    const struct command *command = NULL;
    do {
        command = next_named(command, reply.command, strlen(reply.command));
    } while (command && !fits(command->arguments, rest));
    if (!command) {
        refuse_line(&reply);
    } else if (read_arguments(command, rest, arguments, &reply)) {
        command->run(arguments, &reply);
    }
}

static bool kept;

void commands_keep(void)
{
    kept = true;
}

void commands_forget(void)
{
    if (kept) {
        return;
    }
    for (const struct command_table *const *table = used; table && *table; table++) {
        if ((*table)->forget) {
            (*table)->forget();
        }
    }
    values_forget();
}
