/* SPDX-License-Identifier: Apache-2.0 */
/* A library of the application whose destructor runs after the loader's, where it was loaded after it. */
#include "late.h"

#include <stddef.h>

__attribute__((visibility("default"))) late_function *clharness_late;

__attribute__((destructor)) static void unloaded(void)
{
    if (clharness_late) {
        clharness_late();
    }
}
