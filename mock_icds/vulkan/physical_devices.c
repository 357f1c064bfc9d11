/* SPDX-License-Identifier: Apache-2.0 */
/* Physical devices: their enumeration, their groups, and what they say about themselves. */
#include "extensions.h"
#include "implementation.h"
#include "objects.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- enumeration --- */

static int device_count(void)
{
    return config.devices < MAX_DEVICES ? config.devices : MAX_DEVICES;
}

static struct object *device_of(struct object *instance, int index)
{
    struct object *device =
        fails(FAULT_device_list_has_new_handles) ? NULL : object_find(KIND_physical_device, instance, index);
    return device ? device : object_make(KIND_physical_device, instance, index, FAULT_physical_device_without_magic);
}

/* The devices there are now: with `device_count_grows`, one more each time that their number is asked. */
static uint32_t devices_now(bool is_asked)
{
    static _Atomic int asked;
    asked += is_asked && fails(FAULT_device_count_grows);
    int count = device_count() + (asked > 0 ? asked - 1 : 0);
    return (uint32_t)(count < MAX_DEVICES ? count : MAX_DEVICES);
}

static uint64_t enumerate_devices(const uint64_t *a)
{
    struct object *instance = object_of(a[0], KIND_instance);
    uint32_t *count = pointer(a[1]);
    VkPhysicalDevice *devices = pointer(a[2]);
    enum fault failing = devices ? FAULT_device_list_fails : FAULT_device_count_fails;
    if (fails(FAULT_device_list_crashes)) {
        abort();
    }
    if (fails(failing)) {
        return failure(failing);
    }
    uint32_t all = fails(FAULT_devices_go_with_surfaces) && surfaces_were_asked ? 0 : devices_now(!devices);
    if (!devices) {
        *count = all;
        return fails(FAULT_device_count_fails_late) ? failure(FAULT_device_count_fails_late) : VK_SUCCESS;
    }
    all -= fails(FAULT_device_list_is_shorter) && all > 0 ? 1 : 0;
    uint32_t written = *count < all ? *count : all;
    uint32_t more = fails(FAULT_device_list_overflows) && written < all ? 1 : 0;
    for (uint32_t i = 0; i < written + more; i++) {
        devices[i] = (VkPhysicalDevice)device_of(instance, (int)i);
    }
    *count = written;
    claim_more(FAULT_device_list_claims_more, count, devices);
    if (fails(FAULT_device_list_fails_late)) {
        return failure(FAULT_device_list_fails_late);
    }
    if (fails(FAULT_device_list_never_incomplete)) {
        return VK_SUCCESS;
    }
    return written < all || fails(FAULT_device_list_incomplete) ? VK_INCOMPLETE : VK_SUCCESS;
}

/* How many devices the n-th group has; 0 after the last one. */
static uint32_t group_size(uint32_t group)
{
    const char *list = config.groups;
    const char *word;
    if (!*list) {
        return group < (uint32_t)device_count() ? 1 : 0;
    }
    size_t length = 0;
    for (uint32_t i = 0; i <= group; i++) {
        length = config_next_word(&list, &word);
    }
    return length > 0 ? (uint32_t)strtoul(word, NULL, 10) : 0;
}

static uint64_t enumerate_groups(const uint64_t *a)
{
    struct object *instance = object_of(a[0], KIND_instance);
    uint32_t *count = pointer(a[1]);
    VkPhysicalDeviceGroupProperties *groups = pointer(a[2]);
    enum fault failing = groups ? FAULT_group_list_fails : FAULT_group_count_fails;
    if (fails(failing)) {
        return failure(failing);
    }
    uint32_t group = 0;
    int next_device = 0;
    for (uint32_t size = group_size(group); size > 0; size = group_size(++group)) {
        if (groups && group == *count) {
            return fails(FAULT_device_list_never_incomplete) ? VK_SUCCESS : (uint64_t)VK_INCOMPLETE;
        }
        for (uint32_t i = 0; groups && i < size && i < VK_MAX_DEVICE_GROUP_SIZE; i++) {
            groups[group].physicalDevices[i] = (VkPhysicalDevice)device_of(instance, next_device++);
        }
        if (groups) {
            groups[group].physicalDeviceCount = size;
            claim_more(FAULT_group_claims_more_devices, &groups[group].physicalDeviceCount, groups);
            groups[group].subsetAllocation = VK_TRUE;
        }
    }
    *count = group;
    claim_more(FAULT_group_list_claims_more, count, groups);
    return VK_SUCCESS;
}

/* --- what a device says --- */

