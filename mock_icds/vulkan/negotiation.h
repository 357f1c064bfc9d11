/* SPDX-License-Identifier: Apache-2.0 */
/* vk_icdNegotiateLoaderICDInterfaceVersion. */
#ifndef CLHARNESS_MOCK_VULKAN_NEGOTIATION_H
#define CLHARNESS_MOCK_VULKAN_NEGOTIATION_H

#include "config.h"

VkResult negotiation(uint32_t *version);
/* Whether there was one, and the version that the last one agreed on; 0 before that. */
bool negotiation_happened(void);
uint32_t negotiation_version(void);

#endif
