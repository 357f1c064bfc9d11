# SPDX-License-Identifier: Apache-2.0
"""What applications ask of surfaces: lists in memory of any size, by the older and the newer functions (VK-EXT)."""

from typing import Any

import pytest

from harness.check import Value, VulkanLoader, VulkanSandbox, VulkanSession, requirement, vulkan

SURFACE, HEADLESS = "VK_KHR_surface", "VK_EXT_headless_surface"
CAPABILITIES2, COUNTER = "VK_KHR_get_surface_capabilities2", "VK_EXT_display_surface_counter"
DISPLAY = "VK_KHR_display"
# What a mock driver lists: VkSurfaceFormatKHR, VkPresentModeKHR.
FORMATS, MODES = [(44, 0), (43, 0), (97, 1000104008)], [(2,), (1,)]


def require_extensions(loader: VulkanLoader, vk: VulkanSession, *names: str) -> None:
    for name in set(names) - set(vk.extension_names()):
        loader.require(name)


def start_surface(
    loader: VulkanLoader, vk: VulkanSession, *more: str, api_version: str | None = None
) -> tuple[Value, dict[str, Value], Value]:
    """An instance with these extensions, the physical device of each driver, and a surface."""
    extensions = [SURFACE, HEADLESS, *more]
    require_extensions(loader, vk, *extensions)
    instance, to = vk.instance(api_version, extensions=extensions), vk.buffer(8, 0)
    devices = {vk.device_name(device).partition(".")[0]: device for device in vk.physical_devices(instance)}
    info = vk.structure("VkHeadlessSurfaceCreateInfoEXT")
    assert vk.call_found(instance, "vkCreateHeadlessSurfaceEXT", instance, info, None, to) == 0
    return instance, devices, to.handle()


def add_drivers(sandbox: VulkanSandbox, extension: str, function: str) -> None:
    """Two drivers that make surfaces: one has an extension, the other lacks it."""
    sandbox.driver("has", extensions=f"{SURFACE} {HEADLESS} {extension}", surfaces=True)
    lacking = {"lacks": [function]}
    sandbox.driver("lacks", extensions=f"{SURFACE} {HEADLESS}", functions=lacking, surfaces=True)


ON_SURFACES = [
    *(f"vkGetPhysicalDeviceSurface{what}KHR" for what in ("Support", "Capabilities", "Formats", "PresentModes")),
    *(f"vkGetPhysicalDeviceSurface{what}2KHR" for what in ("Capabilities", "Formats")),
    *("vkGetPhysicalDeviceSurfaceCapabilities2EXT", "vkGetPhysicalDevicePresentRectanglesKHR"),
    *("vkGetDeviceGroupSurfacePresentModesKHR", "vkCreateSwapchainKHR", "vkCreateSharedSwapchainsKHR"),
]


def ask(vk: VulkanSession, instance: Value, physical_device: Value, name: str, surface: Value) -> tuple[int, int]:
    """Calls one of the functions that take a surface; its result, and the number that it may have written."""
    number, room = vk.data((3).to_bytes(4, "little")), vk.buffer(256, 0)
    arguments: list[Any]
    if name in ("vkGetDeviceGroupSurfacePresentModesKHR", "vkCreateSwapchainKHR", "vkCreateSharedSwapchainsKHR"):
        device = vk.device(physical_device, extensions=["VK_KHR_swapchain", "VK_KHR_display_swapchain"])
        infos = vk.structures("VkSwapchainCreateInfoKHR", [{"surface": surface}] * 2)
        several = [2] if "Shared" in name else []
        arguments = [*several, infos, None, room] if name.startswith("vkCreate") else [surface, number]
        return vk.call_at(vk.device_proc(device, name), name, device, *arguments), number.u32()
    subject = vk.structure("VkPhysicalDeviceSurfaceInfo2KHR", surface=surface) if "2KHR" in name else surface
    if name.endswith("SupportKHR"):
        arguments = [0, subject, number]
    elif "Capabilities" in name:
        answer = {"2KHR": "VkSurfaceCapabilities2KHR", "2EXT": "VkSurfaceCapabilities2EXT"}.get(name[-4:])
        arguments = [subject, vk.structure(answer) if answer else room]
    else:
        arguments = [subject, number, vk.structures("VkSurfaceFormat2KHR", [{}] * 3) if "2KHR" in name else room]
    return vk.call_found(instance, name, physical_device, *arguments), number.u32()


