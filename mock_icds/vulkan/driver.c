/* SPDX-License-Identifier: Apache-2.0 */
/* The mock Vulkan driver as a library: what it exports, and what it does when it is loaded and unloaded.
 *
 * Which symbols exist depends on the build: DRIVER_EXPORTS_… (see CMakeLists.txt for the variants).
 */
#define _GNU_SOURCE
#include "config.h"
#include "lookup.h"
#include "negotiation.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define EXPORTED __attribute__((visibility("default")))
#define FORWARD(name, ...)                      \
    const uint64_t arguments[] = {__VA_ARGS__}; \
    return (VkResult)vulkan_component_call(VULKAN_##name, arguments)

/* What depends on whether this process has loaded the library before. */
static void note_load(void)
{
    static const char variable[] = "CLHARNESS_MOCK_LOADED";
    bool again = getenv(variable) != NULL;
    if (again && fault(FAULT_loads_once, ANY_PLATFORM)) {
        abort();
    }
    config.devices += again && fault(FAULT_loads_with_other_devices, ANY_PLATFORM);
    if (fault(FAULT_loads_once, ANY_PLATFORM) || fault(FAULT_loads_with_other_devices, ANY_PLATFORM)) {
        setenv(variable, "1", 1);
    }
}

__attribute__((constructor)) static void loaded(void)
{
    config_load();
    lookup_open(vulkan_entries);
    log_event("loaded", NULL);
    note_load();
    if (fault(FAULT_constructor_sets_environment, ANY_PLATFORM)) {
        setenv("CLHARNESS_MOCK", "1", 1);
    }
    if (fault(FAULT_constructor_prints, ANY_PLATFORM)) {
        puts("the driver's greeting");
    }
    if (fault(FAULT_constructor_opens_inherited_file, ANY_PLATFORM)) {
        open("/dev/null", O_RDONLY);
    }
    if (fault(FAULT_constructor_sleeps, ANY_PLATFORM)) {
        long milliseconds = fault_value(FAULT_constructor_sleeps, ANY_PLATFORM, 0);
        struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
        nanosleep(&time, NULL);
    }
    if (fault(FAULT_constructor_aborts, ANY_PLATFORM)) {
        abort();
    }
    if (fault(FAULT_constructor_exits, ANY_PLATFORM)) {
        exit((int)fault_value(FAULT_constructor_exits, ANY_PLATFORM, 0));
    }
}

__attribute__((destructor)) static void unloaded(void)
{
    if (fault(FAULT_destructor_aborts, ANY_PLATFORM)) {
        abort();
    }
    log_event("unloaded", NULL);
    sidefile_unload();
}

/* --- the interface between loaders and drivers --- */

#ifdef DRIVER_EXPORTS_NEGOTIATE
EXPORTED VkResult vk_icdNegotiateLoaderICDInterfaceVersion(uint32_t *version);
EXPORTED VkResult vk_icdNegotiateLoaderICDInterfaceVersion(uint32_t *version)
{
    return negotiation(version);
}
#endif

#ifdef DRIVER_EXPORTS_GET_INSTANCE_PROC
EXPORTED function_pointer vk_icdGetInstanceProcAddr(VkInstance instance, const char *name);
EXPORTED function_pointer vk_icdGetInstanceProcAddr(VkInstance instance, const char *name)
{
    return lookup_instance("vk_icdGetInstanceProcAddr", (uint64_t)(uintptr_t)instance, name);
}
#endif

#ifdef DRIVER_EXPORTS_GET_PHYSICAL_DEVICE_PROC
EXPORTED function_pointer vk_icdGetPhysicalDeviceProcAddr(VkInstance instance, const char *name);
EXPORTED function_pointer vk_icdGetPhysicalDeviceProcAddr(VkInstance instance, const char *name)
{
    return lookup_physical_device((uint64_t)(uintptr_t)instance, name);
}
#endif

/* --- official names, as drivers of version 0 export them --- */

#ifdef DRIVER_EXPORTS_OFFICIAL_GET
EXPORTED function_pointer vkGetInstanceProcAddr(VkInstance instance, const char *name)
{
    return lookup_instance("vkGetInstanceProcAddr", (uint64_t)(uintptr_t)instance, name);
}
#endif

#ifdef DRIVER_EXPORTS_OFFICIAL_CREATE
EXPORTED VkResult vkCreateInstance(const VkInstanceCreateInfo *info, const VkAllocationCallbacks *allocator,
                                   VkInstance *instance)
{
    log_event("exported function", "vkCreateInstance");
    FORWARD(vkCreateInstance, (uintptr_t)info, (uintptr_t)allocator, (uintptr_t)instance);
}
#endif

#ifdef DRIVER_EXPORTS_OFFICIAL_EXTENSIONS
EXPORTED VkResult vkEnumerateInstanceExtensionProperties(const char *layer, uint32_t *count,
                                                         VkExtensionProperties *properties)
{
    log_event("exported function", "vkEnumerateInstanceExtensionProperties");
    FORWARD(vkEnumerateInstanceExtensionProperties, (uintptr_t)layer, (uintptr_t)count, (uintptr_t)properties);
}
#endif

#ifdef DRIVER_CALLS_MISSING_FUNCTION
/* Never called: the library cannot be bound with RTLD_NOW. */
extern void clharness_function_that_nobody_has(void);
EXPORTED void clharness_unresolved(void);
EXPORTED void clharness_unresolved(void)
{
    clharness_function_that_nobody_has();
}
#endif

#ifdef DRIVER_CALLS_LOADER
/* Never called: the function is another library's. */
EXPORTED void clharness_calls_loader(void);
EXPORTED void clharness_calls_loader(void)
{
    vkDestroyDevice(VK_NULL_HANDLE, NULL);
}
#endif

#ifdef DRIVER_INTERPOSABLE
/* An own function by its official name, which another library's of that name may replace. */
EXPORTED PFN_vkCreateInstance clharness_by_name(void);
EXPORTED PFN_vkCreateInstance clharness_by_name(void)
{
    return vkCreateInstance;
}
#endif
