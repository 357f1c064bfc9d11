/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of the library under test for resources: counted, made to fail, and what they bring kept track of. */
#ifndef CLHARNESS_PROBE_TORTURE_H
#define CLHARNESS_PROBE_TORTURE_H

#include <stdbool.h>

enum { TORTURE_NOBODY = -1 };
/* Whether a resource is memory of the heap, which is only lost where nothing points to it. */
enum torture_kind { TORTURE_BLOCK, TORTURE_OTHER };

/* Counts a call of `function` if the code at `caller` is the library's, or the C library's on its behalf. Gives the
 * place of the call, for torture_takes: TORTURE_NOBODY where it is somebody else's. `fails`: it is to fail. */
int torture_call(const char *function, const void *caller, bool *fails);

/* What a call brought, a block of memory say; no effect for NULL and for TORTURE_NOBODY. */
void torture_takes(enum torture_kind kind, const void *resource, int place);
/* It is given back, by whomever. */
void torture_gives_back(const void *resource);

#endif
