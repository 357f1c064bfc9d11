# SPDX-License-Identifier: Apache-2.0
"""The settings file of the loader: settings of one program, and devices that it leaves (VK-DSC)."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.check import VulkanLoader, VulkanSandbox, requirement, version_number

SETTINGS_FILE = "vulkan/loader_settings.d/vk_loader_settings.json"
DEVICES = "devices in the settings file"
# Objects of settings, by whom each is for, and which of them is taken.
OBJECTS: dict[str, tuple[list[str], int | None]] = {
    "of this program": (["this"], 0),
    "of this program, after that of all": (["all", "this"], 1),
    "of this program, before that of all": (["this", "all"], 0),
    "of all": (["all"], 0),
    "of all, after that of another program": (["other", "all"], 1),
    "of all, twice": (["all", "all"], 0),
    "of this program, twice": (["this", "this"], 0),
    "of this program, among others": (["other", "all", "other", "this", "other"], 3),
    "of this program and another": (["all", "other this"], 1),
    "of another program": (["other"], None),
    "of other programs": (["other", "longer", "shorter"], None),
}
# What a device is chosen by, and values of it with which it does not fit.
WRONG: dict[str, dict[str, Any]] = {
    "device": {"deviceUUID": [8, *[0] * 14, 1]},
    "end of the device": {"deviceUUID": [2, *[0] * 14, 9]},
    "driver": {"driverUUID": [8, *[0] * 15]},
    "end of the driver": {"driverUUID": [9, *[0] * 14, 1]},
    "version": {"driverVersion": 6},
}
# Configurations of devices that are not whole.
NOT_WHOLE: dict[str, dict[str, Any]] = {
    "no deviceUUID": {"deviceUUID": None},
    "no driverUUID": {"driverUUID": None},
    "no driverVersion": {"driverVersion": None},
    "short": {"deviceUUID": [2, *[0] * 14]},
    "short driver": {"driverUUID": [9, *[0] * 14]},
    "long": {"deviceUUID": [2, *[0] * 14, 1, 0]},
    "byte below 0": {"deviceUUID": [-254, *[0] * 14, 1]},
    "byte above 255": {"deviceUUID": [258, *[0] * 14, 1]},
    "byte as a string": {"deviceUUID": ["2", *[0] * 14, 1]},
    "text": {"driverUUID": "09000000-0000-0000-0000-000000000000"},
    "version as a string": {"driverVersion": "7"},
}


def write_settings(sandbox: VulkanSandbox, **content: Any) -> None:
    """The settings file of this sandbox, with this content beside its format."""
    path = sandbox.root / "place" / SETTINGS_FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"file_format_version": "1.0.0"} | content))
    sandbox.env["XDG_DATA_HOME"] = str(sandbox.root / "place")


def device(driver: int, index: int = 1, **fields: Any) -> dict[str, Any]:
    """What chooses the n-th device of a driver; fields that are None are left out."""
    content = {"deviceUUID": [driver, *[0] * 14, index], "driverUUID": [9, *[0] * 15], "driverVersion": 7} | fields
    return {key: value for key, value in content.items() if value is not None}


def choose(sandbox: VulkanSandbox, *devices: dict[str, Any]) -> None:
    """Three drivers of two devices each, numbered from 1, and a settings file that leaves these devices.

    The drivers are found in a folder: with such a settings file, today's loader does not heed variables that name them.
    """
    sandbox.env["XDG_DATA_DIRS"] = str(sandbox.root / "found")
    for number, name in enumerate("abc", 1):
        settings: dict[str, Any] = {"device_uuid": number, "driver_uuid": 9, "driver_version": 7}
        driver = sandbox.library(name, devices=2, api_version="1.2.0", **settings)
        sandbox.manifest(f"{name}.json", driver, sandbox.search_folder("found"))
    write_settings(sandbox, settings={"device_configurations": devices})


@requirement("VK-DSC-050")
@pytest.mark.parametrize("objects", OBJECTS)
def test_settings_are_those_of_the_program(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, objects: str) -> None:
    """Those that name the program's path are taken, else the first that name none; where there are none, nothing is."""
    vulkan_loader.require("drivers in the settings file")
    sandbox.driver("plain")
    sandbox.env["XDG_DATA_HOME"] = str(sandbox.root / "place")
    kinds, taken = OBJECTS[objects]

    with vulkan_loader.start(sandbox) as vk:
        program = Path(os.readlink(f"/proc/{vk.pid}/exe"))
        keys = {"this": program, "other": "/usr/bin/other", "longer": f"{program}2", "shorter": program.parent}
        array = []
        for number, kind in enumerate(kinds):
            path = sandbox.manifest(f"{number}.json", sandbox.library(f"of{number}"))
            settings: dict[str, Any] = {"additional_drivers": [{"path": str(path)}]}
            if kind != "all":
                settings["app_keys"] = [str(keys[word]) for word in kind.split()]
            array.append(settings)
        write_settings(sandbox, settings_array=array)
        assert vk.drivers() == {"plain", *([] if taken is None else [f"of{taken}"])}


