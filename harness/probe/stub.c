/* SPDX-License-Identifier: Apache-2.0 */
/* Stands for libOpenCL.so.1 while the linked probe is linked; does nothing when it is called. */
#include "clharness_functions.h"

uint64_t component_call(enum function function, const uint64_t *arguments)
{
    (void)function;
    (void)arguments;
    return 0;
}
