# SPDX-License-Identifier: Apache-2.0
"""Physical devices and their groups, of several drivers (VK-OBJ)."""

from collections.abc import Callable
from typing import Any

import pytest

from harness.check import Value, VulkanLoader, VulkanSandbox, VulkanSession, requirement, vulkan

GROUP = "VkPhysicalDeviceGroupProperties"
DEVICES = {"a": 1, "b": 3, "c": 0, "d": 2}
NAMES = {f"{name}.{index}" for name, count in DEVICES.items() for index in range(count)}


def add_drivers(sandbox: VulkanSandbox) -> None:
    for name, count in DEVICES.items():
        sandbox.driver(name, devices=count)


def groups(vk: VulkanSession, instance: Value) -> list[list[str]]:
    """The names of the devices in each group."""
    count = vk.buffer(4, 0)
    assert vk.vkEnumeratePhysicalDeviceGroups(instance, count, None) == 0
    number = count.u32()
    listed = vk.structures(GROUP, [{}] * number)
    assert vk.vkEnumeratePhysicalDeviceGroups(instance, count, listed) == 0
    assert count.u32() == number
    layout = vulkan().structures[GROUP]
    first = layout.members["physicalDevices"].offset // 8
    return [
        [
            vk.device_name(listed.handle(index * layout.size // 8 + first + place))
            for place in range(vk.member(listed, GROUP, "physicalDeviceCount", index))
        ]
        for index in range(number)
    ]


@requirement("VK-OBJ-010")
def test_devices_of_all_drivers_are_listed(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """Drivers with one, three, no and two devices: each device is there once."""
    add_drivers(sandbox)

    with vulkan_loader.start(sandbox) as vk:
        assert vk.device_names() == NAMES


@requirement("VK-OBJ-010")
@pytest.mark.parametrize("count", [1, 2, 8, 16])
def test_driver_may_have_any_number_of_devices(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, count: int) -> None:
    """All devices of a driver are listed, also beside a driver with one."""
    sandbox.driver("a", devices=count)
    sandbox.driver("b")

    with vulkan_loader.start(sandbox) as vk:
        assert vk.device_names() == {"b.0", *(f"a.{index}" for index in range(count))}


@requirement("VK-OBJ-010")
@pytest.mark.parametrize("count", [1, 2, 16, 40])
def test_there_may_be_any_number_of_drivers(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, count: int) -> None:
    """Each of many drivers is asked and its device listed."""
    for index in range(count):
        sandbox.driver(f"d{index}")

    with vulkan_loader.start(sandbox) as vk:
        assert vk.drivers() == {f"d{index}" for index in range(count)}


@requirement("VK-OBJ-010")
@pytest.mark.parametrize("room", range(7))
def test_list_of_devices_takes_memory_of_any_size(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, room: int
) -> None:
    """As many devices as there is room for are written, and nothing else; less than all is VK_INCOMPLETE."""
    add_drivers(sandbox)

    with vulkan_loader.start(sandbox) as vk:
        instance = vk.instance()
        count = vk.data(room.to_bytes(4, "little"))
        devices = vk.buffer(8 * room) if room else vk.buffer(8)
        rc = vk.vkEnumeratePhysicalDevices(instance, count, devices)
        assert str(rc) == ("VK_SUCCESS" if room >= len(NAMES) else "VK_INCOMPLETE")
        written = min(room, len(NAMES))
        assert count.u32() == written
        assert len({vk.device_name(device) for device in devices.handles()[:written]} & NAMES) == written


@requirement("VK-OBJ-022")
@pytest.mark.parametrize("sorted_by", ["the loader", "the drivers"])
@pytest.mark.parametrize("more", [0, 12])
def test_devices_have_the_same_handles_each_time(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, more: int, sorted_by: str
) -> None:
    """Listed again, the devices of an instance are the same, sorted or not."""
    add_drivers(sandbox)
    for index in range(more):
        sandbox.driver(f"more{index}")
    if sorted_by == "the drivers":
        sandbox.env["VK_LOADER_DISABLE_SELECT"] = "1"

    with vulkan_loader.start(sandbox) as vk:
        instance = vk.instance()
        first = vk.physical_devices(instance)
        assert len(set(first)) == len(NAMES) + more
        for _ in range(2):
            assert set(vk.physical_devices(instance)) == set(first)


@requirement("VK-OBJ-022")
@pytest.mark.parametrize("sorted_by", ["the loader", "the drivers"])
@pytest.mark.parametrize("room", range(len(NAMES)))
def test_devices_keep_their_handles_beside_a_shorter_list(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, room: int, sorted_by: str
) -> None:
    """Those that a list has no room for stay what they are, and can be used as before."""
    add_drivers(sandbox)
    if sorted_by == "the drivers":
        sandbox.env["VK_LOADER_DISABLE_SELECT"] = "1"

    with vulkan_loader.start(sandbox) as vk:
        instance = vk.instance()
        devices = vk.physical_devices(instance)
        names = [vk.device_name(device) for device in devices]
        for _ in range(2):
            count, listed = vk.data(room.to_bytes(4, "little")), vk.buffer(8 * max(room, 1), 0)
            assert str(vk.vkEnumeratePhysicalDevices(instance, count, listed)) == "VK_INCOMPLETE"
            assert count.u32() == room and set(listed.handles()[:room]) <= set(devices)
        assert [vk.device_name(device) for device in devices] == names
        assert set(vk.physical_devices(instance)) == set(devices)
        for device in devices:
            assert vk.CreateDevice(device)[0] == 0


@requirement("VK-OBJ-022")
@pytest.mark.parametrize("rooms", [(2, 1), (3, 1, 2), (5, 1), (1, 2, 1, 3)], ids=str)
def test_devices_of_a_list_keep_their_handles_after_a_shorter_one(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, rooms: tuple[int, ...]
) -> None:
    """An application that never had room for all devices uses those that it was ever given."""
    add_drivers(sandbox)

    with vulkan_loader.start(sandbox) as vk:
        allocator, to = vk.allocator(), vk.buffer(8, 0)
        assert vk.vkCreateInstance(vk.instance_info(), allocator, to) == 0
        instance, known = to.handle(), dict[str, Value]()
        for room in rooms:
            count, listed = vk.data(room.to_bytes(4, "little")), vk.buffer(8 * room, 0)
            assert str(vk.vkEnumeratePhysicalDevices(instance, count, listed)) == "VK_INCOMPLETE"
            for device in listed.handles():
                assert known.setdefault(vk.device_name(device), device) == device
            assert {name: vk.device_name(device) for name, device in known.items()} == {name: name for name in known}
        assert set(known) <= NAMES and set(known.values()) <= set(vk.physical_devices(instance))
        vk.vkDestroyInstance(instance, allocator)


@requirement("VK-OBJ-022")
def test_devices_keep_their_handles_where_others_appear(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """Where a driver has more devices than before, those that were there keep their handles; a loader lists the others
    or not."""
    sandbox.driver("a")
    sandbox.driver("grows", faults=["device_count_grows"])

    with vulkan_loader.start(sandbox) as vk:
        instance = vk.instance()
        known = set[int]()
        for _ in range(3):
            count, devices = vk.data((32).to_bytes(4, "little")), vk.buffer(8 * 32)
            assert vk.vkEnumeratePhysicalDevices(instance, count, devices) == 0
            handles = devices.handles()[: count.u32()]
            assert known <= set(handles)
            known = set(handles)
            assert {"a.0", "grows.0"} <= {vk.device_name(device) for device in handles}


@pytest.mark.parametrize("form", [
    *(pytest.param(form, marks=pytest.mark.requirement("VK-OBJ-020")) for form in ("0x{:x}:0x1", "0x{:X}:0x0001")),
    *(pytest.param(form, marks=pytest.mark.requirement("VK-OBJ-050")) for form in ("{:x}:1", "{:X}:1")),
])  # fmt: skip
@pytest.mark.parametrize("chosen", ["a", "b", "c"])
def test_user_puts_a_device_first(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, chosen: str, form: str) -> None:
    """VK_LOADER_DEVICE_SELECT names vendor and device in hexadecimal; that one comes first, all others are there."""
    vulkan_loader.require("VK_LOADER_DEVICE_SELECT")
    vendors = {"a": 0x10DE, "b": 0x2222, "c": 0xABCD}
    for name, vendor in vendors.items():
        sandbox.driver(name, vendor=vendor)
    sandbox.env["VK_LOADER_DEVICE_SELECT"] = form.format(vendors[chosen])

    with vulkan_loader.start(sandbox) as vk:
        names = vk.device_names(api_version="1.1.0")  # what older ones say of devices may not be enough
    assert names == {"a.0", "b.0", "c.0"} and names[0] == f"{chosen}.0"


@requirement("VK-OBJ-020")
@pytest.mark.parametrize("number", [1, 2, 3])
def test_user_puts_a_device_of_several_first(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, number: int) -> None:
    """Of three devices of one vendor, beside another vendor's, the one with the chosen number comes first."""
    vulkan_loader.require("VK_LOADER_DEVICE_SELECT")
    sandbox.driver("a", vendor=0x1111, devices=3)
    sandbox.driver("b", vendor=0x2222, devices=3)
    sandbox.env["VK_LOADER_DEVICE_SELECT"] = f"0x2222:0x{number}"

    with vulkan_loader.start(sandbox) as vk:
        names = vk.device_names(api_version="1.1.0")
    assert len(names) == len(set(names)) == 6 and names[0] == f"b.{number - 1}"


# By what a VkPhysicalDeviceType is called, in no order that a loader may have.
TYPES = {"cpu": 4, "discrete": 2, "other": 0, "virtual": 3, "integrated": 1}


def order_of_types(loader: VulkanLoader, sandbox: VulkanSandbox, names: list[str]) -> list[str]:
    """The types of the devices as they are listed, of drivers whose manifests are named in this order."""
    sandbox.env["VK_DRIVER_FILES"] = sandbox.env["VK_ICD_FILENAMES"] = ":".join(
        str(next(path for path in sandbox.shown if path.stem == name)) for name in names
    )
    with loader.start(sandbox) as vk:
        return [name.partition(".")[0] for name in vk.device_names(api_version="1.1.0")]


@requirement("VK-OBJ-024")
def test_devices_are_sorted_consistently(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, record: Callable[[str], None]
) -> None:
    """Devices of five types have one order, in whatever order their drivers are found."""
    vulkan_loader.require("VK_LOADER_DEVICE_SELECT")
    for name, kind in TYPES.items():
        sandbox.driver(name, device_type=kind)

    order = order_of_types(vulkan_loader, sandbox, list(TYPES))
    assert sorted(order) == sorted(TYPES)
    assert order_of_types(vulkan_loader, sandbox, list(reversed(TYPES))) == order
    record(", ".join(order))


@requirement("VK-OBJ-024")
def test_user_disables_the_sorting(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """With VK_LOADER_DISABLE_SELECT the devices of a driver come as the driver lists them, and sorted without it."""
    vulkan_loader.require("VK_LOADER_DEVICE_SELECT")
    settings: dict[str, Any] = {"device_extensions": "VK_EXT_pci_bus_info", "pci_bus": 3, "pci_backwards": True}
    sandbox.driver("a", devices=4, extensions="VK_KHR_get_physical_device_properties2", **settings)
    own = [f"a.{index}" for index in range(4)]

    with vulkan_loader.start(sandbox) as vk:
        assert list(vk.device_names(api_version="1.1.0")) == list(reversed(own))
    sandbox.env["VK_LOADER_DISABLE_SELECT"] = "1"
    with vulkan_loader.start(sandbox) as vk:
        assert list(vk.device_names(api_version="1.1.0")) == own


@requirement("VK-OBJ-035")
@pytest.mark.parametrize("value", ["", "0"])
def test_sorting_stays_with_a_value_that_does_not_disable_it(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, value: str
) -> None:
    """VK_LOADER_DISABLE_SELECT without a value, or as 0, changes nothing: devices have one order."""
    vulkan_loader.require("VK_LOADER_DEVICE_SELECT")
    for name, kind in TYPES.items():
        sandbox.driver(name, device_type=kind)
    order = order_of_types(vulkan_loader, sandbox, list(TYPES))

    sandbox.env["VK_LOADER_DISABLE_SELECT"] = value
    for names in (list(TYPES), list(reversed(TYPES))):
        assert order_of_types(vulkan_loader, sandbox, names) == order


@requirement("VK-OBJ-011")
def test_groups_of_the_extension_are_listed(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """A driver of 1.0 that has the extension's function only: with the extension its groups are listed by it."""
    extension = "VK_KHR_device_group_creation"
    settings: dict[str, Any] = {"api_version": "1.0.0", "extensions": extension, "devices": 3, "groups": "2 1"}
    sandbox.driver("a", functions={"lacks": ["vkEnumeratePhysicalDeviceGroups"]}, **settings)

    with vulkan_loader.start(sandbox) as vk:
        instance = vk.instance(extensions=[extension])
        count, listed = vk.data((8).to_bytes(4, "little")), vk.structures(GROUP, [{}] * 8)
        name = "vkEnumeratePhysicalDeviceGroupsKHR"
        number = vk.buffer(4, 0)
        assert vk.call_found(instance, name, instance, number, None) == 0 and number.u32() == 2
        assert vk.call_found(instance, name, instance, count, listed) == 0
        assert [vk.member(listed, GROUP, "physicalDeviceCount", i) for i in range(count.u32())] in ([2, 1], [1, 2])


@requirement("VK-OBJ-011")
def test_groups_of_all_drivers_are_listed(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """Groups of two and one, of three, and of single devices: each group is there, with its own devices."""
    sandbox.driver("a", devices=3, groups="2 1")
    sandbox.driver("b", devices=3, groups="3")
    sandbox.driver("c", devices=2)
    expected = [["a.0", "a.1"], ["a.2"], ["b.0", "b.1", "b.2"], ["c.0"], ["c.1"]]

    with vulkan_loader.start(sandbox) as vk:
        actual = groups(vk, vk.instance("1.1.0"))
    assert sorted(sorted(group) for group in actual) == expected


@requirement("VK-OBJ-011")
def test_devices_in_groups_have_the_handles_that_they_are_listed_with(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox
) -> None:
    """A device in a group is the loader's one, and not the driver's."""
    sandbox.driver("a", devices=2, groups="2")
    sandbox.driver("b")

    with vulkan_loader.start(sandbox) as vk:
        instance = vk.instance("1.1.0")
        devices = set(vk.physical_devices(instance))
        count = vk.data((8).to_bytes(4, "little"))
        listed = vk.structures(GROUP, [{}] * 8)
        assert vk.vkEnumeratePhysicalDeviceGroups(instance, count, listed) == 0
        layout = vulkan().structures[GROUP]
        first = layout.members["physicalDevices"].offset // 8
        result = set()
        for index in range(count.u32()):
            for place in range(vk.member(listed, GROUP, "physicalDeviceCount", index)):
                result.add(int(listed.handle(index * layout.size // 8 + first + place)))
    assert result == {int(device) for device in devices}


@requirement("VK-OBJ-011")
def test_devices_of_a_driver_without_groups_are_groups_of_one(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox
) -> None:
    """A driver of Vulkan 1.0 that has no such function is listed beside one that has it."""
    lacking = ["vkEnumeratePhysicalDeviceGroups", "vkEnumeratePhysicalDeviceGroupsKHR"]
    sandbox.driver("new", devices=2, groups="2")
    sandbox.driver("old", devices=2, functions={"lacks": lacking}, api_version="1.0.0")

    with vulkan_loader.start(sandbox) as vk:
        result = groups(vk, vk.instance("1.1.0"))
    assert sorted(sorted(group) for group in result) == [["new.0", "new.1"], ["old.0"], ["old.1"]]


@requirement("VK-OBJ-026")
@pytest.mark.parametrize("before", [0, 1, 2])
def test_device_of_a_group_is_made_of_the_drivers_handles(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, before: int
) -> None:
    """VkDeviceGroupDeviceCreateInfo has the driver's own handles there, however many structures stand before it."""
    sandbox.driver("a", devices=2, groups="2")
    sandbox.driver("b")

    with vulkan_loader.start(sandbox) as vk:
        instance = vk.instance("1.1.0")
        devices = {vk.device_name(device): device for device in vk.physical_devices(instance)}
        chosen = [devices["a.0"], devices["a.1"]]
        chain = vk.structure(
            "VkDeviceGroupDeviceCreateInfo", physicalDeviceCount=2, pPhysicalDevices=vk.words(list(chosen))
        )
        for _ in range(before):
            chain = vk.structure("VkPhysicalDevice16BitStorageFeatures", pNext=chain)
        assert vk.CreateDevice(chosen[0], chain=chain)[0] == 0
    own = {e.data["detail"]: e.data["handle"] for e in sandbox.log.happened("object", by="a")}
    creation = sandbox.log.calls("vkCreateDevice", by="a").only
    assert creation.data["in"]["physicalDevices"] == [own["physical device 0"], own["physical device 1"]]


@requirement("VK-OBJ-024")
@pytest.mark.parametrize("alike", ["of other vendors", "in other slots"])
def test_devices_of_one_type_are_sorted_consistently(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, alike: str
) -> None:
    """Devices that differ by their vendor, or only by where they are on the PCI bus, have one order, too."""
    vulkan_loader.require("VK_LOADER_DEVICE_SELECT")
    for number, name in enumerate(("c", "a", "d", "b"), 1):
        if alike == "in other slots":
            settings: dict[str, Any] = {"device_extensions": "VK_EXT_pci_bus_info", "pci_bus": number}
        else:
            settings = {"vendor": 0x1000 * number}
        sandbox.driver(name, **settings)

    names = ["a", "b", "c", "d"]
    order = order_of_types(vulkan_loader, sandbox, names)
    assert sorted(order) == names
    for other in (["d", "c", "b", "a"], ["b", "d", "a", "c"]):
        assert order_of_types(vulkan_loader, sandbox, other) == order
