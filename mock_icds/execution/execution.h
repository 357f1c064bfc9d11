/* SPDX-License-Identifier: Apache-2.0 */
/* Commands of OpenCL's core that do what they say, in the order of queues and events; on platforms whose memory objects
 * hold something (core/contents.h). */
#ifndef CLHARNESS_MOCK_EXECUTION_H
#define CLHARNESS_MOCK_EXECUTION_H

#include "clharness_functions.h"

#include <stdbool.h>

bool execution_handle(enum function function, const uint64_t *arguments, uint64_t *result);

#endif