def words(content: bytes, width: int) -> list[tuple[int, ...]]:
    """Numbers of 32 bits, `width` of them in each element."""
    numbers = [int.from_bytes(content[i : i + 4], "little") for i in range(0, len(content), 4)]
    return [tuple(numbers[i : i + width]) for i in range(0, len(numbers), width)]


@requirement("VK-OBJ-027")
@pytest.mark.parametrize("what", ["Formats", "PresentModes"])
@pytest.mark.parametrize("room", [None, 1, 2, 3, 5])
def test_lists_of_surfaces_take_memory_of_any_size(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, what: str, room: int | None
) -> None:
    """As many elements as there is room for are the driver's, nothing else is written, VK_INCOMPLETE says of more."""
    sandbox.driver("a", extensions=f"{SURFACE} {HEADLESS}", surfaces=True)
    expected = FORMATS if what == "Formats" else MODES
    function, width = f"vkGetPhysicalDeviceSurface{what}KHR", len(expected[0])

    with vulkan_loader.start(sandbox) as vk:
        _, devices, surface = start_surface(vulkan_loader, vk)
        count, listed = vk.data((room or 0).to_bytes(4, "little")), vk.buffer(48, 0) if room else None
        rc = vk.call(function, devices["a"], surface, count, listed)
        number = min(room or len(expected), len(expected))
        assert (str(rc), count.u32()) == ("VK_SUCCESS" if number == len(expected) else "VK_INCOMPLETE", number)
        if listed:
            assert words(listed[: number * width * 4], width) == expected[:number]
            assert not any(listed[number * width * 4 :])


@requirement("VK-EXT-002")
@pytest.mark.parametrize("room", [None, 0, 1, 2, 3, 5])
def test_formats_of_surfaces_are_emulated(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, room: int | None
) -> None:
    """Each format is in its place, from a driver with the newer function and from one without."""
    function, element = "vkGetPhysicalDeviceSurfaceFormats2KHR", "VkSurfaceFormat2KHR"
    add_drivers(sandbox, CAPABILITIES2, function)
    size = vulkan().structures[element].size

    with vulkan_loader.start(sandbox) as vk:
        instance, devices, surface = start_surface(vulkan_loader, vk, CAPABILITIES2)
        for device in devices.values():
            info = vk.structure("VkPhysicalDeviceSurfaceInfo2KHR", surface=surface)
            count = vk.data((room or 0).to_bytes(4, "little"))
            listed = None if room is None else vk.structures(element, [{}] * 6)
            rc = vk.call_found(instance, function, device, info, count, listed)
            number = min(3 if room is None else room, 3)
            assert (str(rc), count.u32()) == ("VK_SUCCESS" if number == 3 else "VK_INCOMPLETE", number)
            formats = [words(listed[i * size + 16 : i * size + 24], 2)[0] for i in range(6)] if listed else []
            assert formats == ((FORMATS[: min(room or 0, 3)] + [(0, 0)] * 6)[:6] if listed else [])


