/* SPDX-License-Identifier: Apache-2.0 */
/* The dispatch tables that the objects of the mock ICD begin with. */
#ifndef CLHARNESS_MOCK_TABLES_H
#define CLHARNESS_MOCK_TABLES_H

#include "clharness_functions.h"

/* A function with the API's signature, as dispatch tables hold it. */
typedef void table_entry(void);

/* Makes the tables of all platforms from the mock's functions, which are in the order of `enum function`. */
void tables_open(table_entry *const *functions);
void tables_close(void);

/* The table of a platform's objects of one class. */
void *const *tables_of(int platform, enum handle_kind kind);
/* What the tables, and a query for their functions, hold for a function. */
void *tables_entry(enum function function);
/* The mock's own function, whatever the tables hold. */
void *tables_function(enum function function);

#endif
