# SPDX-License-Identifier: Apache-2.0
"""Drivers that the application brings itself: VK_LUNARG_direct_driver_loading (VK-OBJ)."""

from collections.abc import Callable
from typing import Any

import pytest

from harness.check import Buffer, MockDriver, VulkanLoader, VulkanSandbox, VulkanSession, requirement

EXTENSION = "VK_LUNARG_direct_driver_loading"
LIST_TYPE, INFO_TYPE = 1000459001, 1000459000
MODES = {"exclusive": 0, "inclusive": 1}


def driver_list(vk: VulkanSession, mode: str, *drivers: MockDriver) -> Buffer:
    """A VkDirectDriverLoadingListLUNARG: its registry entry is younger than some headers."""
    words: list[object] = []
    for driver in drivers:
        words += [INFO_TYPE, 0, 0, vk.library_symbol(driver.path, "vk_icdGetInstanceProcAddr")]
    infos = vk.words(words)
    return vk.words([LIST_TYPE, 0, MODES[mode] | len(drivers) << 32, infos])


@requirement("VK-OBJ-019")
@pytest.mark.parametrize("mode", MODES)
def test_driver_of_the_application_is_used(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, mode: str) -> None:
    """Beside the machine's drivers and after their devices, or in their place."""
    vulkan_loader.require(EXTENSION)
    sandbox.driver("installed")
    own = sandbox.library("own", interface=7, interface_by_query=True)

    with vulkan_loader.start(sandbox) as vk:
        names = vk.device_names(extensions=[EXTENSION], chain=driver_list(vk, mode, own))
    assert list(names) == (["own.0"] if mode == "exclusive" else ["installed.0", "own.0"])


