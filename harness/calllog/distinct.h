/* SPDX-License-Identifier: Apache-2.0 */
/* Answers for calls whose arguments are bit patterns: nothing is looked into but what can be read, and no two
 * functions, parameters or components answer the same (harness/probe/patterns.py knows what). */
#ifndef CLHARNESS_DISTINCT_H
#define CLHARNESS_DISTINCT_H

#include "calllog.h"
#include "clharness_functions.h"

#include <stdbool.h>

/* Logs the call for component `who`, writes the outputs unless it is silent, and gives the result widened. */
uint64_t distinct_answer(struct calllog *log, const char *who, enum function function, const uint64_t *arguments,
                         bool silent);

#endif
