/* SPDX-License-Identifier: Apache-2.0 */
/* How every mock logs a call of the API, and the rules that all its info queries share. */
#ifndef CLHARNESS_CALLS_H
#define CLHARNESS_CALLS_H

#include "clharness_cl.h"
#include "sidefile.h"

/* Logs the entry into a function: raw arguments, and what they point to where that matters (strings, property lists,
 * handle arrays). */
void log_call(const struct function_info *about, const uint64_t *arguments);
/* Logs the return from it: the result, and the values written through the arguments. */
void log_return(const struct function_info *about, const uint64_t *arguments, uint64_t result);

/* Length in words, of `width` bytes each, of the property list of a function, with its end marker, reading no further;
 * `room` where it does not end before. Some properties have lists for values, which have end markers of their own. */
size_t list_length(const struct function_info *about, const void *list, unsigned width, size_t room);

/* Bytes of each word of a list that a parameter points to: of handles, or of names and values; 0 where it points to
 * something else. */
unsigned list_width(const struct parameter_info *parameter);

/* Copies a list's words of `width` bytes each. */
void list_words(uint64_t *words, const void *list, unsigned width, size_t count);

/* The first word at a pointer to a type of `size` bytes. */
uint64_t first_word(const void *pointer, unsigned size);

/* Answers an info query with `size` bytes at `data`, by the size rules that all of them share: CL_INVALID_VALUE where
 * the given memory is too small. Arguments are the last three of clGet…Info: size, memory, size output. */
cl_int answer_info(const uint64_t *arguments, const void *data, size_t size);

#endif
