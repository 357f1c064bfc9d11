/* SPDX-License-Identifier: Apache-2.0 */
/* Between torture.c and its wrappers of system functions. */
#ifndef CLHARNESS_PROBE_TORTURE_INTERNAL_H
#define CLHARNESS_PROBE_TORTURE_INTERNAL_H

/* Until torture_leave, calls of this thread do not count, and what they bring is that of `place`. */
void torture_enter(int place);
void torture_leave(void);

#endif
