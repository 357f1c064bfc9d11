/* SPDX-License-Identifier: Apache-2.0 */
/* Layers whose every answer a target can choose. */
#define _GNU_SOURCE
#include "layer.h"

#include "internal.h"
#include "rules.h"

#include <string.h>

struct layer layers[LAYERS];
struct layer *first_layer;
void (*layer_inside)(struct layer *layer);
uint64_t (*layer_answers)(const struct layer *layer, enum function function, const uint64_t *arguments);
struct step steps[STEPS_MAX];
size_t step_count;
static int inits; /* of all layers */

struct step *step_add(int layer, int vendor, enum function function, const uint64_t *arguments)
{
    if (step_count == STEPS_MAX) {
        return NULL;
    }
    struct step *step = &steps[step_count++];
    step->function = function;
    step->layer = layer;
    step->vendor = vendor;
    step->result = 0;
    memcpy(step->argument, arguments, function_info[function].parameter_count * sizeof *arguments);
    return step;
}

/* --- its functions --- */

static uint64_t called(struct layer *layer, enum function function, const uint64_t *arguments)
{
    struct step *step = step_add(layer->number, -1, function, arguments);
    uint64_t result;
    if (layer->library->opened == layer->library->closed) {
        finding("wrong", "call-into-closed-layer", "layer %d is called through %s after its library was closed",
                layer->number, function_info[function].name);
    }
    if (layer_answers && set_has(layer->answers, function)) {
        result = layer_answers(layer, function, arguments);
    } else {
        address target;
        memcpy(&target, &layer->target[function_info[function].slot], sizeof target);
        result = invoke(function, target, arguments);
    }
    if (step) {
        step->result = result;
    }
    return result;
}

/* The size rules that all queries share. */
static cl_int answer(const void *data, size_t data_size, size_t size, void *value, size_t *size_ret)
{
    if (value && size < data_size) {
        return CL_INVALID_VALUE;
    }
    if (value) {
        memcpy(value, data, data_size);
    }
    if (size_ret) {
        *size_ret = data_size;
    }
    return CL_SUCCESS;
}

static cl_int info(struct layer *layer, cl_uint what, size_t size, void *value, size_t *size_ret)
{
    enum { NAME = 0x4241 };
    cl_uint version = CL_LAYER_API_VERSION_100 + layer->version_more;
    if (what == NAME) {
        return answer(layer->name, strlen(layer->name) + 1, size, value, size_ret);
    }
    if (what != CL_LAYER_API_VERSION) {
        return CL_INVALID_VALUE;
    }
    layer->version_queries++;
    if ((layer->info_error && !layer->refuses_late) || layer->version_unset) {
        return layer->info_error;
    }
    cl_int error = answer(&version, sizeof version, size, value, size_ret);
    return layer->info_error ? layer->info_error : error;
}

/* Entries that a table may lack: those of other systems, and those that no text names. */
static void check_target(const struct layer *layer)
{
    for (cl_uint slot = 0; slot < layer->target_length && slot < TABLE_LENGTH; slot++) {
        int function = function_of_slot[slot];
        if (function >= 0 && rules[function].exported && !layer->target[slot]) {
            finding("wrong", "hole-in-target", "the table that layer %d is given has NULL for %s", layer->number,
                    function_info[function].name);
        }
    }
}

static void check_target_again(const struct layer *layer)
{
    if (memcmp(layer->target, layer->target_before, layer->target_length * sizeof *layer->target) != 0) {
        finding("wrong", "target-changed", "the table that layer %d received is no longer what it was", layer->number);
    }
}

static void take_target(struct layer *layer, cl_uint length, const void *target)
{
    /* Layers came with OpenCL 3.0: no table that was published since is shorter. */
    if (length < 147 || length > ENTRIES_MAX) {
        finding("wrong", "length-of-target", "layer %d receives a target of %u entries", layer->number, length);
    }
    void **copy = keep(length * sizeof *copy);
    layer->target = target;
    layer->target_length = length;
    layer->target_before = memcpy(copy, target, length * sizeof *copy);
    check_target(layer);
}

static cl_int init(struct layer *layer, cl_uint length, const void *target, cl_uint *length_ret, const void **table)
{
    if (!target || !length_ret || !table) {
        finding("wrong", "init-with-NULL", "layer %d is initialised with NULL: target %p, count %p, table %p",
                layer->number, target, (void *)length_ret, (void *)table);
        return CL_INVALID_VALUE;
    }
    layer->order = inits++;
    take_target(layer, length, target);
    layer->next = layer->accepted ? layer->next : first_layer;
    for (unsigned i = 0; layer_inside && i < layer->init_calls; i++) {
        layer_inside(layer);
    }
    if (!layer->leaves_outputs && (!layer->init_error || layer->refuses_late)) {
        *length_ret = layer->no_entries ? 0 : layer->table_length + layer->count_more;
        *table = layer->null_table ? NULL : layer->table;
    }
    bool gives = !layer->leaves_outputs && !layer->null_table && !layer->no_entries;
    if (!layer->init_error && gives && !layer->accepted) {
        layer->accepted = true;
        first_layer = layer;
    }
    return layer->init_error;
}

static cl_int plain_init(struct layer *layer, cl_uint length, const void *target, cl_uint *length_ret,
                         const void **table)
{
    layer->inits++;
    return init(layer, length, target, length_ret, table);
}

static cl_int init_with_properties(struct layer *layer, cl_uint length, const void *target, cl_uint *length_ret,
                                   const void **table, const void *properties)
{
    layer->inits_with_properties++;
    if (properties && *(const uint64_t *)properties) {
        finding("wrong", "properties-of-layer", "layer %d is given properties, and no text has any", layer->number);
    }
    return init(layer, length, target, length_ret, table);
}

