# SPDX-License-Identifier: Apache-2.0
"""Structures that follow others: they reach the driver, or the loader answers for a driver that knows none (VK-EXT)."""

from typing import Any

import pytest

from harness.check import Value, VulkanLoader, VulkanSandbox, VulkanSession, requirement, vulkan, vulkan_chain_of

SURFACE, HEADLESS, CAPABILITIES2 = "VK_KHR_surface", "VK_EXT_headless_surface", "VK_KHR_get_surface_capabilities2"
PROTECTED, MAINTENANCE1 = "VK_KHR_surface_protected_capabilities", "VK_EXT_surface_maintenance1"
CAPABILITIES = "vkGetPhysicalDeviceSurfaceCapabilities2KHR"
MODES, SCALING = "VkSurfacePresentModeCompatibilityEXT", "VkSurfacePresentScalingCapabilitiesEXT"
STEREO = 1000551000  # VkDisplaySurfaceStereoCreateInfoNV, which is younger than some headers
MAILBOX = 1
UNKNOWN_STRUCTURE = 0x7E57_0000  # a VkStructureType that no extension has
# Messengers: the extension, the function that makes one, and what it is made of.
MESSENGERS = {
    "utils": ("VK_EXT_debug_utils", "vkCreateDebugUtilsMessengerEXT", "VkDebugUtilsMessengerCreateInfoEXT"),
    "report": ("VK_EXT_debug_report", "vkCreateDebugReportCallbackEXT", "VkDebugReportCallbackCreateInfoEXT"),
}


def start_surface(loader: VulkanLoader, vk: VulkanSession, *more: str) -> tuple[Value, dict[str, Value], Value]:
    """An instance with these extensions, the physical device of each driver, and a surface."""
    extensions = [SURFACE, HEADLESS, CAPABILITIES2, *more]
    for name in set(extensions) - set(vk.extension_names()):
        loader.require(name)
    instance, to = vk.instance(extensions=extensions), vk.buffer(8, 0)
    devices = {vk.device_name(device).partition(".")[0]: device for device in vk.physical_devices(instance)}
    info = vk.structure("VkHeadlessSurfaceCreateInfoEXT")
    assert vk.call_found(instance, "vkCreateHeadlessSurfaceEXT", instance, info, None, to) == 0
    return instance, devices, to.handle()


def add_drivers(sandbox: VulkanSandbox, extension: str) -> None:
    """One driver has an extension, one lacks it, and one lacks the query by which it is asked, too."""
    sandbox.driver("has", extensions=f"{SURFACE} {HEADLESS} {CAPABILITIES2} {extension}", surfaces=True)
    sandbox.driver("lacks", extensions=f"{SURFACE} {HEADLESS} {CAPABILITIES2}", surfaces=True)
    without = {"lacks": [CAPABILITIES]}
    sandbox.driver("older", extensions=f"{SURFACE} {HEADLESS}", surfaces=True, functions=without)


@requirement("VK-EXT-012")
def test_surfaces_of_a_driver_without_protected_content_are_not_protected(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox
) -> None:
    """Whatever was in the place of the answer, after a structure that nobody knows; a driver with it answers itself."""
    add_drivers(sandbox, PROTECTED)
    name = "VkSurfaceProtectedCapabilitiesKHR"

    with vulkan_loader.start(sandbox) as vk:
        instance, devices, surface = start_surface(vulkan_loader, vk, PROTECTED)
        answers = {}
        for who in ("has", "lacks"):
            last = vk.structure(name, supportsProtected=int(who == "lacks"))
            answer = vk.structure("VkSurfaceCapabilities2KHR", pNext=vk.words([UNKNOWN_STRUCTURE, last, 0]))
            info = vk.structure("VkPhysicalDeviceSurfaceInfo2KHR", surface=surface)
            assert vk.call_found(instance, CAPABILITIES, devices[who], info, answer) == 0
            answers[who] = vk.member(last, name, "supportsProtected")
    assert answers == {"has": 1, "lacks": 0}


def ask_for_mode(
    vk: VulkanSession, instance: Value, device: Value, surface: Value, following: Any, mode: int | None = MAILBOX
) -> bytes:
    """Asks what a surface can do in a mode; structures that nobody knows are before those that are asked for."""
    name, info_name = "VkSurfaceCapabilities2KHR", "VkPhysicalDeviceSurfaceInfo2KHR"
    chain = vk.words([UNKNOWN_STRUCTURE, 0, 0])
    if mode is not None:
        last = vk.structure("VkSurfacePresentModeEXT", presentMode=mode)
        chain = vk.words([UNKNOWN_STRUCTURE, last, 0])
    info = vk.structure(info_name, pNext=chain, surface=surface)
    answer = vk.structure(name, pNext=vk.words([UNKNOWN_STRUCTURE, following, 0]))
    assert vk.call_found(instance, CAPABILITIES, device, info, answer) == 0
    return vk.member_bytes(answer, name, "surfaceCapabilities")


