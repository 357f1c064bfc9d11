/* SPDX-License-Identifier: Apache-2.0 */
/* What a loader made of a machine, as far as a machine of another size must have the same. */
#ifndef CLHARNESS_FUZZ_OUTCOME_H
#define CLHARNESS_FUZZ_OUTCOME_H

#include "machine.h"

enum { OFFERED_MOST = 3000, DEFAULTS = 4 };

/* The platforms that the loader offers, in order. */
struct offered_list {
    unsigned count;
    unsigned platform[OFFERED_MOST];
};

/* Fewer than two have none. */
enum direction { NO_DIRECTION, MIXED, UPWARDS, DOWNWARDS };

struct outcome {
    bool known;              /* the life of the loader was not left by a crash */
    unsigned special_copies; /* how often the special platform is offered, and each of the others */
    unsigned other_copies;
    enum direction order;       /* of platforms, by their numbers */
    enum direction layer_order; /* of the layers' inits, by their numbers */
    unsigned layer_inits;       /* of each layer */
    unsigned second_inits;      /* of the second one alone */
    unsigned layer_ends;
    enum direction end_order;
    unsigned special_open; /* libraries that stay open at the end of the loader: handles */
    unsigned other_open;
    unsigned layer_open; /* of the first layer's library */
    enum direction close_order;
    /* What calls with NULL for the platform reach: a place in the list, or -1 and an answer. */
    int defaults[DEFAULTS];
    int64_t answers[DEFAULTS];
    unsigned count; /* of platforms */
};

/* Whether two orders are to be seen, and are not the same. */
bool directions_differ(enum direction one, enum direction other);
/* Discovers, and checks whatever is right on its own. */
void look(struct offered_list *offered, struct outcome *outcome);
/* What is to be seen after the end of the loader. */
void look_at_end(struct outcome *outcome);
/* Which platforms calls without one reach. */
void look_at_defaults(const struct offered_list *offered, struct outcome *outcome);

/* What came of a control with this machine; NULL: it has not been run yet. */
const struct outcome *control_of(const struct machine *machine);
/* Where it is kept: to be filled. */
struct outcome *control_keep(const struct machine *machine);

#endif
