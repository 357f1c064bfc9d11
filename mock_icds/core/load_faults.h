/* SPDX-License-Identifier: Apache-2.0 */
/* What a library leaves behind in the process that uses it, by faults (faults_load.h). */
#ifndef CLHARNESS_MOCK_LOAD_FAULTS_H
#define CLHARNESS_MOCK_LOAD_FAULTS_H

#include "clharness_functions.h"

#include <stdbool.h>

/* Follows calls that make contexts. */
void load_faults_follow(enum function function, const uint64_t *arguments, uint64_t *result);
/* Whether the ICD has given its platforms up. */
bool load_faults_no_platforms(void);

#endif
