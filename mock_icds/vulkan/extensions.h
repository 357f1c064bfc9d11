/* SPDX-License-Identifier: Apache-2.0 */
/* Answers to queries for extensions. */
#ifndef CLHARNESS_MOCK_VULKAN_EXTENSIONS_H
#define CLHARNESS_MOCK_VULKAN_EXTENSIONS_H

#include "config.h"

/* Answers a query for extensions from a list, with count and memory as the API has them. `more` are counted in addition
 * where the number is asked. */
VkResult extensions_answer(const char *list, uint32_t more, uint32_t *count, VkExtensionProperties *properties);

#endif
