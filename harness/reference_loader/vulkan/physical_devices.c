/* SPDX-License-Identifier: Apache-2.0 */
/* Physical devices and groups of all drivers, each device as an object of the loader's. */
#include "vulkan_loader.h"

#include <stdlib.h>
#include <string.h>

#define CALL(device, name) ((PFN_##name)(device)->driver->functions[VULKAN_##name])

struct physical_device *physical_devices_wrap(struct instance *instance, struct driver *driver, VkPhysicalDevice handle)
{
    for (struct physical_device *known = instance->devices; known; known = known->next) {
        if (known->driver == driver && known->handle == handle) {
            return known;
        }
    }
    struct physical_device *device = memory_take_like(instance, sizeof *device);
    if (device) {
        *device = (struct physical_device){instance, driver, handle, instance->devices};
        instance->devices = device;
    }
    return device;
}

void physical_devices_forget(struct instance *instance)
{
    while (instance->devices) {
        struct physical_device *device = instance->devices;
        instance->devices = device->next;
        memory_give(device);
    }
}

/* --- enumeration --- */

/* The devices of one driver, for the caller to free; their number, 0 where it cannot list them. */
static uint32_t list_devices(const struct driver *driver, VkPhysicalDevice **devices)
{
    uint32_t count = 0;
    PFN_vkEnumeratePhysicalDevices ask =
        (PFN_vkEnumeratePhysicalDevices)driver->functions[VULKAN_vkEnumeratePhysicalDevices];
    *devices = NULL;
    if (ask(driver->instance, &count, NULL) != VK_SUCCESS || count == 0) {
        return 0;
    }
    uint32_t room = count;
    *devices = calloc(count, sizeof(**devices));
    if (!*devices || ask(driver->instance, &count, *devices) < VK_SUCCESS) {
        return 0;
    }
    return count < room ? count : room;
}

/* Adds an entry to what is listed; false where there is no memory. */
static bool add_listed(struct listed **listed, size_t *count, const struct listed *entry)
{
    struct listed *more = realloc(*listed, (*count + 1) * sizeof *more);
    if (more) {
        *listed = more;
        more[(*count)++] = *entry;
    }
    return more != NULL;
}

VkResult loader_vkEnumeratePhysicalDevices(struct instance *instance, uint32_t *count, struct physical_device **to);
VkResult loader_vkEnumeratePhysicalDevices(struct instance *instance, uint32_t *count, struct physical_device **to)
{
    struct listed *listed = NULL;
    size_t all = 0;
    uint32_t room = to ? *count : 0;
    for (size_t i = 0; i < instance->driver_count; i++) {
        VkPhysicalDevice *devices;
        uint32_t number = list_devices(&instance->drivers[i], &devices);
        for (uint32_t j = 0; j < number; j++) {
            add_listed(&listed, &all, &(struct listed){.driver = &instance->drivers[i], .handle = devices[j]});
        }
        free(devices);
    }
    sorting_sort(listed, all);
    if (instance->choices.is_made) {
        choice_apply(&instance->choices, listed, &all);
        if (all == 0) {
            free(listed);
            return VK_ERROR_INITIALIZATION_FAILED;
        }
    }
    bool has_memory = true;
    for (size_t i = 0; listed && i < all && i < room; i++) {
        to[i] = physical_devices_wrap(instance, listed[i].driver, listed[i].handle);
        has_memory = has_memory && to[i];
    }
    free(listed);
    if (!has_memory) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    *count = to && room < all ? room : (uint32_t)all;
    return to && room < all ? VK_INCOMPLETE : VK_SUCCESS;
}

/* --- groups --- */

/* The groups of one driver, for the caller to free; where it knows no groups, each device is one. */
static uint32_t list_groups(const struct driver *driver, VkPhysicalDeviceGroupProperties **groups)
{
    uint32_t count = 0;
    PFN_vkEnumeratePhysicalDeviceGroups ask =
        (PFN_vkEnumeratePhysicalDeviceGroups)driver->functions[VULKAN_vkEnumeratePhysicalDeviceGroups];
    *groups = NULL;
    if (ask) {
        if (ask(driver->instance, &count, NULL) != VK_SUCCESS || count == 0) {
            return 0;
        }
        uint32_t room = count;
        *groups = calloc(count, sizeof **groups);
        for (uint32_t i = 0; *groups && i < count; i++) {
            (*groups)[i].sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_GROUP_PROPERTIES;
        }
        if (!*groups || ask(driver->instance, &count, *groups) < VK_SUCCESS) {
            return 0;
        }
        return count < room ? count : room;
    }
    VkPhysicalDevice *devices;
    count = list_devices(driver, &devices);
    *groups = calloc(count + 1, sizeof **groups);
    for (uint32_t i = 0; *groups && i < count; i++) {
        (*groups)[i].physicalDeviceCount = 1;
        (*groups)[i].physicalDevices[0] = devices[i];
    }
    free(devices);
    return *groups ? count : 0;
}

