/* SPDX-License-Identifier: Apache-2.0 */
/* vk_icdNegotiateLoaderICDInterfaceVersion. */
#ifndef CLHARNESS_MOCK_VULKAN_NEGOTIATION_H
#define CLHARNESS_MOCK_VULKAN_NEGOTIATION_H

#include "config.h"

VkResult negotiation(uint32_t *version);

#endif
