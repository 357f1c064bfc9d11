/* What the specification says of functions that make objects of the core with property lists, for a mock ICD that
 * validates. What a platform's devices can do besides the least is told by words in its setting `features`:
 *
 *   images, out_of_order, terminate, pipes, device_queues, compiler
 */
#ifndef CLHARNESS_MOCK_CREATION_H
#define CLHARNESS_MOCK_CREATION_H

#include "icd.h"
#include "properties.h"

enum {
    COMPUTE_UNITS = 8,
    DEVICE_QUEUE_SIZE = 1 << 16, /* preferred and largest, in bytes */
    PIPE_PACKET_SIZE = 1024,
};

bool has_feature(int platform, const char *word);

/* Whether the arguments are as the specification says: CL_SUCCESS, or the error. Functions that are not known here
 * take anything. */
cl_int creation_check(enum function function, const uint64_t *arguments);
/* Keeps how an object was made. */
void creation_remember(struct object *object, enum function function, const uint64_t *arguments);
/* Answers a query of an object that follows from how it was made; false where it does not. `rest` are the last three
 * arguments of the query. */
bool creation_info(struct object *object, cl_uint query, const uint64_t *rest, cl_int *result);
/* The same of devices. */
bool device_limits_info(struct object *device, cl_uint query, const uint64_t *rest, cl_int *result);
/* Answers with the property list that an object was made with. */
cl_int answer_property_list(const struct object *object, const uint64_t *rest);

/* --- partition.c --- */

cl_int create_sub_devices(const uint64_t *arguments);
cl_uint compute_units(const struct object *device);

/* --- property_rules.c --- */

/* The rules of a function's property list. */
const struct property_rules *rules_of(enum function function);
/* The list among the arguments of a function, or NULL. */
const uint64_t *list_of(enum function function, const uint64_t *arguments);
extern const struct property_rules partition_rules;

#endif
