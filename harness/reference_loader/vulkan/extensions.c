/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the extensions that an instance or a device was made with. */
#include "vulkan_loader.h"

#include <stdio.h>
#include <string.h>

bool extensions_keep(struct extension_names *to, const void *object, const char *const *names, uint32_t count)
{
    to->names = memory_take_like(object, (count + 1) * sizeof *to->names);
    for (uint32_t i = 0; to->names && i < count; i++) {
        snprintf(to->names[i], sizeof to->names[i], "%s", names[i]);
    }
    to->count = to->names ? count : 0;
    return to->names != NULL;
}

bool extensions_have(const struct extension_names *extensions, const char *name)
{
    for (uint32_t i = 0; i < extensions->count; i++) {
        if (strcmp(extensions->names[i], name) == 0) {
            return true;
        }
    }
    return false;
}