static void fill_properties(uint64_t device, VkPhysicalDeviceProperties *properties)
{
    const struct object *object = object_of(device, KIND_physical_device);
    memset(properties, 0, sizeof *properties);
    properties->apiVersion = config_version(config.api_version);
    properties->driverVersion = (uint32_t)config.driver_version;
    properties->vendorID = (uint32_t)config.vendor;
    properties->deviceID = object ? (uint32_t)object->index + 1 : 0;
    properties->deviceType = (VkPhysicalDeviceType)config.device_type;
    snprintf(properties->deviceName, sizeof properties->deviceName, "%.200s.%d", mock_name,
             object ? object->index : -1);
    snprintf((char *)properties->pipelineCacheUUID, sizeof properties->pipelineCacheUUID, "%.12s", mock_name);
}

static uint64_t get_properties(const uint64_t *a)
{
    fill_properties(a[0], pointer(a[1]));
    return 0;
}

/* Where the device is, for those who ask by VK_EXT_pci_bus_info. */
static void fill_place(uint64_t device, VkBaseOutStructure *part)
{
    const struct object *object = object_of(device, KIND_physical_device);
    if (part->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PCI_BUS_INFO_PROPERTIES_EXT && config.pci_bus >= 0) {
        VkPhysicalDevicePCIBusInfoPropertiesEXT *place = (VkPhysicalDevicePCIBusInfoPropertiesEXT *)part;
        uint32_t number = object ? (uint32_t)object->index : 0;
        number = config.pci_backwards ? MAX_DEVICES - 1 - number : number;
        place->pciDomain = (uint32_t)config.pci_domain;
        place->pciBus = (uint32_t)config.pci_bus;
        place->pciDevice = config.pci_device >= 0 ? (uint32_t)config.pci_device : number;
        place->pciFunction = (uint32_t)config.pci_function;
    }
}

/* Whose driver it is, for those who ask by VK_KHR_driver_properties. */
static void fill_driver(VkBaseOutStructure *part)
{
    if (part->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES) {
        ((VkPhysicalDeviceDriverProperties *)part)->driverID = (VkDriverId)config.driver_id;
    }
}

/* Which device and which driver it is, for those who ask by VkPhysicalDeviceIDProperties. */
static void fill_identity(uint64_t device, VkBaseOutStructure *part)
{
    const struct object *object = object_of(device, KIND_physical_device);
    if (part->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES) {
        VkPhysicalDeviceIDProperties *identity = (VkPhysicalDeviceIDProperties *)part;
        memset(identity->deviceUUID, 0, sizeof identity->deviceUUID);
        memset(identity->driverUUID, 0, sizeof identity->driverUUID);
        identity->deviceUUID[0] = (uint8_t)config.device_uuid;
        identity->deviceUUID[VK_UUID_SIZE - 1] = object ? (uint8_t)(object->index + 1) : 0;
        identity->driverUUID[0] = (uint8_t)config.driver_uuid;
    }
}

static uint64_t get_properties2(const uint64_t *a)
{
    VkPhysicalDeviceProperties2 *properties = pointer(a[1]);
    fill_properties(a[0], &properties->properties);
    for (VkBaseOutStructure *part = properties->pNext; part; part = part->pNext) {
        fill_place(a[0], part);
        fill_driver(part);
        fill_identity(a[0], part);
    }
    return 0;
}

static uint64_t get_features(const uint64_t *a)
{
    VkPhysicalDeviceFeatures *features = pointer(a[1]);
    memset(features, 0, sizeof *features);
    features->robustBufferAccess = VK_TRUE;
    return 0;
}

static uint64_t get_features2(const uint64_t *a)
{
    const uint64_t inner[] = {a[0], (uint64_t)(uintptr_t) & ((VkPhysicalDeviceFeatures2 *)pointer(a[1]))->features};
    return get_features(inner);
}

/* Two families, which differ in the number of their queues; `stride` bytes from one to the next. */
static void fill_queue_families(uint32_t *count, void *first, size_t stride)
{
    enum { ALL = 2, QUEUES = 4 };
    uint32_t written = first && *count < ALL ? *count : ALL;
    for (uint32_t i = 0; first && i < written; i++) {
        VkQueueFamilyProperties *to = (void *)((char *)first + i * stride);
        *to = (VkQueueFamilyProperties){.queueFlags = VK_QUEUE_GRAPHICS_BIT, .queueCount = QUEUES + i};
    }
    *count = written;
    claim_more(FAULT_queries_claim_more, count, first);
}

static uint64_t get_queue_families(const uint64_t *a)
{
    fill_queue_families(pointer(a[1]), pointer(a[2]), sizeof(VkQueueFamilyProperties));
    return 0;
}

