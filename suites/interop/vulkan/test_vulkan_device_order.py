# SPDX-License-Identifier: Apache-2.0
"""The order in which a loader that sorts devices lists them, and their groups (VK-OBJ)."""

from itertools import permutations
from typing import Any

import pytest

from harness.check import Value, VulkanLoader, VulkanSandbox, requirement, vulkan

GROUP = "VkPhysicalDeviceGroupProperties"
PLACED = {"device_extensions": "VK_EXT_pci_bus_info", "pci_bus": 3, "pci_device": 3}
# VkPhysicalDeviceType, the first ones first; what follows them has no documented order.
TYPES = {"discrete": 2, "integrated": 1, "virtual": 3}
OTHERS = {"cpu": 4, "other": 0}
# Where devices are on the PCI bus: the first to come is "a". All parts that count less are the other way round.
PLACES: dict[str, list[dict[str, int]]] = {
    "domain": [
        {"pci_domain": 1, "pci_bus": 9, "pci_device": 9, "pci_function": 7},
        {"pci_domain": 2, "pci_bus": 5, "pci_device": 5, "pci_function": 5},
        {"pci_domain": 7, "pci_bus": 1, "pci_device": 1, "pci_function": 1},
    ],
    "bus": [
        {"pci_bus": 1, "pci_device": 9, "pci_function": 7},
        {"pci_bus": 4, "pci_device": 5, "pci_function": 5},
        {"pci_bus": 200, "pci_device": 1, "pci_function": 1},
    ],
    "device": [
        {"pci_device": 1, "pci_function": 7},
        {"pci_device": 5, "pci_function": 5},
        {"pci_device": 31, "pci_function": 1},
    ],
    "function": [{"pci_function": 0}, {"pci_function": 1}, {"pci_function": 7}],
}


def name_in_order(sandbox: VulkanSandbox, names: tuple[str, ...]) -> None:
    """Has the loader meet the drivers in this order."""
    paths = {path.stem: str(path) for path in sandbox.shown}
    sandbox.env["VK_DRIVER_FILES"] = sandbox.env["VK_ICD_FILENAMES"] = ":".join(paths[name] for name in names)


