/* SPDX-License-Identifier: Apache-2.0 */
/* What the loader itself has to say of errors: on standard error where VK_LOADER_DEBUG asks for it, and to messengers
 * and callbacks for reports in the chain of an instance that is being made. */
#include "vulkan_loader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local const VkBaseInStructure *hearers;

void messages_to(const void *chain)
{
    hearers = chain;
}

static void tell_messenger(const VkDebugUtilsMessengerCreateInfoEXT *messenger, const char *text)
{
    const VkDebugUtilsMessageSeverityFlagBitsEXT severity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
    const VkDebugUtilsMessageTypeFlagsEXT type = VK_DEBUG_UTILS_MESSAGE_TYPE_GENERAL_BIT_EXT;
    const VkDebugUtilsMessengerCallbackDataEXT data = {
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CALLBACK_DATA_EXT,
        .pMessageIdName = "Loader",
        .pMessage = text,
    };
    if ((messenger->messageSeverity & severity) && (messenger->messageType & type)) {
        messenger->pfnUserCallback(severity, type, &data, messenger->pUserData);
    }
}

static void tell_callback(const VkDebugReportCallbackCreateInfoEXT *callback, const char *text)
{
    if (callback->flags & VK_DEBUG_REPORT_ERROR_BIT_EXT) {
        callback->pfnCallback(VK_DEBUG_REPORT_ERROR_BIT_EXT, VK_DEBUG_REPORT_OBJECT_TYPE_UNKNOWN_EXT, 0, 0, 0, "Loader",
                              text, callback->pUserData);
    }
}

void messages_error(const char *about, const char *what)
{
    size_t size = strlen(about) + strlen(": ") + strlen(what) + 1;
    char *text = malloc(size);
    if (!text) {
        return;
    }
    snprintf(text, size, "%s: %s", about, what);
    if (discovery_asks_for("error")) {
        fprintf(stderr, "ERROR: %s\n", text);
    }
    for (const VkBaseInStructure *part = hearers; part; part = part->pNext) {
        if (part->sType == VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT) {
            tell_messenger((const VkDebugUtilsMessengerCreateInfoEXT *)part, text);
        } else if (part->sType == VK_STRUCTURE_TYPE_DEBUG_REPORT_CALLBACK_CREATE_INFO_EXT) {
            tell_callback((const VkDebugReportCallbackCreateInfoEXT *)part, text);
        }
    }
    free(text);
}
