/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments of a call, found by the description of its function. */
#include "base/arguments.h"

#include "base/arena.h"
#include "calls.h"

#include <string.h>

uint64_t argument_named(enum function function, const uint64_t *arguments, const char *name)
{
    const struct function_info *about = &function_info[function];
    for (unsigned i = 0; i < about->parameter_count; i++) {
        if (strcmp(parameter_name(&about->parameters[i]), name) == 0) {
            return arguments[i];
        }
    }
    return 0;
}

struct object *argument_first_object(enum function function, const uint64_t *arguments)
{
    const struct function_info *about = &function_info[function];
    for (unsigned i = 0; i < about->parameter_count; i++) {
        uint64_t handle = arguments[i];
        if (about->parameters[i].kind == PARAMETER_HANDLES && handle) {
            handle = first_word((const void *)(uintptr_t)handle, list_width(&about->parameters[i]));
        } else if (about->parameters[i].kind != PARAMETER_HANDLE) {
            continue;
        }
        if (object_find(handle)) {
            return object_find(handle);
        }
    }
    return NULL;
}

/* A copy of a list whose words are shorter. */
static const uint64_t *widened(const struct function_info *about, const void *list, unsigned width)
{
    size_t length = list_length(about, list, width, SIZE_MAX);
    uint64_t *words = arena_keep(length * sizeof *words);
    list_words(words, list, width, length);
    return words;
}

const uint64_t *argument_properties(enum function function, const uint64_t *arguments)
{
    const struct function_info *about = &function_info[function];
    for (unsigned i = 0; i < about->parameter_count; i++) {
        unsigned width = list_width(&about->parameters[i]);
        if (about->parameters[i].kind == PARAMETER_PROPERTIES && width) {
            const void *list = (const void *)(uintptr_t)arguments[i];
            return !list || width == sizeof(uint64_t) ? list : widened(about, list, width);
        }
    }
    return NULL;
}

bool argument_function_begins(enum function function, const char *start)
{
    return strncmp(function_info[function].name, start, strlen(start)) == 0;
}
