# SPDX-License-Identifier: Apache-2.0
"""Writes the trampolines of the reference loader for Vulkan drivers: what only hands a call on.

    python -m harness.reference_loader.vulkan.generate --out FILE --api vulkan.json

A function of physical devices gets the driver's handle in the place of the loader's, and the driver's surface; one of
devices goes to what the first word of its object points to. Functions of the first versions and of window systems are
exported by name, as applications link to them.
"""

from __future__ import annotations

import sys
from typing import Any

from harness.api import from_api
from harness.api.vulkan.generate import C_TYPES, MARK

# Functions that the loader has written by hand, by the name of the newest version.
BY_HAND = {
    "vkEnumerateInstanceExtensionProperties", "vkEnumerateInstanceLayerProperties", "vkEnumerateInstanceVersion",
    "vkCreateInstance", "vkDestroyInstance", "vkEnumeratePhysicalDevices", "vkEnumeratePhysicalDeviceGroups",
    "vkEnumerateDeviceExtensionProperties", "vkEnumerateDeviceLayerProperties", "vkGetPhysicalDeviceProperties2",
    "vkGetPhysicalDeviceFeatures2", "vkGetPhysicalDeviceMemoryProperties2", "vkGetPhysicalDeviceQueueFamilyProperties2",
    "vkGetPhysicalDeviceFormatProperties2", "vkGetPhysicalDeviceImageFormatProperties2",
    "vkGetPhysicalDeviceSparseImageFormatProperties2", "vkGetPhysicalDeviceExternalBufferProperties",
    "vkGetPhysicalDeviceExternalFenceProperties", "vkGetPhysicalDeviceExternalSemaphoreProperties",
    "vkAcquireXlibDisplayEXT", "vkGetRandROutputDisplayEXT", "vkGetPhysicalDeviceSurfaceCapabilitiesKHR",
    "vkGetPhysicalDeviceSurfaceSupportKHR", "vkGetPhysicalDeviceSurfaceFormatsKHR",
    "vkGetPhysicalDeviceSurfacePresentModesKHR", "vkGetPhysicalDeviceToolProperties",
    "vkGetPhysicalDeviceExternalImageFormatPropertiesNV",
    "vkGetPhysicalDeviceSurfaceCapabilities2EXT", "vkGetPhysicalDeviceDisplayProperties2KHR",
    "vkGetPhysicalDeviceDisplayPlaneProperties2KHR", "vkGetDisplayModeProperties2KHR",
    "vkGetDisplayPlaneCapabilities2KHR", "vkGetPhysicalDeviceDisplayPropertiesKHR",
    "vkGetPhysicalDeviceDisplayPlanePropertiesKHR", "vkGetDisplayModePropertiesKHR",
    "vkGetDisplayPlaneSupportedDisplaysKHR", "vkCreateDisplayModeKHR", "vkGetDisplayPlaneCapabilitiesKHR",
    "vkCreateDevice", "vkDestroyDevice", "vkGetDeviceQueue", "vkGetDeviceQueue2", "vkAllocateCommandBuffers",
    "vkDestroySurfaceKHR", "vkCreateSwapchainKHR",
    "vkCreateSharedSwapchainsKHR", "vkGetInstanceProcAddr", "vkGetDeviceProcAddr",
    "vkGetPhysicalDeviceSurfaceCapabilities2KHR", "vkGetPhysicalDeviceSurfaceFormats2KHR",
    "vkCreateDebugUtilsMessengerEXT", "vkDestroyDebugUtilsMessengerEXT", "vkCreateDebugReportCallbackEXT",
    "vkDestroyDebugReportCallbackEXT", "vkSubmitDebugUtilsMessageEXT", "vkDebugReportMessageEXT",
    "vkSetDebugUtilsObjectNameEXT", "vkSetDebugUtilsObjectTagEXT",
    "vkDebugMarkerSetObjectNameEXT", "vkDebugMarkerSetObjectTagEXT",
    "vkGetPhysicalDeviceXcbPresentationSupportKHR", "vkGetPhysicalDeviceXlibPresentationSupportKHR",
    "vkGetPhysicalDeviceWaylandPresentationSupportKHR", "vkGetPhysicalDevicePresentRectanglesKHR",
}  # fmt: skip
_EXPORTED_EXTENSIONS = {"VK_KHR_surface", "VK_KHR_swapchain", "VK_KHR_display", "VK_KHR_display_swapchain"}
_WINDOW_SYSTEMS = {"", "xlib", "xlib_xrandr", "xcb", "wayland"}
_INFO = "VkPhysicalDeviceSurfaceInfo2KHR"
_HANDLE_OF = {
    "physical_device": "struct physical_device *object = a0;",
    "device": "struct device *object = device_of(a0);",
}


