/* SPDX-License-Identifier: Apache-2.0 */
/* The mutations of records.c for AFL++, as a library that afl-fuzz opens (AFL_CUSTOM_MUTATOR_LIBRARY). Where the
 * records of an input begin is known to the target alone, which shares it by the file CLHARNESS_FUZZ_BORDERS. AFL++'s
 * own mutations are made beside these.
 */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

struct mutator {
    uint8_t *out;
    size_t room;
    unsigned seed;
};

void *afl_custom_init(void *afl, unsigned seed);
size_t afl_custom_fuzz(void *mutator, uint8_t *data, size_t size, uint8_t **out, uint8_t *other, size_t other_size,
                       size_t most);
void afl_custom_deinit(void *mutator);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size, uint8_t *out,
                                 size_t most, unsigned seed);

__attribute__((visibility("default"))) void *afl_custom_init(void *afl, unsigned seed)
{
    (void)afl;
    struct mutator *mutator = calloc(1, sizeof *mutator);
    const char *file = getenv("CLHARNESS_FUZZ_BORDERS");
    if (!mutator || !file || !records_share(file)) {
        free(mutator);
        return NULL;
    }
    mutator->seed = seed;
    return mutator;
}

/* Gives 0 where nothing comes of it, which afl-fuzz passes over. */
__attribute__((visibility("default"))) size_t afl_custom_fuzz(void *state, uint8_t *data, size_t size, uint8_t **out,
                                                              uint8_t *other, size_t other_size, size_t most)
{
    struct mutator *mutator = state;
    if (mutator->room < most) {
        free(mutator->out);
        mutator->out = malloc(most);
        mutator->room = mutator->out ? most : 0;
    }
    *out = mutator->out ? mutator->out : data;
    if (!mutator->out || size > most) {
        return 0;
    }
    unsigned seed = mutator->seed = mutator->seed * 1664525U + 1013904223U;
    size_t spliced =
        other && seed >> 31 ? LLVMFuzzerCustomCrossOver(data, size, other, other_size, mutator->out, most, seed) : 0;
    if (spliced) {
        return spliced;
    }
    memcpy(mutator->out, data, size);
    size_t mutated = LLVMFuzzerCustomMutator(mutator->out, size, most, seed);
    return mutated == size && memcmp(mutator->out, data, size) == 0 ? 0 : mutated;
}

__attribute__((visibility("default"))) void afl_custom_deinit(void *state)
{
    struct mutator *mutator = state;
    free(mutator->out);
    free(mutator);
}
