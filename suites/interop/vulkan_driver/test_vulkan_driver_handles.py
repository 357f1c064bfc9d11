# SPDX-License-Identifier: Apache-2.0
"""Handles of a Vulkan driver's objects, and what objects are made with (VK-DRV)."""

from __future__ import annotations

import pytest

from harness.check import VK, Value, VulkanDriver, VulkanDriverSession, VulkanSandbox, requirement

UNKNOWN_STRUCTURE = 0x7E57_0000  # a VkStructureType that no extension has
FAMILY = "VkQueueFamilyProperties"
MOST = 4  # queues that a device is made with
# Extensions of devices that need no other one.
STAND_ALONE = {
    "VK_EXT_pci_bus_info",
    "VK_KHR_maintenance1",
    "VK_KHR_maintenance2",
    "VK_KHR_sampler_mirror_clamp_to_edge",
}


def queues_of_first_family(vk: VulkanDriverSession, physical_device: Value) -> int:
    """How many queues the first family has."""
    count, families = vk.data((1).to_bytes(4, "little")), vk.structures(FAMILY, [{}])
    vk.vkGetPhysicalDeviceQueueFamilyProperties(physical_device, count, families)
    return vk.member(families, FAMILY, "queueCount")


@requirement("VK-DRV-029")
def test_queues_of_a_device_keep_their_handles(vulkan_driver: VulkanDriver, sandbox: VulkanSandbox) -> None:
    """Each has one of its own, which is the same each time that it is asked for, by the newer function, too."""
    with vulkan_driver.open(sandbox) as vk:
        vk.begin()
        physical_device = vk.some_devices(vk.instance(vk.newer_version()))[0]
        number = min(queues_of_first_family(vk, physical_device), MOST)
        device, to = vk.device(physical_device, queues=number), vk.buffer(8)
        queues = [vk.queue(device, index) for index in range(number)]
        assert all(queues) and len(set(queues)) == number
        assert [vk.queue(device, index) for index in range(number)] == queues
        if vk.is_of_vulkan_1_1() and vk.device_proc(device, "vkGetDeviceQueue2"):
            for index, queue in enumerate(queues):
                vk.vkGetDeviceQueue2(device, vk.structure("VkDeviceQueueInfo2", queueIndex=index), to)
                assert to.handle() == queue


@requirement("VK-DRV-029")
def test_objects_of_a_device_have_handles_of_their_own(vulkan_driver: VulkanDriver, sandbox: VulkanSandbox) -> None:
    """Command buffers that are made at once, devices that are made of one physical device, and their queues."""
    with vulkan_driver.open(sandbox) as vk:
        vk.begin()
        physical_device = vk.some_devices(vk.instance())[0]
        devices = [vk.device(physical_device) for _ in range(2)]
        queues = [vk.queue(device) for device in devices]
        buffers = vk.command_buffers(devices[1], 5)
        handles = devices + queues + buffers
        assert all(handles) and len(set(handles)) == len(handles)


@requirement("VK-DRV-030")
@pytest.mark.parametrize("what", ["instance", "device"])
def test_structure_that_nobody_knows_is_skipped_over(
    vulkan_driver: VulkanDriver, sandbox: VulkanSandbox, what: str
) -> None:
    """Instances and devices are made with such a structure as without it."""
    with vulkan_driver.open(sandbox) as vk:
        vk.begin()
        for chain in (None, vk.words([UNKNOWN_STRUCTURE, vk.words([UNKNOWN_STRUCTURE + 1, 0, 0]), 0])):
            rc, instance = vk.CreateInstance("1.0.0", chain=chain if what == "instance" else None)
            assert rc == VK.SUCCESS
            physical_device = vk.some_devices(instance)[0]
            rc, _ = vk.CreateDevice(physical_device, chain=chain if what == "device" else None)
            assert rc == VK.SUCCESS


@requirement("VK-DRV-031")
def test_objects_are_made_and_ended_with_an_allocator(vulkan_driver: VulkanDriver, sandbox: VulkanSandbox) -> None:
    """Memory of an application's is given back to it when the objects are gone, and nothing beyond is written."""
    with vulkan_driver.open(sandbox) as vk:
        vk.begin()
        allocator, at, to = vk.allocator(), vk.buffer(8), vk.buffer(8)
        assert vk.vkCreateInstance(vk.instance_info("1.0.0"), allocator, at) == VK.SUCCESS
        instance = vk.instance_in_use = at.handle()
        physical_device = vk.some_devices(instance)[0]
        queue = vk.structure("VkDeviceQueueCreateInfo", queueCount=1, pQueuePriorities=vk.data(b"\0\0\x80\x3f"))
        info = vk.structure("VkDeviceCreateInfo", queueCreateInfoCount=1, pQueueCreateInfos=queue)
        assert vk.vkCreateDevice(physical_device, info, allocator, to) == VK.SUCCESS
        device = vk.device_in_use = to.handle()
        vk.vkDestroyDevice(device, allocator)
        vk.vkDestroyInstance(instance, allocator)
        assert vk.allocated() == 0
    for event in ("foreign memory", "memory overrun"):
        assert not sandbox.log.happened(event)


@requirement("VK-DRV-032")
def test_device_extension_that_is_not_listed_is_refused(vulkan_driver: VulkanDriver, sandbox: VulkanSandbox) -> None:
    """A device is made with one that is listed, and refused with one that no device has."""
    with vulkan_driver.open(sandbox) as vk:
        vk.begin()
        physical_device = vk.some_devices(vk.instance("1.0.0"))[0]
        alone = [name for name in vk.device_extension_names(physical_device) if name in STAND_ALONE]
        assert vk.CreateDevice(physical_device, alone)[0] == VK.SUCCESS
        rc, _ = vk.CreateDevice(physical_device, [*alone, "VK_CLHARNESS_no_such_extension"])
        assert rc == VK.ERROR_EXTENSION_NOT_PRESENT
