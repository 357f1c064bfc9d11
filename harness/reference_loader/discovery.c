/* Which libraries are tried: lists and folders in the environment, else the system's folders. */
#include "loader.h"

#include <stdlib.h>
#include <string.h>

/* Elements of a list, empty ones left out. The list is our own copy: the environment stays as it is. */
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

/* A variable that is set replaces the system's folder, also when it names nothing usable. An empty one counts as
 * unset: the texts are silent, and an application that clears a variable hardly wants no vendor at all. */
static void use_folder(const char *variable, const char *otherwise, const char *suffix,
                       void (*use)(const char *library))
{
    char *folder = selecting_variable(variable);
    folder_each(folder && *folder ? folder : otherwise, suffix, use);
    free(folder);
}

/* ICD "Vendor Enumeration on Linux": every file of /etc/OpenCL/vendors names one library. */
void discover_vendors(void)
{
    use_list("OCL_ICD_FILENAMES", vendor_add);
    use_folder("OCL_ICD_VENDORS", VENDORS_FOLDER, ".icd", vendor_add);
}

/* LAY "Layer Discovery": the system's layers are closer to the vendors than those of the environment. */
void discover_layers(void)
{
    use_folder("OPENCL_LAYER_PATH", LAYERS_FOLDER, ".lay", layer_add);
    use_list("OPENCL_LAYERS", layer_add);
}