static cl_int deinit(struct layer *layer)
{
    layer->deinits++;
    if (layer->deinits > 1 || !layer->inits_with_properties) {
        finding("wrong", layer->deinits > 1 ? "deinit-twice" : "deinit-without-init",
                "layer %d is deinitialised, and it was initialised %u times with properties, deinitialised %u times",
                layer->number, layer->inits_with_properties, layer->deinits);
    }
    if (layer->library->opened == layer->library->closed) {
        finding("wrong", "deinit-of-closed-layer", "layer %d is deinitialised after its library was closed",
                layer->number);
    }
    if (layer->accepted) {
        check_target_again(layer);
    }
    for (const struct layer *front = first_layer; layer->accepted && front && front != layer; front = front->next) {
        if (!front->hides_deinit && front->inits_with_properties && !front->deinits) {
            finding("wrong", "deinit-order", "layer %d is deinitialised before layer %d, which stands in front of it",
                    layer->number, front->number);
        }
    }
    for (unsigned i = 0; layer_inside && layer->accepted && i < layer->deinit_calls; i++) {
        layer_inside(layer);
    }
    return layer->deinit_error;
}

static void surplus(void)
{
    finding("wrong", "surplus-entry", "an entry of a layer's table was called that stands after the last function");
}

#define LAYER(n)                                                                                                   \
    extern void (*const layer##n##_entries[FUNCTION_COUNT])(void);                                                 \
    uint64_t layer##n##_call(enum function function, const uint64_t *arguments);                                   \
    uint64_t layer##n##_call(enum function function, const uint64_t *arguments)                                    \
    {                                                                                                              \
        return called(&layers[n], function, arguments);                                                            \
    }                                                                                                              \
    static cl_int CL_API_CALL info##n(cl_uint what, size_t size, void *value, size_t *size_ret)                    \
    {                                                                                                              \
        return info(&layers[n], what, size, value, size_ret);                                                      \
    }                                                                                                              \
    static cl_int CL_API_CALL init##n(cl_uint length, const void *target, cl_uint *length_ret, const void **table) \
    {                                                                                                              \
        return plain_init(&layers[n], length, target, length_ret, table);                                          \
    }                                                                                                              \
    static cl_int CL_API_CALL init_with##n(cl_uint length, const void *target, cl_uint *length_ret,                \
                                           const void **table, const void *properties)                             \
    {                                                                                                              \
        return init_with_properties(&layers[n], length, target, length_ret, table, properties);                    \
    }                                                                                                              \
    static cl_int CL_API_CALL deinit##n(void)                                                                      \
    {                                                                                                              \
        return deinit(&layers[n]);                                                                                 \
    }
LAYER(0)
LAYER(1)
LAYER(2)

static const struct {
    void (*const *entries)(void);
    address info, init, init_with_properties, deinit;
} functions[LAYERS] = {
    {layer0_entries, (address)info0, (address)init0, (address)init_with0, (address)deinit0},
    {layer1_entries, (address)info1, (address)init1, (address)init_with1, (address)deinit1},
    {layer2_entries, (address)info2, (address)init2, (address)init_with2, (address)deinit2},
};

static void *symbol(const struct library *library, const char *name)
{
    const struct layer *layer = &layers[library->number];
    address entry = NULL;
    if (strcmp(name, "clGetLayerInfo") == 0 && !layer->hides_info) {
        entry = functions[layer->number].info;
    } else if (strcmp(name, "clInitLayer") == 0 && !layer->hides_init) {
        entry = functions[layer->number].init;
    } else if (strcmp(name, "clInitLayerWithProperties") == 0 && !layer->hides_init_with_properties) {
        entry = functions[layer->number].init_with_properties;
    } else if (strcmp(name, "clDeinitLayer") == 0 && !layer->hides_deinit) {
        entry = functions[layer->number].deinit;
    }
    return *(void **)&entry;
}

/* --- making one --- */

struct layer *layer_plain(int number)
{
    struct layer *layer = &layers[number];
    static const char *const names[LAYERS] = {"layer 0", "layer 1", "layer 2"};
    *layer = (struct layer){.number = number, .name = names[number]};
    return layer;
}

void layers_clear(void)
{
    for (int n = 0; n < LAYERS; n++) {
        layer_plain(n);
    }
    first_layer = NULL;
    layer_inside = NULL;
    layer_answers = NULL;
    step_count = 0;
    inits = 0;
}

bool layer_has(const struct layer *layer, enum function function)
{
    int slot = function_info[function].slot;
    return slot >= 0 && (unsigned)slot < layer->table_length && !set_has(layer->missing, function);
}

void layer_make(struct layer *layer, const char *library)
{
    if (layer->table_length == 0) {
        layer->table_length = TABLE_LENGTH;
    }
    layer->table = guarded(layer->table_length * sizeof *layer->table);
    for (unsigned slot = 0; slot < layer->table_length; slot++) {
        int function = slot < TABLE_LENGTH ? function_of_slot[slot] : -1;
        address entry = function >= 0 ? functions[layer->number].entries[function] : surplus;
        if ((function >= 0 && layer_has(layer, (enum function)function)) || slot >= TABLE_LENGTH) {
            memcpy(&layer->table[slot], &entry, sizeof entry);
        }
    }
    layer->library = world_library(library, symbol, layer->number);
}

void layers_check_targets(void)
{
    for (int n = 0; n < LAYERS; n++) {
        if (layers[n].accepted) {
            check_target_again(&layers[n]);
        }
    }
}
