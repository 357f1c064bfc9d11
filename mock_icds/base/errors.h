/* SPDX-License-Identifier: Apache-2.0 */
/* Errors: what a fault makes of them, and how a function of any kind answers them. */
#ifndef CLHARNESS_MOCK_ERRORS_H
#define CLHARNESS_MOCK_ERRORS_H

#include "base/config.h"
#include "base/objects.h"
#include "clharness_cl.h"

/* The error of a rule, or VALUE of a fault that is on for an object's platform (NULL: for any platform); the error may
 * be CL_SUCCESS, and become one by the fault. */
cl_int error_or_fault(enum fault instead, const struct object *object, cl_int error);
/* The error of a rule, or, where the fault is on, its VALUE (CL_SUCCESS without one); CL_SUCCESS stays what it is. */
cl_int error_unless_fault(enum fault instead, cl_int error);

/* An error as the result of a call. */
static inline uint64_t error_result(cl_int error)
{
    return (uint64_t)(int64_t)error;
}

/* What a function answers that fails: the error, or NULL and the error by errcode_ret. */
uint64_t error_refuse(enum function function, const uint64_t *arguments, cl_int error);
/* What a function answers that makes an object: the handle, or NULL; errcode_ret has the error, or CL_SUCCESS. */
uint64_t error_or_handle(enum function function, const uint64_t *arguments, const struct object *object, cl_int error);

#endif
