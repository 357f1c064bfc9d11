/* Life of the loader: discovery in the first call that needs it, once; removal when the library is unloaded. */
#include "loader.h"

#include <pthread.h>
#include <stdatomic.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool initialized;
static _Thread_local bool inside;

void loader_initialize(void)
{
    if (atomic_load_explicit(&initialized, memory_order_acquire) || inside) {
        return; /* `inside`: a call back from a library that is being loaded or asked; waiting would be for ever */
    }
    pthread_mutex_lock(&lock);
    if (!atomic_load(&initialized)) {
        inside = true;
        discover_vendors();
        discover_layers();
        inside = false;
        atomic_store_explicit(&initialized, true, memory_order_release);
    }
    pthread_mutex_unlock(&lock);
}

bool legacy_termination(void)
{
    return variable_is_true("OCL_ICD_FORCE_LEGACY_TERMINATION");
}

/* Layers first: they may still call vendors (LAY "Deinitialization"). Late calls find no platform and no layer. */
__attribute__((destructor)) static void deinitialize(void)
{
    if (!legacy_termination()) {
        layers_remove();
        vendors_remove();
    }
}