def _head(function: dict[str, Any], name: str) -> str:
    parameters = ", ".join(f"{C_TYPES[p['kind']]} a{i}" for i, p in enumerate(function["parameters"])) or "void"
    return f"{C_TYPES[function['result']]} {name}({parameters})"


def _argument(function: dict[str, Any], index: int) -> str:
    parameter = function["parameters"][index]
    if index == 0 and function["level"] == "physical_device":
        return "object->handle"
    if parameter["of"] == "VkSurfaceKHR" and parameter["kind"] == "u64":
        return f"(uint64_t)surfaces_for(object->driver, (VkSurfaceKHR)a{index})"
    return "&info" if parameter["of"] == _INFO else f"a{index}"


def _body(function: dict[str, Any]) -> str:
    types = ", ".join(C_TYPES[p["kind"]] for p in function["parameters"])
    arguments = ", ".join(_argument(function, i) for i in range(len(function["parameters"])))
    holder = "object->driver" if function["level"] == "physical_device" else "object"
    call = f"(({C_TYPES[function['result']]} (*)({types})){holder}->functions[VULKAN_{function['name']}])({arguments})"
    lines = [f"    {_HANDLE_OF[function['level']]}"]
    for index, parameter in enumerate(function["parameters"]):
        if parameter["of"] == _INFO:
            lines.append(f"    {_INFO} info = *(const {_INFO} *)a{index};")
            lines.append("    info.surface = surfaces_for(object->driver, info.surface);")
    lines.append(f"    {'' if function['result'] == 'void' else 'return '}{call};")
    return "\n".join(lines)


def _is_exported(function: dict[str, Any]) -> bool:
    return bool(function["version"]) or function["extension"] in _EXPORTED_EXTENSIONS


def source(api: dict[str, Any]) -> str:
    """The text of the file."""
    functions = api["functions"]
    by_name = {function["name"]: function for function in functions}
    text = [MARK, '#include "vulkan_loader.h"\n\n#undef VKAPI_CALL\n']
    rows = []
    for function in functions:
        name, own = function["name"], ""
        by_hand = function["same_as"] in BY_HAND and function["same_as"] in by_name
        if by_hand:
            own = f"loader_{function['same_as']}"
            if name == function["same_as"]:
                text.append(f"extern {_head(function, own)};\n")
        elif function["level"] in _HANDLE_OF:
            own = f"hand_on_{name}"
            text.append(f"static {_head(function, own)}\n{{\n{_body(function)}\n}}\n")
        rows.append(f"    (function){own or '0'},\n")
    text.append(f"\nconst function trampolines[VULKAN_FUNCTION_COUNT] = {{\n{''.join(rows)}}};\n")
    extensions = "".join(f'    {{"{f["extension"]}", {int(f["extends"] == "instance")}}},\n' for f in functions)
    text.append(
        f"\nconst struct extension_of_function trampolines_extension[VULKAN_FUNCTION_COUNT] = {{\n{extensions}}};\n"
    )
    known = [name for name, system in api["instance_extensions"].items() if system in _WINDOW_SYSTEMS]
    lines = "".join(f'    "{name}",\n' for name in known)
    text.append(
        f"\nconst size_t trampolines_known_count = {len(known)};\nconst char *const trampolines_known_extensions[] = "
        f"{{\n{lines}}};\n"
    )
    same = "".join(f"    VULKAN_{f['same_as'] if f['same_as'] in by_name else f['name']},\n" for f in functions)
    text.append(f"\nconst int trampolines_same[VULKAN_FUNCTION_COUNT] = {{\n{same}}};\n")
    for function, row in zip(functions, rows, strict=True):
        own = row.strip().removeprefix("(function)").rstrip(",")
        if _is_exported(function) and own != "0":
            parameters = ", ".join(f"a{i}" for i in range(len(function["parameters"])))
            call = f"{'' if function['result'] == 'void' else 'return '}{own}({parameters});"
            text.append(
                f'\nEXPORTED {_head(function, "export_" + function["name"])} __asm__("{function["name"]}");\n'
                f"{_head(function, 'export_' + function['name'])}\n{{\n    {call}\n}}\n"
            )
    return "\n".join(text)


if __name__ == "__main__":
    sys.exit(from_api.main("harness.reference_loader.vulkan.generate", __doc__, source, sys.argv[1:]))
