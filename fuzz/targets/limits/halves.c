/* SPDX-License-Identifier: Apache-2.0 */
/* Vendors and layers of which two places name one half each. */
#include "making.h"

/* By way. */
static const struct halves {
    enum place of[2];
    bool replaces;
} halves[WAYS] = {
    [WAY_LIST_AND_VENDORS] = {{LIST_PLACE, VENDORS_PLACE}, false},
    [WAY_VENDORS_AND_PATH] = {{VENDORS_PLACE, PATH_PLACE}, true},
    [WAY_VENDORS_AND_DEFAULT] = {{VENDORS_PLACE, DEFAULT_PLACE}, true},
    [WAY_PATH_AND_DEFAULT] = {{PATH_PLACE, DEFAULT_PLACE}, true},
    [WAY_LIST_AND_DEFAULT] = {{LIST_PLACE, DEFAULT_PLACE}, false},
    [WAY_LIST_AND_PATH] = {{LIST_PLACE, PATH_PLACE}, false},
};
/* The same of layers. */
static const struct halves layer_halves[LAYER_WAYS] = {
    [LAYER_WAY_LIST_AND_FILES] = {{LIST_PLACE, PATH_PLACE}, false},
    [LAYER_WAY_FILES_AND_DEFAULT] = {{PATH_PLACE, DEFAULT_PLACE}, true},
    [LAYER_WAY_LIST_AND_DEFAULT] = {{LIST_PLACE, DEFAULT_PLACE}, false},
};

bool has_halves(const struct machine *machine)
{
    return halves[machine->of[WAY]].of[0] != NOWHERE;
}

bool has_layer_halves(const struct machine *machine)
{
    return layer_halves[machine->of[LAYER_WAY]].of[0] != NOWHERE;
}

bool half_replaces(const struct machine *machine)
{
    return halves[machine->of[WAY]].replaces;
}

bool layer_half_replaces(const struct machine *machine)
{
    return layer_halves[machine->of[LAYER_WAY]].replaces;
}

bool half_is_list(const struct machine *machine)
{
    return halves[machine->of[WAY]].of[0] == LIST_PLACE;
}

bool layer_half_is_list(const struct machine *machine)
{
    return layer_halves[machine->of[LAYER_WAY]].of[0] == LIST_PLACE;
}

const enum place *places_of_vendors(const struct machine *machine)
{
    return halves[machine->of[WAY]].of;
}

const enum place *places_of_layers(const struct machine *machine)
{
    return layer_halves[machine->of[LAYER_WAY]].of;
}
