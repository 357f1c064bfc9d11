# SPDX-License-Identifier: Apache-2.0
"""Functions that one driver has and another lacks: the loader answers in the place of the latter (VK-EXT)."""

from typing import Any

import pytest

from harness.check import Value, VulkanLoader, VulkanSandbox, VulkanSession, requirement, vulkan, vulkan_chain_of

PROPERTIES2 = "VK_KHR_get_physical_device_properties2"
# Queries of formats: the structure of the question, with its members in the order in which Vulkan 1.0 takes them, and
# the structure of the answer.
FORMATS: dict[str, tuple[str, dict[str, int], str]] = {
    "FormatProperties": ("", {"format": 44}, "VkFormatProperties2"),
    "ImageFormatProperties": (
        "VkPhysicalDeviceImageFormatInfo2",
        {"format": 44, "type": 2, "tiling": 1, "usage": 0x40, "flags": 0x8},
        "VkImageFormatProperties2",
    ),
    "SparseImageFormatProperties": (
        "VkPhysicalDeviceSparseImageFormatInfo2",
        {"format": 44, "type": 2, "samples": 16, "usage": 0x40, "tiling": 1},
        "VkSparseImageFormatProperties2",
    ),
}
# What can be shared: the extension, and the first member of the answer that counts.
EXTERNAL = {
    "Buffer": ("VK_KHR_external_memory_capabilities", "externalMemoryProperties"),
    "Fence": ("VK_KHR_external_fence_capabilities", "exportFromImportedHandleTypes"),
    "Semaphore": ("VK_KHR_external_semaphore_capabilities", "exportFromImportedHandleTypes"),
}


def add_drivers(sandbox: VulkanSandbox, function: str, *extensions: str, api_version: str = "1.0.0") -> None:
    """A driver that has a function of an extension, and one that lacks it, by both of its names."""
    sandbox.driver("has", extensions=" ".join(extensions), api_version=api_version)
    lacking = [function, function.removesuffix("KHR")]
    sandbox.driver("lacks", functions={"lacks": lacking}, api_version="1.0.0")


def by_driver(vk: VulkanSession, instance: Value) -> dict[str, Value]:
    """The physical device of each driver."""
    return {vk.device_name(device).partition(".")[0]: device for device in vk.physical_devices(instance)}


@requirement("VK-EXT-002")
@pytest.mark.parametrize("what", FORMATS)
def test_queries_of_formats_are_emulated(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, what: str) -> None:
    """A driver with the extension is asked by it, one without by the function of 1.0, with each part in its place."""
    new, old = f"vkGetPhysicalDevice{what}2KHR", f"vkGetPhysicalDevice{what}"
    add_drivers(sandbox, new, PROPERTIES2)
    name, question, answer_name = FORMATS[what]

    with vulkan_loader.start(sandbox) as vk:
        instance = vk.instance(extensions=[PROPERTIES2])
        for device in by_driver(vk, instance).values():
            answer = vk.structure(answer_name)
            count: list[Any] = [vk.data((1).to_bytes(4, "little"))] if what.startswith("Sparse") else []
            argument = vk.structure(name, **question) if name else question["format"]
            rc = vk.call_found(instance, new, device, argument, *count, answer)
            assert what != "ImageFormatProperties" or int(rc) >= 1000  # what mock drivers answer
    log = sandbox.log
    assert [e.who for e in log.calls(old) if e.who != "application"] == ["lacks"]
    own = next(int(e.data["handle"], 16) for e in log.happened("object", by="lacks") if "physical" in e.data["detail"])
    assert list(log.calls(old, by="lacks").only.arguments[: 1 + len(question)]) == [own, *question.values()]
    assert log.calls(new, by="has") or log.calls(new.removesuffix("KHR"), by="has")


@requirement("VK-EXT-002")
@pytest.mark.parametrize("room", [None, 0, 1, 2, 3])
@pytest.mark.parametrize("what", ["QueueFamilyProperties", "SparseImageFormatProperties"])
def test_lists_are_emulated(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, what: str, room: int | None) -> None:
    """Number and elements are the same from a driver with the extension and from one without, in any room."""
    new = f"vkGetPhysicalDevice{what}2KHR"
    add_drivers(sandbox, new, PROPERTIES2)
    element = "VkQueueFamilyProperties2" if what.startswith("Queue") else "VkSparseImageFormatProperties2"

    with vulkan_loader.start(sandbox) as vk:
        instance = vk.instance(extensions=[PROPERTIES2])
        answers = {}
        for who, device in by_driver(vk, instance).items():
            question = [vk.structure(FORMATS[what][0], **FORMATS[what][1])] if what in FORMATS else []
            count = vk.data((room or 0).to_bytes(4, "little"))
            listed = None if room is None else vk.structures(element, [{}] * max(room, 1))
            vk.call_found(instance, new, device, *question, count, listed)
            answers[who] = (count.u32(), bytes(listed[:]) if listed else b"")
        assert answers["lacks"] == answers["has"]
        assert answers["has"][0] == 0 if room == 0 else answers["has"][0] > 0


