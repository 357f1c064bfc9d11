/* SPDX-License-Identifier: Apache-2.0 */
/* In the place of mingw's own header, which declares every vector instruction there is: what CL/cl_platform.h uses of
 * it. A file of a mock compiles in a quarter of the time. */
#ifndef CLHARNESS_INTRIN_H
#define CLHARNESS_INTRIN_H

#ifdef __SSE2__
#include <emmintrin.h>
#endif
#ifdef __AVX__
#include <immintrin.h>
#endif

#endif
