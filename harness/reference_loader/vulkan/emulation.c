/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of extensions of instances that the loader knows, for drivers that lack them: the same by functions of
 * Vulkan 1.0, or the answer of a driver that can do nothing of the kind. */
#include "vulkan_loader.h"

#include <stdlib.h>
#include <string.h>

#define CALL(device, name) ((PFN_##name)(device)->driver->functions[VULKAN_##name])

/* --- VK_KHR_get_physical_device_properties2 --- */

/* Structures that follow, as far as a driver that knows none of them can answer: not supported, without an identity. */
static void fill_chain(VkBaseOutStructure *part)
{
    for (; part; part = part->pNext) {
        if (part->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MULTIVIEW_FEATURES) {
            VkPhysicalDeviceMultiviewFeatures *features = (void *)part;
            features->multiview = VK_FALSE;
            features->multiviewGeometryShader = VK_FALSE;
            features->multiviewTessellationShader = VK_FALSE;
        } else if (part->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES) {
            VkPhysicalDeviceIDProperties *identity = (void *)part;
            memset(identity->deviceUUID, 0, sizeof identity->deviceUUID);
            memset(identity->driverUUID, 0, sizeof identity->driverUUID);
            identity->deviceLUIDValid = VK_FALSE;
        }
    }
}

void loader_vkGetPhysicalDeviceProperties2(struct physical_device *device, VkPhysicalDeviceProperties2 *to);
void loader_vkGetPhysicalDeviceProperties2(struct physical_device *device, VkPhysicalDeviceProperties2 *to)
{
    if (CALL(device, vkGetPhysicalDeviceProperties2)) {
        CALL(device, vkGetPhysicalDeviceProperties2)(device->handle, to);
    } else {
        CALL(device, vkGetPhysicalDeviceProperties)(device->handle, &to->properties);
        fill_chain(to->pNext);
    }
}

void loader_vkGetPhysicalDeviceFeatures2(struct physical_device *device, VkPhysicalDeviceFeatures2 *to);
void loader_vkGetPhysicalDeviceFeatures2(struct physical_device *device, VkPhysicalDeviceFeatures2 *to)
{
    if (CALL(device, vkGetPhysicalDeviceFeatures2)) {
        CALL(device, vkGetPhysicalDeviceFeatures2)(device->handle, to);
    } else {
        CALL(device, vkGetPhysicalDeviceFeatures)(device->handle, &to->features);
        fill_chain(to->pNext);
    }
}

void loader_vkGetPhysicalDeviceMemoryProperties2(struct physical_device *device, VkPhysicalDeviceMemoryProperties2 *to);
void loader_vkGetPhysicalDeviceMemoryProperties2(struct physical_device *device, VkPhysicalDeviceMemoryProperties2 *to)
{
    if (CALL(device, vkGetPhysicalDeviceMemoryProperties2)) {
        CALL(device, vkGetPhysicalDeviceMemoryProperties2)(device->handle, to);
    } else {
        CALL(device, vkGetPhysicalDeviceMemoryProperties)(device->handle, &to->memoryProperties);
    }
}

void loader_vkGetPhysicalDeviceQueueFamilyProperties2(struct physical_device *device, uint32_t *count,
                                                      VkQueueFamilyProperties2 *to);
void loader_vkGetPhysicalDeviceQueueFamilyProperties2(struct physical_device *device, uint32_t *count,
                                                      VkQueueFamilyProperties2 *to)
{
    if (CALL(device, vkGetPhysicalDeviceQueueFamilyProperties2)) {
        CALL(device, vkGetPhysicalDeviceQueueFamilyProperties2)(device->handle, count, to);
        return;
    }
    uint32_t room = to ? *count : 0;
    VkQueueFamilyProperties *families = to ? calloc(room + 1, sizeof *families) : NULL;
    CALL(device, vkGetPhysicalDeviceQueueFamilyProperties)(device->handle, count, families);
    for (uint32_t i = 0; families && i < *count && i < room; i++) {
        to[i].queueFamilyProperties = families[i];
    }
    free(families);
}

