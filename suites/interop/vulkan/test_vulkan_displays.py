# SPDX-License-Identifier: Apache-2.0
"""Displays by the functions of VK_KHR_get_display_properties2, which only some drivers have (VK-EXT)."""

from typing import Any

import pytest

from harness.check import Value, VulkanLoader, VulkanSandbox, VulkanSession, requirement, vulkan

DISPLAY, DISPLAY2, SURFACE = "VK_KHR_display", "VK_KHR_get_display_properties2", "VK_KHR_surface"
# Lists: what is between the device and the number, the older function, and the structures of both.
LISTS = {
    "vkGetPhysicalDeviceDisplayProperties2KHR": (
        [], "vkGetPhysicalDeviceDisplayPropertiesKHR", "VkDisplayProperties2KHR", "VkDisplayPropertiesKHR",
    ),
    "vkGetPhysicalDeviceDisplayPlaneProperties2KHR": (
        [], "vkGetPhysicalDeviceDisplayPlanePropertiesKHR", "VkDisplayPlaneProperties2KHR",
        "VkDisplayPlanePropertiesKHR",
    ),
    "vkGetDisplayModeProperties2KHR": (
        [0xD2], "vkGetDisplayModePropertiesKHR", "VkDisplayModeProperties2KHR", "VkDisplayModePropertiesKHR",
    ),
}  # fmt: skip
CAPABILITIES = ("vkGetDisplayPlaneCapabilitiesKHR", "vkGetDisplayPlaneCapabilities2KHR")
MODE, PLANE = 0x1234, 5


def add_drivers(sandbox: VulkanSandbox, *lacking: str) -> None:
    """A driver that has both extensions, and one that has the older one and lacks these functions."""
    sandbox.driver("has", extensions=f"{SURFACE} {DISPLAY} {DISPLAY2}")
    sandbox.driver("lacks", extensions=f"{SURFACE} {DISPLAY}", functions={"lacks": lacking})


def start_instance(loader: VulkanLoader, vk: VulkanSession) -> tuple[Value, dict[str, Value]]:
    """An instance with both extensions, and the physical device of each driver."""
    extensions = [SURFACE, DISPLAY, DISPLAY2]
    for name in set(extensions) - set(vk.extension_names()):
        loader.require(name)
    instance = vk.instance(extensions=extensions)
    devices = {vk.device_name(device).partition(".")[0]: device for device in vk.physical_devices(instance)}
    return instance, devices


@requirement("VK-EXT-002")
@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("room", [None, 0, 1, 2, 3])
def test_lists_of_displays_are_emulated(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, name: str, room: int | None
) -> None:
    """Number, result and elements are those of the older function, for a driver with the newer one and one without."""
    add_drivers(sandbox, name)
    first, old, outer, inner = LISTS[name]
    (part,) = [m for name, m in vulkan().structures[outer].members.items() if name not in ("sType", "pNext")]

    with vulkan_loader.start(sandbox) as vk:
        instance, devices = start_instance(vulkan_loader, vk)
        for device in devices.values():
            counts = [vk.data((room or 0).to_bytes(4, "little")) for _ in range(2)]
            listed = [vk.structures(structure, [{}] * 4) if room is not None else None for structure in (outer, inner)]
            results = [
                vk.call_found(instance, function, device, *first, counts[place], listed[place])
                for place, function in enumerate((name, old))
            ]
            number = counts[1].u32()
            assert (results[0], counts[0].u32()) == (results[1], number)
            assert number == (2 if room is None else min(room, 2))
            newer, older = listed
            for index in range(4 if newer and older else 0):
                assert newer and older
                start = index * vulkan().structures[outer].size + part.offset
                for member, about in vulkan().structures[inner].members.items():
                    content = newer[start + about.offset : start + about.offset + about.size]
                    assert content == vk.member_bytes(older, inner, member, index)