@requirement("VK-EXT-002")
@pytest.mark.parametrize("newer", ["2KHR", "2EXT"])
def test_capabilities_of_surfaces_are_emulated(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, newer: str) -> None:
    """Each member is what the older function says, from a driver with the newer function and from one without."""
    extensions = [CAPABILITIES2] if newer == "2KHR" else [DISPLAY, COUNTER]
    function = f"vkGetPhysicalDeviceSurfaceCapabilities{newer}"
    add_drivers(sandbox, " ".join(extensions), function)
    members = list(vulkan().structures["VkSurfaceCapabilitiesKHR"].members)

    with vulkan_loader.start(sandbox) as vk:
        instance, devices, surface = start_surface(vulkan_loader, vk, *extensions)
        for device in devices.values():
            plain = vk.structure("VkSurfaceCapabilitiesKHR")
            assert vk.call("vkGetPhysicalDeviceSurfaceCapabilitiesKHR", device, surface, plain) == 0
            expected = {name: vk.member(plain, "VkSurfaceCapabilitiesKHR", name) for name in members}
            assert 0 not in expected.values()
            if newer == "2KHR":
                answer = vk.structure("VkSurfaceCapabilities2KHR")
                info = vk.structure("VkPhysicalDeviceSurfaceInfo2KHR", surface=surface)
                assert vk.call_found(instance, function, device, info, answer) == 0
                assert answer[16 : 16 + len(plain[:])] == plain[:]
            else:
                name = "VkSurfaceCapabilities2EXT"
                answer = vk.structure(name)
                assert vk.call_found(instance, function, device, surface, answer) == 0
                assert {member: vk.member(answer, name, member) for member in members} == expected