@requirement("VK-EXT-021")
@pytest.mark.parametrize("what", EXTERNAL)
def test_nothing_external_is_had_by_a_driver_that_lacks_it(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, what: str
) -> None:
    """Each capability is 0, whatever was in the place of the answer before."""
    extension, first = EXTERNAL[what]
    function, name = f"vkGetPhysicalDeviceExternal{what}PropertiesKHR", f"VkExternal{what}Properties"
    add_drivers(sandbox, function, extension)

    with vulkan_loader.start(sandbox) as vk:
        if extension not in vk.extension_names():
            vulkan_loader.require(extension)
        instance = vk.instance(extensions=[extension])
        for who, device in by_driver(vk, instance).items():
            members = {first: b"\x11" * 12}
            answer = vk.structure(name, **members)
            vk.call_found(instance, function, device, vk.structure(f"VkPhysicalDeviceExternal{what}Info"), answer)
            assert answer[16:28] == (b"\x11" * 12 if who == "has" else bytes(12))
    log = sandbox.log
    assert log.calls(function, by="has") or log.calls(function.removesuffix("KHR"), by="has")


@requirement("VK-EXT-021")
@pytest.mark.parametrize("what", ["multiview", "identity"])
def test_structures_in_the_chain_are_filled_for_a_driver_that_lacks_the_query(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, what: str
) -> None:
    """What such a driver cannot know of is not supported, after a structure that nobody knows; none is changed."""
    capabilities = "VK_KHR_external_memory_capabilities"
    query = "Features" if what == "multiview" else "Properties"
    function = f"vkGetPhysicalDevice{query}2KHR"
    add_drivers(sandbox, function, PROPERTIES2, capabilities)

    with vulkan_loader.start(sandbox) as vk:
        instance = vk.instance(extensions=[PROPERTIES2, capabilities])
        device = by_driver(vk, instance)["lacks"]
        if what == "multiview":
            members = {"multiview": 7, "multiviewGeometryShader": 7, "multiviewTessellationShader": 7}
            part = vk.structure("VkPhysicalDeviceMultiviewFeatures", **members)
        else:
            part = vk.structure("VkPhysicalDeviceIDProperties", deviceUUID=b"\x11" * 32, deviceLUIDValid=7)
        unknown = vk.words([0x7E57_0000, part, 0x1122334455667788])
        vk.call_found(instance, function, device, vk.structure(f"VkPhysicalDevice{query}2", pNext=unknown))
        if what == "multiview":
            assert part[16:28] == bytes(12)
        else:
            assert part[16:48] == bytes(32)
            assert vk.member(part, "VkPhysicalDeviceIDProperties", "deviceLUIDValid") == 0
        assert unknown[16:24] == (0x1122334455667788).to_bytes(8, "little")


@requirement("VK-EXT-009")
@pytest.mark.parametrize("suffix", ["", "EXT"])
def test_no_tools_where_a_driver_knows_of_none(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, suffix: str
) -> None:
    """The number of tools is 0 there; a driver of 1.3, or with the extension, is asked for its own."""
    name = f"vkGetPhysicalDeviceToolProperties{suffix}"
    both = ["vkGetPhysicalDeviceToolProperties", "vkGetPhysicalDeviceToolPropertiesEXT"]
    own: dict[str, Any] = {"device_extensions": "VK_EXT_tooling_info"} if suffix else {"api_version": "1.3.0"}
    sandbox.driver("has", **own)
    sandbox.driver("lacks", functions={"lacks": both}, api_version="1.1.0")
    sandbox.driver("older", api_version="1.2.0")  # finds the functions, and its device does not have them

    with vulkan_loader.start(sandbox) as vk:
        instance = vk.instance("1.3.0")
        counts = {}
        for who, device in by_driver(vk, instance).items():
            count = vk.data((7).to_bytes(4, "little"))
            rc = vk.call_found(instance, name, device, count, None)
            assert who == "has" or str(rc) == "VK_SUCCESS"
            counts[who] = count.u32()
    assert counts == {"has": 7, "lacks": 0, "older": 0}  # the mock writes no number
    assert [e.who for other in both for e in sandbox.log.calls(other) if e.who != "application"] == ["has"]


