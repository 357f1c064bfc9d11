/* SPDX-License-Identifier: Apache-2.0 */
/* What each kernel does, by its name. */
#include "core/launches.h"

#include "base/arena.h"
#include "base/config.h"
#include "core/contents.h"
#include "core/creation.h"
#include "core/programs.h"
#include "core/property_rules.h"

#include <stdlib.h>
#include <string.h>

enum { PIXEL = 4, SLOT = 64, MOST_DIMENSIONS = 3, IDS = 22, DEFAULT_GROUP = 4 };

struct launch {
    const struct kernel_declaration *kernel;
    struct argument arguments[MOST_PARAMETERS];
    const struct kernel *late; /* whose arguments count, by a fault */
    const char *definitions;   /* the options of its program; NULL: none */
    unsigned dimensions;
    size_t offset[MOST_DIMENSIONS];
    size_t global[MOST_DIMENSIONS];
    size_t local[MOST_DIMENSIONS];
    const struct object *queue;
};

static void read_sizes(size_t *to, uint64_t from, unsigned count, size_t otherwise)
{
    const size_t *list = (const size_t *)(uintptr_t)from;
    for (unsigned i = 0; i < MOST_DIMENSIONS; i++) {
        to[i] = list && i < count ? list[i] : otherwise;
    }
}

struct launch *launches_keep(enum function function, const uint64_t *arguments)
{
    const struct kernel *kernel = programs_kernel(arguments[1]);
    bool task = function == FUNCTION_clEnqueueTask;
    if (!kernel || !kernel->declaration || (!task && !arguments[4])) {
        return NULL;
    }
    struct launch *launch = arena_keep(sizeof *launch);
    launch->kernel = kernel->declaration;
    launch->queue = object_find(arguments[0]);
    const struct program *program = programs_of_kernel(arguments[1]);
    launch->definitions = program ? program->definitions : NULL;
    memcpy(launch->arguments, kernel->arguments, sizeof launch->arguments);
    launch->late = fault(FAULT_arguments_are_read_late, ANY_PLATFORM) ? kernel : NULL;
    launch->dimensions = task ? 1 : (unsigned)arguments[2];
    read_sizes(launch->offset, task ? 0 : arguments[3], launch->dimensions, 0);
    read_sizes(launch->global, task ? 0 : arguments[4], launch->dimensions, 1);
    read_sizes(launch->local, task ? 0 : arguments[5], launch->dimensions, 0);
    for (unsigned i = 0; i < MOST_DIMENSIONS; i++) {
        size_t group = launch->global[i] % DEFAULT_GROUP ? 1 : DEFAULT_GROUP;
        launch->local[i] = launch->local[i] ? launch->local[i] : group;
        launch->global[i] -=
            fault(FAULT_uneven_ranges_are_cut, ANY_PLATFORM) ? launch->global[i] % launch->local[i] : 0;
    }
    return launch;
}

/* --- arguments --- */

static uint64_t word(const struct launch *launch, unsigned index)
{
    uint64_t value;
    memcpy(&value, launch->arguments[index].value, sizeof value);
    return value;
}

static struct contents *memory(const struct launch *launch, unsigned index)
{
    struct contents *contents = contents_of(word(launch, index));
    return contents && contents->bytes ? contents : NULL;
}

static unsigned char *bytes(const struct launch *launch, unsigned index)
{
    if (launch->arguments[index].is_pointer) {
        uint64_t low = fault(FAULT_shared_pointers_are_rounded, ANY_PLATFORM) ? SLOT - 1 : 0;
        return (unsigned char *)(uintptr_t)(word(launch, index) & ~low);
    }
    const struct contents *contents = memory(launch, index);
    return contents ? contents->bytes : NULL;
}

/* --- kernels --- */

static void add(const struct launch *launch)
{
    const cl_int *one = (const cl_int *)(void *)bytes(launch, 0);
    const cl_int *other = (const cl_int *)(void *)bytes(launch, 1);
    cl_int *sum = (cl_int *)(void *)bytes(launch, 2);
    size_t done = launch->global[0] - (fault(FAULT_kernel_leaves_last_item, ANY_PLATFORM) ? 1 : 0);
    for (size_t i = 0; i < done; i++) {
        sum[i] = one[i] + (cl_int)word(launch, 3) * other[i];
    }
}

