/* SPDX-License-Identifier: Apache-2.0 */
/* The inputs that a process has run, in a file: the last one is there, too, where the subject ends the process without
 * the fuzzer's notice, and those before it, without which a subject that cannot be put back may not show the same. And
 * whether the process was with the subject: what ends it there, with whatever status, was the subject. */
#define _GNU_SOURCE
#include "internal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* As harness/fuzz/kept_inputs.py reads it. Each input has its size, of 4 bytes, before it. */
static struct kept {
    uint64_t used; /* bytes */
    uint8_t inputs[(4 << 20) - 2 * sizeof(uint64_t)];
    uint64_t with_subject;
} * kept;
static pid_t keeper; /* a process that the subject forks has the memory in common with it */

void kept_inputs_begin(void)
{
    const char *path = getenv("CLHARNESS_FUZZ_INPUTS");
    kept = path ? shared_file(path, sizeof *kept) : NULL;
    keeper = getpid();
    if (path && !kept) {
        stop("%s: inputs cannot be kept there", path);
    }
}

void kept_inputs_note(const uint8_t *data, size_t size)
{
    uint32_t length = (uint32_t)size;
    if (!kept || size > sizeof kept->inputs - sizeof length) {
        return;
    }
    uint64_t at = kept->used + sizeof length + size > sizeof kept->inputs ? 0 : kept->used; /* else begins anew */
    memcpy(kept->inputs + at, &length, sizeof length);
    if (size) {
        memcpy(kept->inputs + at + sizeof length, data, size);
    }
    kept->used = at + sizeof length + size;
}

void kept_inputs_with_subject(bool is)
{
    if (kept && getpid() == keeper) {
        kept->with_subject = is;
    }
}
