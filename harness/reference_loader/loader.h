/* SPDX-License-Identifier: Apache-2.0 */
/* The reference loader: an OpenCL ICD loader that does what the specifications say, and where they are silent the
 * careful thing: it never crashes, never hangs, ignores what is wrong and goes on.
 *
 * What an ICD loader must do, in the order in which to read it:
 *
 *   loader.c        starts discovery in the first call, once, and ends everything when the library is unloaded
 *   discovery.c     which libraries are tried; where their names come from differs between systems: os_linux.c,
 *                   os_windows_registry.c
 *   acceptance.c    which of their platforms are offered to the application
 *   dispatch.h      how a call finds the vendor that it is for
 *   entry_points.c  the calls that need more than one handle for that; all others are generated (generate.py)
 *   layers.c        libraries that stand between the application and all of the above
 *   os_linux.c, os_windows.c  libraries, locks and variables of the system
 *
 * Texts are cited as "ICD" (OpenCL-Docs api/cl_khr_icd.asciidoc 2.0.1), "LAY"
 * (extensions/cl_loader_layers.asciidoc 1.0.1), "API" (the OpenCL specification). "Grey area 16" is the 16th entry of
 * harness/requirements/grey_areas.toml, where texts are silent or contradict each other; other loaders may do
 * otherwise there, and the checks accept it.
 */
#ifndef CLHARNESS_REFERENCE_LOADER_H
#define CLHARNESS_REFERENCE_LOADER_H

#include "clharness_cl.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A dispatch table as an array: the entries of cl_icd_dispatch by slot. */
typedef void (*entry)(void);

struct table {
    entry slot[TABLE_LENGTH];
};

/* What the loader gives an ICD 2 platform as its dispatch data; the ICD puts it into the second word of each object
 * of the platform, and the loader finds its own table there (ICD "Loader-Managed Dispatch"). */
struct dispatch_data {
    struct table table;
};

/* One platform that is offered to the application. */
struct platform {
    cl_platform_id id;
    char *suffix;
    bool unloadable;
    void *library; /* one reference of its own */
    void *(CL_API_CALL *extension_address)(const char *name);
    struct dispatch_data *dispatch_data; /* of an ICD 2 platform, else NULL */
    struct platform *next;
};

extern struct platform *first_platform;

/* --- loader.c --- */

/* Runs discovery once, in the first call that needs it. A call from inside of discovery (a vendor's constructor, say)
 * returns at once and sees what has been found so far (grey area 45). */
void loader_initialize(void);
/* Removes layers and vendors; called once, when the library is unloaded. */
void loader_deinitialize(void);

/* --- discovery.c --- */

/* Tries all libraries that configuration and environment name, in order. */
void discover_vendors(void);
void discover_layers(void);

/* --- acceptance.c --- */

/* Opens a vendor library and appends the platforms that pass every step; closes it where none does. */
void vendor_add(const char *library);
void vendors_remove(void);

/* --- layers.c --- */

/* The table that calls go to first: that of the last layer, or NULL without layers. */
extern const struct table *first_layer_table;

void layer_add(const char *library);
void layers_remove(void);

/* --- generated --- */

/* The loader's own end of the chain: functions that find the vendor. */
extern const struct table loader_table;

/* --- os_linux.c, os_windows.c: what differs between systems --- */

/* Keeps all threads but one out of discovery. */
void discovery_lock(void);
void discovery_unlock(void);
/* Of the thread that asks; never 0. */
uintptr_t thread_number(void);
void *library_open(const char *name);
void library_close(void *library);
entry library_symbol(void *library, const char *name);
/* Whether the library is the loader itself. */
bool library_is_self(void *library);
/* The value of a variable that selects libraries, or NULL; ignored where the process has more privileges than its
 * user. To be given to free(). */
char *selecting_variable(const char *name);
bool variable_is_true(const char *name);

/* Whether the older scheme is asked for, in which nothing is removed; for layers of that time (no text has it, the
 * Khronos loader does). */
static inline bool legacy_termination(void)
{
    return variable_is_true("OCL_ICD_FORCE_LEGACY_TERMINATION");
}
/* Calls `use` with the library that each configuration file of a folder names; on Windows, each value of a registry
 * key (there, `suffix` tells vendors from layers). */
void folder_each(const char *folder, const char *suffix, void (*use)(const char *library));

#ifdef _WIN32
#define PATH_LIST_SEPARATOR ';'
#define VENDORS_FOLDER "SOFTWARE\\Khronos\\OpenCL\\Vendors"
#define LAYERS_FOLDER "SOFTWARE\\Khronos\\OpenCL\\Layers"
#else
#define PATH_LIST_SEPARATOR ':'
#define VENDORS_FOLDER "/etc/OpenCL/vendors"
#define LAYERS_FOLDER "/etc/OpenCL/layers"
#endif

#endif
