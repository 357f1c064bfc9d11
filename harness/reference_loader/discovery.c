/* SPDX-License-Identifier: Apache-2.0 */
/* Which libraries are tried: lists and folders in the environment, else the system's folders. */
#include "loader.h"

#include <stdlib.h>
#include <string.h>

/* Elements of a list, empty ones left out (grey area 16). The list is our own copy: the environment stays as it is, for
 * the application and its children (23). */
static void list_each(char *list, void (*use)(const char *library))
{
    while (list) {
        char *end = strchr(list, PATH_LIST_SEPARATOR);
        if (end) {
            *end++ = '\0';
        }
        if (*list) {
            use(list);
        }
        list = end;
    }
}

static void use_list(const char *variable, void (*use)(const char *library))
{
    char *list = selecting_variable(variable);
    list_each(list, use);
    free(list);
}

/* A variable that is set replaces the system's folder, also when it names nothing usable. It names a folder, nothing
 * else. An empty one counts as unset: an application that clears a variable hardly wants no vendor at all. Grey area
 * 20: no text has these variables, all loaders do. */
static void use_folder(const char *variable, const char *otherwise, const char *suffix,
                       void (*use)(const char *library))
{
    char *folder = selecting_variable(variable);
    folder_each(folder && *folder ? folder : otherwise, suffix, use);
    free(folder);
}

/* ICD "ICD Loader Vendor Enumeration on Linux": every file of /etc/OpenCL/vendors names one library; "on Windows":
 * every value of a registry key does. OCL_ICD_FILENAMES (grey area 21: no text has it) comes first: who sets it wants
 * those libraries. */
void discover_vendors(void)
{
    use_list("OCL_ICD_FILENAMES", vendor_add);
    use_folder("OCL_ICD_VENDORS", VENDORS_FOLDER, ".icd", vendor_add);
}

/* LAY "New Environment Variables": the last layer of the list is the first to be called. The system's layers, which no
 * text has, are closer to the vendors than those of the environment. Layers are loaded where there are no vendors, too
 * (grey area 28: one may bring platforms of its own). */
void discover_layers(void)
{
    use_folder("OPENCL_LAYER_PATH", LAYERS_FOLDER, ".lay", layer_add);
    use_list("OPENCL_LAYERS", layer_add);
}