@requirement("VK-EXT-012")
@pytest.mark.parametrize("room", [None, 0, 1, 3])
def test_mode_of_a_driver_without_compatible_ones_is_compatible_with_itself(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, room: int | None
) -> None:
    """The list of such a driver has the mode itself and nothing else; a driver with the extension makes its own."""
    add_drivers(sandbox, MAINTENANCE1)

    with vulkan_loader.start(sandbox) as vk:
        instance, devices, surface = start_surface(vulkan_loader, vk, MAINTENANCE1)
        answers = {}
        for who, device in devices.items():
            listed = vk.data(b"\x77" * 16)
            modes = vk.structure(MODES, presentModeCount=room or 0, pPresentModes=None if room is None else listed)
            ask_for_mode(vk, instance, device, surface, modes)
            written = [int.from_bytes(listed[i : i + 4], "little") for i in range(0, 16, 4)]
            answers[who] = (vk.member(modes, MODES, "presentModeCount"), [mode for mode in written if mode < 9])
    own, none = (2, [2, MAILBOX]), (1, [MAILBOX])
    if room is None:
        own, none = (2, []), (1, [])
    elif room < 2:
        own, none = (room, [2][:room]), (room, [MAILBOX][:room])
    assert [answers[who] for who in ("has", "lacks", "older")] == [own, none, none]


