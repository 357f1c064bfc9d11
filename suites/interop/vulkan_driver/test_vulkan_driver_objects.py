# SPDX-License-Identifier: Apache-2.0
"""Dispatchable objects of a Vulkan driver, whose first word is the loader's, and surfaces (VK-OBJ, VK-DRV)."""

from __future__ import annotations

import pytest

from harness.check import (
    LOADER_MAGIC,
    Parts,
    Unsupported,
    Value,
    VulkanDriver,
    VulkanDriverSession,
    VulkanSandbox,
    requirement,
    version_number,
    vulkan,
)

OBJECTS = ["instance", "physical device", "device", "queue", "command buffer"]
ORIGINS = ["second instance", "second device", "queue of vkGetDeviceQueue2", "secondary command buffer"]
SECONDARY = 1  # VK_COMMAND_BUFFER_LEVEL_SECONDARY
OF_A_LOADER = 0x0123456789ABCDE0  # in the place of the address of a loader's table
OF_SURFACES = [
    *("vkDestroySurfaceKHR", "vkGetPhysicalDeviceSurfaceSupportKHR", "vkGetPhysicalDeviceSurfaceCapabilitiesKHR"),
    *("vkGetPhysicalDeviceSurfaceFormatsKHR", "vkGetPhysicalDeviceSurfacePresentModesKHR"),
]


def objects_of(vk: VulkanDriverSession, kind: str) -> list[Value]:
    """Objects of a kind, and those that they were made from are in use."""
    instance = vk.instance()
    if kind == "instance":
        return [instance]
    devices = vk.some_devices(instance)
    if kind == "physical device":
        return devices
    if kind == "device":
        return [vk.device(device) for device in devices]
    device = vk.device(devices[0])
    return queues_of(vk, devices[0]) if kind == "queue" else vk.command_buffers(device, 3)


def queues_of(vk: VulkanDriverSession, physical_device: Value) -> list[Value]:
    """Some queues of a new device."""
    name = "VkQueueFamilyProperties"
    count, families = vk.data((1).to_bytes(4, "little")), vk.structures(name, [{}])
    vk.vkGetPhysicalDeviceQueueFamilyProperties(physical_device, count, families)
    number = min(vk.member(families, name, "queueCount"), 3)
    device = vk.device(physical_device, queues=number)
    return [vk.queue(device, index) for index in range(number)]


def word_of(vk: VulkanDriverSession, handle: Value) -> int:
    """The first word of an object; the handle has to be an address."""
    assert handle
    return int(vk.peek(handle, 0))


@requirement("VK-OBJ-002")
@pytest.mark.parametrize("kind", OBJECTS)
def test_new_object_has_the_magic_number(vulkan_driver: VulkanDriver, sandbox: VulkanSandbox, kind: str) -> None:
    """Handles are addresses of structures, whose first word is ICD_LOADER_MAGIC; only its lower half may count."""
    with vulkan_driver.open(sandbox) as vk:
        vk.begin()
        words = [word_of(vk, handle) & 0xFFFFFFFF for handle in objects_of(vk, kind)]
    assert words
    assert {hex(word) for word in words} == {hex(LOADER_MAGIC)}


def later_object(vk: VulkanDriverSession, origin: str) -> Value:
    """An object that is not the first of its kind, or is not made in the usual way."""
    instance = vk.instance()
    if origin == "second instance":
        return vk.instance()
    physical_device = vk.some_devices(instance)[0]
    if origin == "second device":
        vk.device(physical_device)
        return vk.device(physical_device)
    if origin == "secondary command buffer":
        return vk.command_buffers(vk.device(physical_device), level=SECONDARY)[0]
    if not vk.is_of_vulkan_1_1() or vk.device_version(physical_device) < version_number("1.1.0"):
        raise Unsupported("loader", "this driver or its device is of Vulkan 1.0: it has no vkGetDeviceQueue2")
    device = vk.device(vk.some_devices(vk.instance(api_version="1.1.0"))[0])
    queue = vk.buffer(8)
    vk.vkGetDeviceQueue2(device, vk.structure("VkDeviceQueueInfo2"), queue)
    return queue.handle()


