/* SPDX-License-Identifier: Apache-2.0 */
/* The addresses of functions that a loader and an application ask for. */
#ifndef CLHARNESS_MOCK_ADDRESSES_H
#define CLHARNESS_MOCK_ADDRESSES_H

#include <stdint.h>

/* clGetExtensionFunctionAddress. */
uint64_t addresses_of_extension(const uint64_t *arguments);
/* clGetExtensionFunctionAddressForPlatform. */
uint64_t addresses_of_platform(const uint64_t *arguments);
/* clIcdGetFunctionAddressForPlatformKHR. */
uint64_t addresses_of_icd2(const uint64_t *arguments);

#endif