@requirement("VK-OBJ-019")
def test_list_of_drivers_needs_its_extension(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """Without the extension the list is not looked at."""
    vulkan_loader.require(EXTENSION)
    sandbox.driver("installed")
    own = sandbox.library("own", interface=7, interface_by_query=True)

    with vulkan_loader.start(sandbox) as vk:
        assert vk.drivers(chain=driver_list(vk, "inclusive", own)) == {"installed"}
        assert vk.drivers(extensions=[EXTENSION], chain=driver_list(vk, "inclusive", own)) == {"installed", "own"}


@requirement("VK-OBJ-019")
def test_several_drivers_of_the_application_are_used(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """Each of them, and none of the machine's in their place, also where the variables name none."""
    vulkan_loader.require(EXTENSION)
    own = [sandbox.library(name, interface=7, interface_by_query=True) for name in ("one", "two")]

    with vulkan_loader.start(sandbox) as vk:
        assert vk.drivers(extensions=[EXTENSION], chain=driver_list(vk, "exclusive", *own)) == {"one", "two"}
    sandbox.driver("installed")
    with vulkan_loader.start(sandbox) as vk:
        assert vk.drivers(extensions=[EXTENSION], chain=driver_list(vk, "exclusive", *own)) == {"one", "two"}


@requirement("VK-OBJ-019")
def test_driver_of_the_application_negotiates_version_7(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """One that refuses is left out, beside one that is used."""
    vulkan_loader.require(EXTENSION)
    good = sandbox.library("good", interface=7, interface_by_query=True)
    bad = sandbox.library("bad", interface=7, interface_by_query=True, faults=["negotiation_fails=-9"])

    with vulkan_loader.start(sandbox) as vk:
        assert vk.drivers(extensions=[EXTENSION], chain=driver_list(vk, "exclusive", bad, good)) == {"good"}
    assert not sandbox.log.calls("vkCreateInstance", by="bad")


@requirement("VK-OBJ-019")
def test_list_of_drivers_may_stand_anywhere_in_the_chain(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """Structures before the list, which the loader need not know, do not hide it."""
    vulkan_loader.require(EXTENSION)
    own = sandbox.library("own", interface=7, interface_by_query=True)

    with vulkan_loader.start(sandbox) as vk:
        chain = vk.words([0x7E57_0000, vk.words([0x7E57_0001, driver_list(vk, "exclusive", own)])])
        assert vk.drivers(extensions=[EXTENSION], chain=chain) == {"own"}


@requirement("VK-OBJ-019")
@pytest.mark.parametrize("level", ["physical_device", "device"])
def test_unknown_function_of_a_driver_of_the_application(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, level: str
) -> None:
    """Functions that the loader does not know are found in drivers without a manifest, and reach them."""
    vulkan_loader.require(EXTENSION)
    sandbox.driver("installed")
    name = "vkThingOfItsOwnCLH"
    functions: dict[str, Any] = {f"{level}_functions": name}
    own = sandbox.library("own", interface=7, interface_by_query=True, **functions)

    with vulkan_loader.start(sandbox) as vk:
        instance = vk.instance(extensions=[EXTENSION], chain=driver_list(vk, "inclusive", own))
        thing = next(d for d in vk.physical_devices(instance) if vk.device_name(d) == "own.0")
        thing = vk.device(thing) if level == "device" else thing
        like = "vkGetEventStatus" if level == "device" else "vkReleaseDisplayEXT"
        address = vk.proc(instance, name)
        assert address and vk.call_at(address, like, thing, 7) == 2000
    assert [(e.who, e.arguments[1]) for e in sandbox.log.calls(name)] == [("own", 7)]


@requirement("VK-OBJ-019")
@pytest.mark.parametrize("version", ["1.1.0", "1.3.0"])
def test_driver_of_the_application_sees_its_version(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, version: str
) -> None:
    """A driver without a manifest is asked for its version: one of 1.1 or newer is told what the application wants."""
    vulkan_loader.require(EXTENSION)
    own = sandbox.library("own", interface=7, interface_by_query=True, api_version=version)

    with vulkan_loader.start(sandbox) as vk:
        chain = driver_list(vk, "exclusive", own)
        assert vk.drivers(api_version="1.2.0", extensions=[EXTENSION], chain=chain) == {"own"}
    creation = sandbox.log.calls("vkCreateInstance", by="own").only
    assert int(creation.data["in"]["apiVersion"], 16) == 0x402000


@requirement("VK-EP-011")
@pytest.mark.parametrize("name", ["vkCreateInstance", "vkEnumerateInstanceExtensionProperties"])
def test_driver_of_the_application_without_a_global_function_costs_only_itself(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, name: str
) -> None:
    """A driver that does not find what is needed before there is an instance is left out, before and after another."""
    vulkan_loader.require(EXTENSION)
    lacking: dict[str, Any] = {"interface": 7, "interface_by_query": True, "functions": {"lacks": [name]}}
    bad = [sandbox.library(f"bad{number}", **lacking) for number in range(2)]
    good = sandbox.library("good", interface=7, interface_by_query=True)

    with vulkan_loader.start(sandbox) as vk:
        chain = driver_list(vk, "exclusive", bad[0], good, bad[1])
        assert vk.drivers(extensions=[EXTENSION], chain=chain) == {"good"}


@requirement("VK-OBJ-049")
def test_driver_of_the_application_without_an_address_is_left_out(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, record: Callable[[str], None]
) -> None:
    """NULL in the place of vk_icdGetInstanceProcAddr is passed over, the driver after it used, or the call fails."""
    vulkan_loader.require(EXTENSION)
    good = sandbox.library("good", interface=7, interface_by_query=True)

    with vulkan_loader.start(sandbox) as vk:
        infos = vk.words(
            [INFO_TYPE, 0, 0, 0, INFO_TYPE, 0, 0, vk.library_symbol(good.path, "vk_icdGetInstanceProcAddr")]
        )
        chain = vk.words([LIST_TYPE, 0, MODES["exclusive"] | 2 << 32, infos])
        rc, instance = vk.CreateInstance(extensions=[EXTENSION], chain=chain)
        record("passed over" if rc == 0 else "the call fails")
        if rc == 0:
            assert vk.drivers(instance) == {"good"}


@requirement("VK-OBJ-019")
def test_drivers_of_the_machine_stay_out_where_none_of_the_application_is_used(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox
) -> None:
    """A list in their place, of drivers that refuse: there is no driver; beside them, the machine's are used."""
    vulkan_loader.require(EXTENSION)
    sandbox.driver("installed")
    bad = sandbox.library("bad", interface=7, interface_by_query=True, faults=["negotiation_fails=-9"])

    with vulkan_loader.start(sandbox) as vk:
        rc, _ = vk.CreateInstance(extensions=[EXTENSION], chain=driver_list(vk, "exclusive", bad))
        assert str(rc) == "VK_ERROR_INCOMPATIBLE_DRIVER"
        assert not sandbox.log.calls("vkCreateInstance", by="installed")
        assert vk.drivers(extensions=[EXTENSION], chain=driver_list(vk, "inclusive", bad)) == {"installed"}


@requirement("VK-OBJ-019")
@pytest.mark.parametrize("number", [1, 12])
def test_any_number_of_drivers_of_the_application(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, number: int
) -> None:
    """All are used, and so are those of the machine, with as many devices as each has."""
    vulkan_loader.require(EXTENSION)
    for index in range(number):
        sandbox.driver(f"m{index}")
    own = [sandbox.library(f"o{index}", interface=7, interface_by_query=True, devices=2) for index in range(number)]

    with vulkan_loader.start(sandbox) as vk:
        names = vk.device_names(extensions=[EXTENSION], chain=driver_list(vk, "inclusive", *own))
    assert names == {f"{name}{index}.{device}" for name, count in (("m", 1), ("o", 2))
                     for index in range(number) for device in range(count)}  # fmt: skip
