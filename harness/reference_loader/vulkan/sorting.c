/* SPDX-License-Identifier: Apache-2.0 */
/* The order of devices: the chosen one, then by type, by place on the PCI bus, and by numbers. */
#include "vulkan_loader.h"

#include <stdlib.h>
#include <string.h>

#define PCI_BUS_INFO "VK_EXT_pci_bus_info"
#define CALL(listed, name) ((PFN_##name)(listed)->driver->functions[VULKAN_##name])

/* The parts of a device's place: the one with the lowest first part comes first. */
enum part { NOT_CHOSEN, TYPE, NOT_ON_PCI, DOMAIN, BUS, DEVICE, FUNCTION, NUMBERS };

static bool is_chosen(const VkPhysicalDeviceProperties *properties)
{
    const char *choice = getenv("VK_LOADER_DEVICE_SELECT");
    char *colon = NULL;
    char *end = NULL;
    unsigned long vendor = choice ? strtoul(choice, &colon, 16) : 0;
    if (!choice || colon == choice || *colon != ':') {
        return false;
    }
    unsigned long device = strtoul(colon + 1, &end, 16);
    return end != colon + 1 && vendor == properties->vendorID && device == properties->deviceID;
}

static uint32_t order_of_type(VkPhysicalDeviceType type)
{
    static const VkPhysicalDeviceType order[] = {
        VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU,
        VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU,
        VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU,
        VK_PHYSICAL_DEVICE_TYPE_CPU,
    };
    uint32_t place = 0;
    while (place < sizeof order / sizeof *order && order[place] != type) {
        place++;
    }
    return place;
}

static bool has_pci_bus_info(const struct listed *listed)
{
    PFN_vkEnumerateDeviceExtensionProperties ask = CALL(listed, vkEnumerateDeviceExtensionProperties);
    uint32_t count = 0;
    if (ask(listed->handle, NULL, &count, NULL) != VK_SUCCESS || count == 0) {
        return false;
    }
    uint32_t room = count;
    VkExtensionProperties *extensions = calloc(count, sizeof *extensions);
    bool listed_all = extensions && ask(listed->handle, NULL, &count, extensions) >= VK_SUCCESS;
    bool has = listed_all && drivers_has_extension(extensions, count < room ? count : room, PCI_BUS_INFO);
    free(extensions);
    return has;
}

static void find_place(struct listed *listed)
{
    VkPhysicalDeviceProperties properties = {0};
    uint32_t *place = listed->place;
    PFN_vkGetPhysicalDeviceProperties2 query = CALL(listed, vkGetPhysicalDeviceProperties2);
    CALL(listed, vkGetPhysicalDeviceProperties)(listed->handle, &properties);
    memset(place, 0, sizeof listed->place);
    place[NOT_CHOSEN] = !is_chosen(&properties);
    place[TYPE] = order_of_type(properties.deviceType);
    place[NOT_ON_PCI] = !query || !has_pci_bus_info(listed);
    place[NUMBERS] = properties.vendorID ^ properties.deviceID;
    if (!place[NOT_ON_PCI]) {
        VkPhysicalDevicePCIBusInfoPropertiesEXT pci = {
            .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PCI_BUS_INFO_PROPERTIES_EXT};
        VkPhysicalDeviceProperties2 question = {VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, &pci, {0}};
        query(listed->handle, &question);
        place[DOMAIN] = pci.pciDomain;
        place[BUS] = pci.pciBus;
        place[DEVICE] = pci.pciDevice;
        place[FUNCTION] = pci.pciFunction;
    }
}

static bool comes_before(const struct listed *a, const struct listed *b)
{
    for (size_t part = 0; part < PLACE_PARTS; part++) {
        if (a->place[part] != b->place[part]) {
            return a->place[part] < b->place[part];
        }
    }
    return false;
}

void sorting_sort(struct listed *listed, size_t count)
{
    const char *disabled = getenv("VK_LOADER_DISABLE_SELECT");
    if (disabled && strtol(disabled, NULL, 10) != 0) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        find_place(&listed[i]);
        struct listed one = listed[i];
        size_t at = i;
        for (; at > 0 && comes_before(&one, &listed[at - 1]); at--) {
            listed[at] = listed[at - 1];
        }
        listed[at] = one;
    }
}