def orders(names: list[str]) -> list[tuple[str, ...]]:
    """Some orders of the drivers, among them both in which each two are."""
    every = list(permutations(names))
    return [every[0], every[-1], every[len(every) // 2]]


@requirement("VK-OBJ-030")
def test_devices_are_sorted_by_type(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """Discrete ones come first, then integrated and virtual ones, then all others, in whatever order drivers are."""
    vulkan_loader.require("VK_LOADER_DEVICE_SELECT")
    for name, kind in (TYPES | OTHERS).items():
        sandbox.driver(name, device_type=kind)

    for order in orders(sorted(TYPES | OTHERS)):
        name_in_order(sandbox, order)
        with vulkan_loader.start(sandbox) as vk:
            listed = [name.partition(".")[0] for name in vk.device_names(api_version="1.1.0")]
        assert listed[:3] == list(TYPES)
        assert set(listed[3:]) == set(OTHERS)


@requirement("VK-OBJ-030")
@pytest.mark.parametrize("part", PLACES)
@pytest.mark.parametrize("api_version", ["1.0.0", "1.1.0"])
def test_devices_of_a_type_are_sorted_by_their_place(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, part: str, api_version: str
) -> None:
    """Domain, bus, device and function count in this order; drivers of 1.0 have the query of the extension only."""
    vulkan_loader.require("VK_LOADER_DEVICE_SELECT")
    query = "VK_KHR_get_physical_device_properties2"
    names = ["a", "b", "c"]
    for name, place in zip(names, PLACES[part], strict=True):
        settings: dict[str, Any] = PLACED | place
        lacks = ["vkGetPhysicalDeviceProperties2"] if api_version == "1.0.0" else []
        sandbox.driver(name, extensions=query, api_version=api_version, functions={"lacks": lacks}, **settings)

    for order in orders(names):
        name_in_order(sandbox, order)
        with vulkan_loader.start(sandbox) as vk:
            assert list(vk.device_names(api_version=api_version)) == ["a.0", "b.0", "c.0"]


@requirement("VK-OBJ-039")
@pytest.mark.parametrize("extensions", ["", "VK_EXT_pci_bus_information", "VK_KHR_swapchain VK_EXT_memory_budget"])
def test_devices_that_do_not_say_where_they_are_come_last(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, extensions: str
) -> None:
    """Of one type, after those with VK_EXT_pci_bus_info: whatever else they have, and would answer to its query."""
    vulkan_loader.require("VK_LOADER_DEVICE_SELECT")
    settings: dict[str, Any] = PLACED
    sandbox.driver("placed", **settings)
    sandbox.driver("elsewhere", **settings | {"device_extensions": extensions, "pci_bus": 1})

    for order in permutations(["placed", "elsewhere"]):
        name_in_order(sandbox, order)
        with vulkan_loader.start(sandbox) as vk:
            assert list(vk.device_names(api_version="1.1.0")) == ["placed.0", "elsewhere.0"]


@pytest.mark.parametrize(
    "what",
    [
        pytest.param("devices", marks=pytest.mark.requirement("VK-OBJ-030")),
        pytest.param("groups", marks=pytest.mark.requirement("VK-OBJ-041")),
    ],
)
@pytest.mark.parametrize(("application", "driver"), [("1.1.0", "1.0.0"), ("1.0.0", "1.1.0")])
def test_places_are_asked_for_by_what_application_and_driver_have(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, application: str, driver: str, what: str
) -> None:
    """Where one of both is of 1.0, drivers have the query by its extension only, and are sorted all the same."""
    vulkan_loader.require("VK_LOADER_DEVICE_SELECT")
    queries = ["VK_KHR_get_physical_device_properties2", "VK_KHR_device_group_creation"]
    functions = {"lacks": ["vkGetPhysicalDeviceProperties2"]}
    names = ["a", "b", "c"]
    for name, place in zip(names, PLACES["bus"], strict=True):
        settings: dict[str, Any] = PLACED | place | {"extensions": " ".join(queries)}
        sandbox.driver(name, api_version=driver, functions=functions, **settings)

    for order in orders(names):
        name_in_order(sandbox, order)
        with vulkan_loader.start(sandbox) as vk:
            instance = vk.instance(application, extensions=queries)
            listed = [[name] for name in vk.device_names(instance)]
            if what == "groups":
                listed = vk.devices_of_groups(instance)
        assert listed == [["a.0"], ["b.0"], ["c.0"]]


@requirement("VK-OBJ-030")
def test_type_counts_more_than_place(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """An integrated device on an earlier bus comes after a discrete one, and so does one whose place is not known."""
    vulkan_loader.require("VK_LOADER_DEVICE_SELECT")
    settings: dict[str, Any] = PLACED
    sandbox.driver("integrated", device_type=1, **settings | {"pci_bus": 1})
    sandbox.driver("unplaced", device_type=1)
    sandbox.driver("discrete", device_type=2, **settings | {"pci_bus": 9})

    for order in orders(["integrated", "unplaced", "discrete"]):
        name_in_order(sandbox, order)
        with vulkan_loader.start(sandbox) as vk:
            names = vk.device_names(api_version="1.1.0")
        assert names[0] == "discrete.0" and set(names) == {"discrete.0", "integrated.0", "unplaced.0"}


@requirement("VK-OBJ-039")
@pytest.mark.parametrize("what", ["devices", "groups"])
def test_device_whose_place_is_not_known_comes_later(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, what: str
) -> None:
    """Of devices of one type, those come first that say where they are, whatever numbers they have."""
    vulkan_loader.require("VK_LOADER_DEVICE_SELECT")
    for name, vendor in (("before", 0x1111), ("after", 0x9999)):
        sandbox.driver(name, vendor=vendor)
    settings: dict[str, Any] = PLACED | {"vendor": 0x5555}
    sandbox.driver("placed", **settings)

    for order in orders(["before", "placed", "after"]):
        name_in_order(sandbox, order)
        with vulkan_loader.start(sandbox) as vk:
            instance = vk.instance("1.1.0")
            names = list(vk.device_names(instance))
            if what == "groups":
                names = [name for group in vk.devices_of_groups(instance) for name in group]
        assert len(names) == 3 and names[0] == "placed.0"


@requirement("VK-OBJ-041")
@pytest.mark.parametrize("by", ["type", *PLACES])
def test_groups_are_sorted_as_their_devices_are(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, by: str) -> None:
    """Groups of one device come in the order in which the devices are listed, in whatever order drivers are."""
    vulkan_loader.require("VK_LOADER_DEVICE_SELECT")
    names = ["a", "b", "c"]
    for place, name in enumerate(names):
        settings: dict[str, Any] = {"device_type": list(TYPES.values())[place]} if by == "type" else {}
        sandbox.driver(name, **settings or PLACED | PLACES[by][place])

    for order in orders(names):
        name_in_order(sandbox, order)
        with vulkan_loader.start(sandbox) as vk:
            instance = vk.instance("1.1.0")
            assert vk.devices_of_groups(instance) == [[name] for name in vk.device_names(instance)]


@requirement("VK-OBJ-041")
@pytest.mark.parametrize("api_version", ["1.0.0", "1.1.0"])
def test_devices_of_a_group_are_sorted_by_their_place(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, api_version: str
) -> None:
    """Within each group they come in the order in which all devices are listed, and not in that of the driver."""
    vulkan_loader.require("VK_LOADER_DEVICE_SELECT")
    queries = ["VK_KHR_get_physical_device_properties2", "VK_KHR_device_group_creation"]
    settings: dict[str, Any] = {"devices": 5, "groups": "3 2", "pci_bus": 3, "pci_backwards": True}
    settings |= {"device_extensions": "VK_EXT_pci_bus_info", "extensions": " ".join(queries)}
    sandbox.driver("a", api_version=api_version, **settings)

    with vulkan_loader.start(sandbox) as vk:
        instance = vk.instance(api_version, extensions=queries)
        listed = list(vk.device_names(instance))
        assert listed == ["a.4", "a.3", "a.2", "a.1", "a.0"]
        assert vk.devices_of_groups(instance) == [["a.4", "a.3"], ["a.2", "a.1", "a.0"]]


@requirement("VK-OBJ-020")
@pytest.mark.parametrize("chosen", ["a", "b", "c"])
def test_user_puts_a_group_first(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, chosen: str) -> None:
    """The group of the device that VK_LOADER_DEVICE_SELECT names comes first, and all others are still there."""
    vulkan_loader.require("VK_LOADER_DEVICE_SELECT")
    vendors = {"a": 0x1111, "b": 0x2222, "c": 0x3333}
    for name, vendor in vendors.items():
        sandbox.driver(name, vendor=vendor)
    sandbox.env["VK_LOADER_DEVICE_SELECT"] = f"0x{vendors[chosen]:x}:0x1"

    with vulkan_loader.start(sandbox) as vk:
        groups = vk.devices_of_groups(vk.instance("1.1.0"))
    assert sorted(groups) == [["a.0"], ["b.0"], ["c.0"]] and groups[0] == [f"{chosen}.0"]


@pytest.mark.parametrize("value", [
    *(pytest.param(value, marks=pytest.mark.requirement("VK-OBJ-020")) for value in ("0x2222:0x9", "0x9999:0x1")),
    *(pytest.param(value, marks=pytest.mark.requirement("VK-OBJ-051")) for value in ("", "0x2222", "nothing", ":")),
])  # fmt: skip
def test_choice_of_no_device_changes_nothing(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, value: str) -> None:
    """A value that names none of the devices leaves the order as it is without it, and removes none."""
    vulkan_loader.require("VK_LOADER_DEVICE_SELECT")
    for name, vendor in {"a": 0x1111, "b": 0x2222, "c": 0x3333}.items():
        sandbox.driver(name, vendor=vendor)
    with vulkan_loader.start(sandbox) as vk:
        plain = list(vk.device_names(api_version="1.1.0"))

    sandbox.env["VK_LOADER_DEVICE_SELECT"] = value
    with vulkan_loader.start(sandbox) as vk:
        assert list(vk.device_names(api_version="1.1.0")) == plain


# Filters, and the groups that are left of those of a (vendor 0x1111, driver 3) and b (vendor 0x2222, driver 13).
FILTERS: dict[str, tuple[str, list[list[str]]]] = {
    "vendor": ("VK_LOADER_VENDOR_ID_FILTER=0x2222", [["b.0", "b.1"], ["b.2"]]),
    "driver": ("VK_LOADER_DRIVER_ID_FILTER=13", [["b.0", "b.1"], ["b.2"]]),
    "device": ("VK_LOADER_DEVICE_ID_FILTER=3", [["a.2"], ["b.2"]]),
    "device, the second only": ("VK_LOADER_DEVICE_ID_FILTER=2", []),
    "devices, some in a group": ("VK_LOADER_DEVICE_ID_FILTER=2-3", [["a.2"], ["b.2"]]),
    "all devices of a group": ("VK_LOADER_DEVICE_ID_FILTER=1-2", [["a.0", "a.1"], ["b.0", "b.1"]]),
}


def add_filtered_drivers(sandbox: VulkanSandbox) -> None:
    for name, vendor, driver in (("a", 0x1111, 3), ("b", 0x2222, 13)):
        sandbox.driver(name, vendor=vendor, driver_id=driver, devices=3, groups="2 1", api_version="1.2.0")


@requirement("VK-DSC-057")
@pytest.mark.parametrize("which", FILTERS)
def test_groups_are_filtered_by_the_numbers_of_their_devices(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, which: str
) -> None:
    """A group is listed where each of its devices is."""
    vulkan_loader.require("device filters")
    add_filtered_drivers(sandbox)
    assignment, expected = FILTERS[which]
    variable, _, value = assignment.partition("=")
    with vulkan_loader.start(sandbox) as vk:
        assert len(vk.devices_of_groups(vk.instance("1.2.0"))) == 4

    sandbox.env[variable] = value
    with vulkan_loader.start(sandbox) as vk:
        actual = vk.devices_of_groups(vk.instance("1.2.0"))
    assert sorted(sorted(group) for group in actual) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        *(
            pytest.param(value, expected, marks=pytest.mark.requirement("VK-DSC-032"))
            for value, expected in (("13", "b"), ("0xd", "b"), ("3,13", "ab"), ("1,2,13,99", "b"))
        ),
        *(
            pytest.param(value, expected, marks=pytest.mark.requirement("VK-DSC-057"))
            for value, expected in (("1-3", "a"), ("3-13", "ab"), ("4-12", ""))
        ),
    ],
)
def test_devices_are_filtered_by_their_driver(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, value: str, expected: str
) -> None:
    """VK_LOADER_DRIVER_ID_FILTER takes numbers and ranges, whose ends belong to them."""
    vulkan_loader.require("device filters")
    add_filtered_drivers(sandbox)
    sandbox.env["VK_LOADER_DRIVER_ID_FILTER"] = value

    with vulkan_loader.start(sandbox) as vk:
        assert vk.device_names(api_version="1.2.0") == {f"{name}.{index}" for name in expected for index in range(3)}


@requirement("VK-DSC-057")
@pytest.mark.parametrize("what", ["devices", "groups"])
@pytest.mark.parametrize("value", ["13", "0-5"])
def test_application_of_1_0_filters_devices_by_their_driver(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, value: str, what: str
) -> None:
    """By VK_KHR_get_physical_device_properties2, where it is enabled; without it, no driver is known to fit."""
    vulkan_loader.require("device filters")
    query, creation = "VK_KHR_get_physical_device_properties2", "VK_KHR_device_group_creation"
    for name, driver in (("a", 3), ("b", 13)):
        sandbox.driver(name, api_version="1.0.0", driver_id=driver, extensions=f"{query} {creation}")
    sandbox.env["VK_LOADER_DRIVER_ID_FILTER"] = value

    with vulkan_loader.start(sandbox) as vk:
        instances = [vk.instance("1.0.0", extensions=[*more, creation]) for more in ([query], [])]
        if what == "groups":
            lists = [[name for group in vk.devices_of_groups(one) for name in group] for one in instances]
        else:
            lists = [list(vk.device_names(one)) for one in instances]
    assert lists == [["b.0" if value == "13" else "a.0"], []]


@pytest.mark.parametrize("room", range(5))
@pytest.mark.parametrize(
    "what",
    [
        pytest.param("devices", marks=pytest.mark.requirement("VK-DSC-032", "VK-OBJ-010")),
        pytest.param("groups", marks=pytest.mark.requirement("VK-DSC-057")),
    ],
)
def test_filtered_list_takes_memory_of_any_size(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, what: str, room: int
) -> None:
    """The number is that of the devices that are left; less room than for these is VK_INCOMPLETE."""
    vulkan_loader.require("device filters")
    sandbox.driver("a", vendor=0x1111, devices=2)
    sandbox.driver("b", vendor=0x2222, devices=3)
    sandbox.env["VK_LOADER_VENDOR_ID_FILTER"] = "0x2222"

    with vulkan_loader.start(sandbox) as vk:
        instance = vk.instance("1.1.0")
        ask = vk.vkEnumeratePhysicalDevices if what == "devices" else vk.vkEnumeratePhysicalDeviceGroups
        count = vk.buffer(4, 0)
        assert ask(instance, count, None) == 0
        assert count.u32() == 3
        count = vk.data(room.to_bytes(4, "little"))
        memory = vk.buffer(8 * 5) if what == "devices" else vk.structures(GROUP, [{}] * 5)
        before = bytes(memory[:])
        rc = str(ask(instance, count, memory))
        assert (rc, count.u32()) == ("VK_SUCCESS" if room >= 3 else "VK_INCOMPLETE", min(room, 3))
        size = 8 if what == "devices" else vulkan().structures[GROUP].size
        assert memory[min(room, 3) * size :] == before[min(room, 3) * size :]


@requirement("VK-OBJ-022")
def test_devices_keep_their_handles_when_one_comes_before_them(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox
) -> None:
    """A driver finds one more each time, which is sorted before the others: those keep their handles, and work."""
    query = "VK_KHR_get_physical_device_properties2"
    settings: dict[str, Any] = {"device_extensions": "VK_EXT_pci_bus_info", "pci_bus": 3, "pci_backwards": True}
    sandbox.driver("a", extensions=query, faults=["device_count_grows"], **settings)

    with vulkan_loader.start(sandbox) as vk:
        instance, known = vk.instance("1.1.0", extensions=[query]), dict[str, Value]()
        for _ in range(4):
            count, room = vk.data((16).to_bytes(4, "little")), vk.buffer(8 * 16, 0)
            assert vk.vkEnumeratePhysicalDevices(instance, count, room) == 0
            assert count.u32() >= 1
            now = {vk.device_name(device): device for device in room.handles()[: count.u32()]}
            assert {name: now.get(name) for name in known} == known
            known = now