/* Turns the items of each group around. */
static void turn(const struct launch *launch)
{
    const cl_int *from = (const cl_int *)(void *)bytes(launch, 0);
    cl_int *to = (cl_int *)(void *)bytes(launch, 1);
    size_t group = launch->local[0];
    for (size_t i = 0; i < launch->global[0]; i++) {
        size_t mirrored = i / group * group + group - 1 - i % group;
        to[i] = from[fault(FAULT_kernel_ignores_local_memory, ANY_PLATFORM) ? i : mirrored];
    }
}

/* The first channel of each pixel. */
static void look(const struct launch *launch)
{
    const unsigned char *image = bytes(launch, 0);
    cl_int *to = (cl_int *)(void *)bytes(launch, 1);
    for (size_t i = 0; i < launch->global[0] * launch->global[1]; i++) {
        to[i] = image[fault(FAULT_kernel_reads_first_pixel, ANY_PLATFORM) ? 0 : PIXEL * i];
    }
}

/* Stores each argument in a place of its own. */
static void take(const struct launch *launch)
{
    unsigned last = launch->kernel->count - 1;
    unsigned char *to = bytes(launch, last);
    for (unsigned i = 0; i < last; i++) {
        const struct argument *argument = launch->late ? &launch->late->arguments[i] : &launch->arguments[i];
        bool three = strcmp(launch->kernel->parameters[i].type, "int3") == 0;
        size_t size = three ? 3 * sizeof(cl_int) : argument->size;
        size_t cut = fault(FAULT_kernels_get_half_of_long_arguments, ANY_PLATFORM) && size > 16 ? size / 2 : size;
        memcpy(to + (size_t)SLOT * i, argument->value, cut);
    }
}

static void identify(const struct launch *launch, cl_uint *to, const size_t *at)
{
    bool flat = fault(FAULT_offsets_are_ignored, ANY_PLATFORM) ||
                (launch->dimensions == 2 && fault(FAULT_offsets_in_the_plane_are_ignored, ANY_PLATFORM));
    for (unsigned d = 0; d < MOST_DIMENSIONS; d++) {
        size_t group = at[d] / launch->local[d];
        size_t left = launch->global[d] - group * launch->local[d];
        const size_t values[] = {at[d] + (flat ? 0 : launch->offset[d]),
                                 at[d] % launch->local[d],
                                 group,
                                 launch->global[d],
                                 left < launch->local[d] ? left : launch->local[d],
                                 (launch->global[d] + launch->local[d] - 1) / launch->local[d],
                                 launch->offset[d]};
        for (unsigned i = 0; i < sizeof values / sizeof *values; i++) {
            to[MOST_DIMENSIONS * i + d] = (cl_uint)values[i];
        }
    }
    to[IDS - 1] = launch->dimensions;
}

/* What each work item knows of its place. */
static void identify_all(const struct launch *launch)
{
    cl_uint *to = (cl_uint *)(void *)bytes(launch, 0);
    size_t at[MOST_DIMENSIONS];
    bool cut = fault(FAULT_large_ranges_are_cut, ANY_PLATFORM);
    for (at[2] = 0; at[2] < launch->global[2]; at[2]++) {
        for (at[1] = 0; at[1] < launch->global[1]; at[1]++) {
            for (at[0] = 0; at[0] < launch->global[0]; at[0]++, to += IDS) {
                if (!cut || at[0] < 1000) {
                    identify(launch, to, at);
                }
            }
        }
    }
}

/* Copies with a table of four, and tells of a buffer that is not there. */
static void sift(const struct launch *launch)
{
    const unsigned char *from = bytes(launch, 0);
    unsigned char *to = bytes(launch, 1);
    const unsigned char *table = bytes(launch, 2);
    size_t count = launch->global[0];
    for (size_t i = 0; i < count; i++) {
        to[i] = from[i] ^ table[i % 4];
    }
    to[count] = bytes(launch, 3) || fault(FAULT_kernels_never_get_null, ANY_PLATFORM) ? 2 : 1;
}

