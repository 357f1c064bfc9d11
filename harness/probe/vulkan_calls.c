/* SPDX-License-Identifier: Apache-2.0 */
/* Commands: calls of Vulkan functions. */
#include "clharness_vulkan_functions.h"
#include "log.h"
#include "topics.h"

#include <stdalign.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
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
    probe_log_call(CALLLOG_CALL, name, arguments, count);
    void (*target)(void) = (void (*)(void))(uintptr_t)a[1].value;
    uint64_t value = vulkan_invoke((enum vulkan_function)function, target, arguments);
    probe_log_call(CALLLOG_RETURN, name, &value, vulkan_function_info[function].has_result);
    reply_result(reply, a[0].value, value);
}

static void replace_first_word(const struct argument *a, const struct reply *reply)
{
    *(uint64_t *)(uintptr_t)a[0].value = a[1].value;
    reply_ok(reply);
}

/* --- an allocator of the application's: memory that is never 0, that knows whose it is, and that nobody gets twice ---
 */

static const char after[] = "after its end...";
enum { OWN_MEMORY = 0x0A110C8D, AFTER = sizeof after, NOT_ZERO = 0xA5 };
static int64_t pieces_in_use;

/* Which requests are refused: how many are granted before, whether one is or all from there on, and how many were. */
static struct refusal {
    uint64_t first; /* from 1; 0 for none */
    uint64_t asked;
    uint64_t refused;
    bool once;
} refusal;

struct piece {
    alignas(max_align_t) uint64_t mark;
    size_t size;
    struct piece *next; /* of those that were given back */
};
static struct piece *given_back;

static bool refuses(void)
{
    refusal.asked++;
    bool refuses = refusal.first && (refusal.once ? refusal.asked == refusal.first : refusal.asked >= refusal.first);
    refusal.refused += refuses;
    return refuses;
}

/* What stands after a piece is nobody's to write to. */
static void check_end(struct piece *piece)
{
    if (memcmp((char *)(piece + 1) + piece->size, after, AFTER) != 0) {
        const uint64_t address = (uint64_t)(uintptr_t)(piece + 1);
        probe_log_call(CALLLOG_EVENT, "memory overrun", &address, 1);
    }
}

static struct piece *piece_of(void *memory)
{
    struct piece *piece = (struct piece *)memory - 1;
    if (piece->mark == OWN_MEMORY) {
        return piece;
    }
    const uint64_t address = (uint64_t)(uintptr_t)memory;
    probe_log_call(CALLLOG_EVENT, "foreign memory", &address, 1);
    return NULL;
}

static void *VKAPI_PTR allocate(void *data, size_t size, size_t alignment, VkSystemAllocationScope scope)
{
    (void)data;
    (void)scope;
    struct piece *piece = NULL;
    if (alignment <= alignof(max_align_t) && !refuses()) {
        piece = malloc(sizeof *piece + size + AFTER);
    }
    if (!piece) {
        return NULL;
    }
    *piece = (struct piece){.mark = OWN_MEMORY, .size = size};
    pieces_in_use++;
    memcpy((char *)(piece + 1) + size, after, AFTER);
    return memset(piece + 1, NOT_ZERO, size);
}

static void VKAPI_PTR release(void *data, void *memory)
{
    (void)data;
    struct piece *piece = memory ? piece_of(memory) : NULL;
    if (piece) {
        check_end(piece);
        piece->mark = 0;
        piece->next = given_back;
        given_back = piece;
        pieces_in_use--;
        memset(memory, NOT_ZERO, piece->size);
    }
}

/* What was given back is nobody's to write to. */
static void check_given_back(void)
{
    for (struct piece *piece = given_back; piece; piece = piece->next) {
        const unsigned char *bytes = (const unsigned char *)(piece + 1);
        for (size_t i = 0; i < piece->size; i++) {
            if (bytes[i] != NOT_ZERO) {
                const uint64_t address = (uint64_t)(uintptr_t)bytes;
                probe_log_call(CALLLOG_EVENT, "memory written late", &address, 1);
                break;
            }
        }
    }
}

static void *VKAPI_PTR reallocate(void *data, void *memory, size_t size, size_t alignment,
                                  VkSystemAllocationScope scope)
{
    struct piece *old = memory ? piece_of(memory) : NULL;
    void *to = size > 0 ? allocate(data, size, alignment, scope) : NULL;
    if (to && old) {
        memcpy(to, memory, old->size < size ? old->size : size);
    }
    if (to || size == 0) {
        release(data, memory);
    }
    return to;
}

