# SPDX-License-Identifier: Apache-2.0
"""Messengers and names of objects: what is the loader's stands for something of each driver (VK-OBJ)."""

from pathlib import Path
from typing import Any

import pytest

from harness.check import Value, VulkanLoader, VulkanSandbox, VulkanSession, requirement

UTILS, REPORT, MARKER = "VK_EXT_debug_utils", "VK_EXT_debug_report", "VK_EXT_debug_marker"
SURFACE, HEADLESS, SWAPCHAIN = "VK_KHR_surface", "VK_EXT_headless_surface", "VK_KHR_swapchain"
# How each extension calls its objects.
KINDS = {UTILS: "DebugUtilsMessengerEXT", REPORT: "DebugReportCallbackEXT"}
# Objects that an application can name, by their VkObjectType.
TYPES = {"instance": 1, "physical device": 2, "device": 3, "surface": 1000000000}
# The same by their VkDebugReportObjectTypeEXT, which VK_EXT_debug_marker takes.
MARKED = TYPES | {"surface": 26}


def require_extension(loader: VulkanLoader, name: str) -> None:
    """Makes the case unsupported where the loader does not know the extension."""
    machine = VulkanSandbox(loader.path)
    try:
        machine.driver("a", extensions=f"{SURFACE} {name}")
        with loader.start(machine) as vk:
            if name not in vk.extension_names():
                loader.require(name)
    finally:
        machine.close()


def make(vk: VulkanSession, instance: Value, extension: str, allocator: Value | None = None) -> tuple[int, Value]:
    """A messenger that calls a function which takes anything and answers 0."""
    kind, to = KINDS[extension], vk.buffer(8, 0)
    callback = vk.library_symbol(Path("libc.so.6"), "sched_yield")
    if extension == UTILS:
        info = vk.structure(
            "VkDebugUtilsMessengerCreateInfoEXT", messageSeverity=0x1111, messageType=7, pfnUserCallback=callback
        )
    else:
        info = vk.structure("VkDebugReportCallbackCreateInfoEXT", flags=31, pfnCallback=callback)
    rc = vk.call_found(instance, f"vkCreate{kind}", instance, info, allocator, to)
    return rc, to.handle()


def end(vk: VulkanSession, instance: Value, extension: str, messenger: Value | None, allocator: Any = None) -> None:
    vk.call_found(instance, f"vkDestroy{KINDS[extension]}", instance, messenger, allocator)


def handles_of(sandbox: VulkanSandbox, driver: str, kind: str = "messenger") -> list[int]:
    """The handles of all objects of a kind that a driver made, in order."""
    objects = sandbox.log.happened("object", by=driver)
    return [int(e.data["handle"], 16) for e in objects if e.data["detail"].startswith(f"{kind} ")]


def ended(sandbox: VulkanSandbox, driver: str, extension: str) -> list[int]:
    return [e.arguments[1] for e in sandbox.log.calls(f"vkDestroy{KINDS[extension]}", by=driver)]


@requirement("VK-OBJ-025")
@pytest.mark.parametrize("extension", KINDS)
def test_messenger_is_one_in_each_driver(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, extension: str) -> None:
    """Made and ended in each driver that has the extension, on its own instance; one that lacks it is not called."""
    require_extension(vulkan_loader, extension)
    functions = [f"vkCreate{KINDS[extension]}", f"vkDestroy{KINDS[extension]}"]
    sandbox.driver("one", extensions=extension)
    sandbox.driver("lacks", functions={"lacks": functions})
    sandbox.driver("two", extensions=extension)

    with vulkan_loader.start(sandbox) as vk:
        instance = vk.instance(extensions=[extension])
        messengers = []
        for _ in range(3):
            rc, messenger = make(vk, instance, extension)
            assert rc == 0 and messenger
            messengers.append(messenger)
        assert len(set(messengers)) == 3
        for messenger in (messengers[1], messengers[0], messengers[2]):
            end(vk, instance, extension, messenger)
        vk.vkDestroyInstance(instance, None)
    for name in ("one", "two"):
        (own_instance,) = handles_of(sandbox, name, "instance")
        handles = handles_of(sandbox, name)
        assert len(handles) == 3
        assert ended(sandbox, name, extension) == [handles[1], handles[0], handles[2]]
        assert [sandbox.log.calls(f, by=name)[0].arguments[0] for f in functions] == [own_instance] * 2
    assert not sandbox.log.happened("foreign handle")


@requirement("VK-OBJ-023")
@pytest.mark.parametrize("extension", KINDS)
def test_allocator_of_a_messenger_reaches_the_drivers(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, extension: str
) -> None:
    """What the application gives, or nothing where it gives nothing."""
    require_extension(vulkan_loader, extension)
    for name in ("a", "b"):
        sandbox.driver(name, extensions=extension)

    with vulkan_loader.start(sandbox) as vk:
        instance = vk.instance(extensions=[extension])
        own = vk.allocator()
        for allocator in (own, None):
            rc, messenger = make(vk, instance, extension, allocator)
            assert rc == 0
            end(vk, instance, extension, messenger, allocator)
    for name in ("a", "b"):
        calls = sandbox.log.calls(f"vkCreate{KINDS[extension]}", by=name)
        assert [bool(e.arguments[2]) for e in calls] == [True, False]  # a loader may hand on a copy
        calls = sandbox.log.calls(f"vkDestroy{KINDS[extension]}", by=name)
        assert [bool(e.arguments[2]) for e in calls] == [True, False]  # a loader may hand on a copy


