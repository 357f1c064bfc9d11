/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of a Vulkan loader, and what must be true of its answers. */
#include "loader.h"

#include <string.h>

/* A function that every loader exports, with its type. */
#define EXPORTED(name) ((PFN_##name)subject_symbol(#name))
/* One of an instance, by query. */
#define FOUND(instance, name) ((PFN_##name)loader_find(instance, #name))

address loader_find(VkInstance instance, const char *name)
{
    return (address)EXPORTED(vkGetInstanceProcAddr)(instance, name);
}

VkResult loader_create_instance(const VkInstanceCreateInfo *info, VkInstance *to)
{
    return EXPORTED(vkCreateInstance)(info, NULL, to);
}

void loader_destroy_instance(VkInstance instance)
{
    EXPORTED(vkDestroyInstance)(instance, NULL);
}

static bool is_result_of_list(VkResult result)
{
    return result == VK_SUCCESS || result == VK_INCOMPLETE;
}

void check_extensions(void)
{
    PFN_vkEnumerateInstanceExtensionProperties list = EXPORTED(vkEnumerateInstanceExtensionProperties);
    uint32_t count = 0;
    if (list(NULL, &count, NULL) != VK_SUCCESS) {
        grey("extensions cannot be listed");
        return;
    }
    for (uint32_t room = count; count > 0 && room + 1 >= count && room > 0; room--) {
        uint32_t number = room;
        VkExtensionProperties *names = guarded(room * sizeof *names);
        VkResult result = list(NULL, &number, names);
        if (is_result_of_list(result) && (number > room || (room < count) != (result == VK_INCOMPLETE))) {
            finding("wrong", "extension-count", "%u extensions, room for %u: answers %d and %u", count, room, result,
                    number);
        }
        for (uint32_t i = 0; is_result_of_list(result) && i < number; i++) {
            for (uint32_t j = 0; j < i; j++) {
                if (texts_equal(names[i].extensionName, names[j].extensionName)) {
                    finding("wrong", "extension-twice", "%s is listed twice", names[i].extensionName);
                }
            }
        }
    }
}

/* --- devices --- */

static struct driver *owner_of(VkPhysicalDevice device)
{
    VkPhysicalDeviceProperties *properties = guarded(sizeof *properties);
    EXPORTED(vkGetPhysicalDeviceProperties)(device, properties);
    return driver_of_device(properties->deviceName);
}

struct offered_devices devices_offered(VkInstance instance)
{
    struct offered_devices offered = {.count = 0};
    uint32_t count = 0;
    VkResult result = EXPORTED(vkEnumeratePhysicalDevices)(instance, &count, NULL);
    if (result != VK_SUCCESS || count == 0) {
        return offered;
    }
    if (count > OFFERED) {
        finding("wrong", "device-count", "%u devices are offered, and the drivers have fewer", count);
        return offered;
    }
    VkPhysicalDevice *devices = guarded(count * sizeof *devices);
    result = EXPORTED(vkEnumeratePhysicalDevices)(instance, &count, devices);
    for (uint32_t i = 0; is_result_of_list(result) && i < count; i++) {
        struct driver *owner = owner_of(devices[i]);
        for (uint32_t j = 0; j < i; j++) {
            if (devices[i] == devices[j]) {
                finding("wrong", "device-twice", "a device is listed twice");
            }
        }
        if (owner) {
            offered.device[offered.count] = devices[i];
            offered.owner[offered.count++] = owner;
        } else {
            finding("wrong", "device-of-nobody", "a device that is listed is of no driver");
        }
    }
    saw("devices", offered.count);
    return offered;
}

/* Whether some driver's answer may be that of the loader. */
static bool may_fail(unsigned driver_count)
{
    for (unsigned d = 0; d < driver_count; d++) {
        if (driver_is_out_of_memory(&drivers[d])) {
            return true;
        }
    }
    return false;
}

/* Whether no driver fails to list its devices: loaders may hand that on, and list none (VK-OBJ-013). */
static bool can_be_listed(unsigned driver_count)
{
    for (unsigned d = 0; d < driver_count; d++) {
        if (drivers[d].device_count_result != VK_SUCCESS || drivers[d].device_list_result != VK_SUCCESS) {
            return false;
        }
    }
    return true;
}

void check_offered(const struct offered_devices *offered, unsigned driver_count)
{
    for (unsigned d = 0; d < driver_count; d++) {
        const struct driver *driver = &drivers[d];
        unsigned listed = 0;
        for (uint32_t i = 0; i < offered->count; i++) {
            listed += offered->owner[i] == driver;
        }
        bool is_wanted = driver_is_faultless(driver) && !may_fail(driver_count) && can_be_listed(driver_count);
        if (is_wanted && listed != driver->device_count) {
            finding("wrong", "not-offered", "nothing is wrong with driver %u, and %u of its %u devices are offered", d,
                    listed, driver->device_count);
        }
        if (listed > 0 && driver->refused) {
            finding("wrong", "offered-after-refusal", "driver %u refused the interface, and its devices are offered",
                    d);
        }
    }
}

