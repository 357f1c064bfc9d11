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

extern struct function_config function_config[FUNCTION_COUNT];

/* --- config.c --- */

/* Reads the side file; without one it is a plain layer. */
void layer_configure(void);

/* --- table.c --- */

/* Takes the target for its own, notes what it holds, and logs the holes in it. */
void target_set(const void *table, cl_uint count);
/* Logs when the target does not hold any more what it did. */
void target_check(void);
/* The target's function for a slot, or NULL where the loader left a hole or gave a shorter table. */
entry *target_function(int slot);
/* The layer's own table, made of its functions, and its length; it ends where an unreadable page begins. */
const void *table_make(entry *const *functions, cl_uint *count);
/* For the faults that call what only Windows has, and that change the target. */
void target_call_windows_entries(void);
void target_swap_entries(void);
/* For the fault that has it changed behind the loader's back. */
void table_swap_entries(void);

/* --- info.c --- */

/* clGetLayerInfo, with its four arguments. */
cl_int get_layer_info(const uint64_t *arguments);

/* --- changes.c: calls that are wrong on their way --- */

/* Makes the arguments wrong that the target will get; `own` is memory that outputs can be lost in. */
void change_arguments(const struct function_info *about, const struct function_config *told, uint64_t *arguments,
                      uint64_t *own);
/* Whether a pointer is missing that a careless layer would look into. */
bool lacks_pointer(const struct function_info *about, const uint64_t *arguments);
/* Calls the target's function, or another one, as often as told. */
uint64_t call_next(enum function function, const struct function_config *told, entry *next, const uint64_t *arguments);

/* --- through.c: what happens to a call on its way --- */

/* Calls clGetPlatformIDs of the target, and asks the first platform its name. */
void call_target(const char *where);
/* Calls clGetPlatformIDs of the loader itself; a call of it that comes back to this layer from there goes no further.
 */
void call_loader(void);

/* --- wrap.c: handles of the layer's own in place of the target's --- */

/* Calls the target with its own handles, and gives the application the layer's: small numbers, addresses of nothing.
 * Handles that a callback gets are the target's. */
uint64_t call_wrapped(enum function function, entry *next, const uint64_t *arguments);

/* --- platform.c: a platform of the layer's own --- */

/* Answers calls about the layer's platform, and adds it to the target's list. False: not for us. */
bool own_platform(enum function function, entry *next, const uint64_t *arguments, uint64_t *result);

#endif
