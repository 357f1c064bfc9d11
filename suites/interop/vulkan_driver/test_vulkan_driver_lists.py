# SPDX-License-Identifier: Apache-2.0
"""What a Vulkan driver lists: devices, groups, extensions, in memory of any size (VK-DRV)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from harness.check import (
    VK,
    Buffer,
    Extension,
    Parts,
    Unsupported,
    VulkanDriver,
    VulkanDriverSession,
    VulkanSandbox,
    requirement,
    vulkan,
)

BLANK = b"\xa5"


@dataclass(frozen=True)
class Listing:
    """A function that lists something: how it is called with a number and memory, an element before it is written."""

    ask: Callable[[Buffer, Buffer | None], int]
    blank: bytes

    @property
    def size(self) -> int:
        """Of an element, in bytes."""
        return len(self.blank)

    def number(self, vk: VulkanDriverSession) -> int:
        count = vk.buffer(4, 0)
        assert self.ask(count, None) == VK.SUCCESS
        return count.u32()


def listing(vk: VulkanDriverSession, what: str) -> Listing:
    """Of a driver that has begun; those of devices are of the first one."""
    structures = vulkan().structures
    extension = BLANK * structures["VkExtensionProperties"].size
    if what == "instance extensions":
        return Listing(lambda n, to: vk.vkEnumerateInstanceExtensionProperties(None, n, to), extension)
    instance = vk.instance(api_version=vk.newer_version() if what == "groups" else "1.0.0")
    if what == "devices":
        return Listing(lambda n, to: vk.vkEnumeratePhysicalDevices(instance, n, to), BLANK * 8)
    if what == "groups":
        if not vk.find(instance, "vkEnumeratePhysicalDeviceGroups"):
            raise Unsupported("loader", "this driver has no groups of devices")
        layout = structures["VkPhysicalDeviceGroupProperties"]
        head = (layout.stype or 0).to_bytes(8, "little") + bytes(8)  # sType, and a pNext that is NULL
        blank = head + BLANK * (layout.size - len(head))
        return Listing(lambda n, to: vk.vkEnumeratePhysicalDeviceGroups(instance, n, to), blank)
    device = vk.some_devices(instance)[0]
    return Listing(lambda n, to: vk.vkEnumerateDeviceExtensionProperties(device, None, n, to), extension)


def check_every_size(vk: VulkanDriverSession, listed: Listing) -> None:
    """Memory for none to one more than there are: what is written, the number after it, and the result."""
    number = listed.number(vk)
    with Parts() as parts:
        for room in sorted({0, 1, number // 2, max(number - 1, 0), number, number + 1}):
            count = vk.data(room.to_bytes(4, "little"))
            memory = vk.data(listed.blank * room or BLANK)
            rc = listed.ask(count, memory)
            with parts(f"room for {'all' if room == number else 'more' if room > number else 'a part'}"):
                assert rc == (VK.SUCCESS if room >= number else VK.INCOMPLETE)
                assert count.u32() == min(room, number)
                rest = memory[listed.size * min(room, number) :]
                assert rest == (listed.blank * room or BLANK)[listed.size * min(room, number) :], (
                    "the memory after the last element was written"
                )


@requirement("VK-DRV-020")
@pytest.mark.parametrize("what", ["devices", "groups"])
def test_devices_are_listed_into_memory_of_any_size(
    vulkan_driver: VulkanDriver, sandbox: VulkanSandbox, what: str
) -> None:
    """As many as there is room for, VK_INCOMPLETE where that is not all, and nothing after them."""
    with vulkan_driver.open(sandbox) as vk:
        vk.begin()
        check_every_size(vk, listing(vk, what))


@requirement("VK-DRV-021")
@pytest.mark.parametrize("what", ["instance extensions", "device extensions"])
def test_extensions_are_listed_into_memory_of_any_size(
    vulkan_driver: VulkanDriver, sandbox: VulkanSandbox, what: str
) -> None:
    """As many as there is room for, VK_INCOMPLETE where that is not all, and nothing after them."""
    with vulkan_driver.open(sandbox) as vk:
        vk.begin()
        check_every_size(vk, listing(vk, what))


@requirement("VK-DRV-022")
@pytest.mark.parametrize("extends", ["instance", "device"])
def test_each_extension_is_listed_once_as_what_it_is(
    vulkan_driver: VulkanDriver, sandbox: VulkanSandbox, extends: str
) -> None:
    """No name twice, versions from 1 up, and none that the registry has as an extension of the other kind."""
    other = "device" if extends == "instance" else "instance"
    of_other = {f.extension for f in vulkan().functions.values() if f.extends == other}
    of_other -= {f.extension for f in vulkan().functions.values() if f.extends == extends}
    with vulkan_driver.open(sandbox) as vk, Parts() as parts:
        vk.begin()
        for listed in lists_of(vk, extends):
            for name, times in Counter(extension.name for extension in listed).items():
                if times > 1:
                    parts.fail(name, f"is listed {times} times")
            for extension in listed:
                if not extension.name.startswith("VK_"):
                    parts.fail(repr(extension.name), "is not the name of an extension")
                if not 0 < extension.version < 1 << 16:
                    parts.fail(extension.name, f"has version {extension.version}")
                if extension.name in of_other:
                    parts.fail(extension.name, f"is an extension of a {other}")


def lists_of(vk: VulkanDriverSession, extends: str) -> list[list[Extension]]:
    """The driver's list, or that of each device."""
    if extends == "instance":
        return [vk.extensions()]
    return [vk.device_extensions(device) for device in vk.some_devices(vk.instance())]


