/* SPDX-License-Identifier: Apache-2.0 */
/* The devices that the settings file leaves, in its order. */
#include "vulkan_loader.h"

#include <string.h>

#define CALL(listed, name) ((PFN_##name)(listed)->driver->functions[VULKAN_##name])

static bool fits(const struct listed *listed, VkPhysicalDevice handle, const struct device_choice *choice)
{
    PFN_vkGetPhysicalDeviceProperties2 query = CALL(listed, vkGetPhysicalDeviceProperties2);
    VkPhysicalDeviceIDProperties identity = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES};
    VkPhysicalDeviceProperties2 properties = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, &identity, {0}};
    if (!query) {
        return false;
    }
    query(handle, &properties);
    return properties.properties.apiVersion >= VK_API_VERSION_1_1 &&
           properties.properties.driverVersion == choice->version &&
           memcmp(identity.deviceUUID, choice->device, VK_UUID_SIZE) == 0 &&
           memcmp(identity.driverUUID, choice->driver, VK_UUID_SIZE) == 0;
}

static bool is_chosen(const struct device_choices *choices, const struct listed *listed, VkPhysicalDevice handle)
{
    for (size_t i = 0; i < choices->count; i++) {
        if (fits(listed, handle, &choices->list[i])) {
            return true;
        }
    }
    return false;
}

static bool is_whole_group_chosen(const struct device_choices *choices, const struct listed *listed)
{
    for (uint32_t i = 0; i < listed->group.physicalDeviceCount && i < VK_MAX_DEVICE_GROUP_SIZE; i++) {
        if (!is_chosen(choices, listed, listed->group.physicalDevices[i])) {
            return false;
        }
    }
    return true;
}

void choice_apply(const struct device_choices *choices, struct listed *listed, size_t *count)
{
    size_t kept = 0;
    if (*count > 0 && listed->group.physicalDeviceCount > 0) {
        for (size_t i = 0; i < *count; i++) {
            if (is_whole_group_chosen(choices, &listed[i])) {
                listed[kept++] = listed[i];
            }
        }
        *count = kept;
        return;
    }
    for (size_t i = 0; i < choices->count; i++) {
        for (size_t j = kept; j < *count; j++) {
            if (fits(&listed[j], listed[j].handle, &choices->list[i])) {
                struct listed one = listed[j];
                memmove(&listed[kept + 1], &listed[kept], (j - kept) * sizeof *listed);
                listed[kept++] = one;
                break;
            }
        }
    }
    *count = kept;
}