@requirement("VK-EXT-002")
def test_capabilities_of_planes_are_emulated(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """A driver without the newer function is asked by the older one, for the same mode and the same plane."""
    old, new = CAPABILITIES
    add_drivers(sandbox, new)

    with vulkan_loader.start(sandbox) as vk:
        instance, devices = start_instance(vulkan_loader, vk)
        for device in devices.values():
            plane = vk.structure("VkDisplayPlaneInfo2KHR", mode=MODE, planeIndex=PLANE)
            answer, plain = (
                vk.structure("VkDisplayPlaneCapabilities2KHR"),
                vk.structure("VkDisplayPlaneCapabilitiesKHR"),
            )
            assert vk.call_found(instance, new, device, plane, answer) == 0
            assert vk.call_found(instance, old, device, MODE, PLANE, plain) == 0
            assert any(plain[:]) and answer[16 : 16 + len(plain[:])] == plain[:]
    assert sandbox.log.calls(new, by="has")
    assert [list(e.arguments[1:3]) for e in sandbox.log.calls(old, by="lacks")] == [[MODE, PLANE]] * 2


@requirement("VK-EXT-021")
@pytest.mark.parametrize("name", LISTS)
def test_driver_without_displays_has_none(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, name: str) -> None:
    """Asked by the newer function, a driver that has neither extension lists nothing, beside one that lists two."""
    first, old, *_ = LISTS[name]
    sandbox.driver("has", extensions=f"{SURFACE} {DISPLAY} {DISPLAY2}")
    sandbox.driver("lacks", functions={"lacks": [name, old]})

    with vulkan_loader.start(sandbox) as vk:
        instance, devices = start_instance(vulkan_loader, vk)
        numbers = {}
        for who, device in devices.items():
            count = vk.data((7).to_bytes(4, "little"))
            assert vk.call_found(instance, name, device, *first, count, None) == 0
            numbers[who] = count.u32()
    assert numbers == {"has": 2, "lacks": 0}


@requirement("VK-EXT-021")
@pytest.mark.parametrize("name", [*(old for _, old, *_ in LISTS.values()), "vkGetDisplayPlaneSupportedDisplaysKHR"])
def test_driver_without_displays_lists_none_by_the_older_function(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, name: str
) -> None:
    """A driver without VK_KHR_display lists nothing, with room or without, beside one that lists two."""
    first = [0xD2] if "Mode" in name else [1] if "Supported" in name else []
    sandbox.driver("has", extensions=f"{SURFACE} {DISPLAY}")
    sandbox.driver("lacks", functions={"lacks": [name]})

    with vulkan_loader.start(sandbox) as vk:
        instance = vk.instance(extensions=[SURFACE, DISPLAY])
        numbers = {}
        for device in vk.physical_devices(instance):
            for listed in (None, vk.buffer(1024, 0)):
                count = vk.data((2).to_bytes(4, "little"))
                assert vk.call_found(instance, name, device, *first, count, listed) == 0
                numbers[vk.device_name(device).partition(".")[0], listed is not None] = count.u32()
    assert numbers == {("has", False): 2, ("has", True): 2, ("lacks", False): 0, ("lacks", True): 0}


@requirement("VK-EXT-021")
def test_driver_without_displays_has_no_planes(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """What a plane can do in such a driver is nothing, whatever was in the place of the answer before."""
    old, new = CAPABILITIES
    sandbox.driver("has", extensions=f"{SURFACE} {DISPLAY} {DISPLAY2}")
    sandbox.driver("lacks", functions={"lacks": [old, new]})

    with vulkan_loader.start(sandbox) as vk:
        instance, devices = start_instance(vulkan_loader, vk)
        for who, device in devices.items():
            plane = vk.structure("VkDisplayPlaneInfo2KHR", mode=MODE, planeIndex=PLANE)
            answer = vk.structure("VkDisplayPlaneCapabilities2KHR", capabilities=b"\x11" * 64)
            assert vk.call_found(instance, new, device, plane, answer) == 0
            assert (not any(answer[16:80])) == (who == "lacks")


@requirement("VK-EXT-021")
def test_driver_without_displays_has_no_planes_by_the_older_function(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox
) -> None:
    """The same by the function of VK_KHR_display, beside a driver that says what its plane can do."""
    old, _ = CAPABILITIES
    sandbox.driver("has", extensions=f"{SURFACE} {DISPLAY}")
    sandbox.driver("lacks", functions={"lacks": [old]})

    with vulkan_loader.start(sandbox) as vk:
        instance = vk.instance(extensions=[SURFACE, DISPLAY])
        for device in vk.physical_devices(instance):
            size = vulkan().structures["VkDisplayPlaneCapabilitiesKHR"].size
            answer = vk.data(b"\x11" * (size + 16))
            assert vk.call_found(instance, old, device, MODE, PLANE, answer) == 0
            assert (not any(answer[:size])) == (vk.device_name(device) == "lacks.0")
            assert answer[size:] == b"\x11" * 16


@requirement("VK-EXT-021")
def test_driver_without_displays_makes_no_mode(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """Nothing can stand in for it: the call fails, and another driver makes one for the same application."""
    create = "vkCreateDisplayModeKHR"
    sandbox.driver("lacks", functions={"lacks": [create]})
    sandbox.driver("has", extensions=f"{SURFACE} {DISPLAY}")

    with vulkan_loader.start(sandbox) as vk:
        instance = vk.instance(extensions=[SURFACE, DISPLAY])
        for device in vk.physical_devices(instance):
            info, to = vk.structure("VkDisplayModeCreateInfoKHR"), vk.data(b"\x11" * 8)
            lacks = vk.device_name(device) == "lacks.0"
            assert (vk.call_found(instance, create, device, 0xD2, info, None, to) < 0) == lacks
    assert len(sandbox.log.calls(create, by="has")) == 1


@requirement("VK-EXT-021")
def test_driver_that_cannot_acquire_displays_has_none(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """A driver without VK_EXT_acquire_xlib_display finds no display for an output, and does not hand one over."""
    extension = "VK_EXT_acquire_xlib_display"
    find, acquire = "vkGetRandROutputDisplayEXT", "vkAcquireXlibDisplayEXT"
    extensions = [SURFACE, DISPLAY, "VK_EXT_direct_mode_display", extension]
    sandbox.driver("has", extensions=" ".join(extensions))
    sandbox.driver("lacks", functions={"lacks": [find, acquire]})

    with vulkan_loader.start(sandbox) as vk:
        for name in set(extensions) - set(vk.extension_names()):
            vulkan_loader.require(name)
        instance = vk.instance(extensions=extensions)
        for device in vk.physical_devices(instance):
            lacks = vk.device_name(device).startswith("lacks")
            display = vk.words([0xD1])
            rc = vk.call_found(instance, find, device, 0x1234, 5, display)
            assert (str(rc) == "VK_SUCCESS") == lacks  # mock drivers answer another number, and write nothing
            assert int(display.handle()) == (0 if lacks else 0xD1)
            assert (vk.call_found(instance, acquire, device, 0x1234, 0xD1) < 0) == lacks
    assert list(sandbox.log.calls(find, by="has").only.arguments[1:3]) == [0x1234, 5]
    assert list(sandbox.log.calls(acquire, by="has").only.arguments[1:]) == [0x1234, 0xD1]


@requirement("VK-EXT-002")
@pytest.mark.parametrize("name", [*LISTS, CAPABILITIES[1]])
@pytest.mark.parametrize("room", [None, 2])
def test_result_of_the_older_query_of_displays_comes_back(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, name: str, room: int | None
) -> None:
    """Whatever a driver answers to the function that stands in for the newer one, which it lacks."""
    old = LISTS[name][1] if name in LISTS else CAPABILITIES[0]
    sandbox.driver("has", extensions=f"{SURFACE} {DISPLAY} {DISPLAY2}")
    sandbox.driver("lacks", extensions=f"{SURFACE} {DISPLAY}", functions={"lacks": [name], "answers": [old]})

    with vulkan_loader.start(sandbox) as vk:
        instance, devices = start_instance(vulkan_loader, vk)
        if name in LISTS:
            first, _, outer, inner = LISTS[name]
            lists = [vk.structures(structure, [{}] * 2) if room else None for structure in (outer, inner)]
            count = (room or 0).to_bytes(4, "little")
            newer, older = ([*first, vk.data(count), listed] for listed in lists)
        else:
            plane = vk.structure("VkDisplayPlaneInfo2KHR", mode=MODE, planeIndex=PLANE)
            newer = [plane, vk.structure("VkDisplayPlaneCapabilities2KHR")]
            older = [MODE, PLANE, vk.structure("VkDisplayPlaneCapabilitiesKHR")]
        answer = vk.call_found(instance, name, devices["lacks"], *newer)
        assert answer == vk.call_found(instance, old, devices["lacks"], *older) >= 1000  # what mock drivers answer


@requirement("VK-OBJ-033")
@pytest.mark.parametrize("name", LISTS)
def test_driver_that_claims_a_longer_list_of_displays_crashes_nothing(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, name: str
) -> None:
    """A driver says that it wrote more than there was room for: no more than that is written to the application."""
    first, _, outer, _ = LISTS[name]
    sandbox.driver("has", extensions=f"{SURFACE} {DISPLAY} {DISPLAY2}")
    settings: dict[str, Any] = {"functions": {"lacks": [name]}, "faults": ["queries_claim_more=100000"]}
    sandbox.driver("claims", extensions=f"{SURFACE} {DISPLAY}", **settings)

    with vulkan_loader.start(sandbox) as vk:
        instance, devices = start_instance(vulkan_loader, vk)
        (part,) = vulkan().structures[outer].members.keys() - {"sType", "pNext"}
        count = vk.data((1).to_bytes(4, "little"))
        listed = vk.structures(outer, [{}, {part: b"\x11" * 16}, {part: b"\x11" * 16}])
        size, before = vulkan().structures[outer].size, bytes(listed[:])
        vk.call_found(instance, name, devices["claims"], *first, count, listed)
        assert listed[16:size] != before[16:size]
        assert listed[size:] == before[size:]