@requirement("VK-EXT-021")
@pytest.mark.parametrize("handle", [0, 1])
def test_query_of_external_images_is_emulated(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, handle: int) -> None:
    """A driver that knows no external memory is asked for an image that is none, and has no format for one that is."""
    extension = "VK_NV_external_memory_capabilities"
    function, old = "vkGetPhysicalDeviceExternalImageFormatPropertiesNV", "vkGetPhysicalDeviceImageFormatProperties"
    add_drivers(sandbox, function, extension)
    image = [44, 2, 1, 0x40, 0x8]  # format, type, tiling, usage, flags

    with vulkan_loader.start(sandbox) as vk:
        if extension not in vk.extension_names():
            vulkan_loader.require(extension)
        instance = vk.instance(extensions=[extension])
        features = ("externalMemoryFeatures", "exportFromImportedHandleTypes", "compatibleHandleTypes")
        for who, device in by_driver(vk, instance).items():
            name = "VkExternalImageFormatPropertiesNV"
            answer = vk.structure(name, **dict.fromkeys(features, 7))
            rc = vk.call_found(instance, function, device, *image, handle, answer)
            left = [vk.member(answer, name, feature) for feature in features]
            if who == "has":
                assert int(rc) >= 1000 and left == [7, 7, 7]  # what mock drivers answer, who write nothing
            elif handle:
                assert str(rc) == "VK_ERROR_FORMAT_NOT_SUPPORTED"
            else:
                assert int(rc) >= 1000 and left == [0, 0, 0]
    queries = [list(e.arguments[1:6]) for e in sandbox.log.calls(old, by="lacks")]
    assert queries == ([] if handle else [image])


# Queries of extensions that are part of Vulkan 1.1, too: the extension, and what they are called with after the device,
# each structure by its name.
NATIVE: dict[str, tuple[str, list[str]]] = {
    **{f"{what}2": (PROPERTIES2, [f"VkPhysicalDevice{what}2"]) for what in ("Features", "Properties")},
    "MemoryProperties2": (PROPERTIES2, ["VkPhysicalDeviceMemoryProperties2"]),
    "QueueFamilyProperties2": (PROPERTIES2, ["count", "VkQueueFamilyProperties2"]),
    "FormatProperties2": (PROPERTIES2, ["44", "VkFormatProperties2"]),
    "ImageFormatProperties2": (PROPERTIES2, ["VkPhysicalDeviceImageFormatInfo2", "VkImageFormatProperties2"]),
    "SparseImageFormatProperties2": (
        PROPERTIES2, ["VkPhysicalDeviceSparseImageFormatInfo2", "count", "VkSparseImageFormatProperties2"],
    ),
    **{
        f"External{what}Properties": (
            extension, [f"VkPhysicalDeviceExternal{what}Info", f"VkExternal{what}Properties"],
        )
        for what, (extension, _) in EXTERNAL.items()
    },
}  # fmt: skip


@requirement("VK-EXT-002")
@pytest.mark.parametrize("what", NATIVE)
@pytest.mark.parametrize("way", ["extension", "1.1"])
def test_queries_reach_a_driver_by_the_name_that_it_has(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, what: str, way: str
) -> None:
    """One has them by the extension, one as part of 1.1: that function is called, with all that is said."""
    core, old = f"vkGetPhysicalDevice{what}", f"vkGetPhysicalDevice{what.removesuffix('2')}"
    extension, members = NATIVE[what]
    name, other = (f"{core}KHR", core) if way == "extension" else (core, f"{core}KHR")
    functions = {"lacks": [other], "chains": [name]}
    known = extension if way == "extension" else ""
    api_version = "1.0.0" if way == "extension" else "1.1.0"
    sandbox.driver("a", extensions=known, api_version=api_version, functions=functions)
    sandbox.driver("b", extensions=extension, api_version=api_version)

    with vulkan_loader.start(sandbox) as vk:
        if extension not in vk.extension_names():
            vulkan_loader.require(extension)
        instance = vk.instance(api_version, extensions=[extension] if way == "extension" else [])
        device, arguments = by_driver(vk, instance)["a"], list[Any]()
        asked = len(sandbox.log.calls(old, by="a"))
        for place, member in enumerate(members):
            chain = vk.words([0x7E57_0000 + place, 0, 0x1111 + place])
            count = vk.data((1).to_bytes(4, "little")) if member == "count" else int(member) if member == "44" else None
            arguments.append(vk.structure(member, pNext=chain) if count is None else count)
        vk.call_found(instance, name, device, *arguments)
    call = sandbox.log.calls(name, by="a").only
    handles = [e.data["handle"] for e in sandbox.log.happened("object", by="a") if "physical" in e.data["detail"]]
    assert call.arguments[0] == int(handles[0], 16)
    for place, member in enumerate(members):
        if member.startswith("Vk"):
            assert vulkan_chain_of(call, place + 1) == [0x7E57_0000 + place, 0x1111 + place]
    assert len(sandbox.log.calls(old, by="a")) == asked + (old == core == name)


