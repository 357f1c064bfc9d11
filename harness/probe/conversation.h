/* SPDX-License-Identifier: Apache-2.0 */
/* The conversation with whoever asks: lines of commands come in, lines of replies go out. */
#ifndef CLHARNESS_PROBE_CONVERSATION_H
#define CLHARNESS_PROBE_CONVERSATION_H

#include <stdbool.h>
#include <stddef.h>

/* Executes the lines that come from the descriptor `in` until `quit` or the end. Replies go to `out`, each after the
 * line itself when `echo` is set. Empty lines and those that begin with # are passed over.
 *
 * Gives what the process is to end with: the number after `quit`, by which who asked for it knows that nothing else has
 * ended the process, or 0.
 *
 * A line that begins with + has no reply of its own when it is done. Where it is refused, the reply says so that the
 * next line without + gets, which is then not executed.
 *
 * Replies are sent before any code of the subject runs. They wait only while the next line has come already, is one of
 * the probe's own commands (struct command_table), and nothing is echoed.
 */
int converse(int in, int out, bool echo);
/* Writes all of it; false where nobody reads. */
bool write_all(int fd, const char *bytes, size_t length);

#endif
