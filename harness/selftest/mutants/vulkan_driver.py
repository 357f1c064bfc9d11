# SPDX-License-Identifier: Apache-2.0
"""Mutants of a Vulkan driver: mock drivers that are wrong in one thing, for `clharness selftest --vulkan-driver`.

The lists lie in vulkan_driver/, a file for each section of the catalogue. An entry `[[mutant]]` has these keys:

name, requirement, sentence, cases   as those of ICDs (icd.py)
faults, functions, variant, file     as VulkanSandbox.library takes them
manifest, manifest_name              fields of the manifest, as VulkanSandbox.manifest takes them, and its file name
takes_unlisted_extensions            true: takes extensions that it does not list, which the plain driver refuses

The other keys are settings of mock_icds/vulkan/settings.h.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

from harness.sandbox import Sandbox
from harness.sandbox.vulkan import VulkanSandbox
from harness.selftest.mutants.of_mocks import MockMutant, chosen, read_lists, read_mutants, without_log
from harness.subject.vulkan_driver import VulkanDriver

FOLDER = Path(__file__).with_name("vulkan_driver")
_SETTINGS = (
    *("interface", "least_interface", "interface_by_query", "api_version", "extensions", "devices", "surfaces"),
    *("groups", "device_extensions"),
)
_KEYS = (
    *("faults", "functions", "variant", "file", "manifest", "manifest_name", "takes_unlisted_extensions"),
    *_SETTINGS,
)
_REFUSES_UNLISTED = "create_instance_refuses_extensions"
_PLAIN: dict[str, Any] = {
    "interface": 7,
    "interface_by_query": True,
    "api_version": "1.3.0",
    "devices": 2,
    "surfaces": True,
    "extensions": "VK_KHR_surface:25 VK_KHR_get_physical_device_properties2:2 VK_EXT_headless_surface",
    "device_extensions": "VK_KHR_swapchain:70 VK_KHR_maintenance1:2",
}


@functools.cache
def vulkan_driver_mutants(folder: Path = FOLDER) -> dict[str, MockMutant]:
    """The mutants of the lists in a folder, by name."""
    return read_lists(folder, functools.partial(read_mutants, "vulkan", _KEYS))


def seeded_vulkan_driver(sandbox: Sandbox) -> VulkanDriver:
    """The mutant that the environment names, or else a correct mock driver; without a log, like any driver."""
    assert isinstance(sandbox, VulkanSandbox)
    settings = {**_PLAIN, **chosen(vulkan_driver_mutants())}
    manifest = settings.pop("manifest", {})
    manifest_name = settings.pop("manifest_name", "subject.json")
    faults = [
        *settings.pop("faults", ()),
        *([] if settings.pop("takes_unlisted_extensions", False) else [_REFUSES_UNLISTED]),
    ]
    driver = sandbox.library("subject", folder=sandbox.folder("subject"), faults=faults, **settings)
    without_log(driver.path)
    return VulkanDriver(sandbox.manifest(manifest_name, driver, **manifest))
