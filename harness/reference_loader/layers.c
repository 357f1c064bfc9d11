/* SPDX-License-Identifier: Apache-2.0 */
/* The chain of layers (LAY): each gets the table of what comes after it, and gives the table that stands before it. */
#include "loader.h"

#include <stdlib.h>
#include <string.h>

const struct table *first_layer_table;

typedef cl_int CL_API_CALL layer_info_function(cl_uint, size_t, void *, size_t *);
typedef cl_int CL_API_CALL init_function(cl_uint, const void *, cl_uint *, const void **);
typedef cl_int CL_API_CALL init_with_properties_function(cl_uint, const void *, cl_uint *, const void **, const void *);
typedef cl_int CL_API_CALL deinit_function(void);

struct layer {
    struct table table; /* complete: what the layer left out is filled in from its target */
    void *library;
    deinit_function *deinit;
    struct layer *next; /* the one after it */
};

static struct layer *first_layer;

/* The first version of the layer interface, the only one there is. */
static bool version_is_known(void *library)
{
    cl_uint version = 0;
    layer_info_function *info = (layer_info_function *)library_symbol(library, "clGetLayerInfo");
    return info && info(CL_LAYER_API_VERSION, sizeof version, &version, NULL) == CL_SUCCESS &&
           version == CL_LAYER_API_VERSION_100;
}

/* LAY "Layer Initialization": calls one of the two functions that a layer may have. Grey areas 24 and 25: layers that
 * have the older one only rely on exit handlers, which come too late where the loader removes itself. They are for the
 * older scheme, and the others for the newer one. */
static cl_int initialize(struct layer *layer, const struct table *target, cl_uint *count, const void **entries)
{
    if (legacy_termination()) {
        init_function *plain = (init_function *)library_symbol(layer->library, "clInitLayer");
        return plain ? plain(TABLE_LENGTH, target, count, entries) : CL_INVALID_VALUE;
    }
    init_with_properties_function *with_properties =
        (init_with_properties_function *)library_symbol(layer->library, "clInitLayerWithProperties");
    layer->deinit = (deinit_function *)library_symbol(layer->library, "clDeinitLayer");
    return with_properties ? with_properties(TABLE_LENGTH, target, count, entries, NULL) : CL_INVALID_VALUE;
}

static bool is_known(void *library)
{
    for (struct layer *layer = first_layer; layer; layer = layer->next) {
        if (layer->library == library) {
            return true;
        }
    }
    return false;
}

/* Grey areas 26 and 27: a layer that answers success and gives no table is dropped; the table that it is given has an
 * entry for each function, also where no vendor has one. */
void layer_add(const char *name)
{
    cl_uint count = 0;
    const void *entries = NULL;
    struct layer *layer = calloc(1, sizeof *layer);
    void *library = layer ? library_open(name) : NULL;
    if (!library) {
        free(layer);
        return;
    }
    layer->library = library;
    const struct table *target = first_layer ? &first_layer->table : &loader_table;
    if (library_is_self(library) || is_known(library) || !version_is_known(library) ||
        initialize(layer, target, &count, &entries) != CL_SUCCESS || !entries) {
        library_close(library);
        free(layer);
        return;
    }
    layer->table = *target;
    for (cl_uint slot = 0; slot < count && slot < TABLE_LENGTH; slot++) {
        entry own = ((const entry *)entries)[slot];
        layer->table.slot[slot] = own ? own : target->slot[slot];
    }
    layer->next = first_layer;
    first_layer = layer;
    first_layer_table = &layer->table;
}

/* LAY "Layer Deinitialization", front to back: a layer may still call what comes after it. Calls that come now skip all
 * layers. */
void layers_remove(void)
{
    bool unload = !variable_is_true("OCL_ICD_DISABLE_DYNAMIC_LIBRARY_UNLOADING");
    first_layer_table = NULL;
    while (first_layer) {
        struct layer *layer = first_layer;
        if (layer->deinit) {
            layer->deinit();
        }
        if (unload) {
            library_close(layer->library);
        }
        first_layer = layer->next;
        free(layer);
    }
}
