/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts for Windows share. */
#ifndef CLHARNESS_REFERENCE_OS_WINDOWS_H
#define CLHARNESS_REFERENCE_OS_WINDOWS_H

#include "loader.h"

/* clang-format off: the order is Windows' own */
#include <windows.h>
/* clang-format on */

/* Whether the process has more privileges than other programs of its user. */
bool process_is_elevated(void);

/* --- os_windows_devices.c --- */

/* Calls `use` with the library that each display adapter and each software component names. */
void devices_each(void (*use)(const char *library));

#endif
