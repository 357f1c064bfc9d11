# SPDX-License-Identifier: Apache-2.0
"""What a Vulkan loader can do: found out by asking it, never by its name or its version.

The document of its interface with drivers has grown; a loader that is older than a part of it lacks the capability, and
the checks of that part are unsupported.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from harness.api.vulkan.model import version_text
from harness.probe.verdicts import SubjectFailure
from harness.probe.vulkan_session import VulkanSession
from harness.sandbox import Unsupported
from harness.sandbox.vulkan import VulkanSandbox
from harness.subject.base import NO_ANSWER
from harness.subject.facts import Facts

NAME = "Vulkan-Loader"
REFERENCE = "clharness reference Vulkan loader"
NEGOTIATE = "vk_icdNegotiateLoaderICDInterfaceVersion"


class Loader(Protocol):
    """What is asked (harness.subject.vulkan_loader.VulkanLoader)."""

    path: Path
    facts: Facts
    capabilities: set[str]
    interface: int

    def start(self, sandbox: VulkanSandbox, *, search: bool = False, unset: tuple[str, ...] = ()) -> VulkanSession:
        """A session of the loader in the sandbox, not started yet."""
        ...


def _drivers(session: VulkanSession, **settings: Any) -> list[str]:
    with session as vk:
        return list(vk.drivers(**settings))


def _driver_files(loader: Loader, sandbox: VulkanSandbox) -> bool:
    sandbox.driver("a")
    return _drivers(loader.start(sandbox, unset=("VK_ICD_FILENAMES",))) == ["a"]


def _icd_filenames(loader: Loader, sandbox: VulkanSandbox) -> bool:
    sandbox.driver("a")
    return _drivers(loader.start(sandbox, unset=("VK_DRIVER_FILES",))) == ["a"]


def _folders_in_driver_files(loader: Loader, sandbox: VulkanSandbox) -> bool:
    sandbox.driver("a")
    sandbox.env["VK_DRIVER_FILES"] = str(sandbox.manifests)
    return _drivers(loader.start(sandbox, unset=("VK_ICD_FILENAMES",))) == ["a"]


def _add_driver_files(loader: Loader, sandbox: VulkanSandbox) -> bool:
    sandbox.driver("a")
    sandbox.env["VK_ADD_DRIVER_FILES"] = str(sandbox.shown[0])
    return _drivers(loader.start(sandbox, search=True)) == ["a"]


def _filters(loader: Loader, sandbox: VulkanSandbox) -> bool:
    sandbox.driver("a")
    sandbox.driver("b")
    sandbox.env["VK_LOADER_DRIVERS_DISABLE"] = "b.json"
    return _drivers(loader.start(sandbox)) == ["a"]


def _interface_by_query(loader: Loader, sandbox: VulkanSandbox) -> bool:
    sandbox.driver("a", variant="driver_only_get", interface=7, interface_by_query=True)
    return _drivers(loader.start(sandbox)) == ["a"] and bool(sandbox.log.calls(NEGOTIATE, by="a"))


def _library_arch(loader: Loader, sandbox: VulkanSandbox) -> bool:
    sandbox.driver("a")
    sandbox.driver("b", manifest={"library_arch": "32", "file_format_version": "1.0.1"})
    return _drivers(loader.start(sandbox)) == ["a"] and not sandbox.log.of("b")


def _hides_portability(loader: Loader, sandbox: VulkanSandbox) -> bool:
    sandbox.driver("a")
    sandbox.driver("b", manifest={"is_portability_driver": True, "file_format_version": "1.0.1"})
    return _drivers(loader.start(sandbox)) == ["a"]


def _selects_device(loader: Loader, sandbox: VulkanSandbox) -> bool:
    chosen = []
    for vendor in (0x1111, 0x2222):
        machine = VulkanSandbox(loader.path)
        try:
            machine.driver("a", vendor=0x1111)
            machine.driver("b", vendor=0x2222)
            machine.env["VK_LOADER_DEVICE_SELECT"] = f"0x{vendor:x}:0x1"
            chosen.append(_drivers(loader.start(machine), api_version="1.1.0")[0])
        finally:
            machine.close()
    return chosen == ["a", "b"]


def _filters_devices(loader: Loader, sandbox: VulkanSandbox) -> bool:
    sandbox.driver("a", vendor=0x1111)
    sandbox.driver("b", vendor=0x2222)
    sandbox.env["VK_LOADER_VENDOR_ID_FILTER"] = "0x1111"
    return _drivers(loader.start(sandbox)) == ["a"]


def _unloads(loader: Loader, sandbox: VulkanSandbox) -> bool:
    sandbox.driver("a")
    with loader.start(sandbox) as vk:
        vk.device_names()
        return bool(sandbox.log.happened("unloaded", by="a"))


def _keeps(loader: Loader, sandbox: VulkanSandbox) -> bool:
    sandbox.driver("a")
    sandbox.env["VK_LOADER_DISABLE_DYNAMIC_LIBRARY_UNLOADING"] = "1"
    with loader.start(sandbox) as vk:
        return list(vk.drivers()) == ["a"] and not sandbox.log.happened("unloaded", by="a")


def _settings_file(loader: Loader, sandbox: VulkanSandbox) -> bool:
    sandbox.driver("a")
    added = sandbox.manifest("b.json", sandbox.library("b"))
    folder = sandbox.folder("place/vulkan/loader_settings.d")
    settings = {"additional_drivers": [{"path": str(added)}]}
    content = json.dumps({"file_format_version": "1.0.0", "settings": settings})
    (folder / "vk_loader_settings.json").write_text(content)
    sandbox.env["XDG_DATA_HOME"] = str(sandbox.root / "place")
    return set(_drivers(loader.start(sandbox))) == {"a", "b"}


def _chooses_devices(loader: Loader, sandbox: VulkanSandbox) -> bool:
    for number, name in enumerate("ab"):
        sandbox.manifest(f"{name}.json", sandbox.library(name, device_uuid=number), sandbox.search_folder("found"))
    folder = sandbox.folder("place/vulkan/loader_settings.d")
    chosen = {"deviceUUID": [1, *[0] * 14, 1], "driverUUID": [0] * 16, "driverVersion": 1}
    content = json.dumps({"file_format_version": "1.0.0", "settings": {"device_configurations": [chosen]}})
    (folder / "vk_loader_settings.json").write_text(content)
    sandbox.env |= {"XDG_DATA_HOME": str(sandbox.root / "place"), "XDG_DATA_DIRS": str(sandbox.root / "found")}
    return _drivers(loader.start(sandbox, search=True)) == ["b"]


CAPABILITIES: dict[str, Callable[[Loader, VulkanSandbox], bool]] = {
    "VK_ICD_FILENAMES": _icd_filenames,
    "VK_DRIVER_FILES": _driver_files,
    "folders in VK_DRIVER_FILES": _folders_in_driver_files,
    "VK_ADD_DRIVER_FILES": _add_driver_files,
    "driver filters": _filters,
    "interface by query": _interface_by_query,
    "library_arch": _library_arch,
    "hides portability drivers": _hides_portability,
    "VK_LOADER_DEVICE_SELECT": _selects_device,
    "device filters": _filters_devices,
    "unloads drivers": _unloads,
    "keeps drivers": _keeps,
    "drivers in the settings file": _settings_file,
    "devices in the settings file": _chooses_devices,
}


def tell_name(loader: Loader) -> bool:
    """Fills in name, version, interface and the extensions that are capabilities; whether it can list one driver."""
    sandbox = VulkanSandbox(loader.path)
    try:
        sandbox.driver("a", interface=99)
        with loader.start(sandbox) as vk:
            loader.facts.name = REFERENCE if vk.symbol("clharness_reference_vulkan_loader") else NAME
            loader.facts.version = loader.facts.vulkan_version = version_text(vk.instance_version())
            loader.capabilities |= {name for name in vk.extension_names() if name.startswith("VK_")}
            works = list(vk.drivers()) == ["a"]
        offers = [int(event.data["in"]["version"], 16) for event in sandbox.log.calls(NEGOTIATE, by="a")]
        loader.interface = loader.facts.interface = max(offers, default=0)
        loader.capabilities |= {f"interface {version}" for version in range(2, loader.interface + 1)}
        return works
    except (*NO_ANSWER, KeyError, ValueError):
        return False
    finally:
        sandbox.close()


def detect(loader: Loader) -> None:
    """Fills in what is known of the loader. Raises nothing: what it does wrong there, its checks report."""
    if not tell_name(loader):
        return  # it cannot even list one driver: the checks will say so
    for name, ask in CAPABILITIES.items():
        sandbox = VulkanSandbox(loader.path)
        try:
            if ask(loader, sandbox):
                loader.capabilities.add(name)
        except (SubjectFailure, AssertionError, Unsupported, IndexError, *NO_ANSWER):
            pass
        finally:
            sandbox.close()
    loader.facts.capabilities = sorted(loader.capabilities)
