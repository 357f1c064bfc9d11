/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that ends where an unreadable page begins, and memory that may not be there. */
#ifndef CLHARNESS_PROBE_GUARDED_H
#define CLHARNESS_PROBE_GUARDED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct guarded {
    unsigned char *bytes;
    size_t size;
    void *mapping;
    size_t mapping_size;
    bool is_shared; /* of the memory that guarded_forget frees at once */
};

/* Memory of `size` bytes, all 0. False: no room. */
bool guarded_make(struct guarded *memory, size_t size);
/* The same of a mapping that others share, which takes less time. False: too large, or no room there. */
bool guarded_share(struct guarded *memory, size_t size);
void guarded_free(struct guarded *memory);
/* Frees all that is shared. */
void guarded_forget(void);
/* Makes it unwritable. */
bool guarded_protect(const struct guarded *memory);

/* Copies memory at any address of this process; gives the number of bytes that could be read, or -1 with errno set.
 * Never faults. */
long memory_read(uint64_t address, void *to, size_t length);
/* The same the other way round. */
long memory_write(uint64_t address, const void *from, size_t length);

#endif
