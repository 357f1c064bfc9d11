# SPDX-License-Identifier: Apache-2.0
"""Surfaces that the loader makes for drivers, and those that drivers make themselves (VK-OBJ)."""

from typing import Any

import pytest

from harness.check import Value, VulkanLoader, VulkanSandbox, VulkanSession, requirement

SURFACE, HEADLESS = "VK_KHR_surface", "VK_EXT_headless_surface"
VK_ICD_WSI_PLATFORM_HEADLESS = 9
VK_ICD_WSI_PLATFORM_DISPLAY = 8
CAPABILITIES2 = "VK_KHR_get_surface_capabilities2"
# Window systems: the extension, the platform's number, and the VkStructureType of what a surface is made with.
WINDOWS = {
    "Xcb": ("VK_KHR_xcb_surface", 3, 1000005000),
    "Xlib": ("VK_KHR_xlib_surface", 4, 1000004000),
    "Wayland": ("VK_KHR_wayland_surface", 1, 1000006000),
}


def require_surfaces(loader: VulkanLoader, sandbox: VulkanSandbox, extension: str = HEADLESS) -> VulkanSandbox:
    """Makes the case unsupported where the loader knows no surfaces of this kind."""
    probe = VulkanSandbox(loader.path)
    try:
        probe.driver("a", extensions=f"{SURFACE} {extension}")
        with loader.start(probe) as vk:
            if extension not in vk.extension_names():
                loader.require(extension)
    finally:
        probe.close()
    return sandbox


def make_surface(vk: VulkanSession, instance: Value) -> Value:
    to = vk.buffer(8, 0)
    info = vk.structure("VkHeadlessSurfaceCreateInfoEXT")
    assert vk.call_found(instance, "vkCreateHeadlessSurfaceEXT", instance, info, None, to) == 0
    return to.handle()


def support(vk: VulkanSession, device: Value, surface: Value) -> int:
    supported = vk.buffer(4, 0)
    assert vk.vkGetPhysicalDeviceSurfaceSupportKHR(device, 0, surface, supported) == 0
    return supported.u32()


