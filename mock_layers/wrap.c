/* SPDX-License-Identifier: Apache-2.0 */
/* Handles of the layer's own: what the application gets is a small number, which only this layer can turn back. */
#define _GNU_SOURCE
#include "layer.h"

#include <pthread.h>
#include <string.h>

enum { FIRST_HANDLE = 16, HANDLE_STEP = 8, MAX_HANDLES = 4096, MAX_LIST = 128 };

static uint64_t real_handles[MAX_HANDLES];
static unsigned handle_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool is_known(uint64_t real, uint64_t *own)
{
    for (unsigned i = 0; i < handle_count; i++) {
        if (real_handles[i] == real) {
            *own = FIRST_HANDLE + (uint64_t)i * HANDLE_STEP;
            return true;
        }
    }
    return false;
}

static uint64_t wrap(uint64_t real)
{
    uint64_t own = 0;
    pthread_mutex_lock(&lock);
    if (real && !is_known(real, &own) && handle_count < MAX_HANDLES) {
        own = FIRST_HANDLE + (uint64_t)handle_count * HANDLE_STEP;
        real_handles[handle_count++] = real;
    }
    pthread_mutex_unlock(&lock);
    return own;
}

static uint64_t unwrap(uint64_t own)
{
    uint64_t index = (own - FIRST_HANDLE) / HANDLE_STEP;
    bool ours = own >= FIRST_HANDLE && own % HANDLE_STEP == 0 && index < handle_count;
    return ours ? real_handles[index] : own;
}

static void put_word(uint64_t *list, unsigned width, uint64_t index, uint64_t word)
{
    memcpy((char *)list + index * width, &word, width);
}

/* A copy of a list with the target's handles in it; gives its address, to be used until the next call. */
static uint64_t unwrapped_list(const struct parameter_info *parameter, uint64_t address, uint64_t count, uint64_t *copy)
{
    const char *list = (const char *)(uintptr_t)address;
    unsigned width = list_width(parameter);
    uint64_t length = 0;
    if (!list || !width) {
        return address;
    }
    if (parameter->kind == PARAMETER_HANDLES) {
        for (; length < count && length < MAX_LIST; length++) {
            put_word(copy, width, length, unwrap(first_word(list + length * width, width)));
        }
        return (uint64_t)(uintptr_t)copy;
    }
    for (; length + 2 < MAX_LIST && first_word(list + length * width, width); length += 2) {
        uint64_t name = first_word(list + length * width, width);
        uint64_t value = first_word(list + (length + 1) * width, width);
        put_word(copy, width, length, name);
        put_word(copy, width, length + 1, name == CL_CONTEXT_PLATFORM ? unwrap(value) : value);
    }
    put_word(copy, width, length, 0);
    return (uint64_t)(uintptr_t)copy;
}

/* How many handles an output has room for: what the argument before it says, or one. */
static uint64_t room(const struct function_info *about, const uint64_t *arguments, unsigned index)
{
    bool counted = index > 0 && about->parameters[index - 1].kind == PARAMETER_INTEGER &&
                   strncmp(parameter_name(&about->parameters[index - 1]), "num_", 4) == 0;
    uint64_t count = counted ? (cl_uint)arguments[index - 1] : 1;
    return count < MAX_LIST ? count : MAX_LIST;
}

/* Replaces what the target wrote: in outputs whatever is new, in answers of queries the handles that are known. */
static void wrap_outputs(const struct function_info *about, const uint64_t *arguments, uint64_t before[][MAX_LIST])
{
    for (unsigned i = 0; i < about->parameter_count; i++) {
        uintptr_t *out = (uintptr_t *)(uintptr_t)arguments[i];
        if (out && about->parameters[i].kind == PARAMETER_HANDLE_OUT) {
            for (uint64_t k = 0; k < room(about, arguments, i); k++) {
                bool same = out[k] == first_word((const uintptr_t *)before[i] + k, sizeof *out);
                out[k] = same ? out[k] : (uintptr_t)wrap(out[k]);
            }
        } else if (out && strcmp(parameter_name(&about->parameters[i]), "param_value") == 0) {
            for (uint64_t k = 0; k < arguments[i - 1] / sizeof *out && k < MAX_LIST; k++) {
                uint64_t own;
                out[k] = is_known(out[k], &own) ? (uintptr_t)own : out[k];
            }
        }
    }
}

uint64_t wrap_call(enum function function, entry *next, const uint64_t *arguments)
{
    const struct function_info *about = &function_info[function];
    uint64_t inner[MAX_PARAMETERS] = {0};
    uint64_t lists[MAX_PARAMETERS][MAX_LIST] = {{0}};
    for (unsigned i = 0; i < about->parameter_count; i++) {
        enum parameter_kind kind = about->parameters[i].kind;
        inner[i] = arguments[i];
        if (kind == PARAMETER_HANDLE) {
            inner[i] = unwrap(arguments[i]);
        } else if (kind == PARAMETER_HANDLES || kind == PARAMETER_PROPERTIES) {
            uint64_t count = i > 0 ? (cl_uint)arguments[i - 1] : 0;
            inner[i] = unwrapped_list(&about->parameters[i], arguments[i], count, lists[i]);
        } else if (kind == PARAMETER_HANDLE_OUT && arguments[i]) {
            memcpy(lists[i], (const void *)(uintptr_t)arguments[i], room(about, arguments, i) * sizeof(uintptr_t));
        }
    }
    uint64_t result = invoke(function, next, inner);
    wrap_outputs(about, arguments, lists);
    return about->result == RESULT_HANDLE ? wrap(result) : result;
}
