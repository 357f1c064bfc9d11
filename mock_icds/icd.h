/* What the parts of the mock ICD share. */
#ifndef CLHARNESS_MOCK_ICD_H
#define CLHARNESS_MOCK_ICD_H

#include "calls.h"
#include "config.h"
#include "objects.h"

/* The three functions that a loader looks for, and the two of cl_khr_icd 2.0. */
void *address_query(const char *name);
cl_int get_platform_ids(cl_uint num_entries, cl_platform_id *platforms, cl_uint *num_platforms);

cl_int get_platform_info(const uint64_t *arguments, bool exported);
cl_int get_device_ids(const uint64_t *arguments);
/* All other clGet…Info functions; the object is the first argument that is a handle. */
cl_int get_info(enum function function, const uint64_t *arguments);

/* Whether a platform has an extension: a whole word of its extension string. */
bool has_extension(int platform, const char *name);

/* --- behaviour.c --- */

/* What the mock does with a call that is no matter of an extension that is asked for. */
uint64_t behave_otherwise(enum function function, const uint64_t *arguments);
/* A new object of a function, with what the function was told to leave out. */
struct object *make_as_told(enum function function, const uint64_t *arguments, enum handle_kind kind,
                            struct object *parent);

/* --- events.c --- */

/* What a function does to events and memory objects that live on; false where it is none of these. */
bool life_behave(enum function function, const uint64_t *arguments, uint64_t *result);
/* Calls the callback of a build that has ended. */
void life_program_built(const uint64_t *arguments);
/* Keeps what an event is of, and what it waits for. */
void life_remember(struct object *event, enum function function, const uint64_t *arguments);
/* Answers a query of an event that follows from its life; false where it does not. */
bool life_info(struct object *event, cl_uint query, const uint64_t *rest, cl_int *result);

/* Whether the times of an event can be queried. */
bool life_has_profiling(const struct object *event);

/* --- info_faults.c --- */

/* Answers a query of an object: as `ask` does, or as a fault says. */
cl_int answer_query(cl_int (*ask)(enum function, const uint64_t *), enum function function, const uint64_t *arguments);

/* --- manners.c --- */

/* What faults tell it to do to the process when it is loaded, and when it is asked for its platforms. */
void misbehave_when_loaded(void);
void misbehave_when_asked(void);

/* --- callbacks.c: what a function was told to do besides (struct function_config) --- */

/* Calls the callback among the arguments; `result` is what the function answers. */
void call_back(enum function function, const uint64_t *arguments, uint64_t result);
/* Waits until the counterpart of the meeting has come, for ever if need be. */
void meet(const struct function_config *told);

/* Calls clGetPlatformIDs of the loader under test, for the faults that call back. */
void call_back_into_loader(const char *where);
/* Whether the first platform that the loader under test lists is one of ours; so it is where no loader is loaded. */
bool first_platform_is_ours(void);

#endif
