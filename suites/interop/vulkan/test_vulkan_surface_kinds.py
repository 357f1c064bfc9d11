# SPDX-License-Identifier: Apache-2.0
"""Surfaces of each kind of window, made by drivers: they come and go, and some drivers lack the kind (VK-OBJ)."""

import pytest

from harness.check import Value, VulkanLoader, VulkanSandbox, VulkanSession, requirement

SURFACE = "VK_KHR_surface"
# Kinds of surfaces: the function that makes one, the extension, and the VkStructureType of what it is made of.
KINDS = {
    "headless": ("vkCreateHeadlessSurfaceEXT", "VK_EXT_headless_surface", 1000256000),
    "Xcb": ("vkCreateXcbSurfaceKHR", "VK_KHR_xcb_surface", 1000005000),
    "Xlib": ("vkCreateXlibSurfaceKHR", "VK_KHR_xlib_surface", 1000004000),
    "Wayland": ("vkCreateWaylandSurfaceKHR", "VK_KHR_wayland_surface", 1000006000),
}
# The same with displays, whose surfaces are made of more than these words.
KINDS_AND_DISPLAYS = KINDS | {"display": ("vkCreateDisplayPlaneSurfaceKHR", "VK_KHR_display", 1000002001)}


def require_surfaces(loader: VulkanLoader, extension: str) -> None:
    """Makes the case unsupported where the loader knows no surfaces of this kind."""
    machine = VulkanSandbox(loader.path)
    try:
        machine.driver("a", extensions=f"{SURFACE} {extension}")
        with loader.start(machine) as vk:
            if extension not in vk.extension_names():
                loader.require(extension)
    finally:
        machine.close()


def make(vk: VulkanSession, instance: Value, kind: str, number: int = 0) -> Value:
    """A surface whose connection and window say its number; what it was made of is overwritten at once."""
    function, _, stype = KINDS_AND_DISPLAYS[kind]
    info, to = vk.words([stype, 0, 0, 0x1000 + number, 0x2000 + number, *[0] * 4]), vk.buffer(8, 0)
    assert vk.call_found(instance, function, instance, info, None, to) == 0
    info.fill(0xEE)
    return to.handle()


@requirement("VK-OBJ-016")
@pytest.mark.parametrize("kind", KINDS)
def test_surfaces_come_and_go(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, kind: str) -> None:
    """Of three, one is ended and another made: each driver has four in all, each its own, for the right windows."""
    extension = KINDS[kind][1]
    require_surfaces(vulkan_loader, extension)
    for name in ("one", "two"):
        sandbox.driver(name, extensions=f"{SURFACE} {extension}", surfaces=True)

    with vulkan_loader.start(sandbox) as vk:
        instance = vk.instance(extensions=[SURFACE, extension])
        devices = vk.physical_devices(instance)
        items = [make(vk, instance, kind, number) for number in range(3)]
        for last in (False, True):
            if last:
                vk.vkDestroySurfaceKHR(instance, items[1], None)
                items[1] = make(vk, instance, kind, 3)
            for surface in items:
                for device in devices:
                    supported = vk.buffer(4, 0)
                    assert vk.vkGetPhysicalDeviceSurfaceSupportKHR(device, 0, surface, supported) == 0
                    assert supported.u32() == 1
        for surface in items:
            vk.vkDestroySurfaceKHR(instance, surface, None)
    for name in ("one", "two"):
        objects = sandbox.log.happened("object", by=name)
        handles = [e.data["handle"] for e in objects if e.data["detail"].startswith("surface")]
        assert len(handles) == 4
        used = [e.data["handle"] for e in sandbox.log.happened("own surface", by=name)]
        assert used == [*handles[:3], handles[0], handles[3], handles[2]]
        ended = [hex(e.arguments[1]) for e in sandbox.log.calls("vkDestroySurfaceKHR", by=name)]
        assert ended == [handles[1], handles[0], handles[3], handles[2]]
        if kind != "headless":
            windows = sandbox.log.happened("window", by=name)
            assert [int(e.data["window"], 16) for e in windows] == [0x2000 + number for number in range(4)]
            assert [int(e.data["connection"], 16) for e in windows] == [0x1000 + number for number in range(4)]
    assert not sandbox.log.happened("foreign handle")


