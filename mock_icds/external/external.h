/* SPDX-License-Identifier: Apache-2.0 */
/* External memory, semaphores and command buffers of the mock ICD, on platforms that have one of the extensions. */
#ifndef CLHARNESS_MOCK_EXTERNAL_H
#define CLHARNESS_MOCK_EXTERNAL_H

#include "clharness_functions.h"

#include <stdbool.h>

/* Answers a call that is a matter of these; false where it is not. */
bool external_handle(enum function function, const uint64_t *arguments, uint64_t *result);

#endif
