# SPDX-License-Identifier: Apache-2.0
"""Variables that select and disable drivers by the names of their manifests, and devices by their numbers (VK-DSC)."""

from collections.abc import Callable

import pytest

from harness.check import VulkanLoader, VulkanSandbox, requirement

SELECT, DISABLE = "VK_LOADER_DRIVERS_SELECT", "VK_LOADER_DRIVERS_DISABLE"
# Globs, and which of alpha.json, beta.json and alphabet.json each of them fits.
GLOBS = {
    "alpha.json": {"alpha"},
    "alpha*": {"alpha", "alphabet"},
    "*bet.json": {"alphabet"},
    "*bet*": {"beta", "alphabet"},
    "ALPHA.JSON": {"alpha"},
    "*BeT*": {"beta", "alphabet"},
    "*beta.json*": {"beta"},
    "*t.json*": {"alphabet"},
    "alpha.json*": {"alpha"},
    "*beta.json": {"beta"},
    "b*": {"beta"},
    "alpha": set(),
    "lpha*": set(),
    "*alpha": set(),
    "nothing": set(),
    "alpha.json,beta.json": {"alpha", "beta"},
    "nothing,*bet.json": {"alphabet"},
    "n1,n2*,*n3,*n4*,n5,alpha.json": {"alpha"},
    "alpha.json;beta.json": set(),
    "nothing,alpha.json;beta.json,n:beta.json": set(),
    "*.json": {"alpha", "beta", "alphabet"},
}
ALL = {"alpha", "beta", "alphabet"}
NOTHING_ELSE = pytest.mark.requirement("VK-DSC-018")  # beside VK-DSC-021, where something is not selected


def add_drivers(sandbox: VulkanSandbox) -> None:
    for name in sorted(ALL):
        sandbox.driver(name)


@requirement("VK-DSC-018", "VK-DSC-020")
@pytest.mark.parametrize("glob", GLOBS)
def test_selected_drivers_are_the_only_ones(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, glob: str) -> None:
    """Drivers whose manifest's name fits no glob of the list are not used."""
    vulkan_loader.require("driver filters")
    add_drivers(sandbox)
    sandbox.env[SELECT] = glob

    with vulkan_loader.start(sandbox) as vk:
        if GLOBS[glob]:
            assert vk.drivers() == GLOBS[glob]
        else:
            assert str(vk.CreateInstance()[0]) == "VK_ERROR_INCOMPATIBLE_DRIVER"
    assert {who for who in ALL if sandbox.log.calls("vkCreateInstance", by=who)} == GLOBS[glob]


@requirement("VK-DSC-019", "VK-DSC-020")
@pytest.mark.parametrize("glob", GLOBS)
def test_disabled_drivers_are_not_loaded(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, glob: str) -> None:
    """Drivers whose manifest's name fits a glob of the list are not used; where none fits, all are."""
    vulkan_loader.require("driver filters")
    add_drivers(sandbox)
    sandbox.env[DISABLE] = glob
    expected = ALL - GLOBS[glob]

    with vulkan_loader.start(sandbox) as vk:
        if expected:
            assert vk.drivers() == expected
        else:
            assert str(vk.CreateInstance()[0]) == "VK_ERROR_INCOMPATIBLE_DRIVER"
    assert {who for who in ALL if sandbox.log.calls("vkCreateInstance", by=who)} == expected


@requirement("VK-DSC-020")
@pytest.mark.parametrize("glob", ["Mixed.json", "mixed.json", "MIX*", "*Ed.JSON", "*ixE*"])
@pytest.mark.parametrize("variable", [SELECT, DISABLE])
def test_names_of_manifests_are_compared_without_case(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, variable: str, glob: str
) -> None:
    """A manifest whose name has capitals fits a glob in any case."""
    vulkan_loader.require("driver filters")
    sandbox.driver("MiXed")
    sandbox.driver("other")
    sandbox.env[variable] = glob

    with vulkan_loader.start(sandbox) as vk:
        assert vk.drivers() == {"MiXed" if variable == SELECT else "other"}


