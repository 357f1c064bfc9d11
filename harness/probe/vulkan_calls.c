/* SPDX-License-Identifier: Apache-2.0 */
/* Commands: calls of Vulkan functions. */
#include "clharness_vulkan_functions.h"
#include "log.h"
#include "topics.h"

#include <stdalign.h>
#include <stddef.h>
#include <stdlib.h>
#include <vulkan/vulkan_core.h>

static void call(const struct argument *a, const struct reply *reply)
{
    uint64_t arguments[VULKAN_MAX_PARAMETERS] = {0};
    const struct argument *tokens = a + 3;
    const char *name = a[2].text;
    int function = vulkan_function_by_name(name);
    unsigned count = argument_count(tokens);
    if (function < 0) {
        reply_error(reply, "no function '%s' in Vulkan's registry", name);
        return;
    }
    if (count != vulkan_function_info[function].parameter_count) {
        reply_error(reply, "%s takes %u arguments, not %u", name, vulkan_function_info[function].parameter_count,
                    count);
        return;
    }
    for (unsigned i = 0; i < count; i++) {
        arguments[i] = tokens[i].value;
    }
    if (!a[1].value) {
        reply_error(reply, "no symbol %s", name);
        return;
    }
    probe_log_call("call", name, arguments, count, NULL);
    void (*target)(void) = (void (*)(void))(uintptr_t)a[1].value;
    uint64_t value = vulkan_invoke((enum vulkan_function)function, target, arguments);
    probe_log_call("return", name, NULL, 0, vulkan_function_info[function].has_result ? &value : NULL);
    reply_result(reply, a[0].value, value);
}

static void replace_first_word(const struct argument *a, const struct reply *reply)
{
    *(uint64_t *)(uintptr_t)a[0].value = a[1].value;
    reply_ok(reply);
}

/* --- an allocator of the application's, which is the C library's --- */

static void *VKAPI_PTR allocate(void *data, size_t size, size_t alignment, VkSystemAllocationScope scope)
{
    (void)data;
    (void)scope;
    return alignment <= alignof(max_align_t) ? malloc(size) : NULL;
}

static void *VKAPI_PTR reallocate(void *data, void *memory, size_t size, size_t alignment,
                                  VkSystemAllocationScope scope)
{
    (void)data;
    (void)scope;
    return alignment <= alignof(max_align_t) ? realloc(memory, size) : NULL;
}

static void VKAPI_PTR release(void *data, void *memory)
{
    (void)data;
    free(memory);
}

static void allocator(const struct argument *a, const struct reply *reply)
{
    static const VkAllocationCallbacks callbacks = {
        .pfnAllocation = allocate, .pfnReallocation = reallocate, .pfnFree = release};
    reply_result(reply, a[0].value, (uint64_t)(uintptr_t)&callbacks);
}

static const struct command rows[] = {
    /* Calls the function at an address with the signature of FUNCTION; ok RESULT, which is kept. */
    {"vkcall", "RESULT TOKEN FUNCTION TOKEN...", call, false},
    /* ok ADDRESS of a VkAllocationCallbacks, which is kept. */
    {"vkallocator", "RESULT", allocator, false},
    /* Writes the first word of a dispatchable object, which a loader keeps the address of its table in. */
    {"vkword", "TOKEN TOKEN", replace_first_word, false},
    {0},
};

const struct command_table vulkan_call_commands = {.rows = rows};