@requirement("VK-OBJ-016")
@pytest.mark.parametrize("kind", KINDS)
def test_driver_without_the_kind_gets_no_null_surface(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, kind: str
) -> None:
    """A driver that lacks the extension may be asked about some surface, but for none; unasked, it supports nothing."""
    function, extension, _ = KINDS[kind]
    require_surfaces(vulkan_loader, extension)
    sandbox.driver("has", extensions=f"{SURFACE} {extension}", surfaces=True)
    sandbox.driver("lacks", extensions=SURFACE, surfaces=True, functions={"lacks": [function]})

    with vulkan_loader.start(sandbox) as vk:
        instance = vk.instance(extensions=[SURFACE, extension])
        surface = make(vk, instance, kind)
        answers = {}
        for device in vk.physical_devices(instance):
            supported = vk.buffer(4, 1)
            vk.vkGetPhysicalDeviceSurfaceSupportKHR(device, 0, surface, supported)
            answers[vk.device_name(device)] = supported.u32()
    assert answers["has.0"] == 1
    given = list(sandbox.log.calls("vkGetPhysicalDeviceSurfaceSupportKHR", by="lacks"))
    assert all(event.arguments[2] for event in given)
    assert given or answers["lacks.0"] == 0


@requirement("VK-OBJ-015", "VK-OBJ-016")
@pytest.mark.parametrize("old", ["driver_only_get", "driver_official", "version 2"])
def test_driver_of_an_old_interface_makes_no_surfaces(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, old: str
) -> None:
    """Before version 3 a driver uses the loader's surface, also one that has functions to make its own."""
    extensions = f"{SURFACE} {KINDS['headless'][1]}"
    require_surfaces(vulkan_loader, KINDS["headless"][1])
    sandbox.driver("new", extensions=extensions, surfaces=True)
    if old == "version 2":
        sandbox.driver("old", extensions=extensions, surfaces=True, interface=2)
    else:
        sandbox.driver("old", extensions=extensions, surfaces=True, variant=old)

    with vulkan_loader.start(sandbox) as vk:
        instance = vk.instance(extensions=extensions.split())
        surface = make(vk, instance, "headless")
        for device in vk.physical_devices(instance):
            assert vk.vkGetPhysicalDeviceSurfaceSupportKHR(device, 0, surface, vk.buffer(4, 0)) == 0
        create = KINDS["headless"][0]
        assert len(sandbox.log.calls(create, by="new")) == 1 and not sandbox.log.calls(create, by="old")
        seen = sandbox.log.happened("surface of the loader", by="old").only
        assert int(seen.data["handle"], 16) == int(surface)
        vk.vkDestroySurfaceKHR(instance, surface, None)
    assert not sandbox.log.calls("vkDestroySurfaceKHR", by="old")


@requirement("VK-EXT-016")
@pytest.mark.parametrize("kind", KINDS_AND_DISPLAYS)
def test_driver_makes_no_surface_of_a_kind_that_is_not_enabled_in_it(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, kind: str
) -> None:
    """A driver that has the function, and not the extension, is not called for it; the one with both makes its own."""
    function, extension, _ = KINDS_AND_DISPLAYS[kind]
    require_surfaces(vulkan_loader, extension)
    sandbox.driver("has", extensions=f"{SURFACE} {extension}", surfaces=True)
    sandbox.driver("lacks", extensions=SURFACE, surfaces=True)

    with vulkan_loader.start(sandbox) as vk:
        instance = vk.instance(extensions=[SURFACE, extension])
        surface = make(vk, instance, kind)
        for device in vk.physical_devices(instance):
            vk.vkGetPhysicalDeviceSurfaceSupportKHR(device, 0, surface, vk.buffer(4, 0))
        vk.vkDestroySurfaceKHR(instance, surface, None)
    assert len(sandbox.log.calls(function, by="has")) == 1
    assert not sandbox.log.calls(function, by="lacks")
