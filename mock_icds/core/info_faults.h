/* SPDX-License-Identifier: Apache-2.0 */
/* Queries answered wrongly, as a fault says. */
#ifndef CLHARNESS_MOCK_INFO_FAULTS_H
#define CLHARNESS_MOCK_INFO_FAULTS_H

#include "clharness_cl.h"

/* Answers a query of an object: as `ask` does, or as a fault says. */
cl_int info_faults_answer(cl_int (*ask)(enum function, const uint64_t *), enum function function,
                          const uint64_t *arguments);

#endif
