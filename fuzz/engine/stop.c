/* SPDX-License-Identifier: Apache-2.0 */
/* The end of the program where it was used wrongly, or failed. */
#include "internal.h"

#include <stdarg.h>
#include <string.h>
#include <unistd.h>

void stop(const char *format, ...)
{
    static char text[4096] = "clharness-fuzz: ";
    size_t length = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + length, sizeof text - length, format, arguments);
    va_end(arguments);
    fprintf(stderr, "%s\n", text);
    kept_inputs_words(text);
    _exit(2);
}