@requirement("VK-DSC-050")
@pytest.mark.parametrize("is_for_this", [True, False])
def test_single_settings_may_be_of_a_program(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, is_for_this: bool
) -> None:
    """The file's only object of settings is not taken where it names another program."""
    vulkan_loader.require("drivers in the settings file")
    sandbox.driver("plain")
    sandbox.env["XDG_DATA_HOME"] = str(sandbox.root / "place")
    added = {"path": str(sandbox.manifest("added.json", sandbox.library("added")))}

    with vulkan_loader.start(sandbox) as vk:
        program = os.readlink(f"/proc/{vk.pid}/exe") if is_for_this else "/usr/bin/other"
        write_settings(sandbox, settings={"app_keys": [program], "additional_drivers": [added]})
        assert vk.drivers() == ({"plain", "added"} if is_for_this else {"plain"})


@requirement("VK-DSC-051")
@pytest.mark.parametrize("version", ["1.0.0", "1.2.0"])
@pytest.mark.parametrize(
    "order", [["b.0"], ["c.1", "a.0"], ["a.1", "a.0"], ["c.1", "b.0", "a.1", "c.0", "b.1", "a.0"]], ids=" ".join
)
def test_chosen_devices_are_listed_in_their_order(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, order: list[str], version: str
) -> None:
    """No others are, whichever version the application asks for."""
    vulkan_loader.require(DEVICES)
    choose(sandbox, *(device("abc".index(name[0]) + 1, int(name[2]) + 1) for name in order))

    with vulkan_loader.start(sandbox, search=True) as vk:
        instance = vk.instance(version)
        assert [vk.device_name(one) for one in vk.physical_devices(instance)] == order


@requirement("VK-DSC-051")
@pytest.mark.parametrize("version", [None, "1.0.0", "1.2.0"])
def test_drivers_say_which_device_is_which_by_a_function_that_they_have(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, version: str | None
) -> None:
    """Where a function of 1.1 is called for that, the driver's instance is of that version at least."""
    vulkan_loader.require(DEVICES)
    choose(sandbox, device(2), device(1))

    with vulkan_loader.start(sandbox, search=True) as vk:
        instance = vk.instance(version)
        assert [vk.device_name(one) for one in vk.physical_devices(instance)] == ["b.0", "a.0"]
    for name in "abc":
        assert sandbox.log.calls("vkGetPhysicalDeviceProperties2", by=name)
        creation = sandbox.log.calls("vkCreateInstance", by=name).only.data["in"]
        assert int(creation.get("apiVersion", "0x0"), 16) >= version_number("1.1.0")


@requirement("VK-DSC-051")
@pytest.mark.parametrize("what", WRONG)
def test_device_that_differs_in_one_point_is_not_chosen(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, what: str
) -> None:
    """Device, driver and version have to be those of the configuration, to the last byte."""
    vulkan_loader.require(DEVICES)
    choose(sandbox, device(1), device(2, **WRONG[what]), device(3))

    with vulkan_loader.start(sandbox, search=True) as vk:
        names = [vk.device_name(one) for one in vk.physical_devices(vk.instance("1.2.0"))]
    assert names == ["a.0", "c.0"]


@requirement("VK-DSC-051")
@pytest.mark.parametrize("what", NOT_WHOLE)
def test_choice_that_is_not_whole_crashes_nothing(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, what: str, record: Callable[[str], None]
) -> None:
    """It may be passed over, or all of them are; devices that are not chosen by others are not listed by it alone."""
    vulkan_loader.require(DEVICES)
    choose(sandbox, device(1), device(2, **NOT_WHOLE[what]), device(3))

    with vulkan_loader.start(sandbox, search=True) as vk:
        names = [vk.device_name(one) for one in vk.physical_devices(vk.instance("1.2.0"))]
    assert names == ["a.0", "c.0"] or sorted(names) == ["a.0", "a.1", "b.0", "b.1", "c.0", "c.1"]
    record("passed over" if len(names) == 2 else "nothing is chosen")