@requirement("VK-OBJ-042")
@pytest.mark.parametrize("extension", KINDS)
@pytest.mark.parametrize("order", ["good, fails", "fails, good"])
def test_messenger_that_one_driver_cannot_make(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, extension: str, order: str
) -> None:
    """The failure comes back, or the loader does without: what another driver made is ended there, once."""
    require_extension(vulkan_loader, extension)
    for name in order.split(", "):
        sandbox.driver(name, extensions=extension, faults=["create_messenger_fails=-1"] if name == "fails" else [])

    with vulkan_loader.start(sandbox) as vk:
        instance = vk.instance(extensions=[extension])
        rc, messenger = make(vk, instance, extension)
        assert str(rc) in ("VK_ERROR_OUT_OF_HOST_MEMORY", "VK_SUCCESS")
        if rc == 0:
            end(vk, instance, extension, messenger)
        assert vk.drivers(instance) == {"good", "fails"}
        vk.vkDestroyInstance(instance, None)
    assert ended(sandbox, "good", extension) == handles_of(sandbox, "good")
    assert sandbox.log.calls(f"vkCreate{KINDS[extension]}", by="fails")


@requirement("VK-OBJ-026")
@pytest.mark.parametrize("what", TYPES)
@pytest.mark.parametrize("info", ["Name", "Tag"])
@pytest.mark.parametrize("way", ["instance", "device"])
def test_object_is_named_by_the_handle_of_the_driver(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, what: str, info: str, way: str
) -> None:
    """Instances, physical devices and surfaces are the loader's: a driver is told its own handle for each."""
    require_extension(vulkan_loader, UTILS)
    require_extension(vulkan_loader, HEADLESS)
    for name in ("a", "b"):
        extensions = f"{UTILS} {SURFACE} {HEADLESS}"
        sandbox.driver(name, extensions=extensions, surfaces=True, device_extensions=SWAPCHAIN)

    function = f"vkSetDebugUtilsObject{info}EXT"
    with vulkan_loader.start(sandbox) as vk:
        instance = vk.instance(extensions=[UTILS, SURFACE, HEADLESS])
        to = vk.buffer(8, 0)
        surface_info = vk.structure("VkHeadlessSurfaceCreateInfoEXT")
        assert vk.call_found(instance, "vkCreateHeadlessSurfaceEXT", instance, surface_info, None, to) == 0
        for physical_device in vk.physical_devices(instance):
            assert vk.vkGetPhysicalDeviceSurfaceSupportKHR(physical_device, 0, to.handle(), vk.buffer(4)) == 0
            device = vk.device(physical_device, extensions=[SWAPCHAIN])
            objects = {
                "instance": instance, "physical device": physical_device, "device": device, "surface": to.handle(),
            }  # fmt: skip
            label = {"pObjectName": vk.data(b"x\0")} if info == "Name" else {"tagSize": 2, "pTag": vk.data(b"xy")}
            about = vk.structure(
                f"VkDebugUtilsObject{info}InfoEXT", objectType=TYPES[what], objectHandle=objects[what], **label
            )
            address = vk.proc(instance, function) if way == "instance" else vk.device_proc(device, function)
            assert vk.call_at(address, function, device, about) == 0
    for name in ("a", "b"):
        named = sandbox.log.happened("named object", by=name).only
        assert int(named.data["type"], 16) == TYPES[what]
        assert [int(named.data["handle"], 16)] == handles_of(sandbox, name, what)


@requirement("VK-OBJ-026")
@pytest.mark.parametrize("what", MARKED)
@pytest.mark.parametrize("info", ["Name", "Tag"])
def test_object_is_marked_by_the_handle_of_the_driver(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, what: str, info: str
) -> None:
    """VK_EXT_debug_marker, of a device: a driver is told its own handle, as by the extension that came after it."""
    for name in (REPORT, HEADLESS):
        require_extension(vulkan_loader, name)
    for name in ("a", "b"):
        extensions = f"{REPORT} {SURFACE} {HEADLESS}"
        sandbox.driver(name, extensions=extensions, surfaces=True, device_extensions=f"{SWAPCHAIN} {MARKER}")

    function = f"vkDebugMarkerSetObject{info}EXT"
    with vulkan_loader.start(sandbox) as vk:
        instance = vk.instance(extensions=[REPORT, SURFACE, HEADLESS])
        to = vk.buffer(8, 0)
        surface_info = vk.structure("VkHeadlessSurfaceCreateInfoEXT")
        assert vk.call_found(instance, "vkCreateHeadlessSurfaceEXT", instance, surface_info, None, to) == 0
        for physical_device in vk.physical_devices(instance):
            assert vk.vkGetPhysicalDeviceSurfaceSupportKHR(physical_device, 0, to.handle(), vk.buffer(4)) == 0
            device = vk.device(physical_device, extensions=[SWAPCHAIN, MARKER])
            objects = {
                "instance": instance, "physical device": physical_device, "device": device, "surface": to.handle(),
            }  # fmt: skip
            label = {"pObjectName": vk.data(b"x\0")} if info == "Name" else {"tagSize": 2, "pTag": vk.data(b"xy")}
            about = vk.structure(
                f"VkDebugMarkerObject{info}InfoEXT", objectType=MARKED[what], object=objects[what], **label
            )
            address = vk.device_proc(device, function)
            assert address
            assert vk.call_at(address, function, device, about) == 0
    for name in ("a", "b"):
        named = sandbox.log.happened("named object", by=name).only
        assert int(named.data["type"], 16) == MARKED[what]
        assert [int(named.data["handle"], 16)] == handles_of(sandbox, name, what)
