# SPDX-License-Identifier: Apache-2.0
"""How the functions of a Vulkan driver are found: by a NULL instance, an instance, a device (VK-EP, VK-DRV)."""

from __future__ import annotations

import pytest

from harness.check import (
    Parts,
    Unsupported,
    Value,
    VulkanDriver,
    VulkanDriverSession,
    VulkanSandbox,
    requirement,
    version_number,
    vulkan,
)

# Without these a loader does not use a driver at all.
MANDATORY = [
    *("vkDestroyInstance", "vkEnumeratePhysicalDevices", "vkGetPhysicalDeviceFeatures"),
    *("vkGetPhysicalDeviceFormatProperties", "vkGetPhysicalDeviceImageFormatProperties"),
    *("vkGetPhysicalDeviceProperties", "vkGetPhysicalDeviceQueueFamilyProperties"),
    *("vkGetPhysicalDeviceMemoryProperties", "vkGetPhysicalDeviceSparseImageFormatProperties"),
    *("vkGetDeviceProcAddr", "vkCreateDevice", "vkEnumerateDeviceExtensionProperties"),
]
NO_FUNCTIONS = ["vkClharnessNoSuchFunction", "vk", "", "vkCreateInstance ", "VKCREATEINSTANCE", "clGetPlatformIDs"]
# What a loader may ask a NULL instance for besides functions of Vulkan, and what is found by any handle.
ANYWHERE = {"vkGetInstanceProcAddr"}
LAYERS = {"vkEnumerateInstanceLayerProperties", "vkEnumerateDeviceLayerProperties"}  # loaders answer these themselves


def of_version(level: str, version: str) -> list[str]:
    """Functions of a core version that are called with such an object; those of layers are a loader's."""
    return [f.name for f in vulkan().functions.values()
            if f.level == level and f.version == version and f.name not in LAYERS]  # fmt: skip


def in_physical_device_query(vk: VulkanDriverSession, query: Value | str, instance: Value) -> list[str]:
    """The functions of physical devices that the driver finds in answer to a loader that does not know them."""
    names = [function.name for function in vulkan().of_level("physical_device")]
    return [name for name in names if vk.find_for_physical_devices(query, instance, name)]


def started(vk: VulkanDriverSession) -> None:
    """As a loader does it before it looks for functions of instances."""
    vk.begin()
    vk.instance()


@requirement("VK-EP-002")
@pytest.mark.parametrize("function", ["vkCreateInstance", "vkEnumerateInstanceExtensionProperties"])
def test_global_function_is_found_without_an_instance(
    vulkan_driver: VulkanDriver, sandbox: VulkanSandbox, function: str
) -> None:
    """vk_icdGetInstanceProcAddr with a NULL instance finds the functions that need none."""
    with vulkan_driver.open(sandbox) as vk:
        vk.begin()
        assert vk.find(None, function)


@requirement("VK-DRV-034")
def test_driver_of_vulkan_1_1_says_its_version_without_an_instance(
    vulkan_driver: VulkanDriver, sandbox: VulkanSandbox
) -> None:
    """A driver with devices of 1.1 or newer has vkEnumerateInstanceVersion, which answers 1.1 or newer: a loader takes
    another one for a driver of 1.0."""
    with vulkan_driver.open(sandbox) as vk:
        vk.begin()
        own = vk.instance_version() if vk.find(None, "vkEnumerateInstanceVersion") else 0
        versions = [vk.device_version(device) for device in vk.some_devices(vk.instance())]
    for version in versions:
        assert own >= version_number("1.1.0") or version < version_number("1.1.0")


@requirement("VK-DRV-017")
def test_nothing_but_global_functions_is_found_without_an_instance(
    vulkan_driver: VulkanDriver, sandbox: VulkanSandbox
) -> None:
    """With a NULL instance functions of instances, devices and physical devices are not found."""
    with vulkan_driver.open(sandbox) as vk, Parts() as parts:
        vk.begin()
        assert vk.find(None, "vkCreateInstance")
        for function in vulkan().of_level("instance", "physical_device", "device"):
            if function.name not in ANYWHERE and vk.find(None, function.name):
                parts.fail(function.name, "is found")


@requirement("VK-DRV-018")
@pytest.mark.parametrize("by", ["no instance", "instance", "physical device query", "device"])
def test_name_of_no_function_is_not_found(vulkan_driver: VulkanDriver, sandbox: VulkanSandbox, by: str) -> None:
    """Names of no function get NULL by each way of asking."""
    with vulkan_driver.open(sandbox) as vk, Parts() as parts:
        vk.begin()
        instance = vk.instance(extensions=sorted(set(vk.extension_names())))
        known = {"no instance": "vkCreateInstance", "device": "vkDestroyDevice"}.get(
            by, "vkGetPhysicalDeviceProperties"
        )
        device = vk.device(vk.some_devices(instance)[0]) if by == "device" else None
        query = None
        if by == "physical device query":
            query = vk.physical_device_query()
            known = in_physical_device_query(vk, query, instance)[0]

        def found(name: str) -> int:
            if query is not None:
                return vk.find_for_physical_devices(query, instance, name)
            if device is not None:
                return vk.device_proc(device, name)
            return vk.find(None if by == "no instance" else instance, name)

        assert found(known)
        near = {f"{known}X", known[:-1], known.upper(), f" {known}", f"{known} "} - set(vulkan().functions)
        for name in [*NO_FUNCTIONS, *sorted(near)]:
            with parts(repr(name)):
                assert not found(name)


@requirement("VK-EP-002")
@pytest.mark.parametrize("function", MANDATORY)
def test_mandatory_function_is_found_with_an_instance(
    vulkan_driver: VulkanDriver, sandbox: VulkanSandbox, function: str
) -> None:
    """The functions that a loader wants of every driver are there once it has made an instance."""
    with vulkan_driver.open(sandbox) as vk:
        started(vk)
        assert vk.find(vk.instance_in_use, function)