void loader_vkGetPhysicalDeviceFormatProperties2(struct physical_device *device, VkFormat format,
                                                 VkFormatProperties2 *to);
void loader_vkGetPhysicalDeviceFormatProperties2(struct physical_device *device, VkFormat format,
                                                 VkFormatProperties2 *to)
{
    if (CALL(device, vkGetPhysicalDeviceFormatProperties2)) {
        CALL(device, vkGetPhysicalDeviceFormatProperties2)(device->handle, format, to);
    } else {
        CALL(device, vkGetPhysicalDeviceFormatProperties)(device->handle, format, &to->formatProperties);
    }
}

/* Whether structures that follow ask for, or are to hold, what a driver of Vulkan 1.0 cannot know of. */
static bool is_beyond_1_0(const void *chain)
{
    for (const VkBaseInStructure *part = chain; part; part = part->pNext) {
        switch (part->sType) {
        case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_IMAGE_FORMAT_INFO:
        case VK_STRUCTURE_TYPE_EXTERNAL_IMAGE_FORMAT_PROPERTIES:
        case VK_STRUCTURE_TYPE_SAMPLER_YCBCR_CONVERSION_IMAGE_FORMAT_PROPERTIES:
            return true;
        default:
            break;
        }
    }
    return false;
}

VkResult loader_vkGetPhysicalDeviceImageFormatProperties2(struct physical_device *device,
                                                          const VkPhysicalDeviceImageFormatInfo2 *info,
                                                          VkImageFormatProperties2 *to);
VkResult loader_vkGetPhysicalDeviceImageFormatProperties2(struct physical_device *device,
                                                          const VkPhysicalDeviceImageFormatInfo2 *info,
                                                          VkImageFormatProperties2 *to)
{
    if (CALL(device, vkGetPhysicalDeviceImageFormatProperties2)) {
        return CALL(device, vkGetPhysicalDeviceImageFormatProperties2)(device->handle, info, to);
    }
    if (is_beyond_1_0(info->pNext) || is_beyond_1_0(to->pNext)) {
        return VK_ERROR_FORMAT_NOT_SUPPORTED;
    }
    return CALL(device, vkGetPhysicalDeviceImageFormatProperties)(
        device->handle, info->format, info->type, info->tiling, info->usage, info->flags, &to->imageFormatProperties);
}

void loader_vkGetPhysicalDeviceSparseImageFormatProperties2(struct physical_device *device,
                                                            const VkPhysicalDeviceSparseImageFormatInfo2 *info,
                                                            uint32_t *count, VkSparseImageFormatProperties2 *to);
void loader_vkGetPhysicalDeviceSparseImageFormatProperties2(struct physical_device *device,
                                                            const VkPhysicalDeviceSparseImageFormatInfo2 *info,
                                                            uint32_t *count, VkSparseImageFormatProperties2 *to)
{
    if (CALL(device, vkGetPhysicalDeviceSparseImageFormatProperties2)) {
        CALL(device, vkGetPhysicalDeviceSparseImageFormatProperties2)(device->handle, info, count, to);
        return;
    }
    uint32_t room = to ? *count : 0;
    VkSparseImageFormatProperties *formats = to ? calloc(room + 1, sizeof *formats) : NULL;
    CALL(device, vkGetPhysicalDeviceSparseImageFormatProperties)
    (device->handle, info->format, info->type, info->samples, info->usage, info->tiling, count, formats);
    for (uint32_t i = 0; formats && i < *count && i < room; i++) {
        to[i].properties = formats[i];
    }
    free(formats);
}

/* --- what a driver without VK_KHR_external_* can do: nothing --- */

/* NOLINTBEGIN(bugprone-macro-parentheses): types, which no parentheses can stand around */
#define EXTERNAL(name, info_type, type, members)                                         \
    void loader_##name(struct physical_device *device, const info_type *info, type *to); \
    void loader_##name(struct physical_device *device, const info_type *info, type *to)  \
    {                                                                                    \
        if (CALL(device, name)) {                                                        \
            CALL(device, name)(device->handle, info, to);                                \
        } else {                                                                         \
            memset(&to->members, 0, sizeof *to - offsetof(type, members));               \
        }                                                                                \
    }
