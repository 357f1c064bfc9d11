/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of the application's allocator, or of the heap: each piece knows where it is from. */
#include "vulkan_loader.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

struct piece {
    alignas(max_align_t) VkAllocationCallbacks from; /* 0 for the heap */
    VkSystemAllocationScope scope;
};

void *memory_take(const VkAllocationCallbacks *allocator, VkSystemAllocationScope scope, size_t size)
{
    const size_t all = sizeof(struct piece) + size;
    struct piece *piece =
        allocator ? allocator->pfnAllocation(allocator->pUserData, all, alignof(max_align_t), scope) : malloc(all);
    if (!piece) {
        return NULL;
    }
    memset(piece, 0, all);
    piece->scope = scope;
    if (allocator) {
        piece->from = *allocator;
    }
    return piece + 1;
}

void *memory_take_like(const void *other, size_t size)
{
    const struct piece *piece = (const struct piece *)other - 1;
    return memory_take(piece->from.pfnAllocation ? &piece->from : NULL, piece->scope, size);
}

void memory_give(void *memory)
{
    struct piece *piece = memory ? (struct piece *)memory - 1 : NULL;
    if (piece && piece->from.pfnFree) {
        piece->from.pfnFree(piece->from.pUserData, piece);
    } else {
        free(piece);
    }
}
