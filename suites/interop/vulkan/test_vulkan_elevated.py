# SPDX-License-Identifier: Apache-2.0
"""What a Vulkan loader leaves alone in processes with elevated privileges (VK-DSC)."""

from collections.abc import Callable
from pathlib import Path

import pytest

from harness.check import VulkanLoader, VulkanSandbox, requirement

PLACES = ["/etc/xdg", "/usr/local/share", "/usr/share"]


def install_on_the_machine(sandbox: VulkanSandbox) -> None:
    """A driver in /usr/share, where every process finds it."""
    folder = sandbox.root / "machine/vulkan/icd.d"
    folder.mkdir(parents=True)
    sandbox.manifest("system.json", sandbox.library("system"), folder)
    sandbox.binds["/usr/share"] = sandbox.root / "machine"


@requirement("VK-DSC-003", "VK-DSC-026")
@pytest.mark.parametrize("variable", ["VK_DRIVER_FILES", "VK_ICD_FILENAMES", "VK_ADD_DRIVER_FILES"])
def test_elevated_process_does_not_load_what_variables_name(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, variable: str
) -> None:
    """The variables name a driver to ordinary processes only; the machine's own drivers are there for all."""
    vulkan_loader.require(variable)
    install_on_the_machine(sandbox)
    sandbox.env[variable] = str(sandbox.manifest("named.json", sandbox.library("named")))
    sandbox.env["XDG_DATA_DIRS"] = "/usr/share"

    with vulkan_loader.start(sandbox, search=True) as vk:
        assert "named" in vk.drivers()
    sandbox.forget_log()
    with vulkan_loader.start(sandbox, search=True, elevated=True) as vk:
        assert vk.secure
        assert vk.drivers() == {"system"}
    assert not sandbox.log.of("named")


@requirement("VK-DSC-004")
@pytest.mark.parametrize("place", PLACES)
def test_elevated_process_searches_folders_of_the_machine(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, place: str
) -> None:
    """What is installed on the machine is there for all processes."""
    folder = sandbox.root / "machine/vulkan/icd.d"
    folder.mkdir(parents=True)
    sandbox.manifest("system.json", sandbox.library("system"), folder)
    empty = sandbox.folder("empty")  # in the place of folders that this machine's own drivers may lie in
    sandbox.binds |= {other: empty for other in (*PLACES, "/etc/vulkan") if other != place and Path(other).is_dir()}
    sandbox.binds[place] = sandbox.root / "machine"
    lists = ("XDG_CONFIG_DIRS", "XDG_DATA_DIRS")

    with vulkan_loader.start(sandbox, search=True, unset=lists) as vk:
        assert vk.drivers() == {"system"}
    with vulkan_loader.start(sandbox, search=True, elevated=True, unset=lists) as vk:
        assert vk.secure
        assert vk.drivers() == {"system"}


@requirement("VK-DSC-005")
@pytest.mark.parametrize(
    ("variable", "folder"),
    [("XDG_CONFIG_HOME", ""), ("XDG_DATA_HOME", ""), ("HOME", "/.config"), ("HOME", "/.local/share")],
)
def test_elevated_process_does_not_search_folders_of_the_user(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, variable: str, folder: str
) -> None:
    """A user's own folders are searched by ordinary processes only."""
    install_on_the_machine(sandbox)
    sandbox.manifest("user.json", sandbox.library("user"), sandbox.search_folder(f"place{folder}"))
    sandbox.env[variable] = str(sandbox.root / "place")
    sandbox.env["XDG_DATA_DIRS"] = "/usr/share"
    unset = ("XDG_CONFIG_HOME", "XDG_DATA_HOME") if variable == "HOME" else ()

    with vulkan_loader.start(sandbox, search=True, unset=unset) as vk:
        assert vk.drivers() == {"user", "system"}
    sandbox.forget_log()
    with vulkan_loader.start(sandbox, search=True, elevated=True, unset=unset) as vk:
        assert vk.secure
        assert vk.drivers() == {"system"}
    assert not sandbox.log.of("user")


