# SPDX-License-Identifier: Apache-2.0
"""The library of a Vulkan driver: what it exports, and what it takes from elsewhere (VK-EP, VK-DSC)."""

from __future__ import annotations

from collections.abc import Callable

from harness.check import (
    GET_INSTANCE,
    OFFICIAL_NAMES,
    Parts,
    VulkanDriver,
    VulkanSandbox,
    build,
    requirement,
    vulkan,
)


@requirement("VK-EP-001", "VK-EP-006")
def test_functions_for_loaders_are_exported(vulkan_driver: VulkanDriver, record: Callable[[str], None]) -> None:
    """The library exports vk_icdGetInstanceProcAddr, or else the three official names of version 0."""
    functions = vulkan_driver.facts.functions
    record("exports the query of drivers" if GET_INSTANCE in functions else "exports official names")
    assert GET_INSTANCE in functions or set(OFFICIAL_NAMES) <= set(functions)


@requirement("VK-EP-021")
def test_driver_imports_no_function_of_a_loader(vulkan_driver: VulkanDriver) -> None:
    """No function of Vulkan is taken from another library: that would be a loader's."""
    assert not vulkan_driver.facts.outside


@requirement("VK-EP-003")
def test_own_official_names_are_bound_within_the_driver(vulkan_driver: VulkanDriver) -> None:
    """What the library uses of its own exported functions of Vulkan cannot be replaced by a loader's of these names."""
    with Parts() as parts:
        for name in vulkan_driver.facts.by_name:
            parts.fail(name, "is bound by its name")


@requirement("VK-EP-003")
def test_functions_beside_a_loader_are_the_drivers_own(vulkan_driver: VulkanDriver, sandbox: VulkanSandbox) -> None:
    """In a process that has a loader's functions in its global scope, no function that is found is the loader's."""
    loader = build().with_vulkan().reference_loader
    with vulkan_driver.open(sandbox, preload=[loader]) as vk:
        vk.begin()
        instance = vk.instance()
        result = {name: vk.find(instance, name) for name in vulkan().functions}
        assert result["vkDestroyInstance"]
        modules = {name: vk.module(address) for name, address in result.items() if address}
    assert not [name for name, module in modules.items() if module == str(loader.resolve())]


@requirement("VK-DSC-013")
def test_library_has_the_suffix_of_the_platform(vulkan_driver: VulkanDriver) -> None:
    """The library's file name ends in .so, or in .so and a version."""
    assert ".so" in vulkan_driver.path.suffixes
