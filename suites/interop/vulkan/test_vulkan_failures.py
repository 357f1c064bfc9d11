# SPDX-License-Identifier: Apache-2.0
"""One driver fails in a call that goes to all: what that costs the others (VK-OBJ, VK-DSC)."""

from collections.abc import Callable
from typing import Any

import pytest

from harness.check import VulkanLoader, VulkanSandbox, requirement

CODES = {
    "VK_ERROR_OUT_OF_DEVICE_MEMORY": -2,
    "VK_ERROR_INITIALIZATION_FAILED": -3,
    "VK_ERROR_LAYER_NOT_PRESENT": -6,
    "VK_ERROR_EXTENSION_NOT_PRESENT": -7,
    "VK_ERROR_INCOMPATIBLE_DRIVER": -9,
    "VK_ERROR_UNKNOWN": -13,
}
ORDERS = {"first": ["fails", "a", "b"], "middle": ["a", "fails", "b"], "last": ["a", "b", "fails"]}


def add_drivers(sandbox: VulkanSandbox, order: str, *faults: str) -> None:
    for name in ORDERS[order]:
        sandbox.driver(name, faults=faults if name == "fails" else ())


@requirement("VK-OBJ-012")
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("code", CODES)
def test_driver_without_an_instance_costs_only_itself(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, code: str, order: str
) -> None:
    """Whatever a driver answers to vkCreateInstance, the others are used; its devices are not listed."""
    add_drivers(sandbox, order, f"create_instance_fails={CODES[code]}")

    with vulkan_loader.start(sandbox) as vk:
        assert vk.device_names() == {"a.0", "b.0"}
    assert len(sandbox.log.calls("vkCreateInstance", by="fails")) == 1
    assert not sandbox.log.calls("vkEnumeratePhysicalDevices", by="fails")


@requirement("VK-OBJ-012")
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("code", CODES)
def test_handle_of_a_failed_instance_is_not_used(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, code: str, order: str
) -> None:
    """What a driver leaves in *pInstance where vkCreateInstance fails is not an instance, valid as it looks."""
    add_drivers(sandbox, order, f"create_instance_fails_late={CODES[code]}")

    with vulkan_loader.start(sandbox) as vk:
        assert vk.device_names() == {"a.0", "b.0"}
    assert len(sandbox.log.calls("vkCreateInstance", by="fails")) == 1
    assert not sandbox.log.calls("vkEnumeratePhysicalDevices", by="fails")


@requirement("VK-OBJ-012")
@pytest.mark.parametrize("code", CODES)
def test_no_instance_where_all_drivers_fail(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, code: str) -> None:
    """Where every driver fails, vkCreateInstance does, and the driver beside them makes it succeed."""
    sandbox.driver("fails", faults=[f"create_instance_fails={CODES[code]}"])
    sandbox.driver("fails2", faults=[f"create_instance_fails={CODES[code]}"])
    with vulkan_loader.start(sandbox) as vk:
        assert vk.CreateInstance()[0] < 0
    sandbox.driver("good")
    with vulkan_loader.start(sandbox) as vk:
        assert vk.drivers() == {"good"}


