/* SPDX-License-Identifier: Apache-2.0 */
/* What the guard answers where a call of the program names another process. */
#ifndef CLHARNESS_GUARD_ANSWERS_H
#define CLHARNESS_GUARD_ANSWERS_H

/* For the guard, whose descendants are the program's processes: answers one call. */
void answer_call(int calls);

#endif