static uint64_t get_queue_families2(const uint64_t *a)
{
    VkQueueFamilyProperties2 *families = pointer(a[2]);
    fill_queue_families(pointer(a[1]), families ? &families->queueFamilyProperties : NULL, sizeof *families);
    return 0;
}

/* Two formats, which differ in their flags; `stride` bytes from one to the next. */
static void fill_sparse(uint32_t *count, void *first, size_t stride)
{
    enum { ALL = 2 };
    uint32_t written = first && *count < ALL ? *count : ALL;
    for (uint32_t i = 0; first && i < written; i++) {
        VkSparseImageFormatProperties *to = (void *)((char *)first + i * stride);
        *to = (VkSparseImageFormatProperties){.aspectMask = VK_IMAGE_ASPECT_COLOR_BIT, .flags = i + 1};
    }
    *count = written;
    claim_more(FAULT_queries_claim_more, count, first);
}

static uint64_t get_sparse(const uint64_t *a)
{
    fill_sparse(pointer(a[6]), pointer(a[7]), sizeof(VkSparseImageFormatProperties));
    return 0;
}

static uint64_t get_sparse2(const uint64_t *a)
{
    VkSparseImageFormatProperties2 *formats = pointer(a[3]);
    fill_sparse(pointer(a[2]), formats ? &formats->properties : NULL, sizeof *formats);
    return 0;
}

static uint64_t get_memory(const uint64_t *a)
{
    VkPhysicalDeviceMemoryProperties *memory = pointer(a[1]);
    memset(memory, 0, sizeof *memory);
    memory->memoryTypeCount = 1;
    memory->memoryHeapCount = 1;
    memory->memoryHeaps[0].size = 1 << 20;
    return 0;
}

static uint64_t get_memory2(const uint64_t *a)
{
    VkPhysicalDeviceMemoryProperties2 *memory = pointer(a[1]);
    const uint64_t inner[] = {a[0], (uint64_t)(uintptr_t)&memory->memoryProperties};
    return get_memory(inner);
}

static uint64_t enumerate_extensions(const uint64_t *a)
{
    if (fails(FAULT_device_extensions_fail)) {
        return failure(FAULT_device_extensions_fail);
    }
    uint64_t result = (uint64_t)extensions_answer(config.device_extensions, 0, pointer(a[2]), pointer(a[3]));
    claim_more(FAULT_device_extension_list_claims_more, pointer(a[2]), pointer(a[3]));
    return result;
}

static uint64_t enumerate_layers(const uint64_t *a)
{
    *(uint32_t *)pointer(a[1]) = 0;
    return VK_SUCCESS;
}

const struct implemented physical_devices_implemented[] = {
    {VULKAN_vkEnumeratePhysicalDevices, enumerate_devices},
    {VULKAN_vkEnumeratePhysicalDeviceGroups, enumerate_groups},
    {VULKAN_vkEnumeratePhysicalDeviceGroupsKHR, enumerate_groups},
    {VULKAN_vkGetPhysicalDeviceProperties, get_properties},
    {VULKAN_vkGetPhysicalDeviceProperties2, get_properties2},
    {VULKAN_vkGetPhysicalDeviceProperties2KHR, get_properties2},
    {VULKAN_vkGetPhysicalDeviceFeatures, get_features},
    {VULKAN_vkGetPhysicalDeviceFeatures2, get_features2},
    {VULKAN_vkGetPhysicalDeviceFeatures2KHR, get_features2},
    {VULKAN_vkGetPhysicalDeviceQueueFamilyProperties, get_queue_families},
    {VULKAN_vkGetPhysicalDeviceQueueFamilyProperties2, get_queue_families2},
    {VULKAN_vkGetPhysicalDeviceQueueFamilyProperties2KHR, get_queue_families2},
    {VULKAN_vkGetPhysicalDeviceSparseImageFormatProperties, get_sparse},
    {VULKAN_vkGetPhysicalDeviceSparseImageFormatProperties2, get_sparse2},
    {VULKAN_vkGetPhysicalDeviceSparseImageFormatProperties2KHR, get_sparse2},
    {VULKAN_vkGetPhysicalDeviceMemoryProperties, get_memory},
    {VULKAN_vkGetPhysicalDeviceMemoryProperties2, get_memory2},
    {VULKAN_vkGetPhysicalDeviceMemoryProperties2KHR, get_memory2},
    {VULKAN_vkEnumerateDeviceExtensionProperties, enumerate_extensions},
    {VULKAN_vkEnumerateDeviceLayerProperties, enumerate_layers},
    {VULKAN_FUNCTION_COUNT, NULL},
};
