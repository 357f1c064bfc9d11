/* SPDX-License-Identifier: Apache-2.0 */
/* Layers by the hundred, which pass everything on and count what passes through them. */
#ifndef CLHARNESS_FUZZ_CHAIN_H
#define CLHARNESS_FUZZ_CHAIN_H

#include "engine.h"

enum { CHAIN = 300 };

/* Which init functions a layer has: some loaders know the older one only, others ask for the newer one. */
enum layer_scheme { SCHEME_BOTH, SCHEME_WITH_PROPERTIES, SCHEME_PLAIN, SCHEMES };

/* What its table has beside clFlush; a hole has not even that: NULL, or a table that ends before it. */
enum layer_table { TABLE_WHOLE, TABLE_NULLS, TABLE_SHORT, TABLE_KINDS };

struct chain_layer {
    struct library *library;
    enum layer_scheme scheme;
    enum layer_table kind;
    bool hole;
    unsigned inits, deinits;   /* how often */
    unsigned older_inits;      /* of them by clInitLayer */
    unsigned order, end_order; /* of the last of these among all layers, from 1 */
    unsigned passed;           /* calls of clFlush that went through it */
    unsigned pass_order;       /* of the last among all layers */
    void *const *target;
    void *table[TABLE_LENGTH];
};

extern struct chain_layer chain[CHAIN];
extern unsigned chain_length;
/* The platforms that the first layer of all found in its target while it was initialised. */
extern cl_uint chain_platforms;
/* How long the target of the first layer is said to be, and of one that is said to be of another length, or 0. */
extern cl_uint chain_target_length, chain_other_length;
/* What is to be done while a layer is deinitialised; NULL: nothing. */
extern void (*chain_at_end)(struct chain_layer *layer);

void chain_clear(void);
/* Adds a layer, and its library to the world. NULL where there are too many. */
struct chain_layer *chain_add(const char *library, enum layer_scheme scheme);
/* Forgets what passed through the layers. */
void chain_forget_passes(void);

#endif
