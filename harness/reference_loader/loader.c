/* SPDX-License-Identifier: Apache-2.0 */
/* Life of the loader: discovery in the first call that needs it, once; removal when the library is unloaded.
 *
 * The text says what discovery does, not when. In the first call, and not while the library is loaded: an application
 * may set the environment first, and nothing is opened in a process that only happens to be linked to the loader.
 */
#include "loader.h"

#include <stdatomic.h>

static atomic_bool initialized;
/* The thread that discovers, or 0. Not a variable of each thread: where compilers emulate those, the system's handles
 * for them stay behind when the library is unloaded. */
static atomic_uintptr_t discoverer;

static bool is_inside(void)
{
    return atomic_load(&discoverer) == thread_number();
}

void loader_initialize(void)
{
    if (atomic_load_explicit(&initialized, memory_order_acquire) || is_inside()) {
        return; /* a call back from a library that is being loaded or asked; waiting would be for ever */
    }
    discovery_lock();
    if (!atomic_load(&initialized)) {
        atomic_store(&discoverer, thread_number());
        discover_vendors();
        discover_layers();
        atomic_store(&discoverer, 0);
        atomic_store_explicit(&initialized, true, memory_order_release);
    }
    discovery_unlock();
}

/* Layers first: they may still call vendors (LAY "Deinitialization"). Calls that come later, from destructors, find no
 * platform and no layer (grey area 43: up to the implementation). */
void loader_deinitialize(void)
{
    if (!legacy_termination()) {
        layers_remove();
        vendors_remove();
    }
}

#ifndef _WIN32 /* there DllMain calls it */
__attribute__((destructor)) static void unloaded(void)
{
    loader_deinitialize();
}
#endif
