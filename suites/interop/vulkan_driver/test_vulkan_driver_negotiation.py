# SPDX-License-Identifier: Apache-2.0
"""What a Vulkan driver and a loader agree on: the version of the interface between them (VK-VER, VK-DRV)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.check import (
    GET_INSTANCE,
    GET_PHYSICAL_DEVICE,
    NEGOTIATE,
    VK,
    Parts,
    VulkanDriver,
    VulkanDriverSession,
    VulkanSandbox,
    requirement,
)

NEWEST = 7  # version of the interface that there is
HIGHEST = 99  # an offer above all versions that there are
OFFERS = [*range(10), 50, HIGHEST, 0xFFFFFFFF]


def own_version(vk: VulkanDriverSession) -> int:
    """The driver's highest version."""
    rc, version = vk.negotiate(HIGHEST)
    assert rc == VK.SUCCESS
    return version


@requirement("VK-DRV-003")
def test_loader_of_today_is_agreed_with(vulkan_driver: VulkanDriver, sandbox: VulkanSandbox) -> None:
    """LDP_DRIVER_3: the newest version that there is gets an answer, of that version or of one before it."""
    with vulkan_driver.open(sandbox) as vk:
        rc, version = vk.negotiate(NEWEST)
    assert rc == VK.SUCCESS
    assert version <= NEWEST


@requirement("VK-VER-002")
@pytest.mark.parametrize("offer", OFFERS)
def test_answer_is_the_lower_of_both_versions(vulkan_driver: VulkanDriver, sandbox: VulkanSandbox, offer: int) -> None:
    """The first negotiation of a process answers what both support, in 32 bits, or refuses a loader that is too old.

    Its highest version is that of another process: a driver may keep what was agreed on first.
    """
    with vulkan_driver.open(sandbox) as vk:
        own = own_version(vk)
    with vulkan_driver.open(sandbox) as vk:
        rc, version = vk.negotiate(offer)
    assert 0 < own < HIGHEST
    if rc != VK.SUCCESS:
        assert offer < own  # which error that is, VK-VER-003 asks
    else:
        assert version == min(offer, own)


@requirement("VK-VER-003")
def test_only_offers_that_are_too_old_are_refused(vulkan_driver: VulkanDriver, sandbox: VulkanSandbox) -> None:
    """Of all offers from 0 to 99 those that are refused come before all that are not, with the one error."""
    with vulkan_driver.open(sandbox) as vk:
        answers = {offer: vk.negotiate(offer)[0] for offer in range(HIGHEST + 1)}
    refused = [offer for offer, rc in answers.items() if rc != VK.SUCCESS]
    assert answers[HIGHEST] == VK.SUCCESS
    assert {answers[offer] for offer in refused} <= {VK.ERROR_INCOMPATIBLE_DRIVER}
    assert refused == list(range(len(refused)))


@requirement("VK-VER-002")
def test_answer_is_the_same_each_time(vulkan_driver: VulkanDriver, sandbox: VulkanSandbox) -> None:
    """Offers up, down and up again get the answers that they got before: a process may have several loaders."""
    with vulkan_driver.open(sandbox) as vk, Parts() as parts:
        offers = range(10)
        first = {offer: vk.negotiate(offer) for offer in offers}
        for way in (reversed(offers), offers):
            for offer in way:
                with parts(f"offer of {offer}"):
                    assert vk.negotiate(offer) == first[offer]


@requirement("VK-DRV-036")
def test_driver_works_after_each_version(vulkan_driver: VulkanDriver, sandbox: VulkanSandbox) -> None:
    """Whatever version is agreed on, the driver lists the same devices to an application of 1.0."""
    with vulkan_driver.open(sandbox) as vk, Parts() as parts:
        own = own_version(vk)
        usual = vk.device_names(api_version="1.0.0")
        for offer in range(own + 1):
            rc, version = vk.negotiate(offer)
            if rc == VK.SUCCESS:
                with parts(f"version {version}"):
                    assert vk.device_names(api_version="1.0.0") == usual


@requirement("VK-VER-006")
def test_driver_works_without_a_negotiation(vulkan_driver: VulkanDriver, sandbox: VulkanSandbox) -> None:
    """A loader of version 0 or 1 asks for functions at once; it gets them, and an instance of Vulkan 1.0."""
    with vulkan_driver.open(sandbox) as vk:
        assert vk.find(None, "vkCreateInstance")
        assert vk.find(None, "vkEnumerateInstanceExtensionProperties")
        instance = vk.instance(api_version="1.0.0")
        assert vk.find(instance, "vkEnumeratePhysicalDevices")
        devices = len(vk.physical_devices(instance))
    with vulkan_driver.open(sandbox) as vk:
        vk.begin()
        assert len(vk.physical_devices(vk.instance(api_version="1.0.0"))) == devices


@requirement("VK-DRV-007")
def test_driver_of_vulkan_1_1_knows_version_5(vulkan_driver: VulkanDriver, sandbox: VulkanSandbox) -> None:
    """LDP_DRIVER_7: a driver of Vulkan 1.1 or newer supports version 5 of the interface, or a newer one."""
    with vulkan_driver.open(sandbox) as vk:
        agreed = vk.begin()
        newer = vk.is_of_vulkan_1_1()
    assert agreed >= 5 or not newer


@requirement("VK-DRV-013")
@pytest.mark.parametrize("function", [NEGOTIATE, GET_PHYSICAL_DEVICE])
def test_functions_of_version_7_are_found_by_query(
    vulkan_driver: VulkanDriver, sandbox: VulkanSandbox, function: str, record: Callable[[str], None]
) -> None:
    """From version 7 on the interface's functions are found by vk_icdGetInstanceProcAddr with a NULL instance."""
    with vulkan_driver.open(sandbox) as vk:
        agreed = vk.begin()
        result = bool(vk.symbol(GET_INSTANCE) and vk.find(None, function))
        exported = bool(vk.symbol(function))
    record(f"{'found' if result else 'not result'}, {'exported' if exported else 'not exported'}")
    if function == GET_PHYSICAL_DEVICE and not result and not exported:
        return  # it is optional, and has a check of its own
    assert result or agreed < 7