/* NOLINTEND(bugprone-macro-parentheses) */
EXTERNAL(vkGetPhysicalDeviceExternalBufferProperties, VkPhysicalDeviceExternalBufferInfo, VkExternalBufferProperties,
         externalMemoryProperties)
EXTERNAL(vkGetPhysicalDeviceExternalFenceProperties, VkPhysicalDeviceExternalFenceInfo, VkExternalFenceProperties,
         exportFromImportedHandleTypes)
EXTERNAL(vkGetPhysicalDeviceExternalSemaphoreProperties, VkPhysicalDeviceExternalSemaphoreInfo,
         VkExternalSemaphoreProperties, exportFromImportedHandleTypes)

/* --- VK_NV_external_memory_capabilities: without it, an image can only be asked for that is not external --- */

VkResult loader_vkGetPhysicalDeviceExternalImageFormatPropertiesNV(struct physical_device *device, VkFormat format,
                                                                   VkImageType type, VkImageTiling tiling,
                                                                   VkImageUsageFlags usage, VkImageCreateFlags flags,
                                                                   VkExternalMemoryHandleTypeFlagsNV handle,
                                                                   VkExternalImageFormatPropertiesNV *to);
VkResult loader_vkGetPhysicalDeviceExternalImageFormatPropertiesNV(struct physical_device *device, VkFormat format,
                                                                   VkImageType type, VkImageTiling tiling,
                                                                   VkImageUsageFlags usage, VkImageCreateFlags flags,
                                                                   VkExternalMemoryHandleTypeFlagsNV handle,
                                                                   VkExternalImageFormatPropertiesNV *to)
{
    if (CALL(device, vkGetPhysicalDeviceExternalImageFormatPropertiesNV)) {
        return CALL(device, vkGetPhysicalDeviceExternalImageFormatPropertiesNV)(device->handle, format, type, tiling,
                                                                                usage, flags, handle, to);
    }
    if (handle) {
        return VK_ERROR_FORMAT_NOT_SUPPORTED;
    }
    *to = (VkExternalImageFormatPropertiesNV){0};
    return CALL(device, vkGetPhysicalDeviceImageFormatProperties)(device->handle, format, type, tiling, usage, flags,
                                                                  &to->imageFormatProperties);
}

/* --- tools: a driver that does not know of them is none --- */

/* Whether the device itself has the function, by its version or by the extension. */
static bool knows_tools(const struct physical_device *device)
{
    VkPhysicalDeviceProperties properties;
    uint32_t count = 0;
    CALL(device, vkGetPhysicalDeviceProperties)(device->handle, &properties);
    if (properties.apiVersion >= VK_API_VERSION_1_3) {
        return true;
    }
    CALL(device, vkEnumerateDeviceExtensionProperties)(device->handle, NULL, &count, NULL);
    VkExtensionProperties *list = calloc(count + 1, sizeof *list);
    bool has = list &&
               CALL(device, vkEnumerateDeviceExtensionProperties)(device->handle, NULL, &count, list) == VK_SUCCESS &&
               drivers_has_extension(list, count, VK_EXT_TOOLING_INFO_EXTENSION_NAME);
    free(list);
    return has;
}

VkResult loader_vkGetPhysicalDeviceToolProperties(struct physical_device *device, uint32_t *count,
                                                  VkPhysicalDeviceToolProperties *to);
VkResult loader_vkGetPhysicalDeviceToolProperties(struct physical_device *device, uint32_t *count,
                                                  VkPhysicalDeviceToolProperties *to)
{
    if (CALL(device, vkGetPhysicalDeviceToolProperties) && knows_tools(device)) {
        return CALL(device, vkGetPhysicalDeviceToolProperties)(device->handle, count, to);
    }
    *count = 0;
    return VK_SUCCESS;
}
