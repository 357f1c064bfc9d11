/* SPDX-License-Identifier: Apache-2.0 */
/* In the place of gl_requests.c, where the headers of EGL and OpenGL are not there to build it with. */
#include <stdint.h>
#include <string.h>

__attribute__((visibility("default"))) uintptr_t clharness_gl(const char *text);

/* Answers `start N` alone: the reason for having no OpenGL. */
uintptr_t clharness_gl(const char *text)
{
    if (strcmp(text, "start 0") == 0) {
        return (
            uintptr_t) "clharness was built without the headers of EGL and OpenGL (Debian packages libegl-dev, libgl-dev)";
    }
    return strncmp(text, "start ", 6) == 0 ? (uintptr_t) "no more displays" : 0;
}
