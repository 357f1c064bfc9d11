# SPDX-License-Identifier: Apache-2.0
"""How the libraries of drivers are opened: what they lack, and what of them others see (VK-DSC)."""

from collections.abc import Callable
from pathlib import Path

import pytest

from harness.check import NEGOTIATE, VulkanLoader, VulkanSandbox, VulkanSession, requirement


def is_visible(vk: VulkanSession, name: str) -> bool:
    """Whether the process finds a symbol without saying in which library."""
    find = vk.library_symbol(Path("libc.so.6"), "dlsym")
    return bool(vk.call_at(find, "vkGetInstanceProcAddr", None, vk.data(name.encode() + b"\0")))


@requirement("VK-DSC-048")
def test_library_that_lacks_a_function_it_never_calls(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, record: Callable[[str], None]
) -> None:
    """It may be used, or be one that cannot be loaded; the drivers beside it are used."""
    sandbox.driver("before")
    sandbox.driver("lacks", variant="driver_unresolved")
    sandbox.driver("after")

    with vulkan_loader.start(sandbox) as vk:
        names = set(vk.drivers())
    assert names - {"lacks"} == {"before", "after"}
    record("used" if "lacks" in names else "left out")


@requirement("VK-DSC-049")
@pytest.mark.parametrize("variant", ["driver", "driver_only_get", "driver_official"])
def test_symbols_of_a_driver_stay_its_own(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, variant: str) -> None:
    """What a driver exports is not found by the process, nor by libraries that are opened after it."""
    sandbox.driver("a", variant=variant)
    exported = {"driver": NEGOTIATE, "driver_only_get": "vk_icdGetInstanceProcAddr"}.get(variant, "vkCreateInstance")

    with vulkan_loader.start(sandbox) as vk:
        before = is_visible(vk, exported)
        instance = vk.instance()
        assert vk.drivers(instance) == {"a"}
        assert is_visible(vk, "malloc")
        assert is_visible(vk, exported) == before
