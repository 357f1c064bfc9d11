# SPDX-License-Identifier: Apache-2.0
"""The settings file of the loader: drivers that it adds, and processes that do not read it (VK-DSC)."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.check import VulkanLoader, VulkanSandbox, requirement

SETTINGS_FILE = "vulkan/loader_settings.d/vk_loader_settings.json"
CAPABILITY = "drivers in the settings file"
# Where the document has the file: variables, the folder below, and what must not be set.
PLACES = {
    "XDG_DATA_HOME": ("XDG_DATA_HOME", "", ()),
    "HOME": ("HOME", ".local/share", ("XDG_DATA_HOME",)),
}
# Where loaders look as well.
FURTHER = {
    "XDG_CONFIG_HOME": ("XDG_CONFIG_HOME", "", ()),
    "configuration in HOME": ("HOME", ".config", ("XDG_CONFIG_HOME",)),
    "XDG_CONFIG_DIRS": ("XDG_CONFIG_DIRS", "", ()),
    "XDG_DATA_DIRS": ("XDG_DATA_DIRS", "", ()),
}
# Contents with which no driver is added; {manifest} stands for that of a driver.
WHOLE = '{"file_format_version": "1.0.0", "settings": {"additional_drivers": [{"path": "{manifest}"}]}}'
OF_NO_USE = {
    "empty": "",
    "text": "settings",
    "not closed": WHOLE[:-1],
    "array": f"[{WHOLE}]",
    "no settings": '{"file_format_version": "1.0.0"}',
    "no drivers": '{"file_format_version": "1.0.0", "settings": {}}',
    "list without drivers": WHOLE.replace('{"path": "{manifest}"}', ""),
    "no path": WHOLE.replace("path", "file"),
    "path that is missing": WHOLE.replace("{manifest}", "/missing.json"),
    "path that is no manifest": WHOLE.replace("{manifest}", "/missing.so"),
    "drivers as a number": WHOLE.replace('[{"path": "{manifest}"}]', "1"),
}


def write_settings(place: Path, *manifests: Path, **fields: Any) -> None:
    """A settings file below a folder that adds these drivers."""
    settings = {"additional_drivers": [{"path": str(path)} for path in manifests]} | fields
    path = place / SETTINGS_FILE
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"file_format_version": "1.0.0", "settings": settings}))


def install_on_the_machine(sandbox: VulkanSandbox) -> None:
    """A driver in /usr/share, where every process finds it."""
    folder = sandbox.search_folder("machine")
    sandbox.manifest("system.json", sandbox.library("system"), folder)
    sandbox.binds["/usr/share"] = sandbox.root / "machine"


@requirement("VK-DSC-046")
@pytest.mark.parametrize("place", PLACES)
def test_settings_file_adds_drivers(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, place: str) -> None:
    """Each driver that it names is used beside those that are found, and beside those that a variable names."""
    vulkan_loader.require(CAPABILITY)
    variable, below, unset = PLACES[place]
    names = [sandbox.manifest(f"{name}.json", sandbox.library(name)) for name in ("one", "two")]
    sandbox.manifest("found.json", sandbox.library("found"), sandbox.search_folder("found"))
    sandbox.env |= {variable: str(sandbox.root / "place"), "XDG_DATA_DIRS": str(sandbox.root / "found")}
    write_settings(sandbox.root / "place" / below, *names)
    sandbox.driver("shown")

    with vulkan_loader.start(sandbox, search=True, unset=unset) as vk:
        assert vk.drivers() == {"one", "two", "found"}
    with vulkan_loader.start(sandbox, unset=unset) as vk:
        assert vk.drivers() == {"one", "two", "shown"}


@requirement("VK-DSC-046")
@pytest.mark.parametrize("value", ["empty", "of nothing"])
def test_settings_of_the_home_are_read_where_no_others_are(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, value: str, record: Callable[[str], None]
) -> None:
    """An empty XDG_DATA_HOME is as none; with one that names a folder without the file, the home may be read, too."""
    vulkan_loader.require(CAPABILITY)
    sandbox.driver("shown")
    write_settings(sandbox.root / "place/.local/share", sandbox.manifest("added.json", sandbox.library("added")))
    other = "" if value == "empty" else str(sandbox.root / "nothing")
    sandbox.env |= {"HOME": str(sandbox.root / "place"), "XDG_DATA_HOME": other}

    with vulkan_loader.start(sandbox) as vk:
        names = set(vk.drivers())
    assert names == {"shown", "added"} or (value != "empty" and names == {"shown"})
    record("read" if "added" in names else "not read")


@requirement("VK-DSC-046")
@pytest.mark.parametrize("order", ["place", "place:nothing", "nothing:place", "nothing::none:place:nothing"])
@pytest.mark.parametrize("variable", ["XDG_CONFIG_DIRS", "XDG_DATA_DIRS"])
def test_settings_file_may_be_in_each_folder_of_a_list(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, variable: str, order: str
) -> None:
    """A loader that looks for it in the folders of such a variable looks in all of them."""
    vulkan_loader.require(CAPABILITY)
    sandbox.driver("shown")
    write_settings(sandbox.root / "place", sandbox.manifest("added.json", sandbox.library("added")))
    sandbox.folder("none")
    sandbox.env[variable] = str(sandbox.root / "place")
    with vulkan_loader.start(sandbox) as vk:
        if vk.drivers() != {"shown", "added"}:
            vulkan_loader.require(f"settings file in {variable}")

    sandbox.env[variable] = ":".join(name and str(sandbox.root / name) for name in order.split(":"))
    with vulkan_loader.start(sandbox) as vk:
        assert vk.drivers() == {"shown", "added"}


@requirement("VK-DSC-046")
@pytest.mark.parametrize("elevated", [False, True], ids=["ordinary", "elevated"])
def test_settings_file_of_the_machine_is_for_all(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, elevated: bool
) -> None:
    """The file in /etc is read by every process."""
    vulkan_loader.require(CAPABILITY)
    install_on_the_machine(sandbox)
    write_settings(sandbox.root / "etc", sandbox.manifest("added.json", sandbox.library("added")))
    sandbox.binds["/etc/vulkan"] = sandbox.root / "etc/vulkan"
    sandbox.env["XDG_DATA_DIRS"] = "/usr/share"

    with vulkan_loader.start(sandbox, search=True, elevated=elevated) as vk:
        assert vk.drivers() == {"system", "added"}


@requirement("VK-DSC-046")
@pytest.mark.parametrize("is_exclusive", [False, True])
def test_settings_file_may_leave_no_other_drivers(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, is_exclusive: bool
) -> None:
    """With additional_drivers_use_exclusively its drivers are the only ones, whatever is found or named."""
    vulkan_loader.require(CAPABILITY)
    sandbox.driver("shown")
    added = sandbox.manifest("added.json", sandbox.library("added"))
    write_settings(sandbox.root / "place", added, additional_drivers_use_exclusively=is_exclusive)
    sandbox.env["XDG_DATA_HOME"] = str(sandbox.root / "place")

    with vulkan_loader.start(sandbox) as vk:
        assert vk.drivers() == ({"added"} if is_exclusive else {"added", "shown"})


@requirement("VK-DSC-046")
@pytest.mark.parametrize("content", OF_NO_USE)
def test_settings_file_of_no_use_costs_no_driver(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, content: str
) -> None:
    """Whatever stands in it, the drivers that are there without it are used."""
    vulkan_loader.require(CAPABILITY)
    sandbox.driver("a")
    sandbox.driver("b")
    added = sandbox.manifest("added.json", sandbox.library("added"))
    place = sandbox.root / "place"
    write_settings(place)
    (place / SETTINGS_FILE).write_text(OF_NO_USE[content].replace("{manifest}", str(added)))
    sandbox.env["XDG_DATA_HOME"] = str(place)

    with vulkan_loader.start(sandbox) as vk:
        assert vk.drivers() == {"a", "b"}
    assert not sandbox.log.of("added")


@requirement("VK-DSC-047")
@pytest.mark.parametrize("place", PLACES | FURTHER)
def test_elevated_process_does_not_read_settings_of_the_user(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, place: str
) -> None:
    """A driver that such a file adds is there for ordinary processes only; the machine's own one is for all."""
    vulkan_loader.require(CAPABILITY)
    variable, below, unset = (PLACES | FURTHER)[place]
    install_on_the_machine(sandbox)
    write_settings(sandbox.root / "place" / below, sandbox.manifest("added.json", sandbox.library("added")))
    lists = {"XDG_CONFIG_DIRS": "/etc/xdg", "XDG_DATA_DIRS": "/usr/share"}
    sandbox.env |= lists | {variable: f"{sandbox.root / 'place'}:/usr/share" if variable in lists else
                            str(sandbox.root / "place")}  # fmt: skip

    with vulkan_loader.start(sandbox, search=True, unset=unset) as vk:
        names = set(vk.drivers())
    assert "system" in names
    if "added" not in names and place in FURTHER:
        vulkan_loader.require(f"settings file in {place}")
    assert "added" in names
    sandbox.forget_log()
    with vulkan_loader.start(sandbox, search=True, elevated=True, unset=unset) as vk:
        assert vk.secure
        assert vk.drivers() == {"system"}
    assert not sandbox.log.of("added")
