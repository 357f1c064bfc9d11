# SPDX-License-Identifier: Apache-2.0
"""Drivers of each version of the interface: their symbols, and how the loader finds their functions (VK-VER)."""

from collections.abc import Callable
from typing import Any

import pytest

from harness.check import NEGOTIATE, VulkanLoader, VulkanSandbox, requirement

# Drivers whose functions cannot be found at all, and those whose functions vkGetInstanceProcAddr could find.
NO_WAY, OTHER_WAY = pytest.mark.requirement("VK-VER-015"), pytest.mark.requirement("VK-VER-019")


@requirement("VK-VER-005")
@pytest.mark.parametrize("variant", ["driver_official", "driver_only_get", "driver"])
def test_exports_say_the_version_of_a_driver(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, variant: str) -> None:
    """Official names only are version 0, vk_icdGetInstanceProcAddr alone is version 1; both are used."""
    sandbox.driver("new")
    sandbox.driver("a", variant=variant, api_version="1.0.0")

    with vulkan_loader.start(sandbox) as vk:
        assert vk.drivers() == {"new", "a"}
    query = "vkGetInstanceProcAddr" if variant == "driver_official" else "vk_icdGetInstanceProcAddr"
    assert sandbox.log.calls(query, by="a")
    assert bool(sandbox.log.calls(NEGOTIATE, by="a")) == (variant == "driver")


@requirement("VK-VER-005")
def test_official_names_are_those_of_version_0_only(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """A driver that exports both is asked by vk_icdGetInstanceProcAddr; its exports are for loaders of version 0."""
    sandbox.driver("old", variant="driver_official", api_version="1.0.0")
    sandbox.driver("both", variant="driver_with_official_names")

    with vulkan_loader.start(sandbox) as vk:
        assert vk.drivers() == {"old", "both"}
    assert sandbox.log.happened("exported function", by="old")
    assert not sandbox.log.happened("exported function", by="both")


@pytest.mark.parametrize(
    "lacks",
    [
        pytest.param("get", marks=NO_WAY),
        pytest.param("create", marks=OTHER_WAY),
        pytest.param("extensions", marks=OTHER_WAY),
    ],
)
def test_driver_of_version_0_that_lacks_an_export_is_left_out(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, lacks: str
) -> None:
    """All three official names are needed; a driver with two of them is not a driver, beside one with all."""
    sandbox.driver("whole", variant="driver_official", api_version="1.0.0")
    sandbox.driver("part", variant=f"driver_official_without_{lacks}", api_version="1.0.0")

    with vulkan_loader.start(sandbox) as vk:
        assert vk.drivers() == {"whole"}


@pytest.mark.parametrize("version", range(2, 8))
@pytest.mark.parametrize(
    "variant",
    [
        pytest.param("driver_only_negotiate", marks=NO_WAY),
        pytest.param("driver_official_that_negotiates", marks=OTHER_WAY),
    ],
)
def test_driver_with_negotiation_and_nothing_else_is_left_out(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, variant: str, version: int
) -> None:
    """A driver that negotiates needs vk_icdGetInstanceProcAddr: without it, it is not used, beside one that has it."""
    sandbox.driver("bad", variant=variant, interface=version, api_version="1.0.0")
    sandbox.driver("good")

    with vulkan_loader.start(sandbox) as vk:
        assert vk.drivers() == {"good"}


@requirement("VK-VER-016")
def test_interface_version_7_is_found_by_query(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """A driver that exports vk_icdGetInstanceProcAddr only is asked by it for the negotiation, with a NULL instance."""
    vulkan_loader.require_interface(7)
    sandbox.driver("a", variant="driver_only_get", interface=7, interface_by_query=True)

    with vulkan_loader.start(sandbox) as vk:
        assert vk.drivers() == {"a"}
    calls = sandbox.log.of("a").calls()
    assert calls[0].data["in"]["pName"] == NEGOTIATE and calls[0].arguments[0] == 0
    assert sandbox.log.calls(NEGOTIATE, by="a")


@requirement("VK-VER-016")
@pytest.mark.parametrize("variant", ["driver_only_get", "driver_without_physical_device_query"])
def test_query_for_physical_device_functions_is_found_by_query(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, variant: str
) -> None:
    """With version 7, vk_icdGetPhysicalDeviceProcAddr need not be exported: it is asked for, and used."""
    vulkan_loader.require_interface(7)
    own = "vkGetPhysicalDeviceOwnThingCLH"
    settings: dict[str, Any] = {"interface": 7, "interface_by_query": True, "physical_device_functions": own}
    sandbox.driver("a", variant=variant, **settings)

    with vulkan_loader.start(sandbox) as vk:
        instance = vk.instance()
        (device,) = vk.physical_devices(instance)
        address = vk.proc(instance, own)
        assert address
        vk.call_at(address, "vkReleaseDisplayEXT", device, 7)
    assert sandbox.log.calls("vk_icdGetPhysicalDeviceProcAddr", by="a")
    assert sandbox.log.calls(own, by="a")[0].arguments[1] == 7


@requirement("VK-EP-014")
@pytest.mark.parametrize("version", [2, 3])
def test_older_driver_with_the_query_of_version_4_is_used(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, version: int, record: Callable[[str], None]
) -> None:
    """A driver that agrees on an older version and exports the query all the same: asked or not, it harms nothing."""
    own = "vkGetPhysicalDeviceOwnThingCLH"
    sandbox.driver("new", interface=4, physical_device_functions=own)
    sandbox.driver("old", interface=version, physical_device_functions=own)

    with vulkan_loader.start(sandbox) as vk:
        instance = vk.instance()
        assert vk.proc(instance, own)
        assert vk.drivers(instance) == {"new", "old"}
    query = "vk_icdGetPhysicalDeviceProcAddr"
    assert sandbox.log.calls(query, by="new")
    record("asked" if sandbox.log.calls(query, by="old") else "not asked")


@requirement("VK-VER-016")
def test_exported_negotiation_is_called_without_a_query(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """Where the negotiation is exported it is the first call, also to a driver of version 7."""
    sandbox.driver("a", interface=7, interface_by_query=True)

    with vulkan_loader.start(sandbox) as vk:
        vk.instance()
    assert sandbox.log.of("a").calls()[0].name == NEGOTIATE


@requirement("VK-VER-005")
@pytest.mark.parametrize("version", range(8))
def test_drivers_of_every_version_beside_each_other(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, version: int
) -> None:
    """A driver of each version, and one of this version last: all are used."""
    variants = {0: "driver_official", 1: "driver_only_get"}
    for other in (*range(8), version):
        name = f"v{other}" if f"v{other}" not in {path.stem for path in sandbox.shown} else "last"
        sandbox.driver(name, variant=variants.get(other, "driver"), interface=max(other, 2), api_version="1.0.0")

    with vulkan_loader.start(sandbox) as vk:
        assert vk.drivers() == {*(f"v{other}" for other in range(8)), "last"}