@requirement("VK-EP-002")
@pytest.mark.parametrize("version", ["1.0", "1.1", "1.3"])
def test_instance_functions_of_own_version_are_found(
    vulkan_driver: VulkanDriver, sandbox: VulkanSandbox, version: str
) -> None:
    """Functions of instances and physical devices of each version of Vulkan that the driver says it has."""
    with vulkan_driver.open(sandbox) as vk, Parts() as parts:
        vk.begin()
        own = vk.instance_version() if vk.find(None, "vkEnumerateInstanceVersion") else version_number("1.0.0")
        if own < version_number(version):
            raise Unsupported("loader", f"this driver is older than Vulkan {version}")
        vk.instance(api_version=version)
        functions = of_version("instance", version) + of_version("physical_device", version)
        assert functions
        for name in functions:
            if not vk.find(vk.instance_in_use, name):
                parts.fail(name, "is not found")


@requirement("VK-EP-002")
def test_functions_of_own_extensions_are_found(vulkan_driver: VulkanDriver, sandbox: VulkanSandbox) -> None:
    """Each extension of instances that the driver lists has its functions, except those that surfaces are made and
    destroyed with: these may be left to the loader."""
    with vulkan_driver.open(sandbox) as vk, Parts() as parts:
        vk.begin()
        names = set(vk.extension_names())
        instance = vk.instance(extensions=sorted(names))
        for function in vulkan().of_level("instance", "physical_device"):
            of_surfaces = function.name.startswith("vkCreate") or function.name == "vkDestroySurfaceKHR"
            must_be_there = function.extension in names and function.extends == "instance" and not of_surfaces
            if must_be_there and not vk.find(instance, function.name):
                parts.fail(function.name, "is not found")


@requirement("VK-EP-004")
def test_physical_device_query_finds_own_functions(vulkan_driver: VulkanDriver, sandbox: VulkanSandbox) -> None:
    """vk_icdGetPhysicalDeviceProcAddr finds each function of physical devices that an extension brings and the other
    query finds. Of core functions the document says both that the query answers every function of physical devices,
    and that it answers those of extensions alone; loaders know the core ones and never ask for them."""
    with vulkan_driver.open(sandbox) as vk, Parts() as parts:
        vk.begin()
        query = vk.physical_device_query()
        instance = vk.instance(extensions=sorted(set(vk.extension_names())))
        assert in_physical_device_query(vk, query, instance)
        for function in vulkan().of_level("physical_device"):
            must_be_there = function.extension and vk.find(instance, function.name)
            if must_be_there and not vk.find_for_physical_devices(query, instance, function.name):
                parts.fail(function.name, "is not found")


@requirement("VK-EP-004")
def test_physical_device_query_finds_nothing_else(vulkan_driver: VulkanDriver, sandbox: VulkanSandbox) -> None:
    """vk_icdGetPhysicalDeviceProcAddr answers NULL to functions that take another object, or none: a loader would call
    them with a physical device."""
    with vulkan_driver.open(sandbox) as vk, Parts() as parts:
        vk.begin()
        query = vk.physical_device_query()
        instance = vk.instance(extensions=sorted(set(vk.extension_names())))
        assert in_physical_device_query(vk, query, instance)
        for function in vulkan().of_level("global", "instance", "device"):
            if vk.find_for_physical_devices(query, instance, function.name):
                parts.fail(function.name, "is found")


@requirement("VK-DRV-019")
def test_device_query_finds_functions_of_devices(vulkan_driver: VulkanDriver, sandbox: VulkanSandbox) -> None:
    """vkGetDeviceProcAddr finds all functions of devices of Vulkan 1.0."""
    with vulkan_driver.open(sandbox) as vk, Parts() as parts:
        started(vk)
        assert vk.instance_in_use
        device = vk.device(vk.some_devices(vk.instance_in_use)[0])
        functions = of_version("device", "1.0")
        assert functions
        for name in functions:
            if not vk.device_proc(device, name):
                parts.fail(name, "is not found")


@requirement("VK-DRV-019")
@pytest.mark.parametrize("version", ["1.1", "1.2", "1.3"])
def test_device_query_finds_functions_of_own_version(
    vulkan_driver: VulkanDriver, sandbox: VulkanSandbox, version: str
) -> None:
    """vkGetDeviceProcAddr finds the functions of each version that the device and the application are of."""
    with vulkan_driver.open(sandbox) as vk, Parts() as parts:
        vk.begin()
        if vk.device_version(vk.some_devices(vk.instance())[0]) < version_number(version):
            raise Unsupported("loader", f"this driver's device is older than Vulkan {version}")
        device = vk.device(vk.some_devices(vk.instance(api_version=version))[0])
        functions = of_version("device", version)
        assert functions
        for name in functions:
            if not vk.device_proc(device, name):
                parts.fail(name, "is not found")


@requirement("VK-DRV-019")
def test_device_query_finds_nothing_else(vulkan_driver: VulkanDriver, sandbox: VulkanSandbox) -> None:
    """vkGetDeviceProcAddr answers NULL to functions that do not take a device, a queue or a command buffer."""
    with vulkan_driver.open(sandbox) as vk, Parts() as parts:
        started(vk)
        assert vk.instance_in_use
        device = vk.device(vk.some_devices(vk.instance_in_use)[0])
        assert vk.device_proc(device, "vkDestroyDevice")
        for function in vulkan().of_level("global", "instance", "physical_device"):
            if vk.device_proc(device, function.name):
                parts.fail(function.name, "is found")
