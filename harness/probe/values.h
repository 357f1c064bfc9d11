/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers, results, and the tokens that name values. */
#ifndef CLHARNESS_PROBE_VALUES_H
#define CLHARNESS_PROBE_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Makes buffer `index` of `size` bytes filled with `fill`; it ends where an unreadable page begins. False: no room. */
bool buffer_make(uint64_t index, size_t size, int fill);
void buffer_free(uint64_t index);
/* Makes a buffer unwritable; false where there is none. */
bool buffer_protect(uint64_t index);
/* Address of `length` bytes at `offset` in a buffer, or NULL when they are not inside it. */
unsigned char *buffer_bytes(uint64_t index, size_t offset, size_t length);
/* The same; NULL, too, where the buffer is unwritable. */
unsigned char *buffer_for_writing(uint64_t index, size_t offset, size_t length);

struct callback_arguments {
    const uint64_t *values;
    unsigned count;
};

/* Of the callback that this thread is in. */
extern _Thread_local struct callback_arguments callback_arguments;

/* Keeps a result; there is no room for indexes of 65536 and above, which are dropped. */
void result_set(uint64_t index, uint64_t value);
/* Drops all buffers and results. */
void values_forget(void);

/* Value of what a token names after its first letter; false where nothing has that name. */
typedef bool token_finder(const char *name, uint64_t *value);
/* Tokens that begin with `prefix` are the finder's. */
void token_finder_set(char prefix, token_finder *finder);

/* Value of a token:
 *   123, -1, 0x7f     a number                b3, b3+16    address in buffer 3
 *   *b3, *b3+16       64-bit word in it       r5           result of call 5
 *   c0                first argument of the callback that this thread is in
 *   ^clX.pfn_notify   a callback's address (callbacks.c)
 *   @clX              address of a loader's symbol (libraries.c)
 * False when the token has no value. */
bool token_value(const char *token, uint64_t *value);

/* Reads a whole text as a number: decimal, or hexadecimal with 0x; "-" may stand before it. False: it is not one. */
bool number_value(const char *text, uint64_t *value);

/* Reads hexadecimal bytes; gives their number, or -1. `to` may be NULL to count, and `hex` itself. */
long hex_bytes(const char *hex, unsigned char *to);

#endif