@requirement("VK-EXT-012")
def test_driver_without_scaling_scales_nothing(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """There is no way of scaling, and no gravity; a driver with the extension answers itself."""
    add_drivers(sandbox, MAINTENANCE1)
    names = ("supportedPresentScaling", "supportedPresentGravityX", "supportedPresentGravityY")

    with vulkan_loader.start(sandbox) as vk:
        instance, devices, surface = start_surface(vulkan_loader, vk, MAINTENANCE1)
        answers = {}
        for who, device in devices.items():
            scaling = vk.structure(SCALING, **dict.fromkeys(names, 0 if who == "has" else 7))
            ask_for_mode(vk, instance, device, surface, scaling)
            answers[who] = [vk.member(scaling, SCALING, name) for name in names]
    assert answers == {"has": [4, 0, 0], "lacks": [0, 0, 0], "older": [0, 0, 0]}


@requirement("VK-EXT-019")
def test_extents_of_a_driver_without_scaling_are_those_of_the_surface(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox
) -> None:
    """What is scaled has the extents of the surface itself; a driver with the extension answers itself."""
    add_drivers(sandbox, MAINTENANCE1)

    with vulkan_loader.start(sandbox) as vk:
        instance, devices, surface = start_surface(vulkan_loader, vk, MAINTENANCE1)
        own = {}
        for who, device in devices.items():
            scaling = vk.structure(SCALING)
            plain = ask_for_mode(vk, instance, device, surface, scaling)
            start = vulkan().structures["VkSurfaceCapabilitiesKHR"].members["minImageExtent"].offset
            extents = [vk.member_bytes(scaling, SCALING, f"{end}ScaledImageExtent") for end in ("min", "max")]
            own[who] = b"".join(extents) == plain[start : start + 16]
    assert own == {"has": False, "lacks": True, "older": True}


@requirement("VK-EXT-019")
def test_nothing_is_said_of_modes_where_none_is_asked_for(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """Without a mode in the question, what an application has in the place of the answer stays."""
    add_drivers(sandbox, MAINTENANCE1)

    with vulkan_loader.start(sandbox) as vk:
        instance, devices, surface = start_surface(vulkan_loader, vk, MAINTENANCE1)
        for who in ("lacks", "older"):
            following = vk.structure(MODES, presentModeCount=3, pPresentModes=vk.data(b"\x77" * 16))
            before = bytes(following[:])
            ask_for_mode(vk, instance, devices[who], surface, following, mode=None)
            assert following[:] == before


@requirement("VK-OBJ-048")
def test_what_follows_a_surface_of_a_display_reaches_the_driver(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox
) -> None:
    """That it is for two eyes is there when the driver makes its own surface, also where that is later."""
    display, create = "VK_KHR_display", "vkCreateDisplayPlaneSurfaceKHR"
    for name in ("a", "b"):
        settings: dict[str, Any] = {"extensions": f"{SURFACE} {display}", "functions": {"chains": [create]}}
        sandbox.driver(name, surfaces=True, **settings)

    with vulkan_loader.start(sandbox) as vk:
        for name in {SURFACE, display} - set(vk.extension_names()):
            vulkan_loader.require(name)
        instance, to = vk.instance(extensions=[SURFACE, display]), vk.buffer(8, 0)
        stereo = vk.words([STEREO, 0, 2])
        info = vk.structure("VkDisplaySurfaceCreateInfoKHR", pNext=stereo)
        assert vk.call_found(instance, create, instance, info, None, to) == 0
        stereo.fill(0xEE)
        for device in vk.physical_devices(instance):
            assert vk.vkGetPhysicalDeviceSurfaceSupportKHR(device, 0, to.handle(), vk.buffer(4, 0)) == 0
    for name in ("a", "b"):
        chain = vulkan_chain_of(sandbox.log.calls(create, by=name).only, 1)
        assert [word & 0xFFFFFFFF for word in chain] == [STEREO, 2]
    assert not sandbox.log.happened("foreign handle")


@requirement("VK-OBJ-023")
@pytest.mark.parametrize("kind", ["headless", "Xcb", "Xlib", "Wayland", "display"])
def test_structure_that_nobody_knows_is_no_obstacle_to_a_surface(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, kind: str
) -> None:
    """A surface is made of what follows a structure that is skipped over, as without it."""
    extension, function, stype = {
        "headless": (HEADLESS, "vkCreateHeadlessSurfaceEXT", 1000256000),
        "Xcb": ("VK_KHR_xcb_surface", "vkCreateXcbSurfaceKHR", 1000005000),
        "Xlib": ("VK_KHR_xlib_surface", "vkCreateXlibSurfaceKHR", 1000004000),
        "Wayland": ("VK_KHR_wayland_surface", "vkCreateWaylandSurfaceKHR", 1000006000),
        "display": ("VK_KHR_display", "vkCreateDisplayPlaneSurfaceKHR", 1000002001),
    }[kind]
    sandbox.driver("a", extensions=f"{SURFACE} {extension}", surfaces=True)

    with vulkan_loader.start(sandbox) as vk:
        for name in {SURFACE, extension} - set(vk.extension_names()):
            vulkan_loader.require(name)
        instance = vk.instance(extensions=[SURFACE, extension])
        for chain in (None, vk.words([UNKNOWN_STRUCTURE, 0, 0])):
            info, to = vk.words([stype, chain or 0, *[0] * 8]), vk.buffer(8, 0)
            assert vk.call_found(instance, function, instance, info, None, to) == 0
            assert to.handle()


@requirement("VK-OBJ-023")
@pytest.mark.parametrize("kind", MESSENGERS)
def test_what_follows_a_messenger_reaches_every_driver(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, kind: str
) -> None:
    """Structures that the loader does not know stay in the chain."""
    extension, create, name = MESSENGERS[kind]
    for driver in ("a", "b"):
        sandbox.driver(driver, extensions=extension, functions={"chains": [create]})

    with vulkan_loader.start(sandbox) as vk:
        if extension not in vk.extension_names():
            vulkan_loader.require(extension)
        instance = vk.instance(extensions=[extension])
        chain = vk.words([UNKNOWN_STRUCTURE + 1, vk.words([UNKNOWN_STRUCTURE, 0, 3]), 4])
        hearer = vk.hearer(reports=kind == "report")
        callback = "pfnCallback" if kind == "report" else "pfnUserCallback"
        info = vk.structure(name, pNext=chain, **{callback: hearer})
        assert vk.call_found(instance, create, instance, info, None, vk.buffer(8, 0)) == 0
    for driver in ("a", "b"):
        call = sandbox.log.calls(create, by=driver).only
        assert vulkan_chain_of(call, 1) == [UNKNOWN_STRUCTURE + 1, 4, UNKNOWN_STRUCTURE, 3]


@requirement("VK-OBJ-037")
@pytest.mark.parametrize("filtered", [False, True], ids=["all devices", "filtered devices"])
@pytest.mark.parametrize("room", [0, 1, 2, 9])
def test_structures_of_the_loader_are_called_what_they_are(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, room: int, filtered: bool
) -> None:
    """Whatever a loader asks of its own: where devices are, groups with room for some, features of a device."""
    if filtered:
        vulkan_loader.require("device filters")
        sandbox.env["VK_LOADER_DRIVER_ID_FILTER"] = ",".join(map(str, range(21)))
    query = "VK_KHR_get_physical_device_properties2"
    settings: dict[str, Any] = {"device_extensions": "VK_EXT_pci_bus_info", "pci_bus": 1, "extensions": query}
    sandbox.driver("a", devices=3, groups="2 1", **settings)
    sandbox.driver("b", devices=2, api_version="1.2.0", driver_id=13, **settings)

    with vulkan_loader.start(sandbox) as vk:
        instance, name = vk.instance("1.2.0", extensions=[query]), "VkPhysicalDeviceGroupProperties"
        for device in vk.physical_devices(instance):
            assert vk.CreateDevice(device, chain=vk.structure("VkPhysicalDeviceFeatures2"))[0] == 0
        for _ in range(2):
            count, groups = vk.data(room.to_bytes(4, "little")), vk.structures(name, [{}] * 9)
            assert vk.vkEnumeratePhysicalDeviceGroups(instance, count, groups) >= 0
            assert count.u32() == min(room, 4)
    assert [event.data["function"] for event in sandbox.log.happened("wrong structure")] == []
