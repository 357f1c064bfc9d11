/* SPDX-License-Identifier: Apache-2.0 */
/* Which platforms and devices there are. */
#ifndef CLHARNESS_MOCK_ENUMERATION_H
#define CLHARNESS_MOCK_ENUMERATION_H

#include <stdint.h>

/* clIcdGetPlatformIDsKHR and clGetPlatformIDs. */
uint64_t enumeration_platforms(const uint64_t *arguments);
/* clGetDeviceIDs. */
uint64_t enumeration_devices(const uint64_t *arguments);

/* Notes in which process the library is loaded, and whether it was before; for faults that look at this. */
void enumeration_note_load(void);

#endif