static void VKAPI_PTR hear_of_internal(void *data, size_t size, VkInternalAllocationType type,
                                       VkSystemAllocationScope scope)
{
    (void)data;
    (void)size;
    (void)type;
    (void)scope;
}

static void allocator(const struct argument *a, const struct reply *reply)
{
    static const VkAllocationCallbacks callbacks[] = {
        {.pfnAllocation = allocate, .pfnReallocation = reallocate, .pfnFree = release},
        {NULL, allocate, reallocate, release, hear_of_internal, hear_of_internal},
    };
    reply_result(reply, a[0].value, (uint64_t)(uintptr_t)&callbacks[a[1].value != 0]);
}

static void allocated(const struct argument *a, const struct reply *reply)
{
    if (a[0].value) {
        check_given_back();
    }
    reply_write(reply, "ok %lld", (long long)pieces_in_use);
}

static void refuse(const struct argument *a, const struct reply *reply)
{
    uint64_t refused = refusal.refused;
    refusal = (struct refusal){.first = a[0].value, .once = a[1].value != 0};
    reply_write(reply, "ok %llu", (unsigned long long)refused);
}

/* --- messengers of the application's, which write down what they are told --- */

static VkBool32 VKAPI_PTR hear_message(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                       VkDebugUtilsMessageTypeFlagsEXT types,
                                       const VkDebugUtilsMessengerCallbackDataEXT *message, void *data)
{
    const VkDebugUtilsObjectNameInfoEXT none = {.objectType = VK_OBJECT_TYPE_UNKNOWN};
    const VkDebugUtilsObjectNameInfoEXT *object = message->objectCount ? message->pObjects : &none;
    const uint64_t words[] = {(uint64_t)(uintptr_t)data,
                              (uint64_t)severity,
                              types,
                              (uint64_t)(uintptr_t)message,
                              (uint64_t)message->messageIdNumber,
                              (uint64_t)(uintptr_t)message->pMessageIdName,
                              (uint64_t)(uintptr_t)message->pMessage,
                              (uint64_t)object->objectType,
                              object->objectHandle};
    probe_log_call(CALLLOG_EVENT, "message", words, sizeof words / sizeof *words);
    return VK_FALSE;
}

static VkBool32 VKAPI_PTR hear_report(VkDebugReportFlagsEXT flags, VkDebugReportObjectTypeEXT type, uint64_t object,
                                      size_t location, int32_t code, const char *prefix, const char *text, void *data)
{
    const uint64_t words[] = {
        (uint64_t)(uintptr_t)data, flags, (uint64_t)type, object, location, (uint64_t)code, (uint64_t)(uintptr_t)prefix,
        (uint64_t)(uintptr_t)text};
    probe_log_call(CALLLOG_EVENT, "report", words, 8);
    return VK_FALSE;
}

static void hearer(const struct argument *a, const struct reply *reply)
{
    reply_result(reply, a[0].value, a[1].value ? (uint64_t)(uintptr_t)hear_report : (uint64_t)(uintptr_t)hear_message);
}

static const struct command rows[] = {
    /* Calls the function at an address with the signature of FUNCTION; ok RESULT, which is kept. */
    {"vkcall", "RESULT TOKEN FUNCTION TOKEN...", call, false},
    /* ok ADDRESS of a VkAllocationCallbacks, which is kept; where NUMBER is not 0 with functions for internal memory.
     */
    {"vkallocator", "RESULT NUMBER", allocator, false},
    /* ok NUMBER of pieces of memory that this allocator has given and not got back; where NUMBER is not 0, those that
     * it got back are looked through. */
    {"vkallocated", "NUMBER", allocated, false},
    /* This allocator refuses the NUMBER-th request from now on, and those after it unless the second NUMBER is 1;
     * none where it is 0. ok NUMBER of those that it has refused since the last such command. */
    {"vkrefuse", "NUMBER NUMBER", refuse, false},
    /* ok ADDRESS of a function for messengers, or where NUMBER is not 0 for callbacks of reports, which is kept. */
    {"vkhearer", "RESULT NUMBER", hearer, false},
    /* Writes the first word of a dispatchable object, which a loader keeps the address of its table in. */
    {"vkword", "TOKEN TOKEN", replace_first_word, false},
    {0},
};

const struct command_table vulkan_call_commands = {.rows = rows};