@requirement("VK-DSC-054")
@pytest.mark.parametrize("count", [16, 17, 40, 1000])
@pytest.mark.parametrize("variable", [SELECT, DISABLE])
def test_filter_of_many_elements_crashes_nothing(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, variable: str, count: int, record: Callable[[str], None]
) -> None:
    """The first of them is heeded, the last may be passed over where there are more than sixteen."""
    vulkan_loader.require("driver filters")
    add_drivers(sandbox)
    sandbox.env[variable] = ",".join(["alpha.json", *(f"nothing{index}" for index in range(count - 2)), "beta.json"])

    with vulkan_loader.start(sandbox) as vk:
        kept = set(vk.drivers())
    named = kept if variable == SELECT else ALL - kept
    assert named == {"alpha", "beta"} or (count > 16 and named == {"alpha"})
    record("all are heeded" if "beta" in named else "the last is passed over")


@requirement("VK-DSC-021")
def test_selected_driver_is_loaded_although_it_is_disabled(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """What is disabled is looked at first: a driver that is selected, too, is there again."""
    vulkan_loader.require("driver filters")
    add_drivers(sandbox)
    sandbox.env[DISABLE] = "*.json"
    sandbox.env[SELECT] = "beta.json"

    with vulkan_loader.start(sandbox) as vk:
        assert vk.drivers() == {"beta"}


@requirement("VK-DSC-021")
@pytest.mark.parametrize(
    ("select", "disable", "expected"),
    [
        pytest.param("alpha.json", "beta.json", {"alpha"}, marks=NOTHING_ELSE),
        pytest.param("alpha.json", "nothing", {"alpha"}, marks=NOTHING_ELSE),
        pytest.param("alpha*", "*bet.json", {"alpha", "alphabet"}, marks=NOTHING_ELSE),
        pytest.param("nothing", "beta.json", set(), marks=NOTHING_ELSE),
        pytest.param("nothing", "*.json", set(), marks=NOTHING_ELSE),
        ("*.json", "*.json", ALL),
    ],
)
def test_both_filters_hold_beside_each_other(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, select: str, disable: str, expected: set[str]
) -> None:
    """Where something is selected, that and nothing else is used, whatever is disabled beside it."""
    vulkan_loader.require("driver filters")
    add_drivers(sandbox)
    sandbox.env |= {SELECT: select, DISABLE: disable}

    with vulkan_loader.start(sandbox) as vk:
        assert vk.drivers() == expected
    assert {who for who in ALL if sandbox.log.calls("vkCreateInstance", by=who)} == expected


@requirement("VK-DSC-018")
@pytest.mark.parametrize("variable", ["VK_ADD_DRIVER_FILES", "XDG_DATA_HOME"])
def test_filter_takes_drivers_of_every_way(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, variable: str) -> None:
    """Filters hold for drivers that are added or found, too."""
    vulkan_loader.require("driver filters")
    vulkan_loader.require("VK_ADD_DRIVER_FILES")
    folder = sandbox.search_folder("data")
    paths = [sandbox.manifest(f"{name}.json", sandbox.library(name), folder) for name in ("one", "two")]
    sandbox.env[variable] = str(sandbox.root / "data") if variable.startswith("XDG") else ":".join(map(str, paths))
    sandbox.env[SELECT] = "two.json"

    with vulkan_loader.start(sandbox, search=True) as vk:
        assert vk.drivers() == {"two"}


# The text has colons between the ends of a range, and loaders a hyphen.
LISTED, RANGE = pytest.mark.requirement("VK-DSC-032"), pytest.mark.requirement("VK-DSC-057")


@pytest.mark.parametrize(
    ("variable", "value", "expected"),
    [
        pytest.param("VK_LOADER_VENDOR_ID_FILTER", "0x2222", {"b.0", "b.1"}, marks=LISTED),
        pytest.param("VK_LOADER_VENDOR_ID_FILTER", "0x1111-0x2222", {"a.0", "b.0", "b.1"}, marks=RANGE),
        pytest.param("VK_LOADER_VENDOR_ID_FILTER", "0x1111,0x3333", {"a.0", "c.0"}, marks=LISTED),
        pytest.param("VK_LOADER_DEVICE_ID_FILTER", "2", {"b.1"}, marks=LISTED),
        pytest.param("VK_LOADER_DEVICE_ID_FILTER", "1", {"a.0", "b.0", "c.0"}, marks=LISTED),
    ],
)
def test_devices_are_filtered_by_their_numbers(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, variable: str, value: str, expected: set[str]
) -> None:
    """Only devices whose number is in the list are presented."""
    vulkan_loader.require("device filters")
    for name, vendor, devices in (("a", 0x1111, 1), ("b", 0x2222, 2), ("c", 0x3333, 1)):
        sandbox.driver(name, vendor=vendor, devices=devices)
    sandbox.env[variable] = value

    with vulkan_loader.start(sandbox) as vk:
        assert vk.device_names() == expected


@requirement("VK-DSC-032")
def test_filters_of_devices_hold_together(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """A device must fit all filters that are set."""
    vulkan_loader.require("device filters")
    sandbox.driver("a", vendor=0x1111, devices=2)
    sandbox.driver("b", vendor=0x2222, devices=2)
    sandbox.env |= {"VK_LOADER_VENDOR_ID_FILTER": "0x2222", "VK_LOADER_DEVICE_ID_FILTER": "2"}

    with vulkan_loader.start(sandbox) as vk:
        assert vk.device_names() == {"b.1"}


@requirement("VK-DSC-054")
@pytest.mark.parametrize("count", [16, 17, 40, 1000])
def test_filter_of_devices_of_many_elements_crashes_nothing(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, count: int, record: Callable[[str], None]
) -> None:
    """The first of them is heeded, the last may be passed over where there are more than sixteen."""
    vulkan_loader.require("device filters")
    for name, vendor in (("a", 0x1111), ("b", 0x2222), ("c", 0x3333)):
        sandbox.driver(name, vendor=vendor)
    numbers = [0x1111, *range(0x8000, 0x8000 + count - 2), 0x2222]
    sandbox.env["VK_LOADER_VENDOR_ID_FILTER"] = ",".join(map(str, numbers))

    with vulkan_loader.start(sandbox) as vk:
        kept = set(vk.device_names())
    assert kept == {"a.0", "b.0"} or (count > 16 and kept == {"a.0"})
    record("all are heeded" if "b.0" in kept else "the last is passed over")


@requirement("VK-DSC-035")
@pytest.mark.parametrize("kinds", ["warn", "driver", "all", "info,driver"])
@pytest.mark.parametrize("variable", [SELECT, DISABLE])
def test_drivers_that_a_filter_takes_away_are_told(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, variable: str, kinds: str
) -> None:
    """A message of the loader names each driver that a filter took away, with the filter."""
    vulkan_loader.require("driver filters")
    add_drivers(sandbox)
    sandbox.env |= {variable: "beta.json", "VK_LOADER_DEBUG": kinds}

    with vulkan_loader.start(sandbox) as vk:
        kept = vk.drivers()
    taken = ALL - {"beta"} if variable == SELECT else {"beta"}
    assert kept == ALL - taken
    lines = [line for line in (vk.stderr + vk.stdout).splitlines() if variable in line]
    assert {name for name in ALL if any(f'"{name}.json"' in line for line in lines)} >= taken


@requirement("VK-DSC-056")
@pytest.mark.parametrize(
    ("select", "disable", "expected"), [("", "beta.json", {"alpha", "alphabet"}), ("beta.json", "", {"beta"})]
)
def test_empty_filter_is_none(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, select: str, disable: str, expected: set[str]
) -> None:
    """A filter that is set and empty is as good as none: the other one holds alone."""
    vulkan_loader.require("driver filters")
    add_drivers(sandbox)
    sandbox.env |= {SELECT: select, DISABLE: disable}

    with vulkan_loader.start(sandbox) as vk:
        assert vk.drivers() == expected
