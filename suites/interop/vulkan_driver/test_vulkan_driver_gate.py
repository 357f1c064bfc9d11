# SPDX-License-Identifier: Apache-2.0
"""What nearly all checks of a Vulkan driver need; where it is missing, they wait for it (VK-DRV)."""

from __future__ import annotations

from harness.check import VulkanDriver, requirement


@requirement("VK-DRV-038")
def test_driver_negotiates_and_makes_an_instance(vulkan_driver: VulkanDriver) -> None:
    """A loader of the newest version is answered, and gets an instance of Vulkan 1.0, also where no device is."""
    missing = vulkan_driver.missing()
    assert not missing, missing
