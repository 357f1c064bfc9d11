# SPDX-License-Identifier: Apache-2.0
"""Instances of a Vulkan driver: versions of Vulkan that are asked for, extensions, several at once (VK-VER, VK-DRV)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.check import (
    VK,
    Unsupported,
    VulkanDriver,
    VulkanSandbox,
    requirement,
)

BEYOND = "1.1023.0"  # above all versions that there are
VERSIONS = ["1.0.0", "1.0.999", "1.1.0", "1.2.0", "1.3.0", "1.4.0", BEYOND, "2.0.0", "9.9.9"]


@requirement("VK-VER-009", "VK-DRV-010")
@pytest.mark.parametrize("version", VERSIONS)
def test_version_of_an_application_is_no_reason_to_refuse(
    vulkan_driver: VulkanDriver, sandbox: VulkanSandbox, version: str
) -> None:
    """LDP_DRIVER_10: from version 5 of the interface on the loader judges an apiVersion, and the driver does not answer
    the error that refuses it."""
    with vulkan_driver.open(sandbox) as vk:
        agreed = vk.begin()
        if agreed < 5 and not vk.is_of_vulkan_1_1():
            raise Unsupported("loader", f"this driver is of Vulkan 1.0 and of version {agreed} of the interface")
        assert vk.CreateInstance("1.0.0")[0] == VK.SUCCESS
        rc, _ = vk.CreateInstance(version)
        assert rc != VK.ERROR_INCOMPATIBLE_DRIVER


@requirement("VK-DRV-009")
@pytest.mark.parametrize("offer", [2, 3, 4])
def test_version_beyond_all_after_an_old_negotiation(
    vulkan_driver: VulkanDriver, sandbox: VulkanSandbox, offer: int, record: Callable[[str], None]
) -> None:
    """LDP_DRIVER_9: with a loader of version 4 or older the driver judges an apiVersion itself. The specification of
    Vulkan forbids drivers of 1.1 and newer to refuse any, so that both answers are right."""
    with vulkan_driver.open(sandbox) as vk:
        rc, _ = vk.negotiate(offer)
        if rc != VK.SUCCESS:
            raise Unsupported("loader", f"this driver refuses version {offer} of the interface")
        assert vk.CreateInstance("1.0.0")[0] == VK.SUCCESS
        rc, _ = vk.CreateInstance(BEYOND)
        assert rc in (VK.SUCCESS, VK.ERROR_INCOMPATIBLE_DRIVER)
    record("accepted" if rc == VK.SUCCESS else "refused")


@requirement("VK-DRV-028")
@pytest.mark.parametrize("version", [None, "0.0.0"], ids=["no application info", "apiVersion 0"])
def test_instance_without_a_version_is_one_of_1_0(
    vulkan_driver: VulkanDriver, sandbox: VulkanSandbox, version: str | None
) -> None:
    """No VkApplicationInfo, and an apiVersion of 0, are as good as 1.0."""
    with vulkan_driver.open(sandbox) as vk:
        vk.begin()
        assert vk.CreateInstance("1.0.0")[0] == VK.SUCCESS
        assert vk.CreateInstance(version)[0] == VK.SUCCESS


@requirement("VK-DRV-025")
def test_extension_that_is_not_listed_is_refused(vulkan_driver: VulkanDriver, sandbox: VulkanSandbox) -> None:
    """An instance without extensions is made; one with an extension that the driver does not list is refused, alone and
    after all that it lists."""
    with vulkan_driver.open(sandbox) as vk:
        vk.begin()
        own = sorted(set(vk.extension_names()))
        assert vk.CreateInstance()[0] == VK.SUCCESS
        rc, _ = vk.CreateInstance(extensions=["VK_CLHARNESS_no_such_extension"])
        assert rc == VK.ERROR_EXTENSION_NOT_PRESENT
        rc, _ = vk.CreateInstance(extensions=[*own, "VK_CLHARNESS_no_such_extension"])
        assert rc == VK.ERROR_EXTENSION_NOT_PRESENT


@requirement("VK-DRV-024")
@pytest.mark.parametrize("first", [0, 1])
def test_instances_live_and_end_on_their_own(vulkan_driver: VulkanDriver, sandbox: VulkanSandbox, first: int) -> None:
    """Of two instances one is destroyed: the other one's devices are as they were."""
    with vulkan_driver.open(sandbox) as vk:
        vk.begin()
        instances = [vk.instance(), vk.instance()]
        assert instances[0] != instances[1]
        devices = [vk.some_devices(instance) for instance in instances]
        other = 1 - first
        names = [vk.device_name(device) for device in devices[other]]
        vk.vkDestroyInstance(instances[first], None)
        vk.instance_in_use = instances[other]
        assert [vk.device_name(device) for device in devices[other]] == names
        assert set(vk.physical_devices(instances[other])) == set(devices[other])


@requirement("VK-DRV-026")
@pytest.mark.parametrize("function", ["vkDestroyInstance", "vkDestroyDevice"])
def test_destroying_null_does_nothing(vulkan_driver: VulkanDriver, sandbox: VulkanSandbox, function: str) -> None:
    """VK_NULL_HANDLE is destroyed without effect: the instance and its devices go on."""
    with vulkan_driver.open(sandbox) as vk:
        vk.begin()
        instance = vk.instance()
        if function == "vkDestroyDevice":
            vk.device(vk.some_devices(instance)[0])
        before = set(vk.physical_devices(instance))
        vk.call(function, None, None)
        assert set(vk.physical_devices(instance)) == before
