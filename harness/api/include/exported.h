/* SPDX-License-Identifier: Apache-2.0 */
/* How a library shows a function to others. */
#ifndef CLHARNESS_EXPORTED_H
#define CLHARNESS_EXPORTED_H

#ifdef _WIN32
#define EXPORTED __declspec(dllexport)
#else
#define EXPORTED __attribute__((visibility("default")))
#endif

#endif
