/* SPDX-License-Identifier: Apache-2.0 */
/* What is not ordinary about a layer, in words. */
#define _GNU_SOURCE
#include "layer.h"

/* Names of the first functions of a set that are in a layer's way, and how many there are. */
static const char *functions_in_words(const uint8_t *set)
{
    enum { NAMED = 3 };
    const char *text = "";
    unsigned count = 0;
    for (unsigned f = 0; f < FUNCTION_COUNT; f++) {
        if (!set_has(set, f)) {
            continue;
        }
        if (count++ < NAMED) {
            text = keep_text("%s%s%s", text, *text ? ", " : "", function_info[f].name);
        }
    }
    return count == 0 ? NULL : keep_text("%u functions (%s%s)", count, text, count > NAMED ? ", ..." : "");
}

const char *layer_in_words(const struct layer *layer)
{
    const char *missing = functions_in_words(layer->missing);
    const char *answers = functions_in_words(layer->answers);
    bool resized = layer->table_length && layer->table_length != TABLE_LENGTH;
    const struct {
        bool applies;
        const char *words;
    } remarks[] = {
        {layer->hides_info, "no clGetLayerInfo"},
        {layer->hides_init, "no clInitLayer"},
        {layer->hides_init_with_properties, "no clInitLayerWithProperties"},
        {layer->hides_deinit, "no clDeinitLayer"},
        {layer->version_unset, "says no version"},
        {layer->info_error, keep_text("clGetLayerInfo answers %d", layer->info_error)},
        {layer->version_more, keep_text("API version %u", CL_LAYER_API_VERSION_100 + layer->version_more)},
        {layer->init_error, keep_text("init answers %d", layer->init_error)},
        {layer->refuses_late, "writes its answers also where it refuses"},
        {layer->leaves_outputs, "init writes nothing"},
        {layer->null_table, "its table is NULL"},
        {layer->no_entries, "its table has 0 entries"},
        {layer->count_more, keep_text("says %u entries too many", layer->count_more)},
        {resized, keep_text("a table of %u entries", layer->table_length)},
        {missing != NULL, keep_text("lacks %s", missing ? missing : "")},
        {answers != NULL, keep_text("answers %s by itself", answers ? answers : "")},
        {layer->init_calls, keep_text("%u calls in init", layer->init_calls)},
        {layer->deinit_calls, keep_text("%u calls in clDeinitLayer", layer->deinit_calls)},
        {layer->deinit_error, keep_text("clDeinitLayer answers %d", layer->deinit_error)},
    };
    const char *text = "";
    for (size_t i = 0; i < sizeof remarks / sizeof *remarks; i++) {
        text = remarks[i].applies ? keep_text("%s%s%s", text, *text ? ", " : "", remarks[i].words) : text;
    }
    return *text ? text : "does all as it should";
}

void layer_describe(const struct layer *layer)
{
    if (describing_inputs()) {
        describe("layer %d, \"%s\": %s", layer->number, layer->name, layer_in_words(layer));
    }
}
