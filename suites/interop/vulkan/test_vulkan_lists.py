# SPDX-License-Identifier: Apache-2.0
"""Lists that are asked for twice, first their length and then themselves: one rule for all of them (VK-OBJ)."""

from collections.abc import Callable

import pytest

from harness.check import CANARY, Buffer, Value, VulkanLoader, VulkanSandbox, VulkanSession, requirement, vulkan

GROUP = "VkPhysicalDeviceGroupProperties"
EXTENSION = "VkExtensionProperties"
# What is listed: how one asks, and the structure that each element is; "" for a handle.
LISTS: dict[str, tuple[Callable[..., int], str]] = {
    "devices": (lambda vk, i, d, count, to: vk.vkEnumeratePhysicalDevices(i, count, to), ""),
    "groups": (lambda vk, i, d, count, to: vk.vkEnumeratePhysicalDeviceGroups(i, count, to), GROUP),
    "extensions of instances": (
        lambda vk, i, d, count, to: vk.vkEnumerateInstanceExtensionProperties(None, count, to), EXTENSION,
    ),
    "extensions of a device": (
        lambda vk, i, d, count, to: vk.vkEnumerateDeviceExtensionProperties(d, None, count, to), EXTENSION,
    ),
}  # fmt: skip


def memory_for(vk: VulkanSession, structure: str, number: int) -> Buffer:
    """Memory for so many elements: groups have to say what they are."""
    if structure == GROUP:
        return vk.structures(GROUP, [{}] * number)
    return vk.buffer((vulkan().structures[structure].size if structure else 8) * number)


def add_drivers(sandbox: VulkanSandbox) -> None:
    sandbox.driver("a", devices=3, groups="2 1", device_extensions="VK_CLH_one VK_CLH_two VK_CLH_three")
    sandbox.driver("b", devices=2, device_extensions="VK_CLH_one VK_CLH_two VK_CLH_three")


def asked_for(vk: VulkanSession, instance: Value, device: Value, what: str, room: int) -> tuple[str, int, Buffer]:
    """The result, the number, and memory for one element more than there is said to be room for."""
    ask, structure = LISTS[what]
    count, to = vk.data(room.to_bytes(4, "little")), memory_for(vk, structure, room + 1)
    rc = ask(vk, instance, device, count, to)
    return str(rc), count.u32(), to


@requirement("VK-OBJ-027")
@pytest.mark.parametrize("what", LISTS)
@pytest.mark.parametrize("more", [-2, -1, 0, 1, 5])
def test_list_is_as_long_as_there_is_room(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, what: str, more: int
) -> None:
    """The number is that of elements that were written, VK_INCOMPLETE says that some are missing, nothing follows."""
    add_drivers(sandbox)
    ask, structure = LISTS[what]
    size = vulkan().structures[structure].size if structure else 8

    with vulkan_loader.start(sandbox) as vk:
        instance = vk.instance("1.1.0")
        device = vk.physical_devices(instance)[0]
        count = vk.buffer(4, 0)
        assert ask(vk, instance, device, count, None) == 0
        number = count.u32()
        assert number >= 2
        before = bytes(memory_for(vk, structure, 1)[:])
        rc, written, memory = asked_for(vk, instance, device, what, number + more)
        assert (rc, written) == ("VK_INCOMPLETE" if more < 0 else "VK_SUCCESS", min(number, number + more))
        content = bytes(memory[:])
    assert content[written * size :] == before * (number + more + 1 - written)
    assert CANARY in before or structure == GROUP


@requirement("VK-OBJ-027")
@pytest.mark.parametrize("what", LISTS)
def test_list_without_room_is_incomplete(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, what: str) -> None:
    """With memory, but room for no element of it: VK_INCOMPLETE, the number is 0, and nothing is written."""
    add_drivers(sandbox)
    _, structure = LISTS[what]

    with vulkan_loader.start(sandbox) as vk:
        instance = vk.instance("1.1.0")
        device = vk.physical_devices(instance)[0]
        before = bytes(memory_for(vk, structure, 1)[:])
        for _ in range(2):  # the first time, nothing has been listed before
            rc, written, memory = asked_for(vk, instance, device, what, 0)
            assert (rc, written, bytes(memory[:])) == ("VK_INCOMPLETE", 0, before)
        assert asked_for(vk, instance, device, what, 9)[0] in ("VK_SUCCESS", "VK_INCOMPLETE")


