/* What the parts of the probe share. */
#ifndef CLHARNESS_PROBE_H
#define CLHARNESS_PROBE_H

#include "calllog.h"
#include "clharness_functions.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

extern struct calllog probe_log;

/* --- values.c: buffers, results and the tokens that name values --- */

/* Makes buffer `index` of `size` bytes filled with `fill`; it ends where an unreadable page begins. False: no room. */
bool buffer_make(unsigned index, size_t size, int fill);
void buffer_free(unsigned index);
/* Makes a buffer unwritable; false where there is none. */
bool buffer_protect(unsigned index);
/* Address of `length` bytes at `offset` in a buffer, or NULL when they are not inside it. */
unsigned char *buffer_bytes(unsigned index, size_t offset, size_t length);
/* The same; NULL, too, where the buffer is unwritable. */
unsigned char *buffer_for_writing(unsigned index, size_t offset, size_t length);

struct callback_arguments {
    const uint64_t *values;
    unsigned count;
};

/* Of the callback that this thread is in. */
extern _Thread_local struct callback_arguments callback_arguments;

void result_set(unsigned index, uint64_t value);
/* Drops all buffers and results. */
void values_forget(void);

/* Value of a token:
 *   123, -1, 0x7f     a number                b3, b3+16    address in buffer 3
 *   *b3, *b3+16       64-bit word in it       r5           result of call 5
 *   ^clX.pfn_notify   a callback's address    @clX         address of a loader's symbol
 *   c0                first argument of the callback that this thread is in
 * False when the token means nothing. */
bool token_value(const char *token, uint64_t *value);

/* Reads hexadecimal bytes; gives their number, or -1. `to` may be NULL to count. */
long hex_bytes(const char *hex, unsigned char *to);

/* --- loader.c: the library under test --- */

struct loader_options {
    const char *path;
    bool global;
    bool now;
};

extern struct loader_options loader_options;

/* Opens the loader (in the linked probe: notes what the dynamic linker loaded). NULL, or the reason of the failure. */
const char *loader_open(void);
/* Closes it. NULL, or the reason. */
const char *loader_close(void);
/* Address of a symbol of the loader, or NULL; of that version only, unless that is NULL. */
void *loader_symbol(const char *name, const char *version);

/* --- exports.c --- */

/* What the loader exports, a line each: "NAME VERSION ADDRESS" of a symbol ("-" for no version), then "= VERSION
 * PARENT" of each version. NULL where it cannot be read. To be freed. */
char *exports_text(size_t *length);

/* --- state.c --- */

/* What a library should leave as it is, a line NAME=VALUE each: locale, signals, threads and so on. NULL: no room. To
 * be freed. */
char *state_text(size_t *length);

/* --- layer.c: this program in the place of a loader, to a layer that is the library under test --- */

/* A table of `length` entries for a layer to call into; it ends where an unreadable page begins. NULL: no room. */
const void *target_make(size_t length, bool writable, bool silent);
/* Calls one of the four functions of a layer by its name. False where the library or the name lacks it, or the number
 * of arguments is wrong. */
bool layer_call(const char *name, const uint64_t *arguments, int count, int32_t *result);
/* Number of exit handlers that were registered so far, or -1 where nobody counts them (exit_watch.c). */
long exit_handlers(void);

/* --- descriptors.c --- */

/* Does what the words say: `memory SIZE`, `copy TOKEN NUMBER` (-1: any number) or `close TOKEN`; `*made` is the
 * descriptor. NULL, or the reason why not. */
const char *descriptor_make(char **words, int count, int64_t *made);

/* --- vulkan.c --- */

/* Does what the words say: `open UUID` of the device (- for any), `memory SIZE TYPE` of that device, `export` it as a
 * new descriptor, `mapped` (its address), `write HEX` at its start. NULL, or the reason why not. */
const char *vulkan_make(char **words, int count, int64_t *made);

/* --- count.c --- */

/* Calls a function as `invoke` does, one instruction at a time; libraries below the folder, which is "" for none, run
 * freely and count as one instruction where they are entered. On processors where that cannot be done, as `invoke`. */
uint64_t count_invoke(const char *folder, enum function function, void (*address)(void), const uint64_t *arguments);
/* Where the instructions of the last such call were: a line "NUMBER PATH" for each stretch of them in one library; no
 * path for the probe itself. NULL where they could not be counted. To be freed. */
char *count_text(size_t *length);

/* --- stacks.c --- */

/* Crashing signals write the stack of the thread to standard error and go on as they would have; the signal
 * SIGRTMIN+6, sent to a thread, writes that thread's stack. Lines read: "clharness stack TID SIGNAL: 0x… 0x…". */
void stacks_install(void);

/* --- commands.c --- */

/* Executes one command line in place and writes the reply, without a newline, to `reply` of `room` bytes. */
void command_execute(char *line, char **reply, size_t *room);
/* Drops everything that commands have made or kept. */
void commands_forget(void);

#endif
