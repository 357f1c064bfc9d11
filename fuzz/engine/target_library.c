/* SPDX-License-Identifier: Apache-2.0 */
/* The library that targets take where they name none. */
#include "engine.h"

__attribute__((weak)) struct target_library target_library = {"libOpenCL.so.1", "clGetPlatformIDs",
                                                              "an OpenCL ICD loader"};
