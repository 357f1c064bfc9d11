/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of the mock ICD outside the heap, so that a harness that counts the heap sees the subject's blocks only. */
#ifndef CLHARNESS_MOCK_ARENA_H
#define CLHARNESS_MOCK_ARENA_H

#include <stddef.h>

/* Reserves what arena_keep hands out, and gives it back: all of it is gone then. */
void arena_open(void);
void arena_close(void);

/* Zeroed memory that stays as long as the library is loaded, aligned to 16 bytes. Never NULL: the process ends with
 * code 99 where there is no more. */
void *arena_keep(size_t size);

/* Zeroed pages of their own; a page is used only once it is touched. Never NULL, as above. */
void *arena_map(size_t size);
void arena_unmap(void *pages, size_t size);
size_t arena_page_size(void);
/* What may be done with pages from now on. */
void arena_forbid(void *pages, size_t size);
void arena_forbid_writes(void *pages, size_t size);

/* Says that there is no room for more of something, and ends the process with code 99. */
_Noreturn void arena_is_full(const char *what);

#endif
