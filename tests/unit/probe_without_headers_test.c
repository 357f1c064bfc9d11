/* SPDX-License-Identifier: Apache-2.0 */
/* What the probe answers where the headers of Vulkan, or those of EGL and OpenGL, were not there to build it with. */
#include "topics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uintptr_t clharness_gl(const char *text);

static int failures;

static void expect(const char *what, const char *actual, const char *expected)
{
    if (!actual || !strstr(actual, expected)) {
        fprintf(stderr, "%s: '%s', expected something with '%s'\n", what, actual ? actual : "NULL", expected);
        failures++;
    }
}

static void test_vulkan(const char *line)
{
    size_t room = 256;
    char *reply = malloc(room);
    char *copy = strdup(line);
    if (reply && copy) {
        command_execute(copy, &reply, &room);
    }
    expect(line, reply,
           "error vulkan: the probe was built without the headers of Vulkan (Debian package libvulkan-dev)");
    free(copy);
    free(reply);
}

int main(void)
{
    static const struct command_table *const tables[] = {&vulkan_commands, NULL};
    commands_use(tables);
    test_vulkan("vulkan 1 open -");
    test_vulkan("vulkan 1 memory 4096 1");
    expect("the first display", (const char *)clharness_gl("start 0"), "libegl-dev, libgl-dev");
    expect("the next display", (const char *)clharness_gl("start 1"), "no more displays");
    if (clharness_gl("buffer plain") != 0 || clharness_gl("context usable") != 0 || clharness_gl("current") != 0) {
        fprintf(stderr, "there are objects without OpenGL\n");
        failures++;
    }
    printf("%d failures\n", failures);
    return failures != 0;
}