@requirement("VK-OBJ-027")
@pytest.mark.parametrize("room", [0, 3])
def test_lists_of_layers_are_empty_without_layers(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, room: int
) -> None:
    """The number of layers of instances and of a device is written, whatever was there before: it is 0."""
    sandbox.driver("a")

    with vulkan_loader.start(sandbox) as vk:
        (device,) = vk.physical_devices(vk.instance())
        for memory in (None, vk.buffer(520 * 3)):
            count = vk.data(room.to_bytes(4, "little") if memory else b"\7\0\0\0")
            assert vk.vkEnumerateDeviceLayerProperties(device, count, memory) == 0
            assert count.u32() == 0
            count = vk.data(room.to_bytes(4, "little") if memory else b"\7\0\0\0")
            rc = vk.vkEnumerateInstanceLayerProperties(count, memory)
            assert str(rc) == "VK_SUCCESS" and count.u32() == 0


@requirement("VK-OBJ-040")
@pytest.mark.parametrize("number", [1, 16, 17, 32, 33, 65])
def test_extensions_may_be_of_any_number(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, number: int) -> None:
    """So many of instances and of a device are listed and enabled, and no memory is misused for them."""
    own = [f"VK_CLH_number_{index}" for index in range(number)]
    sandbox.driver("a", extensions=" ".join(own), device_extensions=" ".join(own))
    sandbox.env["VK_LOADER_DISABLE_INST_EXT_FILTER"] = "1"

    with vulkan_loader.start(sandbox, guarded_heap=True) as vk:
        listed = vk.extension_names()
        assert [name for name in own if name not in listed] == []
        (device,) = vk.physical_devices(vk.instance("1.1.0", extensions=own))
        assert sorted(str(extension.name) for extension in vk.device_extensions(device)) == sorted(own)
        vk.vkDestroyDevice(vk.device(device, extensions=own), None)


@requirement("VK-OBJ-022")
@pytest.mark.parametrize("what", ["devices", "groups"])
@pytest.mark.parametrize("room", [None, 1, 2, 5])
def test_devices_work_on_after_other_lists(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, what: str, room: int | None
) -> None:
    """Once listed, a device goes on to work whatever is asked later: a number, a part, all, again and again."""
    add_drivers(sandbox)

    with vulkan_loader.start(sandbox) as vk:
        instance = vk.instance("1.1.0")
        devices = vk.physical_devices(instance)
        names = [vk.device_name(device) for device in devices]
        assert len(set(names)) == 5
        for _ in range(3):
            if room is None:
                assert LISTS[what][0](vk, instance, devices[0], vk.buffer(4, 0), None) == 0
            else:
                assert asked_for(vk, instance, devices[0], what, room)[0] in ("VK_SUCCESS", "VK_INCOMPLETE")
            assert [vk.device_name(device) for device in devices] == names
            assert set(vk.physical_devices(instance)) == set(devices)
        for device in devices:
            vk.vkDestroyDevice(vk.device(device), None)
    assert not sandbox.log.happened("foreign handle")


@requirement("VK-OBJ-011")
@pytest.mark.parametrize("more", [0, 3])
def test_groups_are_as_the_driver_says(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, more: int) -> None:
    """What a driver says of allocations in a group is handed on, with just enough room for groups, and with more."""
    sandbox.driver("a", devices=3, groups="2 1")

    with vulkan_loader.start(sandbox) as vk:
        instance = vk.instance("1.1.0")
        (device, *_) = vk.physical_devices(instance)
        rc, written, memory = asked_for(vk, instance, device, "groups", 2 + more)
        assert (rc, written) == ("VK_SUCCESS", 2)
        assert [vk.member(memory, GROUP, "subsetAllocation", index) for index in range(2)] == [1, 1]


@requirement("VK-EP-007")
@pytest.mark.parametrize("code", [-1, -3, -13])
def test_failure_of_a_device_to_list_its_extensions_comes_back(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, code: int
) -> None:
    """Where a driver cannot list the extensions of its device, neither the length nor the list is a success."""
    sandbox.driver("a", faults=[f"device_extensions_fail={code}"])

    with vulkan_loader.start(sandbox) as vk:
        (device,) = vk.physical_devices(vk.instance())
        for memory in (None, vk.buffer(2 * 260)):
            count = vk.data((2).to_bytes(4, "little"))
            assert int(vk.vkEnumerateDeviceExtensionProperties(device, None, count, memory)) == code