@requirement("VK-OBJ-012")
def test_failed_instance_can_be_tried_again(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """A driver that fails once costs nothing later: instances can still be made and destroyed."""
    add_drivers(sandbox, "middle", "create_instance_fails=-3")

    with vulkan_loader.start(sandbox) as vk:
        for _ in range(3):
            assert vk.device_names() == {"a.0", "b.0"}
    assert not sandbox.log.calls("vkDestroyInstance", by="fails")


@requirement("VK-OBJ-017")
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("fault", ["create_instance_fails=-1", "extension_list_fails=-1", "extension_count_fails=-1"])
def test_instances_of_the_others_end_where_one_driver_has_no_memory(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, fault: str, order: str
) -> None:
    """Whether vkCreateInstance then succeeds or fails, what the others made is destroyed in them, once each."""
    add_drivers(sandbox, order, fault)

    with vulkan_loader.start(sandbox) as vk:
        for _ in range(2):
            rc, instance = vk.CreateInstance()
            if rc == 0:
                vk.vkDestroyInstance(instance, None)
    for name in ("a", "b"):
        instances = [e.data["handle"] for e in sandbox.log.happened("object", by=name)
                     if e.data["detail"].startswith("instance")]  # fmt: skip
        ended = [hex(e.arguments[0]) for e in sandbox.log.calls("vkDestroyInstance", by=name)]
        assert ended == [handle for handle in instances if handle]
        assert len(ended) == len(sandbox.log.calls("vkCreateInstance", by=name))


@requirement("VK-OBJ-013")
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(
    "fault",
    [
        *("device_count_fails=-3", "device_list_fails=-3", "device_count_fails=-1"),
        *("device_count_fails_late=-3", "device_list_fails_late=-3"),
    ],
)
def test_driver_that_cannot_list_devices_crashes_nothing(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, fault: str, order: str, record: Callable[[str], None]
) -> None:
    """The call may fail, or leave the driver out; the instance goes on to work, and is destroyed in all drivers."""
    add_drivers(sandbox, order, fault)

    with vulkan_loader.start(sandbox) as vk:
        instance = vk.instance()
        count = vk.buffer(4, 0)
        rc = vk.vkEnumeratePhysicalDevices(instance, count, None)
        if rc == 0:
            devices = vk.buffer(8 * max(count.u32(), 1), 0)
            rc = vk.vkEnumeratePhysicalDevices(instance, count, devices)
        if rc >= 0:
            names = {vk.device_name(device) for device in devices.handles()[: count.u32()]}
            assert names == {"a.0", "b.0"}
        record("left out" if rc >= 0 else "the call fails")
        vk.vkDestroyInstance(instance, None)
    for name in ("a", "b", "fails"):
        assert len(sandbox.log.calls("vkDestroyInstance", by=name)) == 1


@requirement("VK-OBJ-013")
@pytest.mark.parametrize("fault", ["device_list_incomplete", "device_list_is_shorter"])
def test_strange_list_of_devices_costs_only_its_driver(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, fault: str
) -> None:
    """A driver that lists fewer devices than it said, or calls a whole list incomplete, harms no other."""
    sandbox.driver("a")
    sandbox.driver("strange", devices=2, faults=[fault])
    sandbox.driver("b")

    with vulkan_loader.start(sandbox) as vk:
        instance = vk.instance()
        count, devices = vk.data((16).to_bytes(4, "little")), vk.buffer(8 * 16, 0)
        rc = vk.vkEnumeratePhysicalDevices(instance, count, devices)
        if rc == 0:
            assert {"a.0", "b.0"} <= {vk.device_name(device) for device in devices.handles()[: count.u32()]}
        vk.vkDestroyInstance(instance, None)
    assert not sandbox.log.happened("foreign handle")


@requirement("VK-OBJ-033")
@pytest.mark.parametrize("what", ["extension", "device", "group", "group without room", "device_extension"])
def test_driver_that_claims_a_longer_list_crashes_nothing(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, what: str
) -> None:
    """A driver says that it wrote more than there was room for: that is not read, and the others are used."""
    extension = "VK_KHR_get_physical_device_properties2"
    lists: dict[str, Any] = {"extensions": extension, "device_extensions": "VK_CLH_own"}
    sandbox.driver("a", **lists)
    sandbox.driver("claims", devices=2, faults=[f"{what.split()[0]}_list_claims_more=100000"], **lists)
    sandbox.driver("b", **lists)

    with vulkan_loader.start(sandbox) as vk:
        assert vk.extension_names().count(extension) == 1
        instance = vk.instance("1.1.0", extensions=[extension])
        devices = {vk.device_name(device): device for device in vk.physical_devices(instance)}
        assert {"a.0", "b.0"} <= set(devices) <= {"a.0", "b.0", "claims.0", "claims.1"}
        for device in devices.values():
            assert vk.CreateDevice(device, extensions=["VK_CLH_own"])[0] == 0
            assert str(vk.CreateDevice(device, extensions=["VK_CLH_no"])[0]) == "VK_ERROR_EXTENSION_NOT_PRESENT"
        for room in {"group": (9,), "group without room": (2, 1)}.get(what, ()):
            count, name = vk.data(room.to_bytes(4, "little")), "VkPhysicalDeviceGroupProperties"
            vk.vkEnumeratePhysicalDeviceGroups(instance, count, vk.structures(name, [{}] * 9))
            assert count.u32() <= len(devices)
        vk.vkDestroyInstance(instance, None)
    assert not sandbox.log.happened("foreign handle")


@requirement("VK-OBJ-033")
def test_driver_that_claims_more_extensions_of_its_devices_is_sorted_like_others(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox
) -> None:
    """A loader that sorts devices asks for their extensions: more of them than there was room for are not looked at."""
    for name, faults in (("a", []), ("claims", ["device_extension_list_claims_more=100000"])):
        sandbox.driver(name, devices=2, device_extensions="VK_CLH_own", faults=faults)

    with vulkan_loader.start(sandbox) as vk:
        instance = vk.instance("1.1.0")
        assert vk.device_names(instance) == {"a.0", "a.1", "claims.0", "claims.1"}
        assert len(vk.devices_of_groups(instance)) == 4


@requirement("VK-OBJ-033")
@pytest.mark.parametrize("room", [1, 9])
def test_driver_that_claims_larger_groups_crashes_nothing(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, room: int
) -> None:
    """A driver says that a group has more devices than a group can have: the call may fail, and devices are used."""
    sandbox.driver("a")
    sandbox.driver("claims", devices=3, groups="2 1", faults=["group_claims_more_devices=100000"])

    with vulkan_loader.start(sandbox) as vk:
        instance = vk.instance("1.1.0")
        name = "VkPhysicalDeviceGroupProperties"
        count, groups = vk.data(room.to_bytes(4, "little")), vk.structures(name, [{}] * 9)
        if vk.vkEnumeratePhysicalDeviceGroups(instance, count, groups) >= 0:
            assert count.u32() <= 3
            sizes = [vk.member(groups, name, "physicalDeviceCount", index) for index in range(count.u32())]
            assert all(size <= 32 for size in sizes)
        assert vk.device_names(instance) == {"a.0", "claims.0", "claims.1", "claims.2"}
        for device in vk.physical_devices(instance):
            assert vk.CreateDevice(device)[0] == 0
        vk.vkDestroyInstance(instance, None)


@requirement("VK-OBJ-013")
@pytest.mark.parametrize("fault", ["group_count_fails=-3", "group_list_fails=-3"])
def test_driver_that_cannot_list_groups_crashes_nothing(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, fault: str
) -> None:
    """Devices are listed as usual, and the instance is destroyed in all drivers."""
    add_drivers(sandbox, "middle", fault)

    with vulkan_loader.start(sandbox) as vk:
        instance = vk.instance("1.1.0")
        count = vk.buffer(4, 0)
        vk.vkEnumeratePhysicalDeviceGroups(instance, count, None)
        assert vk.device_names(instance) == {"a.0", "b.0", "fails.0"}
        vk.vkDestroyInstance(instance, None)
    assert len(sandbox.log.calls("vkDestroyInstance", by="fails")) == 1


@requirement("VK-OBJ-013")
def test_driver_without_devices_costs_nothing(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """A driver without devices is not an error: alone, the list is empty; beside another, its devices are listed."""
    sandbox.driver("none", devices=0)
    with vulkan_loader.start(sandbox) as vk:
        instance = vk.instance()
        count = vk.buffer(4)
        rc = vk.vkEnumeratePhysicalDevices(instance, count, None)
        assert rc < 0 or count.u32() == 0
    sandbox.driver("a")
    with vulkan_loader.start(sandbox) as vk:
        assert vk.device_names() == {"a.0"}


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param("constructor_sleeps=30", marks=pytest.mark.requirement("VK-DSC-025")),
        pytest.param("version_fails=-3", marks=pytest.mark.requirement("VK-VER-008")),
    ],
)
def test_driver_that_is_odd_but_harmless_is_used(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, fault: str
) -> None:
    """A driver that loads slowly, or does not know its version, is used like the one beside it."""
    sandbox.driver("a")
    sandbox.driver("odd", faults=[fault])

    with vulkan_loader.start(sandbox) as vk:
        assert vk.drivers() == {"a", "odd"}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("vkEnumerateDeviceExtensionProperties", marks=pytest.mark.requirement("VK-EP-007")),
        pytest.param("vkAllocateCommandBuffers", marks=pytest.mark.requirement("VK-EP-008")),
    ],
)
def test_failure_of_one_device_is_its_own(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, name: str) -> None:
    """What one driver answers about its device comes back for that device, and not for another driver's."""
    fault = "device_extensions_fail=-1" if name.startswith("vkEnumerate") else "command_buffers_fail=-1"
    sandbox.driver("good", device_extensions="VK_CLH_own")
    sandbox.driver("fails", device_extensions="VK_CLH_own", faults=[fault])

    with vulkan_loader.start(sandbox) as vk:
        answers = {}
        for physical_device in vk.physical_devices(vk.instance()):
            if name.startswith("vkEnumerate"):
                rc = vk.vkEnumerateDeviceExtensionProperties(physical_device, None, vk.buffer(4, 0), None)
            else:
                info = vk.structure("VkCommandBufferAllocateInfo", commandPool=1, commandBufferCount=1)
                rc = vk.vkAllocateCommandBuffers(vk.device(physical_device), info, vk.buffer(8))
            answers[vk.device_name(physical_device)] = str(rc)
    assert answers == {"good.0": "VK_SUCCESS", "fails.0": "VK_ERROR_OUT_OF_HOST_MEMORY"}
