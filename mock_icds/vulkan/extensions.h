/* SPDX-License-Identifier: Apache-2.0 */
/* Answers to queries for extensions, and for other lists. */
#ifndef CLHARNESS_MOCK_VULKAN_EXTENSIONS_H
#define CLHARNESS_MOCK_VULKAN_EXTENSIONS_H

#include "config.h"

/* Answers a query for extensions from a list, with count and memory as the API has them. `more` are counted in addition
 * where the number is asked. */
VkResult extensions_answer(const char *list, uint32_t more, uint32_t *count, VkExtensionProperties *properties);

/* Writes as many of `all` elements as there is room for, `stride` bytes from one to the next; gives the VkResult. */
uint64_t extensions_write(uint32_t *count, void *to, size_t stride, const void *from, size_t size, uint32_t all);

#endif
