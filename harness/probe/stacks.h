/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks of threads, written from inside. */
#ifndef CLHARNESS_PROBE_STACKS_H
#define CLHARNESS_PROBE_STACKS_H

/* Crashing signals write the stack of the thread to standard error and go on as they would have; the signal
 * SIGRTMIN+6, sent to a thread, writes that thread's stack. Lines read: "clharness stack TID SIGNAL: 0x… 0x…". */
void stacks_install(void);

#endif
