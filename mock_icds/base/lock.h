/* SPDX-License-Identifier: Apache-2.0 */
/* One call at a time: a mock that does what calls say is used by many threads. */
#ifndef CLHARNESS_MOCK_LOCK_H
#define CLHARNESS_MOCK_LOCK_H

/* The same thread may take it again, as in a callback. */
void lock_take(void);
void lock_give(void);
/* Lets other threads have it for a moment, which a fault needs: does nothing where the caller does not have it. */
void lock_pause(void);

#endif
