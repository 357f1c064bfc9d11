/* SPDX-License-Identifier: Apache-2.0 */
/* The end of the program where it was used wrongly, or failed. */
#include "internal.h"

#include <stdarg.h>
#include <unistd.h>

void stop(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("clharness-fuzz: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    _exit(2);
}