@requirement("VK-OBJ-002")
@pytest.mark.parametrize("origin", ORIGINS)
def test_objects_of_other_origin_have_the_magic_number(
    vulkan_driver: VulkanDriver, sandbox: VulkanSandbox, origin: str
) -> None:
    """So do second objects of a kind, secondary command buffers, and the queues of vkGetDeviceQueue2."""
    with vulkan_driver.open(sandbox) as vk:
        vk.begin()
        assert hex(word_of(vk, later_object(vk, origin)) & 0xFFFFFFFF) == hex(LOADER_MAGIC)


@requirement("VK-OBJ-001")
@pytest.mark.parametrize("kind", OBJECTS)
def test_first_word_is_left_to_the_loader(vulkan_driver: VulkanDriver, sandbox: VulkanSandbox, kind: str) -> None:
    """A loader writes its own word there: the driver neither needs nor changes it while the object is used."""
    with vulkan_driver.open(sandbox) as vk:
        vk.begin()
        handles = objects_of(vk, kind)
        for handle in handles:
            vk.replace_first_word(handle, OF_A_LOADER)
        use(vk, kind, handles[0])
        assert [word_of(vk, handle) for handle in handles] == [OF_A_LOADER] * len(handles)


def use(vk: VulkanDriverSession, kind: str, handle: Value) -> None:
    """Some calls with an object that end it not."""
    if kind == "instance":
        vk.physical_devices(handle)
    elif kind == "physical device":
        assert vk.instance_in_use
        vk.device_name(handle)
        vk.physical_devices(vk.instance_in_use)
    elif kind == "device":
        vk.queue(handle)
        vk.command_buffers(handle)
    elif kind == "queue":
        assert vk.device_in_use
        vk.vkQueueWaitIdle(handle)
        vk.queue(vk.device_in_use)
    else:
        vk.vkBeginCommandBuffer(handle, vk.structure("VkCommandBufferBeginInfo"))
        vk.vkEndCommandBuffer(handle)


@requirement("VK-OBJ-006", "VK-DRV-008")
def test_driver_that_makes_surfaces_has_all_their_functions(
    vulkan_driver: VulkanDriver, sandbox: VulkanSandbox
) -> None:
    """LDP_DRIVER_8: where one function that makes a surface is found, so are all those that use one, and the driver is
    of version 3 of the interface or newer."""
    with vulkan_driver.open(sandbox) as vk, Parts() as parts:
        agreed = vk.begin()
        instance = vk.instance(extensions=sorted(set(vk.extension_names())))
        makers = [
            f for f in vulkan().functions if f.startswith("vkCreate") and f.endswith(("SurfaceKHR", "SurfaceEXT"))
        ]
        if not any(vk.find(instance, name) for name in makers):
            raise Unsupported("loader", "this driver leaves surfaces to the loader")
        assert agreed >= 3
        for name in OF_SURFACES:
            if not vk.find(instance, name):
                parts.fail(name, "is not found")


@requirement("VK-DRV-012")
def test_platforms_of_surfaces_are_those_of_the_registry(vulkan_driver: VulkanDriver, sandbox: VulkanSandbox) -> None:
    """LDP_DRIVER_12: an extension for surfaces of a platform is one that was published; asked of drivers that are no
    newer than the registry of this harness."""
    known = {function.extension for function in vulkan().functions.values()}
    known |= {"VK_KHR_surface_protected_capabilities", "VK_EXT_swapchain_colorspace", "VK_GOOGLE_surfaceless_query"}
    with vulkan_driver.open(sandbox) as vk:
        vk.begin()
        if vk.find(None, "vkEnumerateInstanceVersion") and vk.instance_version() > vulkan().version:
            raise Unsupported("loader", "this driver is newer than the registry of this harness")
        names = [name for name in vk.extension_names() if name.endswith("_surface")]
    assert not set(names) - known
