/* SPDX-License-Identifier: Apache-2.0 */
/* Layers by the hundred. */
#define _GNU_SOURCE
#include "chain.h"

#include "numbers.h"

#include <string.h>

struct chain_layer chain[CHAIN];
unsigned chain_length;
cl_uint chain_platforms;
cl_uint chain_target_length, chain_other_length;
void (*chain_at_end)(struct chain_layer *layer);
static unsigned inits, ends, passes;

static cl_int CL_API_CALL info(cl_uint what, size_t size, void *value, size_t *size_ret)
{
    cl_uint version = CL_LAYER_API_VERSION_100;
    if (what != CL_LAYER_API_VERSION || (value && size < sizeof version)) {
        return CL_INVALID_VALUE;
    }
    if (value) {
        memcpy(value, &version, sizeof version);
    }
    if (size_ret) {
        *size_ret = sizeof version;
    }
    return CL_SUCCESS;
}

__attribute__((noinline)) static cl_int pass(unsigned number, cl_command_queue queue)
{
    struct chain_layer *layer = &chain[number];
    cl_int (*CL_API_CALL target)(cl_command_queue);
    layer->passed++;
    layer->pass_order = ++passes;
    memcpy(&target, &layer->target[function_info[FUNCTION_clFlush].slot], sizeof target);
    return target(queue);
}

__attribute__((noinline)) static cl_int init(unsigned number, cl_uint length, const void *target, cl_uint *length_ret,
                                             const void **table);

static cl_int deinit(unsigned number)
{
    chain[number].deinits++;
    chain[number].end_order = ++ends;
    if (chain_at_end) {
        chain_at_end(&chain[number]);
    }
    return CL_SUCCESS;
}

#define OWN(n)                                                                                                     \
    static cl_int CL_API_CALL flush##n(cl_command_queue queue)                                                     \
    {                                                                                                              \
        return pass((n)-1000, queue);                                                                              \
    }                                                                                                              \
    static cl_int CL_API_CALL init##n(cl_uint length, const void *target, cl_uint *length_ret, const void **table) \
    {                                                                                                              \
        chain[(n)-1000].older_inits++;                                                                             \
        return init((n)-1000, length, target, length_ret, table);                                                  \
    }                                                                                                              \
    static cl_int CL_API_CALL init_with##n(cl_uint length, const void *target, cl_uint *length_ret,                \
                                           const void **table, const void *properties)                             \
    {                                                                                                              \
        (void)properties;                                                                                          \
        return init((n)-1000, length, target, length_ret, table);                                                  \
    }                                                                                                              \
    static cl_int CL_API_CALL deinit##n(void)                                                                      \
    {                                                                                                              \
        return deinit((n)-1000);                                                                                   \
    }
#define ROW(n) {(address)flush##n, (address)init##n, (address)init_with##n, (address)deinit##n},

HUNDRED(OWN, 10)
HUNDRED(OWN, 11)
HUNDRED(OWN, 12)

static const struct {
    address flush, init, init_with, deinit;
} own[CHAIN] = {HUNDRED(ROW, 10) HUNDRED(ROW, 11) HUNDRED(ROW, 12)};

static cl_int init(unsigned number, cl_uint length, const void *target, cl_uint *length_ret, const void **table)
{
    struct chain_layer *layer = &chain[number];
    layer->inits++;
    layer->order = ++inits;
    layer->target = target;
    chain_target_length = inits == 1 ? length : chain_target_length;
    chain_other_length = length != chain_target_length ? length : chain_other_length;
    if (inits == 1) {
        cl_int (*CL_API_CALL count)(cl_uint, cl_platform_id *, cl_uint *);
        memcpy(&count, &layer->target[function_info[FUNCTION_clGetPlatformIDs].slot], sizeof count);
        count(0, NULL, &chain_platforms);
    }
    unsigned slot = (unsigned)function_info[FUNCTION_clFlush].slot;
    if (layer->kind == TABLE_WHOLE) {
        memcpy(layer->table, target, (length < TABLE_LENGTH ? length : TABLE_LENGTH) * sizeof *layer->table);
    }
    if (!layer->hole) {
        memcpy(&layer->table[slot], &own[number].flush, sizeof(void *));
    }
    *length_ret = layer->kind == TABLE_SHORT ? slot + !layer->hole : TABLE_LENGTH;
    *table = layer->table;
    return CL_SUCCESS;
}

static void *symbol(const struct library *library, const char *name)
{
    const struct chain_layer *layer = &chain[library->number];
    address entry = NULL;
    if (strcmp(name, "clGetLayerInfo") == 0) {
        entry = (address)info;
    } else if (strcmp(name, "clInitLayer") == 0 && layer->scheme != SCHEME_WITH_PROPERTIES) {
        entry = own[library->number].init;
    } else if (strcmp(name, "clInitLayerWithProperties") == 0 && layer->scheme != SCHEME_PLAIN) {
        entry = own[library->number].init_with;
    } else if (strcmp(name, "clDeinitLayer") == 0 && layer->scheme != SCHEME_PLAIN) {
        entry = own[library->number].deinit;
    }
    return *(void **)&entry;
}

void chain_clear(void)
{
    chain_length = chain_platforms = 0;
    chain_target_length = chain_other_length = 0;
    chain_at_end = NULL;
    inits = ends = passes = 0;
}

struct chain_layer *chain_add(const char *library, enum layer_scheme scheme)
{
    if (chain_length == CHAIN) {
        return NULL;
    }
    struct chain_layer *layer = &chain[chain_length];
    *layer = (struct chain_layer){.scheme = scheme};
    layer->library = world_library(library, symbol, (int)chain_length++);
    return layer;
}

void chain_forget_passes(void)
{
    passes = 0;
    for (unsigned i = 0; i < chain_length; i++) {
        chain[i].passed = chain[i].pass_order = 0;
    }
}
