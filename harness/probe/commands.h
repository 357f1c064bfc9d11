/* SPDX-License-Identifier: Apache-2.0 */
/* The commands that the probe executes, as tables: one line each, one reply line each (reply.h).
 *
 * A command is a row, {name, arguments, function}, of its topic's table. The arguments are written as a reader of the
 * protocol wants them, one space between words, and are read and checked in one place:
 *
 *   BUFFER RESULT THREAD       number of a buffer, a result (kept as rN) or a thread
 *   SIZE LENGTH TYPE           a number of 0 or more
 *   OFFSET NUMBER              a number
 *   TOKEN                      a value (values.h)
 *   HEX                        bytes, two hexadecimal digits each
 *   LINE                       the rest of the line: another command
 *   NAME VERSION FUNCTION CALLBACK UUID WORD
 *                              a word that the function looks at
 *   in small letters           this word; also one that begins so, as clGetLayerInfo
 *   ...                        after the last: once, more often, or not at all
 *
 * Several rows may have the same name: the one whose words and whose number of words are those of the line is taken.
 */
#ifndef CLHARNESS_PROBE_COMMANDS_H
#define CLHARNESS_PROBE_COMMANDS_H

#include "reply.h"
#include "values.h"

enum { MAX_ARGUMENTS = 47 };

struct argument {
    char *text;     /* the word; of HEX: its bytes, and a NUL after them */
    size_t length;  /* of `text` */
    uint64_t value; /* of a number or a token */
};

/* After the last argument comes one without text. */
typedef void command_function(const struct argument *arguments, const struct reply *reply);

struct command {
    const char *name;
    const char *arguments;
    command_function *run;
    bool outermost; /* cannot stand within another line, nor be kept for later: it would have no end */
};

/* A topic: its commands, and what else of it the others need to know. */
struct command_table {
    const struct command *rows; /* the last one has no name */
    void (*forget)(void);       /* drops what the commands keep; NULL: nothing */
    char prefix;                /* of tokens that the topic finds; 0: none */
    token_finder *find;
    bool own; /* whether nothing but the probe's own code runs in its commands */
};

/* Commands are looked for in these tables, the last of which is NULL. */
void commands_use(const struct command_table *const *tables);
/* Executes one command line in place and writes the reply, without a newline, to `reply` of `room` bytes. */
void command_execute(char *line, char **reply, size_t *room);
/* Whether a line, which ends with a newline or a NUL, is a command of a table whose commands are the probe's own. */
bool command_is_own(const char *line);
/* Whether a line can stand within another one, or be kept. */
bool command_can_nest(const char *line);
unsigned argument_count(const struct argument *arguments);
/* Drops everything that commands have made or kept. */
void commands_forget(void);
/* From now on nothing is dropped: lines will run when the process ends. */
void commands_keep(void);
/* Whether the arguments of a row are written as said above; for tests. */
bool command_arguments_are_known(const char *arguments);

#endif
