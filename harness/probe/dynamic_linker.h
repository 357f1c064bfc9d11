/* SPDX-License-Identifier: Apache-2.0 */
/* What the system's dynamic linker does and knows: dynamic_linker_linux.c, windows/dynamic_linker.c. */
#ifndef CLHARNESS_PROBE_DYNAMIC_LINKER_H
#define CLHARNESS_PROBE_DYNAMIC_LINKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Opens a library, for good. NULL where that fails; `linker_problem` has the reason then. */
void *linker_open(const char *path);
const char *linker_problem(void);
/* Address of a symbol of a library, or NULL. */
void *linker_symbol(void *library, const char *name);
/* Whether the library with a path is loaded. */
bool linker_has(const char *path);
/* The path of the file that an address lies in, cut to `room` bytes with its NUL; false where that is no library's. */
bool linker_path_at(uint64_t address, char *path, size_t room);
/* The symbols that the loader under test shows, read from memory as the dynamic linker reads them. A line each: "NAME
 * VERSION ADDRESS" of a symbol ("-" for no version), then "= VERSION PARENT" of each version. NULL where they cannot be
 * read. To be freed. */
char *linker_exports(size_t *length);

#endif
