# SPDX-License-Identifier: Apache-2.0
"""What applications ask of surfaces: lists in memory of any size, by the older and the newer functions (VK-EXT)."""

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
                answer = vk.structure(name, supportedSurfaceCounters=7)
                assert vk.call_found(instance, function, device, surface, answer) == 0
                assert {member: vk.member(answer, name, member) for member in members} == expected
                assert vk.member(answer, name, "supportedSurfaceCounters") == 0


@requirement("VK-EXT-002")
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


@requirement("VK-EXT-002")
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
