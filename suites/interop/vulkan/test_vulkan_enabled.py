# SPDX-License-Identifier: Apache-2.0
"""Functions of extensions are found where the extension is enabled (VK-EP)."""

import pytest

from harness.check import VulkanLoader, VulkanSandbox, VulkanSession, requirement, vulkan, vulkan_extensions_of

SURFACE, SWAPCHAIN = "VK_KHR_surface", "VK_KHR_swapchain"
# Extensions of instances that have functions, with those functions.
OF_INSTANCES = {
    name: [f.name for f in vulkan().functions.values() if f.extension == name and f.level != "global"]
    for name in vulkan_extensions_of("instance")
}
WITH_FUNCTIONS = [name for name, functions in OF_INSTANCES.items() if functions]
# Functions of devices that a loader has to see the calls of, because they take what is the loader's own.
OF_DEVICES = {
    "vkCreateSwapchainKHR": "VK_KHR_swapchain",
    "vkCreateSharedSwapchainsKHR": "VK_KHR_display_swapchain",
    "vkDebugMarkerSetObjectNameEXT": "VK_EXT_debug_marker",
    "vkDebugMarkerSetObjectTagEXT": "VK_EXT_debug_marker",
}

# Extensions of instances without which these cannot be enabled.
NEEDS = {"VK_KHR_display_swapchain": ["VK_KHR_display"], "VK_EXT_debug_marker": ["VK_EXT_debug_report"]}


def require_extension(loader: VulkanLoader, vk: VulkanSession, name: str) -> None:
    if name not in vk.extension_names():
        loader.require(name)


@requirement("VK-EP-015")
@pytest.mark.parametrize("extension", WITH_FUNCTIONS)
def test_functions_of_an_extension_are_found_with_it(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, extension: str
) -> None:
    """All functions of an extension of instances are found by an instance that has it enabled."""
    every = vulkan_extensions_of("instance")
    sandbox.driver("a", api_version="1.0.0", surfaces=True, extensions=" ".join(every))

    with vulkan_loader.start(sandbox) as vk:
        require_extension(vulkan_loader, vk, extension)
        enabled = [name for name in (SURFACE, "VK_KHR_display", extension) if name in vk.extension_names()]
        instance = vk.instance(extensions=list(dict.fromkeys(enabled)))
        assert [name for name in OF_INSTANCES[extension] if not vk.proc(instance, name)] == []


@requirement("VK-EP-015")
@pytest.mark.parametrize("extension", WITH_FUNCTIONS)
def test_functions_of_an_extension_are_not_found_without_it(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, extension: str
) -> None:
    """By an instance without any extension none of them is found, although the driver has them."""
    sandbox.driver("a", api_version="1.0.0", surfaces=True, extensions=" ".join(vulkan_extensions_of("instance")))

    with vulkan_loader.start(sandbox) as vk:
        require_extension(vulkan_loader, vk, extension)
        instance = vk.instance()
        assert vk.proc(instance, "vkGetPhysicalDeviceFeatures")
        assert [name for name in OF_INSTANCES[extension] if vk.proc(instance, name)] == []


@requirement("VK-EP-015")
@pytest.mark.parametrize("name", OF_DEVICES)
def test_function_that_takes_what_is_the_loaders_needs_its_extension(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, name: str
) -> None:
    """vkGetDeviceProcAddr finds it for a device with the extension, and not for one without."""
    extension = OF_DEVICES[name]
    own = list(dict.fromkeys([SWAPCHAIN, extension]))
    of_instances = [SURFACE, *NEEDS.get(extension, [])]
    sandbox.driver("a", extensions=" ".join(of_instances), device_extensions=" ".join(own))

    with vulkan_loader.start(sandbox) as vk:
        for needed in of_instances:
            require_extension(vulkan_loader, vk, needed)
        (physical_device,) = vk.physical_devices(vk.instance(extensions=of_instances))
        others = [other for other in own if other != extension]
        addresses = [
            bool(vk.device_proc(vk.device(physical_device, extensions=names), name)) for names in (own, others)
        ]
    assert addresses == [True, False]


@requirement("VK-EP-015")
def test_functions_of_devices_of_an_extension_of_instances_need_it(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox
) -> None:
    """vkGetDeviceProcAddr finds those of VK_EXT_debug_utils where the instance has it enabled, and not otherwise."""
    extension = "VK_EXT_debug_utils"
    functions = [f.name for f in vulkan().functions.values() if f.extension == extension and f.level == "device"]
    assert functions
    sandbox.driver("a", extensions=extension)

    with vulkan_loader.start(sandbox) as vk:
        require_extension(vulkan_loader, vk, extension)
        results = []
        for extensions in ([extension], []):
            (physical_device,) = vk.physical_devices(vk.instance(extensions=extensions))
            device = vk.device(physical_device)
            results.append([name for name in functions if vk.device_proc(device, name)])
    assert results == [functions, []]