@requirement("VK-DSC-051")
def test_devices_of_vulkan_1_0_are_not_chosen(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """They do not say which device they are: one beside a chosen device is not listed, whatever is asked for."""
    vulkan_loader.require(DEVICES)
    choose(sandbox, device(1), device(0, 0, driverUUID=[0] * 16), device(4))
    old = sandbox.library("old", api_version="1.0.0", device_uuid=4, driver_uuid=9, driver_version=7)
    sandbox.manifest("old.json", old, sandbox.search_folder("found"))

    with vulkan_loader.start(sandbox, search=True) as vk:
        assert [vk.device_name(one) for one in vk.physical_devices(vk.instance("1.2.0"))] == ["a.0"]


@requirement("VK-DSC-051")
@pytest.mark.parametrize("room", range(5))
def test_chosen_devices_take_memory_of_any_size(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, room: int) -> None:
    """Less room than for three chosen devices is VK_INCOMPLETE, and what lies after it stays."""
    vulkan_loader.require(DEVICES)
    choose(sandbox, device(3), device(1), device(2))

    with vulkan_loader.start(sandbox, search=True) as vk:
        instance = vk.instance("1.1.0")
        count = vk.buffer(4, 0)
        assert vk.vkEnumeratePhysicalDevices(instance, count, None) == 0
        assert count.u32() == 3
        count, memory = vk.data(room.to_bytes(4, "little")), vk.buffer(8 * 5)
        before = bytes(memory[:])
        rc = str(vk.vkEnumeratePhysicalDevices(instance, count, memory))
        assert (rc, count.u32()) == ("VK_SUCCESS" if room >= 3 else "VK_INCOMPLETE", min(room, 3))
        assert memory[min(room, 3) * 8 :] == before[min(room, 3) * 8 :]


@requirement("VK-DSC-051")
def test_choice_of_missing_devices_only_is_an_error(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """Where no device fits, none is listed, and the call says that it failed."""
    vulkan_loader.require(DEVICES)
    choose(sandbox, device(5), device(6))

    with vulkan_loader.start(sandbox, search=True) as vk:
        count, memory = vk.data((8).to_bytes(4, "little")), vk.buffer(8 * 8)
        rc = str(vk.vkEnumeratePhysicalDevices(vk.instance("1.2.0"), count, memory))
    assert rc == "VK_ERROR_INITIALIZATION_FAILED"


@requirement("VK-DSC-051")
def test_choice_of_no_devices_leaves_none(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """An empty list of devices is one that none fits."""
    vulkan_loader.require(DEVICES)
    choose(sandbox)

    with vulkan_loader.start(sandbox, search=True) as vk:
        count, memory = vk.data((8).to_bytes(4, "little")), vk.buffer(8 * 8)
        rc = str(vk.vkEnumeratePhysicalDevices(vk.instance("1.2.0"), count, memory))
    assert rc == "VK_ERROR_INITIALIZATION_FAILED"


@requirement("VK-DSC-051")
def test_groups_may_be_chosen_with_their_devices(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, record: Callable[[str], None]
) -> None:
    """Groups of which a device is not chosen may be left out, or all groups be listed; none has other devices."""
    vulkan_loader.require(DEVICES)
    choose(sandbox, device(4, 2), device(3, 2), device(4, 3))
    linked = sandbox.library("linked", devices=3, groups="2 1", device_uuid=4, driver_uuid=9, driver_version=7)
    sandbox.manifest("linked.json", linked, sandbox.search_folder("found"))

    with vulkan_loader.start(sandbox, search=True) as vk:
        groups = sorted(sorted(names) for names in vk.devices_of_groups(vk.instance("1.1.0")))
    every = [[f"{name}.{index}"] for name in "abc" for index in range(2)] + [["linked.0", "linked.1"], ["linked.2"]]
    whole = [["c.1"], ["linked.2"]]
    assert groups in (whole, every)
    record("with their devices" if groups == whole else "all are listed")
