/* SPDX-License-Identifier: Apache-2.0 */
/* Display adapters, in the order in which applications should prefer them. */
#ifndef CLHARNESS_REFERENCE_OS_WINDOWS_ADAPTERS_H
#define CLHARNESS_REFERENCE_OS_WINDOWS_ADAPTERS_H

/* Calls `use` with the library that the driver of each display adapter names in the value `name` of its software key.
 */
void adapters_each(const wchar_t *name, void (*use)(const char *library));

#endif
