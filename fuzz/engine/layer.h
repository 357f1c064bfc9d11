/* SPDX-License-Identifier: Apache-2.0 */
/* Layers whose every answer a target can choose. What is zero is the ordinary answer.
 *
 * Each has functions of its own. A call that reaches one goes on to its target, unless it answers by itself; every step
 * of a call is kept, in order, with arguments and result.
 */
#ifndef CLHARNESS_FUZZ_LAYER_H
#define CLHARNESS_FUZZ_LAYER_H

#include "engine.h"

enum { LAYERS = 3, ENTRIES_MAX = TABLE_LENGTH + 64 };

typedef uint8_t function_set[(FUNCTION_COUNT + 7) / 8];

struct layer {
    int number;
    const char *name; /* as CL_LAYER_NAME answers */
    /* Functions that loaders look for: whether dlsym has them. */
    bool hides_info;
    bool hides_init;
    bool hides_init_with_properties;
    bool hides_deinit;
    cl_int info_error;
    cl_uint version_more; /* by which its API version differs from 100 */
    bool version_unset;   /* CL_SUCCESS, and nothing is written */
    cl_int init_error;
    bool refuses_late;     /* it gives its version, or its table, all the same */
    bool leaves_outputs;   /* CL_SUCCESS, and nothing is written */
    bool null_table;       /* CL_SUCCESS and NULL */
    bool no_entries;       /* it says that its table has none */
    unsigned table_length; /* 0: as long as the headers' */
    unsigned count_more;   /* entries that it says beyond those that it has: nothing can protect a loader from that */
    function_set missing;  /* NULL in its table */
    function_set answers;  /* functions that it answers without asking its target */
    unsigned init_calls;   /* how often `layer_inside` is called */
    unsigned deinit_calls;
    cl_int deinit_error;

    /* What happened. */
    struct library *library;
    void **table; /* ends at an unreadable page */
    unsigned version_queries;
    unsigned inits;
    unsigned inits_with_properties;
    unsigned deinits;
    unsigned closed; /* how often its library was, before the end of the loader */
    int order;       /* of its last init among all */
    bool accepted;   /* it is in the chain: init gave CL_SUCCESS and a table */
    void *const *target;
    void *const *target_before; /* a copy */
    cl_uint target_length;
    struct layer *next; /* in the chain, towards the vendors */
};

extern struct layer layers[LAYERS];
extern struct layer *first_layer; /* of the chain, as it must be */

/* Called within clInitLayer… and clDeinitLayer, as often as the layer says. */
extern void (*layer_inside)(struct layer *layer);

/* Empties the chain, and sets all layers back; at the beginning of an input. */
void layers_clear(void);
/* Sets a layer back to an ordinary one. */
struct layer *layer_plain(int number);
/* Makes its table, as the settings say, and adds its library to the world. */
void layer_make(struct layer *layer, const char *library);
/* What is not ordinary about it; and the same as a part of the input (layer_words.c). */
const char *layer_in_words(const struct layer *layer);
void layer_describe(const struct layer *layer);
/* Whether its table has the function. */
bool layer_has(const struct layer *layer, enum function function);
/* Finds a target table that has changed. */
void layers_check_targets(void);

static inline bool set_has(const uint8_t *set, unsigned function)
{
    return set[function / 8] & (1 << (function % 8));
}

static inline void set_add(uint8_t *set, unsigned function)
{
    set[function / 8] |= (uint8_t)(1 << (function % 8));
}

/* --- The steps of a call --- */

/* A function of a layer or of a vendor that a call went through. */
struct step {
    enum function function;
    int layer;  /* or -1 */
    int vendor; /* or -1 */
    uint64_t argument[MAX_PARAMETERS];
    uint64_t result;
};

enum { STEPS_MAX = 64 };
extern struct step steps[STEPS_MAX];
extern size_t step_count;

/* NULL where there are too many. */
struct step *step_add(int layer, int vendor, enum function function, const uint64_t *arguments);

/* What a layer answers by itself. */
extern uint64_t (*layer_answers)(const struct layer *layer, enum function function, const uint64_t *arguments);

#endif
