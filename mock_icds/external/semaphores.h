/* SPDX-License-Identifier: Apache-2.0 */
/* cl_khr_semaphore and cl_khr_external_semaphore of the mock ICD. */
#ifndef CLHARNESS_MOCK_SEMAPHORES_H
#define CLHARNESS_MOCK_SEMAPHORES_H

#include "clharness_functions.h"

#include <stdbool.h>

/* Answers a call that is a matter of semaphores; false where it is not. */
bool semaphores_handle(enum function function, const uint64_t *arguments, uint64_t *result);

#endif