/* Two arrays in local memory, of which each item reads what another one wrote. */
static void exchange(const struct launch *launch)
{
    cl_int *to = (cl_int *)(void *)bytes(launch, 0);
    size_t group = launch->local[0];
    bool shared = fault(FAULT_local_arguments_overlap, ANY_PLATFORM);
    for (size_t i = 0; i < launch->global[0]; i++) {
        cl_int other = (cl_int)(group - 1 - i % group);
        to[i] = 1000 * (shared ? 100 + other : other) + 100 + other;
    }
}

/* What a work-item finds in memory that nobody has written; other numbers than 0, unless its context initialises it. */
static cl_uint find(const struct launch *launch, cl_ulong kind, bool faulty)
{
    const struct object *context = launch->queue ? object_context(launch->queue->parent) : NULL;
    const struct property_rules *rules = property_rules_of(FUNCTION_clCreateContext);
    const uint64_t *listed = context && context->creation ? context->creation->properties_seen : NULL;
    bool zero = listed && (properties_value(listed, rules, CL_CONTEXT_MEMORY_INITIALIZE_KHR, 0) & kind);
    return zero && !faulty ? 0 : 0xA5A5A5A5;
}

static void look_around(const struct launch *launch)
{
    enum { LOCAL = 1, PRIVATE = 2 };
    cl_uint *to = (cl_uint *)(void *)bytes(launch, 0);
    for (size_t i = 0; i < launch->global[0]; i++) {
        to[2 * i] = find(launch, LOCAL, fault(FAULT_local_memory_is_left_as_it_is, ANY_PLATFORM));
        to[2 * i + 1] = find(launch, PRIVATE, fault(FAULT_private_memory_is_left_as_it_is, ANY_PLATFORM));
    }
}

static void fix(const struct launch *launch)
{
    bytes(launch, 0)[0] = 1;
}

/* The value of a macro: that after the sign of equality, or 1; 0 where options do not define it. */
static cl_int definition(const char *options, const char *name)
{
    const char *at = options ? strstr(options, name) : NULL;
    bool second = at && strstr(options, "-D") + 3 < at && fault(FAULT_first_definition_counts, ANY_PLATFORM);
    bool lost = at && at > options && at[-1] == 'D' && fault(FAULT_definitions_in_one_word_are_lost, ANY_PLATFORM);
    if (!at || second || lost) {
        return 0;
    }
    at += strlen(name);
    return *at == '=' ? (cl_int)strtol(at + 1, NULL, 10) : 1;
}

/* What the options of its program define. */
static void define(const struct launch *launch)
{
    static const char *const names[] = {"CLHARNESS_FIRST", "CLHARNESS_SECOND", "CLHARNESS_THIRD", "CLHARNESS_FOURTH"};
    cl_int *to = (cl_int *)(void *)bytes(launch, 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        to[i] = definition(launch->definitions, names[i]);
    }
}

static const struct {
    const char *name;
    unsigned memory; /* arguments from the first on that have to be memory objects */
    void (*run)(const struct launch *launch);
} kernels[] = {
    {"clharness_add", 3, add},           {"clharness_turn", 2, turn},        {"clharness_look", 2, look},
    {"clharness_take", 0, take},         {"clharness_ids", 1, identify_all}, {"clharness_sift", 3, sift},
    {"clharness_exchange", 1, exchange}, {"clharness_fixed", 1, fix},        {"clharness_left", 1, look_around},
    {"clharness_defined", 1, define},
};

/* Whether a kernel finds what it needs. */
static bool prepare(const struct launch *launch, unsigned count)
{
    for (unsigned i = 0; i < launch->kernel->count; i++) {
        struct contents *contents = launch->kernel->parameters[i].is_memory ? memory(launch, i) : NULL;
        bool foreign = contents && contents->written_by && contents->written_by != launch->queue;
        if ((i < count && !contents && !launch->arguments[i].is_pointer) ||
            (foreign && fault(FAULT_queues_share_no_memory, ANY_PLATFORM))) {
            return false;
        }
    }
    return true;
}

void launches_run(const struct launch *launch)
{
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        if (strcmp(kernels[i].name, launch->kernel->name) == 0 && prepare(launch, kernels[i].memory)) {
            kernels[i].run(launch);
        }
    }
}