/* A group as the application sees it; false where there is no memory for its devices. */
static bool fill_group(struct instance *instance, struct driver *driver, VkPhysicalDeviceGroupProperties *to,
                       const VkPhysicalDeviceGroupProperties *group)
{
    uint32_t count = group->physicalDeviceCount;
    to->physicalDeviceCount = count < VK_MAX_DEVICE_GROUP_SIZE ? count : VK_MAX_DEVICE_GROUP_SIZE;
    to->subsetAllocation = group->subsetAllocation;
    for (uint32_t i = 0; i < to->physicalDeviceCount; i++) {
        to->physicalDevices[i] = (VkPhysicalDevice)physical_devices_wrap(instance, driver, group->physicalDevices[i]);
        if (!to->physicalDevices[i]) {
            return false;
        }
    }
    return true;
}

/* Puts the devices of a group in order. */
static void sort_group(struct listed *group)
{
    struct listed devices[VK_MAX_DEVICE_GROUP_SIZE];
    uint32_t count = group->group.physicalDeviceCount;
    count = count < VK_MAX_DEVICE_GROUP_SIZE ? count : VK_MAX_DEVICE_GROUP_SIZE;
    for (uint32_t i = 0; i < count; i++) {
        devices[i] = (struct listed){.driver = group->driver, .handle = group->group.physicalDevices[i]};
    }
    sorting_sort(devices, count);
    for (uint32_t i = 0; i < count; i++) {
        group->group.physicalDevices[i] = devices[i].handle;
    }
    group->handle = group->group.physicalDevices[0];
}

VkResult loader_vkEnumeratePhysicalDeviceGroups(struct instance *instance, uint32_t *count,
                                                VkPhysicalDeviceGroupProperties *to);
VkResult loader_vkEnumeratePhysicalDeviceGroups(struct instance *instance, uint32_t *count,
                                                VkPhysicalDeviceGroupProperties *to)
{
    struct listed *listed = NULL;
    size_t all = 0;
    uint32_t room = to ? *count : 0;
    for (size_t i = 0; i < instance->driver_count; i++) {
        VkPhysicalDeviceGroupProperties *groups;
        uint32_t number = list_groups(&instance->drivers[i], &groups);
        for (uint32_t j = 0; j < number; j++) {
            struct listed group = {.driver = &instance->drivers[i], .group = groups[j]};
            sort_group(&group);
            add_listed(&listed, &all, &group);
        }
        free(groups);
    }
    sorting_sort(listed, all);
    if (instance->choices.is_made) {
        choice_apply(&instance->choices, listed, &all);
    }
    bool has_memory = true;
    for (size_t i = 0; listed && i < all && i < room; i++) {
        has_memory = fill_group(instance, listed[i].driver, &to[i], &listed[i].group) && has_memory;
    }
    free(listed);
    if (!has_memory) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    *count = to && room < all ? room : (uint32_t)all;
    return to && room < all ? VK_INCOMPLETE : VK_SUCCESS;
}

/* --- what the loader answers itself --- */

VkResult loader_vkEnumerateDeviceExtensionProperties(struct physical_device *device, const char *layer, uint32_t *count,
                                                     VkExtensionProperties *to);
VkResult loader_vkEnumerateDeviceExtensionProperties(struct physical_device *device, const char *layer, uint32_t *count,
                                                     VkExtensionProperties *to)
{
    if (layer && *layer) {
        return VK_ERROR_LAYER_NOT_PRESENT;
    }
    return CALL(device, vkEnumerateDeviceExtensionProperties)(device->handle, NULL, count, to);
}

VkResult loader_vkEnumerateDeviceLayerProperties(struct physical_device *device, uint32_t *count,
                                                 VkLayerProperties *to);
VkResult loader_vkEnumerateDeviceLayerProperties(struct physical_device *device, uint32_t *count, VkLayerProperties *to)
{
    (void)device;
    (void)to;
    *count = 0;
    return VK_SUCCESS;
}
