/* SPDX-License-Identifier: Apache-2.0 */
/* What a function does besides its work: calls the application's callback, or meets another call. */
#ifndef CLHARNESS_MOCK_CALLBACKS_H
#define CLHARNESS_MOCK_CALLBACKS_H

#include "base/config.h"

/* Calls the callback among the arguments; `result` is what the function answers. */
void callbacks_call(enum function function, const uint64_t *arguments, uint64_t result);
/* Waits until the other side of the meeting has come, however long that takes. */
void callbacks_meet(const struct function_config *settings);

#endif
