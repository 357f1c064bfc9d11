/* SPDX-License-Identifier: Apache-2.0 */
/* What a library that runs after all others hands the process to (late_caller.c). Linux only. */
#ifndef CLHARNESS_PROBE_LATE_H
#define CLHARNESS_PROBE_LATE_H

typedef void late_function(void);

/* The name of a `late_function *` in that library, which its destructor calls. */
#define LATE_CALLER "clharness_late"

#endif
