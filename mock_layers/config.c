/* Reads the mock layer's own keys of the side file: what single functions are told. */
#define _GNU_SOURCE
#include "layer.h"

#include <stddef.h>
#include <string.h>

struct function_config function_config[FUNCTION_COUNT];

static const char *const fault_names[] = {
#define FAULT(name) #name,
#include "faults.h"
#undef FAULT
};

static bool read_key(const char *key, char *name)
{
    const struct {
        const char *key;
        size_t place;
    } keys[] = {{"only", offsetof(struct function_config, only)},
                {"swallows", offsetof(struct function_config, swallows)},
                {"changes_arguments", offsetof(struct function_config, changes_arguments)},
                {"changes_result", offsetof(struct function_config, changes_result)},
                {"calls_another", offsetof(struct function_config, calls_another)},
                {"recurses", offsetof(struct function_config, recurses)},
                {"calls_twice", offsetof(struct function_config, calls_twice)},
                {"calls_neighbour", offsetof(struct function_config, calls_neighbour)},
                {"truncates", offsetof(struct function_config, truncates)},
                {"swaps_arguments", offsetof(struct function_config, swaps_arguments)},
                {"drops_errcode", offsetof(struct function_config, drops_errcode)},
                {"drops_outputs", offsetof(struct function_config, drops_outputs)},
                {"drops_callback", offsetof(struct function_config, drops_callback)},
                {"needs_pointers", offsetof(struct function_config, needs_pointers)},
                {"spoils_memory", offsetof(struct function_config, spoils_memory)},
                {"shares_arguments", offsetof(struct function_config, shares_arguments)},
                {"leaks", offsetof(struct function_config, leaks)}};
    int single = function_by_name(name);
    bool known = false;
    if (single < 0 && strcmp(name, "all") != 0) {
        sidefile_refuse("unknown function", name);
    }
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (strcmp(key, keys[i].key) != 0) {
            continue;
        }
        known = true;
        for (int function = 0; function < FUNCTION_COUNT; function++) {
            if (single >= 0 ? function == single : function_info[function].slot >= 0) {
                *((bool *)((char *)&function_config[function] + keys[i].place)) = true;
            }
        }
    }
    return known;
}

void layer_configure(void)
{
    sidefile_load(fault_names, FAULT_COUNT, read_key);
}