@requirement("VK-DRV-023")
def test_devices_of_a_driver_keep_their_handles(vulkan_driver: VulkanDriver, sandbox: VulkanSandbox) -> None:
    """Listed again, by themselves or in groups, devices are the same objects, each in one group."""
    with vulkan_driver.open(sandbox) as vk:
        vk.begin()
        instance = vk.instance(api_version=vk.newer_version())
        devices = vk.some_devices(instance)
        assert len(set(devices)) == len(devices)
        assert sorted(vk.physical_devices(instance)) == sorted(devices)
        if vk.find(instance, "vkEnumeratePhysicalDeviceGroups"):
            assert sorted(vk.devices_in_groups(instance)) == sorted(devices)


@requirement("VK-DRV-002")
def test_driver_without_devices_does_not_crash(
    vulkan_driver: VulkanDriver, sandbox: VulkanSandbox, record: Callable[[str], None]
) -> None:
    """LDP_DRIVER_2: where a driver finds no device, each way of listing answers, and so do the end of the instance and
    another one; what they answer is VK-DRV-036's. It is asked with a device, too: its hardware is not needed."""
    with vulkan_driver.open(sandbox) as vk:
        vk.begin()
        for _ in range(2):
            instance, count = vk.instance(api_version=vk.newer_version()), vk.buffer(4, 0)
            vk.vkEnumeratePhysicalDevices(instance, count, None)
            number = count.u32()
            vk.vkEnumeratePhysicalDevices(instance, vk.data(bytes(4)), vk.buffer(8))
            if vk.find(instance, "vkEnumeratePhysicalDeviceGroups"):
                vk.vkEnumeratePhysicalDeviceGroups(instance, count, None)
            vk.vkDestroyInstance(instance, None)
    record("has no device here" if number == 0 else "has devices here")


@requirement("VK-DRV-036")
def test_devices_and_groups_are_listed_where_there_are_none(
    vulkan_driver: VulkanDriver, sandbox: VulkanSandbox, record: Callable[[str], None]
) -> None:
    """A driver that finds no device lists none, in any way of listing, ends its instance and makes another one. It is
    asked with a device, too, so that its hardware is not needed for this check."""
    with vulkan_driver.open(sandbox) as vk:
        vk.begin()
        devices, groups = listing(vk, "devices").number(vk), listing(vk, "groups")
        record("has no device here" if devices == 0 else "has devices here")
        assert (groups.number(vk) == 0) == (devices == 0)
        assert vk.instance_in_use
        rc = vk.vkEnumeratePhysicalDevices(vk.instance_in_use, vk.data(bytes(4)), vk.buffer(8))
        assert rc == (VK.SUCCESS if devices == 0 else VK.INCOMPLETE)
        vk.vkDestroyInstance(vk.instance_in_use, None)
        assert vk.CreateInstance()[0] == VK.SUCCESS
