/* SPDX-License-Identifier: Apache-2.0 */
/* Mutations that keep the records of an input whole: vendors, files, calls, pairs of a list, whatever a target marks.
 *
 * Where records begin is noted while an input runs, and kept for as many inputs as there is room for; of an input
 * that is not among them only the fuzzer's own mutations are made.
 */
#define _GNU_SOURCE
#include "internal.h"

#include <stdlib.h>
#include <string.h>

enum { BORDERS = 62, INPUTS = 1 << 13, REPEATS = 40, CROSSINGS = 8 };

static struct borders {
    uint64_t hash; /* of the input */
    uint16_t count;
    uint16_t at[BORDERS];
} own[INPUTS], *kept = own, current;

static bool is_plain;

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most) __attribute__((weak));
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size, uint8_t *out,
                                 size_t most, unsigned seed);

static uint64_t hash_of(const uint8_t *data, size_t size)
{
    uint64_t hash = 14695981039346656037U + size;
    for (size_t i = 0; i < size; i++) {
        hash = (hash ^ data[i]) * 1099511628211U;
    }
    return hash ^ hash >> 29;
}

void records_begin(const uint8_t *data, size_t size)
{
    if (current.count) {
        kept[current.hash % INPUTS] = current;
    }
    current.count = 0;
    current.hash = is_plain ? 0 : hash_of(data, size);
}

void records_note(size_t at)
{
    bool is_next = !current.count || current.at[current.count - 1] < at;
    if (is_next && current.count < BORDERS && at <= UINT16_MAX && !is_plain) {
        current.at[current.count++] = (uint16_t)at;
    }
}

void records_leave_out(void)
{
    is_plain = true;
}

bool records_share(const char *path)
{
    struct borders *shared = shared_file(path, sizeof own);
    kept = shared ? shared : own;
    return shared != NULL;
}

/* The borders of an input, with its end as the last; fewer than two where they are not known. */
static struct borders borders_of(const uint8_t *data, size_t size)
{
    uint64_t hash = hash_of(data, size);
    const struct borders there =
        current.hash == hash ? current : kept[hash % INPUTS]; /* another process may write it */
    struct borders borders = {0};
    for (unsigned i = 0; there.hash == hash && i < there.count && i < BORDERS && there.at[i] < size; i++) {
        bool is_next = i == 0 || there.at[i] > there.at[i - 1];
        borders.at[borders.count] = there.at[i];
        borders.count += is_next;
    }
    if (borders.count && borders.count < BORDERS && size <= UINT16_MAX) {
        borders.at[borders.count++] = (uint16_t)size;
    }
    return borders;
}

static unsigned next(uint64_t *state, unsigned below)
{
    *state = *state * 6364136223846793005U + 1442695040888963407U;
    return below ? (unsigned)(*state >> 33) % below : 0;
}

/* Puts bytes in the place of others; the new size, or the old one where there is no room. */
static size_t replace(uint8_t *data, size_t size, size_t most, size_t from, size_t to, const uint8_t *with,
                      size_t length)
{
    if (size - (to - from) + length > most) {
        return size;
    }
    memmove(data + from + length, data + to, size - to);
    memcpy(data + from, with, length);
    return size - (to - from) + length;
}

static size_t mutate_records(uint8_t *data, size_t size, size_t most, const struct borders *borders, uint64_t *state)
{
    unsigned records = borders->count - 1;
    unsigned one = next(state, records);
    unsigned other = next(state, records);
    size_t from = borders->at[one];
    size_t to = borders->at[one + 1];
    size_t length = to - from;
    size_t place = borders->at[other];
    uint8_t *copy = malloc(length * REPEATS + 1);
    size_t result = size;
    if (!copy) {
        return size;
    }
    memcpy(copy, data + from, length);
    switch (next(state, 4)) {
    case 0: /* taken out */
        result = replace(data, size, most, from, to, copy, 0);
        break;
    case 1: /* repeated */
        for (unsigned times = next(state, 2) ? 2 : 2 + next(state, REPEATS - 2), i = 1; i < times; i++) {
            memcpy(copy + i * length, copy, length);
            result = replace(data, result, most, from, from, copy, length);
        }
        break;
    case 2: /* put in somewhere else */
        result = replace(data, size, most, place, place, copy, length);
        break;
    default: /* moved */
        if (place >= to || place < from) {
            result = replace(data, size, most, from, to, copy, 0);
            place -= place >= to ? length : 0;
            result = replace(data, result, most, place, place, copy, length);
        }
    }
    free(copy);
    return result ? result : size;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    uint64_t state = seed;
    struct borders borders = borders_of(data, size);
    bool whole = borders.count >= 2 && next(&state, 4) == 0;
    if (whole || (!LLVMFuzzerMutate && borders.count >= 2)) {
        size = mutate_records(data, size, most, &borders, &state);
        if (!LLVMFuzzerMutate || next(&state, 2)) {
            return size;
        }
    }
    return LLVMFuzzerMutate ? LLVMFuzzerMutate(data, size, most) : size;
}

/* The beginning of one and the end of the other, cut where records begin; 0 where that is not known.
 *
 * libFuzzer draws this as often as all other mutations of its own or of ours together, which is far too often: most
 * times it is one of these. */
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size, uint8_t *out,
                                 size_t most, unsigned seed)
{
    uint64_t state = seed;
    if (LLVMFuzzerMutate && next(&state, CROSSINGS)) {
        memcpy(out, a, a_size);
        return LLVMFuzzerCustomMutator(out, a_size, most, (unsigned)(state >> 32));
    }
    struct borders of_a = borders_of(a, a_size);
    struct borders of_b = borders_of(b, b_size);
    if (of_a.count < 2 || of_b.count < 2) {
        return 0;
    }
    size_t head = of_a.at[next(&state, of_a.count)];
    size_t tail = of_b.at[next(&state, of_b.count - 1)];
    size_t length = b_size - tail;
    if (head + length > most || head + length == 0) {
        return 0;
    }
    memcpy(out, a, head);
    memcpy(out + head, b + tail, length);
    return head + length;
}
