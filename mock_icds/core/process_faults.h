/* SPDX-License-Identifier: Apache-2.0 */
/* What a library should not do to the process that loads it, as faults say. */
#ifndef CLHARNESS_MOCK_PROCESS_FAULTS_H
#define CLHARNESS_MOCK_PROCESS_FAULTS_H

/* What happens when it is loaded, */
void process_faults_at_load(void);
/* and when it is asked for its platforms. */
void process_faults_at_enumeration(void);
/* In the count call. Does not return where the thread is to end. */
void process_faults_at_count(void);
/* What the first context does. */
void process_faults_at_context(void);

/* Keeps the process waiting. */
void process_faults_sleep(long milliseconds);

#endif