@requirement("VK-EXT-021")
def test_driver_without_counters_of_surfaces_has_none(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """Where the older function stands in, no counter is supported, whatever was in the place of the answer before."""
    function, name = "vkGetPhysicalDeviceSurfaceCapabilities2EXT", "VkSurfaceCapabilities2EXT"
    add_drivers(sandbox, f"{DISPLAY} {COUNTER}", function)

    with vulkan_loader.start(sandbox) as vk:
        instance, devices, surface = start_surface(vulkan_loader, vk, DISPLAY, COUNTER)
        for device in devices.values():
            answer = vk.structure(name, supportedSurfaceCounters=7)
            assert vk.call_found(instance, function, device, surface, answer) == 0
            assert vk.member(answer, name, "supportedSurfaceCounters") == 0


@requirement("VK-EXT-021")
def test_driver_without_surfaces_can_do_nothing_with_one(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """What such a driver can do with a surface is nothing, whatever was in the place of the answer before."""
    function, name = "vkGetPhysicalDeviceSurfaceCapabilitiesKHR", "VkSurfaceCapabilitiesKHR"
    sandbox.driver("has", extensions=f"{SURFACE} {HEADLESS}", surfaces=True)
    sandbox.driver("lacks", functions={"lacks": [function, "vkCreateHeadlessSurfaceEXT", "vkDestroySurfaceKHR"]})

    with vulkan_loader.start(sandbox) as vk:
        _, devices, surface = start_surface(vulkan_loader, vk)
        for who, device in devices.items():
            answer = vk.structure(name, **dict.fromkeys(("minImageCount", "supportedUsageFlags"), 77))
            assert vk.call(function, device, surface, answer) == 0
            assert (not any(answer[:])) == (who == "lacks")


# Whether a device can present on a window system: the extension, and how many arguments come after the queue family.
PRESENTATION = {
    "Xcb": ("VK_KHR_xcb_surface", 2),
    "Xlib": ("VK_KHR_xlib_surface", 2),
    "Wayland": ("VK_KHR_wayland_surface", 1),
}


@requirement("VK-EXT-021")
@pytest.mark.parametrize("system", PRESENTATION)
def test_driver_without_a_window_system_presents_nothing_there(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, system: str
) -> None:
    """A driver with the extension is asked with all that the application says, and answers; another one cannot."""
    extension, number = PRESENTATION[system]
    name = f"vkGetPhysicalDevice{system}PresentationSupportKHR"
    arguments = [3, *(0x1122_3344 + place for place in range(number))]
    sandbox.driver("has", extensions=f"{SURFACE} {extension}")
    sandbox.driver("lacks", extensions=SURFACE, functions={"lacks": [name]})

    with vulkan_loader.start(sandbox) as vk:
        require_extensions(vulkan_loader, vk, SURFACE, extension)
        instance = vk.instance(extensions=[SURFACE, extension])
        answers = {}
        for device in vk.physical_devices(instance):
            answers[vk.device_name(device)] = vk.call_found(instance, name, device, *arguments)
    assert answers["has.0"] >= 1000 and answers["lacks.0"] == 0  # what mock drivers answer
    assert list(sandbox.log.calls(name, by="has").only.arguments[1:]) == arguments


@requirement("VK-EXT-021")
def test_driver_without_groups_has_no_rectangles(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """Nothing of a surface is a driver's to present that knows no such query; one that has it lists its own."""
    creation, name = "VK_KHR_device_group_creation", "vkGetPhysicalDevicePresentRectanglesKHR"
    sandbox.driver("has", extensions=f"{SURFACE} {HEADLESS} {creation}", surfaces=True)
    functions = {"lacks": [name]}
    sandbox.driver("lacks", extensions=f"{SURFACE} {HEADLESS}", functions=functions, surfaces=True)

    with vulkan_loader.start(sandbox) as vk:
        instance, devices, surface = start_surface(vulkan_loader, vk, creation, api_version="1.1.0")
        numbers = {}
        for who, device in devices.items():
            count = vk.data((7).to_bytes(4, "little"))
            assert vk.call_found(instance, name, device, surface, count, None) == 0
            numbers[who] = count.u32()
    assert numbers["has"] > 0 and numbers["lacks"] == 0


@requirement("VK-EXT-021")
@pytest.mark.parametrize("what", ["Support", "Formats", "PresentModes"])
def test_driver_without_surfaces_supports_none(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, what: str) -> None:
    """A driver that knows nothing of surfaces supports none and lists nothing; the call itself succeeds."""
    function = f"vkGetPhysicalDeviceSurface{what}KHR"
    sandbox.driver("has", extensions=f"{SURFACE} {HEADLESS}", surfaces=True)
    sandbox.driver("lacks", functions={"lacks": [function, "vkCreateHeadlessSurfaceEXT", "vkDestroySurfaceKHR"]})

    with vulkan_loader.start(sandbox) as vk:
        _, devices, surface = start_surface(vulkan_loader, vk)
        numbers = {}
        for who, device in devices.items():
            number = vk.data((7).to_bytes(4, "little"))
            more = [0, surface, number] if what == "Support" else [surface, number, None]
            assert vk.call(function, device, *more) == 0
            numbers[who] = number.u32()
    assert numbers == {"has": {"Support": 1, "Formats": 3, "PresentModes": 2}[what], "lacks": 0}


@requirement("VK-OBJ-016")
@pytest.mark.parametrize("extensions", ["VK_KHR_swapchain", "VK_KHR_device_group"])
def test_modes_of_a_group_are_those_of_the_drivers_surface(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, extensions: str
) -> None:
    """vkGetDeviceGroupSurfacePresentModesKHR is found by either extension, and hands a driver its own surface."""
    name, creation = "vkGetDeviceGroupSurfacePresentModesKHR", "VK_KHR_device_group_creation"
    for who in ("one", "two"):
        known = f"{SURFACE} {HEADLESS} {creation}"
        sandbox.driver(who, extensions=known, surfaces=True, device_extensions=extensions)

    with vulkan_loader.start(sandbox) as vk:
        _, devices, surface = start_surface(vulkan_loader, vk, creation)
        for physical_device in devices.values():
            device = vk.device(physical_device, extensions=extensions.split())
            address = vk.device_proc(device, name)
            assert address
            assert vk.call_at(address, name, device, surface, vk.buffer(4, 0)) == 0
    for who in ("one", "two"):
        objects = sandbox.log.happened("object", by=who)
        handles = [e.data["handle"] for e in objects if e.data["detail"].startswith("surface")]
        assert [e.data["handle"] for e in sandbox.log.happened("own surface", by=who)] == handles
        assert len(handles) == 1


@requirement("VK-OBJ-016")
@pytest.mark.parametrize("name", ON_SURFACES)
def test_driver_that_cannot_make_its_surface_is_not_asked_about_it(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, name: str
) -> None:
    """The surface cannot be made, or what is done with it fails where a loader leaves making it until then."""
    extensions = [SURFACE, HEADLESS, CAPABILITIES2, DISPLAY, COUNTER, "VK_KHR_device_group_creation"]
    settings: dict[str, Any] = {"extensions": " ".join(extensions), "surfaces": True}
    settings["device_extensions"] = "VK_KHR_swapchain VK_KHR_display_swapchain"
    sandbox.driver("good", **settings)
    sandbox.driver("fails", faults=["create_surface_fails=-1"], **settings)

    with vulkan_loader.start(sandbox) as vk:
        require_extensions(vulkan_loader, vk, *extensions)
        instance, to = vk.instance("1.1.0", extensions=extensions), vk.buffer(8, 0)
        info = vk.structure("VkHeadlessSurfaceCreateInfoEXT")
        if vk.call_found(instance, "vkCreateHeadlessSurfaceEXT", instance, info, None, to) == 0:
            for device in vk.physical_devices(instance):
                rc, number = ask(vk, instance, device, name, to.handle())
                fails = rc < 0 or (name.endswith("SupportKHR") and number == 0)
                assert fails == (vk.device_name(device) == "fails.0")
            vk.vkDestroySurfaceKHR(instance, to.handle(), None)
    assert not sandbox.log.calls(name, by="fails")
    assert not sandbox.log.calls("vkDestroySurfaceKHR", by="fails")


@requirement("VK-EXT-002")
@pytest.mark.parametrize("newer", ["Capabilities2KHR", "Capabilities2EXT", "Formats2KHR"])
def test_result_of_the_older_query_of_a_surface_comes_back(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, newer: str
) -> None:
    """Whatever a driver answers to the function that stands in for the newer one, which it lacks."""
    new, old = f"vkGetPhysicalDeviceSurface{newer}", f"vkGetPhysicalDeviceSurface{newer[:-4]}KHR"
    extensions = [CAPABILITIES2] if newer.endswith("KHR") else [DISPLAY, COUNTER]
    sandbox.driver("has", extensions=" ".join([SURFACE, HEADLESS, *extensions]), surfaces=True)
    functions = {"lacks": [new], "answers": [old]}
    sandbox.driver("lacks", extensions=f"{SURFACE} {HEADLESS}", functions=functions, surfaces=True)

    with vulkan_loader.start(sandbox) as vk:
        instance, devices, surface = start_surface(vulkan_loader, vk, *extensions)
        answers = [ask(vk, instance, devices["lacks"], name, surface)[0] for name in (old, new)]
        assert answers[0] == answers[1] and answers[0] >= 1000  # what mock drivers answer


@requirement("VK-OBJ-033")
def test_driver_that_claims_a_longer_list_of_formats_crashes_nothing(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox
) -> None:
    """A driver says that it wrote more than there was room for: no more than that is written to the application."""
    function, element = "vkGetPhysicalDeviceSurfaceFormats2KHR", "VkSurfaceFormat2KHR"
    sandbox.driver("has", extensions=f"{SURFACE} {HEADLESS} {CAPABILITIES2}", surfaces=True)
    settings: dict[str, Any] = {"functions": {"lacks": [function]}, "faults": ["queries_claim_more=100000"]}
    sandbox.driver("claims", extensions=f"{SURFACE} {HEADLESS}", surfaces=True, **settings)

    with vulkan_loader.start(sandbox) as vk:
        instance, devices, surface = start_surface(vulkan_loader, vk, CAPABILITIES2)
        info = vk.structure("VkPhysicalDeviceSurfaceInfo2KHR", surface=surface)
        count, beyond = vk.data((1).to_bytes(4, "little")), {"surfaceFormat": b"\x11" * 8}
        listed = vk.structures(element, [{}, beyond, beyond])
        size, before = vulkan().structures[element].size, bytes(listed[:])
        vk.call_found(instance, function, devices["claims"], info, count, listed)
        assert listed[16:size] != before[16:size]
        assert listed[size:] == before[size:]
