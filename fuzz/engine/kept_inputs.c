/* SPDX-License-Identifier: Apache-2.0 */
/* What a process did, in memory that it has in common with a file, where nothing reaches it that a subject does to
 * descriptors, output or signals: the inputs that it ran, without which a subject that cannot be put back may not show
 * the same; whose turn it is, because what ends the process in the subject's, with whatever status, was the subject;
 * and the engine's last words. */
#define _GNU_SOURCE
#include "internal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* As harness/fuzz/kept_inputs.py reads it. Each input has its size, of 4 bytes, before it. */
enum { WHOLE = 4 << 20, ENDED = 1 << 16, WORDS = 1 << 13, NUMBERS = 5 * sizeof(uint64_t) };
static struct kept {
    uint64_t used; /* bytes */
    uint8_t inputs[WHOLE - ENDED - WORDS - NUMBERS];
    uint64_t last;        /* where the last one begins */
    uint64_t ended_used;  /* bytes */
    uint8_t ended[ENDED]; /* inputs in which earlier processes ended, where a fuzzer makes one after the other */
    char words[WORDS];
    uint64_t finished; /* the process has done its work */
    uint64_t turns;    /* odd while it is the subject's */
} * kept;
static bool is_subjects; /* whose turn it is, of this process */
static void (*at_end)(bool);
static pid_t keeper; /* a process that the subject forks has the memory in common with it */

static bool keeps(void)
{
    return kept && getpid() == keeper;
}

bool kept_inputs_at_end(void (*function)(bool in_handler))
{
    at_end = function;
    return kept;
}

/* A handler of a signal may end the process in the subject's turn. */
static void finish(void)
{
    if (keeps()) {
        if (at_end) {
            at_end(is_subjects);
        }
        kept->finished = !is_subjects;
    }
}

bool kept_inputs_begin(void)
{
    const char *path = getenv("CLHARNESS_FUZZ_INPUTS");
    kept = path ? shared_file(path, sizeof *kept) : NULL;
    keeper = getpid();
    if (kept) {
        atexit(finish);
    }
    return kept || !path;
}

void kept_inputs_turn(bool subjects)
{
    if (keeps() && is_subjects != subjects) {
        is_subjects = subjects;
        kept->turns++;
    }
}

static bool append(uint8_t *list, size_t room, uint64_t *used, const void *data, uint32_t size)
{
    if (*used > room || size + sizeof size > room - *used) {
        return false;
    }
    memcpy(list + *used, &size, sizeof size);
    if (size) {
        memcpy(list + *used + sizeof size, data, size);
    }
    *used += sizeof size + size;
    return true;
}

/* The last input of a process before this one, which did not come to its end. */
static void note_ended(void)
{
    uint32_t size;
    if (kept->last <= sizeof kept->inputs - sizeof size) {
        const uint8_t *input = kept->inputs + kept->last;
        memcpy(&size, input, sizeof size);
        if (size <= sizeof kept->inputs - sizeof size - kept->last) {
            append(kept->ended, sizeof kept->ended, &kept->ended_used, input + sizeof size, size);
        }
    }
    kept->turns++;
}

void kept_inputs_note(const uint8_t *data, size_t size)
{
    if (!kept) {
        return;
    }
    if (!is_subjects) { /* what is forked between two turns comes from the fuzzer */
        keeper = getpid();
    }
    if (!keeps() || size > UINT32_MAX) {
        return;
    }
    if (kept->turns % 2) {
        note_ended();
    }
    kept->last = kept->used;
    if (!append(kept->inputs, sizeof kept->inputs, &kept->used, data, (uint32_t)size)) { /* it begins anew */
        kept->used = kept->last = 0;
        append(kept->inputs, sizeof kept->inputs, &kept->used, data, (uint32_t)size);
    }
    kept_inputs_turn(true);
}

void kept_inputs_words(const char *words)
{
    if (keeps() && !kept->words[0]) {
        strncpy(kept->words, words, sizeof kept->words - 1);
    }
}

void end_as_known(void)
{
    kept_inputs_turn(false);
    finish();
    _exit(0);
}