@requirement("VK-EXT-017")
@pytest.mark.parametrize("what", NATIVE)
def test_application_of_1_0_asks_a_driver_of_1_1_by_the_extension(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, what: str
) -> None:
    """The driver's instance is one of 1.0: its function of 1.1 is not called, although it has both."""
    core = f"vkGetPhysicalDevice{what}"
    extension, members = NATIVE[what]
    sandbox.driver("a", extensions=extension, api_version="1.1.0", functions={"chains": [core, f"{core}KHR"]})

    with vulkan_loader.start(sandbox) as vk:
        if extension not in vk.extension_names():
            vulkan_loader.require(extension)
        instance = vk.instance("1.0.0", extensions=[extension])
        device, arguments = by_driver(vk, instance)["a"], list[Any]()
        for member in members:
            count = vk.data((1).to_bytes(4, "little")) if member == "count" else int(member) if member == "44" else None
            arguments.append(vk.structure(member) if count is None else count)
        vk.call_found(instance, f"{core}KHR", device, *arguments)
    assert sandbox.log.calls(f"{core}KHR", by="a")
    assert not sandbox.log.calls(core, by="a")


# What an image can be asked beyond Vulkan 1.0, by the VkStructureType of the question and of the answer.
BEYOND = {"external memory": (1000071000, 1000071001), "conversion": (None, 1000156005)}


@requirement("VK-EXT-021")
@pytest.mark.parametrize("what", BEYOND)
def test_image_that_a_driver_cannot_know_of_is_not_supported(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, what: str
) -> None:
    """For a driver of 1.0 such a question has the answer no, or a whole one; a plain image is asked for as before."""
    new, old = "vkGetPhysicalDeviceImageFormatProperties2KHR", "vkGetPhysicalDeviceImageFormatProperties"
    capabilities = "VK_KHR_external_memory_capabilities"
    add_drivers(sandbox, new, PROPERTIES2, capabilities)
    of_question, of_answer = BEYOND[what]

    with vulkan_loader.start(sandbox) as vk:
        instance = vk.instance(extensions=[PROPERTIES2, capabilities])
        device = by_driver(vk, instance)["lacks"]
        results = []
        for asks in (False, True):
            question = vk.words([of_question, 0, 1]) if asks and of_question else None
            answer = vk.words([of_answer, 0, 0x11111111_11111111, 0x11111111_11111111]) if asks else None
            image = vk.structure(
                "VkPhysicalDeviceImageFormatInfo2", pNext=question, **FORMATS["ImageFormatProperties"][1]
            )
            result = vk.structure("VkImageFormatProperties2", pNext=answer)
            results.append(vk.call_found(instance, new, device, image, result))
            is_whole = answer is not None and b"\x11" not in answer[16:32]
        assert results[0] >= 1000  # what mock drivers answer
        assert str(results[1]) == "VK_ERROR_FORMAT_NOT_SUPPORTED" or is_whole
    assert sandbox.log.calls(old, by="lacks")


@requirement("VK-OBJ-033")
@pytest.mark.parametrize("what", ["QueueFamilyProperties", "SparseImageFormatProperties"])
def test_driver_that_claims_a_longer_answer_to_an_emulated_query_crashes_nothing(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, what: str
) -> None:
    """A driver says that it wrote more than there was room for: no more than that is written to the application."""
    new = f"vkGetPhysicalDevice{what}2KHR"
    sandbox.driver("has", extensions=PROPERTIES2)
    functions = {"lacks": [new, new.removesuffix("KHR")]}
    sandbox.driver("claims", functions=functions, api_version="1.0.0", faults=["queries_claim_more=100000"])
    element = "VkQueueFamilyProperties2" if what.startswith("Queue") else "VkSparseImageFormatProperties2"
    size = vulkan().structures[element].size

    with vulkan_loader.start(sandbox) as vk:
        instance = vk.instance(extensions=[PROPERTIES2])
        question = [vk.structure(FORMATS[what][0], **FORMATS[what][1])] if what in FORMATS else []
        count, listed = vk.data((1).to_bytes(4, "little")), vk.structures(element, [{}] * 3)
        before = bytes(listed[:])
        vk.call_found(instance, new, by_driver(vk, instance)["claims"], *question, count, listed)
        assert listed[16:size] != before[16:size]
        assert listed[size:] == before[size:]