void check_no_instance(VkResult result, unsigned driver_count)
{
    for (unsigned d = 0; d < driver_count; d++) {
        if (driver_is_faultless(&drivers[d]) && !may_fail(driver_count)) {
            finding("wrong", "no-instance", "nothing is wrong with driver %u, and vkCreateInstance answers %d", d,
                    result);
        }
    }
}

void list_groups_of(VkInstance instance)
{
    PFN_vkEnumeratePhysicalDeviceGroups list = FOUND(instance, vkEnumeratePhysicalDeviceGroups);
    uint32_t count = 0;
    if (!list || list(instance, &count, NULL) != VK_SUCCESS || count == 0 || count > OFFERED) {
        return;
    }
    VkPhysicalDeviceGroupProperties *groups = guarded(count * sizeof *groups);
    for (uint32_t i = 0; i < count; i++) {
        groups[i] = (VkPhysicalDeviceGroupProperties){.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_GROUP_PROPERTIES};
    }
    VkResult result = list(instance, &count, groups);
    for (uint32_t i = 0; is_result_of_list(result) && i < count; i++) {
        for (uint32_t d = 0; d < groups[i].physicalDeviceCount && d < VK_MAX_DEVICE_GROUP_SIZE; d++) {
            owner_of(groups[i].physicalDevices[d]);
        }
    }
}

/* --- what is made of devices --- */

static void use_queue(VkDevice device, const struct driver *owner)
{
    PFN_vkGetDeviceProcAddr find = EXPORTED(vkGetDeviceProcAddr);
    PFN_vkGetDeviceQueue get = (PFN_vkGetDeviceQueue)find(device, "vkGetDeviceQueue");
    VkQueue queue = NULL;
    if (get && !driver_lacks(owner, VULKAN_vkGetDeviceQueue) && !driver_lacks(owner, VULKAN_vkQueueWaitIdle)) {
        get(device, 0, 0, &queue);
        EXPORTED(vkQueueWaitIdle)(queue);
    }
}

static void use_command_buffer(VkDevice device, const struct driver *owner)
{
    const VkCommandBufferAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                              .commandBufferCount = 2};
    VkCommandBuffer *buffers = guarded(2 * sizeof *buffers);
    if (driver_lacks(owner, VULKAN_vkAllocateCommandBuffers) || driver_lacks(owner, VULKAN_vkEndCommandBuffer)) {
        return;
    }
    if (EXPORTED(vkAllocateCommandBuffers)(device, &info, buffers) == VK_SUCCESS) {
        EXPORTED(vkEndCommandBuffer)(buffers[1]);
    }
}

static void use_own_function(VkInstance instance, VkPhysicalDevice device, const struct driver *owner)
{
    typedef uint64_t own_function(VkPhysicalDevice device);
    own_function *own = (own_function *)loader_find(instance, OWN_FUNCTION);
    bool has_it = owner->has_own_function && !owner->hides_get_physical && owner->interface >= 4;
    if (own && has_it && owner->offered >= 4 && own(device) != 2000 + (uint64_t)owner->number) {
        finding("wrong", "own-function", "a driver's own function of physical devices reaches another driver");
    }
}

void use_device(VkInstance instance, VkPhysicalDevice physical_device, const struct driver *owner)
{
    const VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO};
    VkDevice device = NULL;
    uint32_t count = 0;
    if (driver_lacks(owner, VULKAN_vkDestroyDevice)) {
        return; /* a device that could never be destroyed */
    }
    if (!owner->negotiates && !owner->hides_negotiate) {
        use_own_function(instance, physical_device, owner);
    }
    EXPORTED(vkEnumerateDeviceExtensionProperties)(physical_device, NULL, &count, NULL);
    VkResult result = EXPORTED(vkCreateDevice)(physical_device, &info, NULL, &device);
    if ((result == VK_SUCCESS) != (owner->create_device_result == VK_SUCCESS)) {
        finding("wrong", "device-result", "driver %d answers %d to vkCreateDevice, the loader %d", owner->number,
                owner->create_device_result, result);
        return;
    }
    if (result != VK_SUCCESS) {
        return;
    }
    use_queue(device, owner);
    use_command_buffer(device, owner);
    EXPORTED(vkDestroyDevice)(device, NULL);
}

bool texts_are_clear(unsigned driver_count)
{
    for (unsigned d = 0; d < driver_count; d++) {
        if (!driver_is_faultless(&drivers[d]) || drivers[d].group_result) {
            return false;
        }
    }
    return true;
}
