# SPDX-License-Identifier: Apache-2.0
"""Every function of Vulkan lands in the driver that owns the object, arguments bit for bit (VK-EP)."""

from typing import Any

import pytest

from harness.check import (
    Value,
    VulkanCalls,
    VulkanLoader,
    VulkanSandbox,
    VulkanSession,
    requirement,
    version_text,
    vulkan,
    vulkan_extensions_of,
    vulkan_functions_by_origin,
    vulkan_names_of,
    vulkan_physical_device_functions,
)

HEADLESS = "VK_EXT_headless_surface"
ANCHORS = ("vkGetPhysicalDeviceQueueFamilyProperties", "vkGetPhysicalDeviceFormatProperties")
OF_DEVICES = vulkan_functions_by_origin()


def whole_driver(sandbox: VulkanSandbox, name: str, *answers: str, **settings: Any) -> None:
    """A driver that has every extension and every function; it takes any arguments in these functions."""
    sandbox.driver(
        name,
        api_version="1.9.0",
        surfaces=True,
        extensions=" ".join(vulkan_extensions_of("instance")),
        device_extensions=" ".join(vulkan_extensions_of("device")),
        functions={"answers": answers, "chains": answers},
        **settings,
    )


def two_drivers(sandbox: VulkanSandbox, *answers: str) -> None:
    """Two drivers that have everything."""
    for name in ("a", "b"):
        whole_driver(sandbox, name, *answers)


def start_instance(vk: VulkanSession) -> tuple[Value, Value | None]:
    """An instance with all extensions that the loader has, and a surface where that can be had."""
    own = vulkan().functions.values()
    known = {f.extension for f in own if f.extends == "instance"}
    listed = [name for name in vk.extension_names() if name in known]
    instance = vk.instance(version_text(vk.instance_version()), extensions=listed)
    surface = None
    if HEADLESS in listed:
        info, to = vk.structure("VkHeadlessSurfaceCreateInfoEXT"), vk.buffer(8)
        assert vk.call_found(instance, "vkCreateHeadlessSurfaceEXT", instance, info, None, to) == 0
        surface = to.handle()
    return instance, surface


def own_handles(sandbox: VulkanSandbox, function: str) -> list[tuple[str, int]]:
    """The driver and the handle that each call of a function reached, in order."""
    return [(event.who, event.arguments[0]) for event in sandbox.log.calls(function) if event.who != "application"]


def unused_physical_device_functions() -> list[str]:
    """Those of physical devices that need not answer as they should."""
    used = {ANCHORS[1], "vkGetPhysicalDeviceProperties"}
    return [name for name in vulkan_physical_device_functions() if name not in used]


def start_with_one_device(vk: VulkanSession, sandbox: VulkanSandbox) -> tuple[Value, VulkanCalls, Value, str, int]:
    """An instance, what makes calls, its one physical device, and that device's driver and handle there."""
    instance, surface = start_instance(vk)
    (device,) = vk.physical_devices(instance)
    vk.call(ANCHORS[1], device, 1, vk.buffer(64))
    ((owner, handle),) = own_handles(sandbox, ANCHORS[1])
    return instance, VulkanCalls(surface), device, owner, handle


@requirement("VK-EP-007")
@pytest.mark.parametrize("name", vulkan_physical_device_functions())
def test_function_of_physical_devices_reaches_their_driver(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, name: str
) -> None:
    """On devices of two drivers: the driver's own handle, all other arguments as they were, and its answer."""
    two_drivers(sandbox, *vulkan_names_of(name))
    anchor = next(other for other in ANCHORS if other != name)

    with vulkan_loader.start(sandbox) as vk:
        instance, surface = start_instance(vk)
        devices = vk.physical_devices(instance)
        for device in devices:
            vk.call(anchor, device, *([vk.buffer(4, 0), None] if anchor == ANCHORS[0] else [1, vk.buffer(64)]))
        owners = own_handles(sandbox, anchor)
        assert sorted(who for who, _ in owners) == ["a", "b"]
        address = vk.proc(instance, name)
        if not address:
            vulkan_loader.require(vulkan().functions[name].extension or name)
        calls = VulkanCalls(surface)
        for device, (owner, handle) in zip(devices, owners, strict=True):
            calls.make(vk, vulkan().functions[name], address, device, owner, handle)
            if vk.symbol(name):
                calls.make(vk, vulkan().functions[name], f"@{name}", device, owner, handle)
        if not calls.by_function:
            vulkan_loader.require(HEADLESS)
    assert calls.problems(sandbox.log, copies=True) == []


@requirement("VK-EP-023")
def test_memory_of_the_application_is_handed_to_the_driver(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """By each function of physical devices that the loader finds: where it replaces nothing, what the driver gets is
    the application's own memory, and no copy of it."""
    names = unused_physical_device_functions()
    whole_driver(sandbox, "a", *(other for name in names for other in vulkan_names_of(name)))

    with vulkan_loader.start(sandbox) as vk:
        instance, calls, device, owner, handle = start_with_one_device(vk, sandbox)
        for name in names:
            if address := vk.proc(instance, name):
                calls.make(vk, vulkan().functions[name], address, device, owner, handle)
    assert calls.by_function
    assert calls.problems(sandbox.log) == []


@requirement("VK-EP-007")
def test_known_functions_of_physical_devices_need_no_query(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """Those that the loader exports, found by their names, reach a driver without vk_icdGetPhysicalDeviceProcAddr."""
    names = unused_physical_device_functions()
    answers = [other for name in names for other in vulkan_names_of(name)]
    whole_driver(sandbox, "a", *answers, variant="driver_without_physical_device_query")

    with vulkan_loader.start(sandbox) as vk:
        instance, calls, device, owner, handle = start_with_one_device(vk, sandbox)
        addresses = {name: vk.proc(instance, name) for name in names if vk.symbol(name)}
        assert [name for name, address in addresses.items() if not address] == []
        for name, address in addresses.items():
            calls.make(vk, vulkan().functions[name], address, device, owner, handle)
    assert addresses
    assert calls.problems(sandbox.log, copies=True) == []


@requirement("VK-EP-008")
@pytest.mark.parametrize("origin", OF_DEVICES)
def test_function_of_devices_reaches_their_driver(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, origin: str
) -> None:
    """On objects of two drivers, by each way of finding it: the object as it is, all arguments, and the answer."""
    functions = OF_DEVICES[origin]
    # A function can need two extensions: those with surfaces need that of swapchains.
    enabled = ["VK_KHR_swapchain"] + [origin] * (functions[0].extends == "device" and origin != "VK_KHR_swapchain")
    two_drivers(sandbox, *(name for function in functions for name in vulkan_names_of(function.name)))

    with vulkan_loader.start(sandbox) as vk:
        instance, surface = start_instance(vk)
        calls = VulkanCalls(surface)
        for physical_device in vk.physical_devices(instance):
            owner = vk.device_name(physical_device).partition(".")[0]
            device = vk.device(physical_device, extensions=enabled)
            objects = {"VkDevice": device}
            objects |= {"VkQueue": vk.queue(device), "VkCommandBuffer": vk.command_buffers(device)[0]}
            for function in functions:
                handle = objects[function.handle]
                for way in (vk.device_proc(device, function.name), vk.proc(instance, function.name)):
                    if way:
                        calls.make(vk, function, way, handle, owner, int(handle))
                if vk.symbol(function.name):
                    calls.make(vk, function, f"@{function.name}", handle, owner, int(handle))
        if not calls.by_function:
            vulkan_loader.require(origin)
    assert calls.problems(sandbox.log) == []
