/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the mock layer share. */
#ifndef CLHARNESS_MOCK_LAYER_H
#define CLHARNESS_MOCK_LAYER_H

#include "calls.h"

#ifndef CL_LAYER_PROPERTIES_LIST_END /* the headers know layers of 1.0.0 only */
typedef cl_properties cl_layer_properties;
CL_API_ENTRY cl_int CL_API_CALL clInitLayerWithProperties(cl_uint num_entries, const cl_icd_dispatch *target_dispatch,
                                                          cl_uint *num_entries_ret,
                                                          const cl_icd_dispatch **layer_dispatch_ret,
                                                          const cl_layer_properties *properties);
CL_API_ENTRY cl_int CL_API_CALL clDeinitLayer(void);
#endif

enum fault {
#define FAULT(name) FAULT_##name,
#include "faults.h"
#undef FAULT
    FAULT_COUNT
};

struct function_config {
#define FUNCTION_SETTING(name, type) setting_##type name;
#include "settings.h"
};

enum { SWALLOWED = -7777 }; /* the answer of a function that is set to swallow calls */

typedef void entry(void);

extern struct function_config config_of_function[FUNCTION_COUNT];

/* Reads the side file; without one it is a plain layer. */
void config_load(void);

/* --- target.c: the table that the loader gives the layer to call --- */

/* Takes the target for its own, notes what it holds, and logs the holes in it. */
void target_set(const void *entries, cl_uint count);
/* Logs when the target no longer holds what it did. */
void target_check(void);
cl_uint target_entries(void);
/* The target's function for a slot, or NULL where the loader left a hole or gave a shorter table. */
entry *target_function(int slot);
/* Calls its clGetPlatformIDs, and asks the first platform its name. */
void target_list_platforms(const char *where);
/* For the faults that call what only Windows has, and that change the target. */
void target_call_windows_entries(void);
void target_swap_entries(void);

/* --- loader.c --- */

/* Calls clGetPlatformIDs of the loader; a call that comes back to this layer from there goes no further. */
void loader_list_platforms(void);

/* --- table.c --- */

/* The layer's own table, made of its functions, and its length; it ends where an unreadable page begins. */
const void *table_make(entry *const *functions, cl_uint *count);
/* For the fault that changes it without the loader's knowledge. */
void table_swap_entries(void);

/* --- info.c --- */

/* clGetLayerInfo, with its four arguments. */
cl_int info_answer(const uint64_t *arguments);

/* --- changes.c: calls that are wrong on their way --- */

/* Makes the arguments wrong that the target will get; `own` is memory that outputs can be lost in. */
void changes_apply(const struct function_info *about, const struct function_config *settings, uint64_t *arguments,
                   uint64_t *own);
/* Whether a pointer is missing that a careless layer would look into. */
bool changes_lack_pointer(const struct function_info *about, const uint64_t *arguments);
/* Calls the target's function, or another one, as often as the settings say. */
uint64_t changes_call(enum function function, const struct function_config *settings, entry *next,
                      const uint64_t *arguments);

/* --- mistakes.c: calls that are wrong for some values only --- */

/* Changes arguments as the faults say. True: the layer answers the call itself, with `error`. */
bool mistakes_answer(enum function function, uint64_t *arguments, cl_int *error);
/* Hands the call on by changes_call, and spoils some answers. */
uint64_t mistakes_call(enum function function, const struct function_config *settings, entry *next,
                       const uint64_t *arguments);

/* --- wrap.c: handles of the layer's own in place of the target's --- */

/* Calls the target with its own handles, and gives the application the layer's: small numbers, addresses of nothing.
 * Handles that a callback gets are the target's. */
uint64_t wrap_call(enum function function, entry *next, const uint64_t *arguments);

/* --- platform.c: a platform of the layer's own --- */

/* Answers calls about the layer's platform, and adds it to the target's list. False: not about it. */
bool platform_answer(enum function function, entry *next, const uint64_t *arguments, uint64_t *result);

#endif
