/* SPDX-License-Identifier: Apache-2.0 */
/* What GetLastError says, in words. */
#ifndef CLHARNESS_PROBE_PROBLEM_H
#define CLHARNESS_PROBE_PROBLEM_H

/* The text stays until the next call. */
const char *problem_text(void);

#endif
