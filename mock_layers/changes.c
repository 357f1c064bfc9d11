/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that are wrong on their way through the mock layer, each as a careless layer's author would have it. */
#define _GNU_SOURCE
#include "layer.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static bool is_output(const struct parameter_info *parameter)
{
    return parameter->kind == PARAMETER_HANDLE_OUT || parameter->kind == PARAMETER_SCALAR_OUT ||
           strcmp(parameter_name(parameter), "param_value") == 0;
}

static void swap_two(const struct function_info *about, uint64_t *arguments)
{
    for (unsigned i = 0; i < about->parameter_count; i++) {
        for (unsigned k = i + 1; k < about->parameter_count; k++) {
            bool same = about->parameters[i].kind == about->parameters[k].kind;
            if (same && about->parameters[i].kind == PARAMETER_INTEGER && arguments[i] != arguments[k]) {
                uint64_t first = arguments[i];
                arguments[i] = arguments[k];
                arguments[k] = first;
                return;
            }
        }
    }
}

static void change_argument(const struct parameter_info *parameter, const struct function_config *settings,
                            uint64_t *argument, uint64_t *own)
{
    if (parameter->kind == PARAMETER_INTEGER) {
        *argument += settings->changes_arguments;
        *argument = settings->truncates ? (uint32_t)*argument : *argument;
    } else if (!*argument) {
        return;
    } else if (settings->drops_callback && parameter->kind == PARAMETER_CALLBACK) {
        *argument = 0;
    } else if ((settings->drops_errcode && parameter->kind == PARAMETER_ERRCODE) ||
               (settings->drops_outputs && is_output(parameter))) {
        *argument = (uint64_t)(uintptr_t)own;
    } else if (settings->spoils_memory && (is_output(parameter) || parameter->kind == PARAMETER_MEMORY)) {
        *(unsigned char *)(uintptr_t)*argument ^= 0xff;
    }
}

void changes_apply(const struct function_info *about, const struct function_config *settings, uint64_t *arguments,
                   uint64_t *own)
{
    for (unsigned i = 0; i < about->parameter_count; i++) {
        change_argument(&about->parameters[i], settings, &arguments[i], own);
    }
    if (settings->swaps_arguments) {
        swap_two(about, arguments);
    }
}

bool changes_lack_pointer(const struct function_info *about, const uint64_t *arguments)
{
    for (unsigned i = 0; i < about->parameter_count; i++) {
        if (about->parameters[i].kind != PARAMETER_INTEGER && !arguments[i]) {
            return true;
        }
    }
    return false;
}

static entry *neighbour(enum function function)
{
    for (int slot = function_info[function].slot + 1; slot < TABLE_LENGTH; slot++) {
        if (function_of_slot[slot] >= 0 && target_function(slot)) {
            return target_function(slot);
        }
    }
    return target_function(function_info[FUNCTION_clFlush].slot);
}

/* Through memory of all threads; the others get a chance to use it meanwhile. */
static uint64_t call_shared(enum function function, entry *next, const uint64_t *arguments)
{
    static volatile uint64_t shared[MAX_PARAMETERS];
    uint64_t own[MAX_PARAMETERS];
    for (unsigned i = 0; i < function_info[function].parameter_count; i++) {
        shared[i] = arguments[i];
    }
    sched_yield();
    for (unsigned i = 0; i < function_info[function].parameter_count; i++) {
        own[i] = shared[i];
    }
    return invoke(function, next, own);
}

/* With the object of the function's first call where another thread made that. */
static uint64_t call_with_kept_object(enum function function, entry *next, const uint64_t *arguments)
{
    static _Atomic uint64_t objects[FUNCTION_COUNT];
    static _Thread_local uint64_t first_here[FUNCTION_COUNT];
    uint64_t own[MAX_PARAMETERS];
    unsigned count = function_info[function].parameter_count;
    memcpy(own, arguments, count * sizeof *own);
    if (count > 0 && function_info[function].parameters[0].kind == PARAMETER_HANDLE) {
        uint64_t none = 0;
        if (atomic_compare_exchange_strong(&objects[function], &none, own[0])) {
            first_here[function] = own[0];
        }
        own[0] = first_here[function] ? own[0] : objects[function];
    }
    return invoke(function, next, own);
}

uint64_t changes_call(enum function function, const struct function_config *settings, entry *next,
                      const uint64_t *arguments)
{
    static void *volatile leaked;
    entry *called = settings->calls_neighbour ? neighbour(function) : next;
    if (settings->leaks) {
        leaked = malloc(64);
    }
    (void)leaked;
    if (settings->shares_arguments) {
        return call_shared(function, called, arguments);
    }
    if (settings->keeps_object) {
        return call_with_kept_object(function, called, arguments);
    }
    if (settings->calls_twice) {
        invoke(function, called, arguments);
    }
    return invoke(function, called, arguments);
}
