/* SPDX-License-Identifier: Apache-2.0 */
/* The layers of a machine, and what names them. */
#define _GNU_SOURCE
#include "chain.h"
#include "making.h"

#include <string.h>

bool has_layer_files(const struct machine *machine)
{
    return machine->of[LAYER_WAY] == LAYER_WAY_FILES || machine->of[LAYER_WAY] == LAYER_WAY_FILES_BESIDE ||
           machine->of[LAYER_WAY] == LAYER_WAY_NOWHERE || machine->of[LAYER_WAY] == LAYER_WAY_EMPTY;
}

static const char *layer_folder(const struct machine *machine)
{
    bool named = (machine->of[FOLDER] || machine->of[LAYER_WAY] == LAYER_WAY_FILES_BESIDE) &&
                 machine->of[LAYER_WAY] != LAYER_WAY_NOWHERE && machine->of[LAYER_WAY] != LAYER_WAY_EMPTY;
    return named ? long_path("/", spelled(machine, "layers"), machine->of[FOLDER]) : "/etc/OpenCL/layers";
}

/* Nothing where OPENCL_LAYERS names them. One that is named again stays the first by its name. */
static void add_layer_file(const struct machine *machine, unsigned number, const char *library)
{
    enum { NAMES = 9999 };
    unsigned name = machine->of[REVERSED] && !machine->of[LAYER_DUPLICATE] ? NAMES - number : number;
    if (has_layer_files(machine)) {
        const char *begin = front(machine, number - (number > 0), machine->of[LAYERS_COUNT]); /* from 1 on */
        const char *content = keep_text("%s%s", library, line_end(machine));
        begin = short_name(machine, number, machine->of[LAYERS_COUNT], keep_text("%s%04u", begin, name));
        const char *dot = machine->of[DOTTED] && strlen(begin) < 250 ? "." : "";
        const char *path = keep_text("%s/%s%s.lay", layer_folder(machine), dot, begin);
        world_file(path, kind_of_files(machine), content, strlen(content));
    }
}

static void add_layer(const struct machine *machine, const char *path)
{
    struct chain_layer *layer = chain_add(path, (enum layer_scheme)machine->of[LAYER_SCHEME]);
    if (layer) {
        layer->kind = (enum layer_table)machine->of[LAYER_HOLES];
        layer->hole = layer->kind != TABLE_WHOLE && layer->library->number % 2;
    }
}

/* Each second layer in one place, the others in another one, or all in both. */
static void make_layer_halves(const struct machine *machine)
{
    static const char *const folders[] = {[PATH_PLACE] = "/lay", [DEFAULT_PLACE] = "/etc/OpenCL/layers"};
    static const char *const variables[] = {
        [LIST_PLACE] = "OPENCL_LAYERS", [PATH_PLACE] = "OPENCL_LAYER_PATH", [DEFAULT_PLACE] = NULL};
    const enum place *places = places_of_layers(machine);
    unsigned count = machine->of[LAYERS_COUNT];
    char *list = keep((size_t)count * 32 + machine->of[ENDING] + 1);
    char *to = list;
    chain_clear();
    for (unsigned i = 0; i < count; i++) {
        const char *path = keep_text("/layers/%s", library_name(machine, 'l', i, count));
        add_layer(machine, path);
        for (unsigned half = 0; half < 2; half++) {
            if ((i % 2 == half || machine->of[BOTH]) && machine->of[LAYER_HALF] != 2 - half) {
                to = name_half(to, to == list, folders[places[half]], i, "lay", path);
            }
        }
    }
    stpcpy(to, filled("", machine->of[ENDING], ':'));
    for (unsigned half = 0; half < 2 && count; half++) {
        const char *variable = variables[places[half]];
        if (variable && machine->of[LAYER_HALF] != 2 - half) {
            world_variable(variable, places[half] == LIST_PLACE ? list : named_folder(machine, folders[places[half]]));
        }
    }
}

void make_layers(const struct machine *machine)
{
    if (has_layer_halves(machine)) {
        make_layer_halves(machine);
        return;
    }
    unsigned count = machine->of[LAYERS_COUNT];
    unsigned again = machine->of[LAYER_DUPLICATE];
    char *list = keep((size_t)(count + 4) * 32 + 2 * (size_t)machine->of[LAYER_PATH] + machine->of[ABSENT] +
                      machine->of[EMPTY] + machine->of[ENDING] + machine->of[BEGINNING]);
    const char *whole = list;
    list = stpcpy(list, filled("", machine->of[BEGINNING], ':'));
    char *to = list;
    const char *end_of_first = NULL;
    const char *first = "";
    chain_clear();
    if (count && absent(machine)) {
        to = stpcpy(to, absent(machine));
        add_layer_file(machine, 0, absent(machine));
    }
    unsigned others = count && has_layer_files(machine) ? machine->of[JUNK] : 0;
    junk(layer_folder(machine), 0, others / 2);
    for (unsigned i = 0, number = 0; i < count; i++) {
        const char *name = library_name(machine, 'l', i, count);
        const char *folder = machine->of[LINKER] ? "" : machine->of[RELATIVE] ? "layers/" : "/layers/";
        const char *path = i + 1 == count && (*folder || machine->of[LAYER_PATH])
                               ? long_path(*folder ? folder : "/layers/", name, machine->of[LAYER_PATH])
                               : keep_text("%s%s", folder, name);
        first = i ? first : path;
        add_layer(machine, path);
        bool twice = again && (i + 1 == again || (i + 1 == count && again > count));
        for (int n = 0; n <= twice; n++) {
            const char *named = n ? path_again(machine, first) : path;
            to = to == list ? to : parted(machine, to, to == end_of_first);
            to = stpcpy(to, named);
            end_of_first = end_of_first ? end_of_first : to;
            add_layer_file(machine, ++number, named);
        }
    }
    junk(layer_folder(machine), others / 2, others);
    stpcpy(to, filled("", machine->of[ENDING], ':'));
    bool beside = machine->of[LAYER_WAY] == LAYER_WAY_LIST_BESIDE || machine->of[LAYER_WAY] == LAYER_WAY_FILES_BESIDE;
    bool files = has_layer_files(machine);
    bool nowhere = machine->of[LAYER_WAY] == LAYER_WAY_NOWHERE;
    if (count && (nowhere || machine->of[LAYER_WAY] == LAYER_WAY_EMPTY)) {
        world_variable("OPENCL_LAYER_PATH", nowhere ? "/nowhere" : "");
        return;
    }
    if (count && (!files || beside)) {
        world_variable("OPENCL_LAYERS", files ? NOT_THERE : whole);
    }
    if (count && (beside || (files && machine->of[FOLDER]))) {
        world_variable("OPENCL_LAYER_PATH", files ? named_folder(machine, layer_folder(machine)) : empty_folder());
    }
}
