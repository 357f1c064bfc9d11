# SPDX-License-Identifier: Apache-2.0
"""What a Vulkan driver does to the process that loads it, and what it leaves when it is unloaded (VK-DRV)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.check import Parts, VulkanDriver, VulkanDriverSession, VulkanSandbox, requirement, state_changes

THREADS = "threads"


def use(vk: VulkanDriverSession, how: str) -> None:
    """Loads the driver; "used" has it make an instance and a device, too, and ends both."""
    vk.open()
    if how == "used":
        vk.begin()
        instance = vk.instance()
        for physical_device in vk.physical_devices(instance)[:1]:
            device = vk.device(physical_device)
            vk.vkDestroyDevice(device, None)
            vk.device_in_use = None
        vk.vkDestroyInstance(instance, None)


@requirement("VK-DRV-035")
@pytest.mark.parametrize("how", ["loaded", "used"])
def test_driver_leaves_the_state_of_the_process_as_it_is(
    vulkan_driver: VulkanDriver, sandbox: VulkanSandbox, how: str
) -> None:
    """Environment, working directory, locale, signals, limits, timers, child processes and the like are its own."""
    with vulkan_driver.open(sandbox, late=True) as vk, Parts() as parts:
        before = vk.state()
        use(vk, how)
        for name, change in state_changes(before, vk.state()).items():
            parts.fail(name, change)


@requirement("VK-DRV-027")
def test_unloaded_driver_leaves_no_thread(
    vulkan_driver: VulkanDriver, sandbox: VulkanSandbox, record: Callable[[str], None]
) -> None:
    """After the last instance and dlclose no thread of the driver runs: its code is gone, or stays for nothing."""
    with vulkan_driver.open(sandbox, late=True) as vk:
        before = vk.state()[THREADS]
        use(vk, "used")
        vk.close()
        record("stays loaded" if vk.maps(vulkan_driver.path) else "is unloaded")
        assert vk.state()[THREADS] == before


@requirement("VK-DRV-027")
def test_driver_can_be_loaded_again(vulkan_driver: VulkanDriver, sandbox: VulkanSandbox) -> None:
    """Loaded, used and closed a second time, as loaders do with each new instance, the driver has the same devices."""
    with vulkan_driver.open(sandbox, late=True) as vk:
        names = []
        for _ in range(2):
            use(vk, "used")
            names.append(vk.device_names())
            vk.close()
        assert names[0] == names[1]


@requirement("VK-DRV-033")
@pytest.mark.parametrize("how", ["loaded", "used"])
def test_driver_writes_nothing_to_standard_output(
    vulkan_driver: VulkanDriver, sandbox: VulkanSandbox, how: str
) -> None:
    """Standard output is the application's: what it writes there may be read by another program."""
    with vulkan_driver.open(sandbox, late=True) as vk:
        vk.state()
        before = vk.stdout
        use(vk, how)
        vk.state()  # writes what is still kept
        assert vk.stdout == before


@requirement("VK-DRV-033")
@pytest.mark.parametrize("how", ["loaded", "used"])
def test_driver_leaves_no_descriptor_to_programs(vulkan_driver: VulkanDriver, sandbox: VulkanSandbox, how: str) -> None:
    """What a driver has open, a program that the application starts does not inherit."""
    with vulkan_driver.open(sandbox, late=True) as vk:
        before = vk.inherited_files()
        use(vk, how)
        after = vk.inherited_files()
        for name in before:
            after.remove(name)
        assert not after, f"programs that the application starts inherit {', '.join(after)}"
