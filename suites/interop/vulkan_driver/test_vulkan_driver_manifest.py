# SPDX-License-Identifier: Apache-2.0
"""The manifest of a Vulkan driver (VK-DRV); unsupported where the library was named and not the manifest."""

from __future__ import annotations

import re
import struct

from harness.check import VulkanDriver, VulkanSandbox, requirement, version_number, version_text

OF_1_0_1 = ("library_arch", "is_portability_driver")


@requirement("VK-DRV-004")
def test_manifest_has_the_suffix_that_loaders_look_for(vulkan_driver: VulkanDriver) -> None:
    """LDP_DRIVER_4: the name ends with .json, in these letters: loaders compare them."""
    assert vulkan_driver.require_manifest().path.name.endswith(".json")


@requirement("VK-DRV-004")
def test_manifest_says_the_version_of_its_format(vulkan_driver: VulkanDriver) -> None:
    """LDP_DRIVER_4: "file_format_version" is 1.0.0 or 1.0.1, and 1.0.1 where a field of that version is there."""
    manifest = vulkan_driver.require_manifest()
    newer = any(name in manifest.icd for name in OF_1_0_1)
    assert manifest.content.get("file_format_version") in (("1.0.1",) if newer else ("1.0.0", "1.0.1"))


@requirement("VK-DRV-004")
def test_fields_have_the_types_of_the_format(vulkan_driver: VulkanDriver) -> None:
    """LDP_DRIVER_4: "api_version" is three numbers in a string, "library_arch" "32" or "64", and
    "is_portability_driver" a boolean."""
    fields = vulkan_driver.require_manifest().icd
    version = fields.get("api_version")
    assert isinstance(version, str) and re.fullmatch(r"\d+\.\d+\.\d+", version)
    assert fields.get("library_arch", "64") in ("32", "64")
    assert isinstance(fields.get("is_portability_driver", False), bool)


@requirement("VK-DRV-014")
def test_architecture_is_that_of_the_library(vulkan_driver: VulkanDriver) -> None:
    """ "library_arch", where it is there, is that of the library: a loader leaves out one of another."""
    bits = str(8 * struct.calcsize("P"))
    assert vulkan_driver.require_manifest().icd.get("library_arch", bits) == bits


@requirement("VK-DRV-015")
def test_version_is_the_highest_of_the_driver(vulkan_driver: VulkanDriver, sandbox: VulkanSandbox) -> None:
    """ "api_version" is not below what the driver and its devices say: a loader takes one below 1.1 for a 1.0 driver,
    and the number for the maximum."""
    text = vulkan_driver.require_manifest().icd.get("api_version")
    with vulkan_driver.open(sandbox) as vk:
        vk.begin()
        versions = [vk.instance_version() if vk.find(None, "vkEnumerateInstanceVersion") else 0]
        versions += [vk.device_version(device) for device in vk.physical_devices(vk.instance())]
    highest = version_text(max(versions)).rpartition(".")[0]
    assert isinstance(text, str)
    assert version_number(highest) <= version_number(text), f"{text} in the manifest, {highest} in the driver"


def has_portability(vulkan_driver: VulkanDriver, sandbox: VulkanSandbox) -> bool:
    """Whether a device has VK_KHR_portability_subset."""
    with vulkan_driver.open(sandbox) as vk:
        vk.begin()
        devices = vk.some_devices(vk.instance())
        return any("VK_KHR_portability_subset" in vk.device_extension_names(device) for device in devices)


@requirement("VK-DRV-016")
def test_portability_is_said_in_the_manifest(vulkan_driver: VulkanDriver, sandbox: VulkanSandbox) -> None:
    """A driver of which a device has VK_KHR_portability_subset says so by "is_portability_driver"."""
    is_portability = vulkan_driver.require_manifest().icd.get("is_portability_driver", False)
    assert is_portability or not has_portability(vulkan_driver, sandbox)


@requirement("VK-DRV-037")
def test_portability_is_said_of_such_devices_only(vulkan_driver: VulkanDriver, sandbox: VulkanSandbox) -> None:
    """No driver says so whose devices on this machine all lack VK_KHR_portability_subset: applications would not see
    them."""
    is_portability = vulkan_driver.require_manifest().icd.get("is_portability_driver", False)
    assert not is_portability or has_portability(vulkan_driver, sandbox)