@requirement("VK-OBJ-015", "VK-OBJ-005")
def test_surface_of_the_loader_reaches_every_driver(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """Drivers that leave surfaces to the loader all get one and the same, whose first field names the platform."""
    require_surfaces(vulkan_loader, sandbox)
    for name in ("a", "b"):
        sandbox.driver(name, extensions=f"{SURFACE} {HEADLESS}")

    with vulkan_loader.start(sandbox) as vk:
        instance = vk.instance(extensions=[SURFACE, HEADLESS])
        surface = make_surface(vk, instance)
        for device in vk.physical_devices(instance):
            assert support(vk, device, surface) == 1
        vk.vkDestroySurfaceKHR(instance, surface, None)
    seen = {event.who: event.data for event in sandbox.log.happened("surface of the loader")}
    assert set(seen) == {"a", "b"}
    assert seen["a"]["handle"] == seen["b"]["handle"] != "0x0"
    assert {int(data["platform"], 16) for data in seen.values()} == {VK_ICD_WSI_PLATFORM_HEADLESS}


# Interfaces of drivers that leave surfaces to the loader.
PLAIN = {"version 2": 2, "version 5": 5}


@requirement("VK-OBJ-016", "VK-OBJ-005")
@pytest.mark.parametrize("plain", PLAIN)
def test_driver_that_makes_surfaces_gets_its_own(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, plain: str
) -> None:
    """Beside a driver that leaves surfaces to the loader, two that make them: each gets its own one, and ends it."""
    require_surfaces(vulkan_loader, sandbox)
    sandbox.driver("plain", interface=PLAIN[plain], extensions=f"{SURFACE} {HEADLESS}")
    for name in ("own1", "own2"):
        sandbox.driver(name, extensions=f"{SURFACE} {HEADLESS}", surfaces=True)

    with vulkan_loader.start(sandbox) as vk:
        instance = vk.instance(extensions=[SURFACE, HEADLESS])
        surface = make_surface(vk, instance)
        for device in vk.physical_devices(instance):
            assert support(vk, device, surface) == 1
        vk.vkDestroySurfaceKHR(instance, surface, None)
    for name in ("own1", "own2"):
        objects = sandbox.log.happened("object", by=name)
        handles = [e.data["handle"] for e in objects if e.data["detail"].startswith("surface")]
        assert [e.data["handle"] for e in sandbox.log.happened("own surface", by=name)] == handles
        ended = [e.arguments[1] for e in sandbox.log.calls("vkDestroySurfaceKHR", by=name)]
        assert len(handles) == 1 and ended == [int(handle, 16) for handle in handles]
    assert len(sandbox.log.happened("surface of the loader", by="plain")) == 1
    assert not sandbox.log.calls("vkDestroySurfaceKHR", by="plain")
    assert not sandbox.log.happened("foreign handle")


@requirement("VK-OBJ-023")
def test_allocator_of_a_surface_reaches_the_driver(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """A driver makes and ends its surface with callbacks where the application gives some."""
    require_surfaces(vulkan_loader, sandbox)
    sandbox.driver("own", extensions=f"{SURFACE} {HEADLESS}", surfaces=True)

    with vulkan_loader.start(sandbox) as vk:
        instance = vk.instance(extensions=[SURFACE, HEADLESS])
        allocator, to = vk.allocator(), vk.buffer(8, 0)
        info, create = vk.structure("VkHeadlessSurfaceCreateInfoEXT"), "vkCreateHeadlessSurfaceEXT"
        assert vk.call_found(instance, create, instance, info, allocator, to) == 0
        (device,) = vk.physical_devices(instance)
        assert support(vk, device, to.handle()) == 1  # an older loader may make the driver's surface only here
        vk.vkDestroySurfaceKHR(instance, to.handle(), allocator)
    for function in (create, "vkDestroySurfaceKHR"):
        allocator_there = sandbox.log.calls(function, by="own").only.arguments[2]
        assert allocator_there != 0  # a loader that makes it only where it is used may hand on a copy


@requirement("VK-OBJ-016", "VK-OBJ-005")
def test_surfaces_are_told_apart(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """Of two surfaces, each used twice, a driver has two; when one is destroyed, the other one goes on working."""
    require_surfaces(vulkan_loader, sandbox)
    sandbox.driver("own", interface=3, extensions=f"{SURFACE} {HEADLESS}", surfaces=True)

    with vulkan_loader.start(sandbox) as vk:
        instance = vk.instance(extensions=[SURFACE, HEADLESS])
        first, second = make_surface(vk, instance), make_surface(vk, instance)
        (device,) = vk.physical_devices(instance)
        for surface in (first, second, first, second):
            assert support(vk, device, surface) == 1
        vk.vkDestroySurfaceKHR(instance, first, None)
        assert support(vk, device, second) == 1
        vk.vkDestroySurfaceKHR(instance, second, None)
    handles = [e.data["handle"] for e in sandbox.log.happened("object", by="own") if "surface" in e.data["detail"]]
    used = [e.data["handle"] for e in sandbox.log.happened("own surface", by="own")]
    assert len(handles) == 2 and sorted(used[:2]) == sorted(handles)
    assert used == [used[0], used[1], used[0], used[1], used[1]]
    ended = [hex(e.arguments[1]) for e in sandbox.log.calls("vkDestroySurfaceKHR", by="own")]
    assert ended == [used[0], used[1]]


@requirement("VK-OBJ-016", "VK-OBJ-005")
@pytest.mark.parametrize("number", [2, 5, 40])
def test_each_of_many_surfaces_is_made_once(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, number: int) -> None:
    """However often each of several surfaces is used, a driver has one of its own for it, and ends it once."""
    require_surfaces(vulkan_loader, sandbox)
    for name in ("own1", "own2"):
        sandbox.driver(name, interface=3, extensions=f"{SURFACE} {HEADLESS}", surfaces=True)

    with vulkan_loader.start(sandbox) as vk:
        instance = vk.instance(extensions=[SURFACE, HEADLESS])
        surfaces = [make_surface(vk, instance) for _ in range(number)]
        devices = vk.physical_devices(instance)
        for _ in range(3):
            assert {support(vk, device, surface) for surface in surfaces for device in devices} == {1}
        for surface in surfaces:
            vk.vkDestroySurfaceKHR(instance, surface, None)
    for name in ("own1", "own2"):
        objects = sandbox.log.happened("object", by=name)
        handles = [int(e.data["handle"], 16) for e in objects if e.data["detail"].startswith("surface")]
        used = [int(e.data["handle"], 16) for e in sandbox.log.happened("own surface", by=name)]
        ended = [e.arguments[1] for e in sandbox.log.calls("vkDestroySurfaceKHR", by=name)]
        assert len(handles) == number and set(used) == set(handles) and sorted(ended) == sorted(handles)


@requirement("VK-OBJ-016")
@pytest.mark.parametrize("what", ["Capabilities", "Formats", "PresentModes"])
def test_queries_of_surfaces_get_the_surface_of_the_driver(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, what: str
) -> None:
    """Each query hands a driver that makes surfaces its own one, exported or looked up; each driver ends its own."""
    require_surfaces(vulkan_loader, sandbox)
    for name in ("one", "two"):
        sandbox.driver(name, extensions=f"{SURFACE} {HEADLESS}", surfaces=True)
    function = f"vkGetPhysicalDeviceSurface{what}KHR"

    with vulkan_loader.start(sandbox) as vk:
        instance = vk.instance(extensions=[SURFACE, HEADLESS])
        surface = make_surface(vk, instance)
        for device in vk.physical_devices(instance):
            for way in (f"@{function}", vk.proc(instance, function)):
                more = [vk.buffer(512)] if what == "Capabilities" else [vk.buffer(4, 0), None]
                assert vk.call_at(way, function, device, surface, *more) == 0
        vk.vkDestroySurfaceKHR(instance, surface, None)
    for name in ("one", "two"):
        handles = [e.data["handle"] for e in sandbox.log.happened("object", by=name) if "surface" in e.data["detail"]]
        assert len(handles) == 1
        assert [hex(e.arguments[1]) for e in sandbox.log.calls("vkDestroySurfaceKHR", by=name)] == handles
        assert [e.data["handle"] for e in sandbox.log.happened("own surface", by=name)] == handles * 2


@requirement("VK-OBJ-016")
@pytest.mark.parametrize("plain", PLAIN)
def test_swapchain_is_made_for_the_surface_of_the_driver(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, plain: str
) -> None:
    """vkCreateSwapchainKHR hands a driver that makes surfaces its own one, by each way of finding it."""
    require_surfaces(vulkan_loader, sandbox)
    settings: dict[str, Any] = {"extensions": f"{SURFACE} {HEADLESS}", "device_extensions": "VK_KHR_swapchain"}
    sandbox.driver("own", surfaces=True, **settings)
    sandbox.driver("plain", interface=PLAIN[plain], **settings)

    with vulkan_loader.start(sandbox) as vk:
        instance = vk.instance(extensions=[SURFACE, HEADLESS])
        surface = make_surface(vk, instance)
        for physical_device in vk.physical_devices(instance):
            device = vk.device(physical_device, extensions=["VK_KHR_swapchain"])
            name = "vkCreateSwapchainKHR"
            for way in (f"@{name}", vk.device_proc(device, name), vk.proc(instance, name)):
                info = vk.structure("VkSwapchainCreateInfoKHR", surface=surface)
                assert vk.call_at(way, name, device, info, None, vk.buffer(8)) == 0
    assert len(sandbox.log.happened("own surface", by="own")) == 3
    assert len(sandbox.log.happened("surface of the loader", by="plain")) == 3


@requirement("VK-OBJ-016", "VK-OBJ-023")
def test_shared_swapchains_are_made_for_the_surfaces_of_the_driver(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox
) -> None:
    """vkCreateSharedSwapchainsKHR hands over all surfaces in order, those of a driver that makes them as its own."""
    require_surfaces(vulkan_loader, sandbox)
    name, extensions = "vkCreateSharedSwapchainsKHR", ["VK_KHR_swapchain", "VK_KHR_display_swapchain"]
    settings: dict[str, Any] = {"extensions": f"{SURFACE} {HEADLESS}", "device_extensions": " ".join(extensions)}
    for who in ("own1", "own2"):
        sandbox.driver(who, surfaces=True, **settings)
    sandbox.driver("plain", interface=2, **settings)

    with vulkan_loader.start(sandbox) as vk:
        instance = vk.instance(extensions=[SURFACE, HEADLESS])
        surfaces = [make_surface(vk, instance) for _ in range(3)]
        for physical_device in vk.physical_devices(instance):
            for surface in surfaces:
                assert support(vk, physical_device, surface) == 1
            device = vk.device(physical_device, extensions=extensions)
            for way in (f"@{name}", vk.device_proc(device, name), vk.proc(instance, name)):
                infos = vk.structures("VkSwapchainCreateInfoKHR", [{"surface": surface} for surface in surfaces])
                before, to = bytes(infos[:]), vk.buffer(8 * 3, 0)
                assert vk.call_at(way, name, device, 3, infos, None, to) == 0
                assert [to.handle(index) != 0 for index in range(3)] == [True] * 3
                assert infos[:] == before
    for who in ("own1", "own2", "plain"):
        what = "surface of the loader" if who == "plain" else "own surface"
        used = [event.data["handle"] for event in sandbox.log.happened(what, by=who)]
        assert [used.index(handle) for handle in used] == [0, 1, 2] * 4


@requirement("VK-OBJ-042")
def test_driver_that_cannot_make_a_surface_leaves_no_other_behind(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox
) -> None:
    """Where one driver fails, the surfaces that other drivers made are destroyed there, once each, or stay usable."""
    require_surfaces(vulkan_loader, sandbox)
    sandbox.driver("good", extensions=f"{SURFACE} {HEADLESS}", surfaces=True)
    sandbox.driver("fails", extensions=f"{SURFACE} {HEADLESS}", surfaces=True, faults=["create_surface_fails=-1"])

    with vulkan_loader.start(sandbox) as vk:
        instance = vk.instance(extensions=[SURFACE, HEADLESS])
        to = vk.buffer(8, 0)
        info = vk.structure("VkHeadlessSurfaceCreateInfoEXT")
        rc = vk.call_found(instance, "vkCreateHeadlessSurfaceEXT", instance, info, None, to)
        if rc == 0:
            vk.vkDestroySurfaceKHR(instance, to.handle(), None)
        vk.vkDestroyInstance(instance, None)
    events = [e for e in sandbox.log.happened("object", by="good") if e.data["detail"].startswith("surface")]
    assert len(sandbox.log.calls("vkDestroySurfaceKHR", by="good")) == len(events)
    assert not sandbox.log.happened("foreign handle", by="good")


def surface_of(sandbox: VulkanSandbox, driver: str) -> dict[str, Any]:
    """What a driver saw of the one surface that it was given."""
    seen = sandbox.log.happened("surface of the loader", by=driver).only
    assert seen.data["handle"] != "0x0", f"{driver} was given no surface"
    return {key: int(value, 16) for key, value in seen.data.items() if str(value).startswith("0x") and key != "th"}


@requirement("VK-OBJ-015")
@pytest.mark.parametrize("system", WINDOWS)
def test_surface_of_a_window_is_what_the_application_says(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, system: str
) -> None:
    """The platform, the connection and the window are there for drivers of version 2, which make no surfaces."""
    extension, platform, stype = WINDOWS[system]
    require_surfaces(vulkan_loader, sandbox, extension)
    for name in ("a", "b"):
        sandbox.driver(name, interface=2, extensions=f"{SURFACE} {extension}")

    with vulkan_loader.start(sandbox) as vk:
        instance = vk.instance(extensions=[SURFACE, extension])
        to = vk.buffer(8, 0)
        info = vk.words([stype, 0, 0, 0x11223344, 0x55667788])
        assert vk.call_found(instance, f"vkCreate{system}SurfaceKHR", instance, info, None, to) == 0
        for device in vk.physical_devices(instance):
            assert support(vk, device, to.handle()) == 1
        for name in ("a", "b"):
            seen = surface_of(sandbox, name)
            assert seen["platform"] == platform
            assert [seen["connection"], seen["window"]] == [0x11223344, 0x55667788]
        vk.vkDestroySurfaceKHR(instance, to.handle(), None)


@requirement("VK-OBJ-015")
def test_surface_of_a_display_is_what_the_application_says(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """The mode, the plane and all else that describes it are there for a driver of version 2."""
    extension = "VK_KHR_display"
    require_surfaces(vulkan_loader, sandbox, extension)
    sandbox.driver("a", interface=2, extensions=f"{SURFACE} {extension}")
    expected = {
        "displayMode": 0x1234, "planeIndex": 3, "planeStackIndex": 4, "transform": 2, "alphaMode": 8,
        "globalAlpha": 0x3F000000, "width": 640, "height": 480,
    }  # fmt: skip

    with vulkan_loader.start(sandbox) as vk:
        instance = vk.instance(extensions=[SURFACE, extension])
        to = vk.buffer(8, 0)
        info = vk.structure(
            "VkDisplaySurfaceCreateInfoKHR",
            imageExtent=(640).to_bytes(4, "little") + (480).to_bytes(4, "little"),
            **{key: value for key, value in expected.items() if key not in ("width", "height")},
        )
        assert vk.call_found(instance, "vkCreateDisplayPlaneSurfaceKHR", instance, info, None, to) == 0
        (device,) = vk.physical_devices(instance)
        assert support(vk, device, to.handle()) == 1
    seen = surface_of(sandbox, "a")
    assert seen["platform"] == VK_ICD_WSI_PLATFORM_DISPLAY
    assert {key: seen[key] for key in expected} == expected


@requirement("VK-OBJ-016", "VK-OBJ-023")
@pytest.mark.parametrize("what", ["Capabilities", "Formats"])
@pytest.mark.parametrize("lacks", [False, True], ids=["driver has it", "driver lacks it"])
def test_query_with_a_structure_gets_the_surface_of_the_driver(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, what: str, lacks: bool
) -> None:
    """The surface in VkPhysicalDeviceSurfaceInfo2KHR is the driver's own, by whichever query the loader asks it."""
    require_surfaces(vulkan_loader, sandbox)
    function = f"vkGetPhysicalDeviceSurface{what}2KHR"
    sandbox.driver("other", extensions=f"{SURFACE} {HEADLESS} {CAPABILITIES2}", surfaces=True)
    sandbox.driver(
        "own",
        extensions=f"{SURFACE} {HEADLESS}" + ("" if lacks else f" {CAPABILITIES2}"),
        functions={"lacks": [function] if lacks else []},
        surfaces=True,
    )

    with vulkan_loader.start(sandbox) as vk:
        instance = vk.instance(extensions=[SURFACE, HEADLESS, CAPABILITIES2])
        surface = make_surface(vk, instance)
        info = vk.structure("VkPhysicalDeviceSurfaceInfo2KHR", surface=surface)
        before = bytes(info[:])
        for device in vk.physical_devices(instance):
            if what == "Capabilities":
                answer = vk.structure("VkSurfaceCapabilities2KHR")
                assert vk.call_found(instance, function, device, info, answer) == 0
                assert answer[16:24] == (2).to_bytes(4, "little") + (3).to_bytes(4, "little")
            else:
                count = vk.buffer(4, 0)
                assert vk.call_found(instance, function, device, info, count, None) == 0
                assert count.u32() == 3
        assert bytes(info[:]) == before
    for name in ("own", "other"):
        objects = sandbox.log.happened("object", by=name)
        handles = [e.data["handle"] for e in objects if e.data["detail"].startswith("surface")]
        assert len(handles) == 1
        assert [e.data["handle"] for e in sandbox.log.happened("own surface", by=name)] == handles


@requirement("VK-OBJ-016")
@pytest.mark.parametrize("name", ["vkGetDeviceGroupSurfacePresentModesKHR", "vkGetPhysicalDevicePresentRectanglesKHR"])
def test_query_of_groups_gets_the_surface_of_the_driver(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, name: str
) -> None:
    """What a group can present on a surface is asked with the driver's own one, by each way to the function."""
    require_surfaces(vulkan_loader, sandbox)
    extensions = f"{SURFACE} {HEADLESS} VK_KHR_device_group_creation"
    own = ["VK_KHR_swapchain", "VK_KHR_device_group"]
    sandbox.driver("own", extensions=extensions, surfaces=True, device_extensions=" ".join(own))

    with vulkan_loader.start(sandbox) as vk:
        instance = vk.instance("1.1.0", extensions=extensions.split())
        surface = make_surface(vk, instance)
        (physical_device,) = vk.physical_devices(instance)
        assert support(vk, physical_device, surface) == 1
        device = vk.device(physical_device, extensions=own)
        if name.startswith("vkGetDevice"):
            for way in (vk.device_proc(device, name), vk.proc(instance, name)):
                assert vk.call_at(way, name, device, surface, vk.buffer(4, 0)) == 0
        else:
            for way in (vk.proc(instance, name), vk.proc(instance, name)):
                assert vk.call_at(way, name, physical_device, surface, vk.buffer(4, 0), None) == 0
    handles = [e.data["handle"] for e in sandbox.log.happened("object", by="own") if "surface" in e.data["detail"]]
    assert len(handles) == 1
    assert [e.data["handle"] for e in sandbox.log.happened("own surface", by="own")] == handles * 3


@requirement("VK-OBJ-017")
def test_destroying_no_surface_does_nothing(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """VK_NULL_HANDLE is nobody's surface: no driver is called, and those that there are go on to work."""
    require_surfaces(vulkan_loader, sandbox)
    sandbox.driver("own", extensions=f"{SURFACE} {HEADLESS}", surfaces=True)

    with vulkan_loader.start(sandbox) as vk:
        instance = vk.instance(extensions=[SURFACE, HEADLESS])
        surface = make_surface(vk, instance)
        (device,) = vk.physical_devices(instance)
        vk.vkDestroySurfaceKHR(instance, None, None)
        assert support(vk, device, surface) == 1
        vk.vkDestroySurfaceKHR(instance, surface, None)
    assert len(sandbox.log.calls("vkDestroySurfaceKHR", by="own")) == 1
