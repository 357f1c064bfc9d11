/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of the loader under test, for the faults that call back. */
#ifndef CLHARNESS_MOCK_LOADER_H
#define CLHARNESS_MOCK_LOADER_H

#include <stdbool.h>

/* Calls its clGetPlatformIDs; the log says from where, and what came of it. */
void loader_list_platforms(const char *where);
/* Whether the first platform that it lists is one of ours; true where no loader is loaded. */
bool loader_lists_ours_first(void);
/* Calls its clReleaseContext for the context in $CLHARNESS_LATE_CONTEXT, which may be another library's. */
void loader_release_context(void);

#endif