@requirement("VK-DSC-033")
@pytest.mark.parametrize("variable", ["VK_LOADER_DRIVERS_SELECT", "VK_LOADER_DRIVERS_DISABLE"])
def test_elevated_process_may_heed_filters(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, variable: str, record: Callable[[str], None]
) -> None:
    """A filter takes a driver of the machine away from ordinary processes; elevated ones may have both."""
    vulkan_loader.require("driver filters")
    install_on_the_machine(sandbox)
    sandbox.manifest("other.json", sandbox.library("other"), sandbox.root / "machine/vulkan/icd.d")
    sandbox.env |= {variable: "system.json" if "SELECT" in variable else "other.json", "XDG_DATA_DIRS": "/usr/share"}

    with vulkan_loader.start(sandbox, search=True) as vk:
        assert vk.drivers() == {"system"}
    with vulkan_loader.start(sandbox, search=True, elevated=True) as vk:
        assert vk.secure
        drivers = vk.drivers()
    assert "system" in drivers
    record("not heeded" if "other" in drivers else "heeded")


@requirement("VK-DSC-033")
@pytest.mark.parametrize("variable", ["XDG_CONFIG_DIRS", "XDG_DATA_DIRS"])
def test_elevated_process_may_search_folders_of_lists(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, variable: str, record: Callable[[str], None]
) -> None:
    """Folders of these variables are searched by ordinary processes; elevated ones find the machine's all the same."""
    install_on_the_machine(sandbox)
    sandbox.manifest("listed.json", sandbox.library("listed"), sandbox.search_folder("place"))
    sandbox.env[variable] = f"{sandbox.root / 'place'}:/usr/share"

    with vulkan_loader.start(sandbox, search=True) as vk:
        assert vk.drivers() == {"listed", "system"}
    with vulkan_loader.start(sandbox, search=True, elevated=True) as vk:
        assert vk.secure
        drivers = vk.drivers()
    assert "system" in drivers
    record("heeded" if "listed" in drivers else "not heeded")


@requirement("VK-DSC-044")
@pytest.mark.parametrize("variable", ["VK_LOADER_DEVICE_ID_FILTER", "VK_LOADER_VENDOR_ID_FILTER"])
def test_elevated_process_may_heed_filters_of_devices(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, variable: str, record: Callable[[str], None]
) -> None:
    """A filter leaves ordinary processes one of two devices; elevated ones may have both."""
    vulkan_loader.require("device filters")
    folder = sandbox.root / "machine/vulkan/icd.d"
    folder.mkdir(parents=True)
    sandbox.manifest("system.json", sandbox.library("system", vendor=1, devices=2), folder)
    sandbox.manifest("other.json", sandbox.library("other", vendor=2), folder)
    sandbox.binds["/usr/share"] = sandbox.root / "machine"
    sandbox.env |= {variable: "2", "XDG_DATA_DIRS": "/usr/share"}

    with vulkan_loader.start(sandbox, search=True) as vk:
        (expected,) = vk.device_names()
    assert expected == ("system.1" if "DEVICE" in variable else "other.0")
    with vulkan_loader.start(sandbox, search=True, elevated=True) as vk:
        assert vk.secure
        names = vk.device_names()
    assert expected in names
    record("not heeded" if len(names) > 1 else "heeded")


@requirement("VK-DSC-044")
def test_elevated_process_may_list_unknown_extensions(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, record: Callable[[str], None]
) -> None:
    """Where the user wants them, extensions that the loader does not know are listed; elevated ones may lack them."""
    unknown, known = "VK_CLH_unheard_of", "VK_KHR_device_group_creation"
    folder = sandbox.root / "machine/vulkan/icd.d"
    folder.mkdir(parents=True)
    sandbox.manifest("system.json", sandbox.library("system", extensions=f"{known} {unknown}"), folder)
    sandbox.binds["/usr/share"] = sandbox.root / "machine"
    sandbox.env |= {"VK_LOADER_DISABLE_INST_EXT_FILTER": "1", "XDG_DATA_DIRS": "/usr/share"}

    with vulkan_loader.start(sandbox, search=True) as vk:
        assert {known, unknown} <= set(vk.extension_names())
    with vulkan_loader.start(sandbox, search=True, elevated=True) as vk:
        assert vk.secure
        names = vk.extension_names()
    assert known in names
    record("heeded" if unknown in names else "not heeded")


@requirement("VK-DSC-026")
def test_set_uid_program_does_not_load_what_variables_name(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """A real set-uid program where the machine allows one: the driver that a variable names is not even loaded."""
    sandbox.driver("named")
    with vulkan_loader.start(sandbox) as vk:
        assert vk.drivers() == {"named"}
    sandbox.forget_log()

    with vulkan_loader.start(sandbox, elevated=True) as vk:
        assert vk.secure
        vk.CreateInstance()
    assert not sandbox.log.of("named")
