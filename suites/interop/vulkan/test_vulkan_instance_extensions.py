# SPDX-License-Identifier: Apache-2.0
"""Extensions of instances: which ones a Vulkan loader lists, and which ones each driver sees (VK-EXT)."""

from typing import Any

import pytest

from harness.check import VulkanLoader, VulkanSandbox, requirement, version_text, vulkan

PROPERTIES2, GROUPS = "VK_KHR_get_physical_device_properties2", "VK_KHR_device_group_creation"
MEMORY = "VK_KHR_external_memory_capabilities"


def enabled(sandbox: VulkanSandbox, name: str) -> list[set[str]]:
    """The extensions of each vkCreateInstance that a driver saw."""
    return [set(event.data["in"]["extensions"].split()) for event in sandbox.log.calls("vkCreateInstance", by=name)]


@requirement("VK-EXT-020")
def test_extensions_of_all_drivers_are_listed_once(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """What several drivers have is there once."""
    sandbox.driver("a", extensions=f"{PROPERTIES2}:2 {GROUPS}")
    sandbox.driver("b", extensions=f"{PROPERTIES2}:2 {MEMORY}")

    with vulkan_loader.start(sandbox) as vk:
        names = vk.extension_names()
    assert PROPERTIES2 in names
    assert len(names) == len(set(names))


@requirement("VK-EXT-005")
def test_extensions_of_all_drivers_are_listed(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """The list is the union of what the drivers have."""
    sandbox.driver("a", extensions=f"{PROPERTIES2}:2 {GROUPS}")
    sandbox.driver("b", extensions=f"{PROPERTIES2}:2 {MEMORY}")

    with vulkan_loader.start(sandbox) as vk:
        assert {PROPERTIES2, GROUPS, MEMORY} <= set(vk.extension_names())


@requirement("VK-EXT-005")
def test_extensions_are_listed_with_their_versions(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """The version is what the driver says."""
    versions = {PROPERTIES2: 2, GROUPS: 7, MEMORY: 1}
    sandbox.driver("a", extensions=" ".join(f"{name}:{version}" for name, version in versions.items()))

    with vulkan_loader.start(sandbox) as vk:
        listed = {extension.name: extension.version for extension in vk.extensions()}
    assert {name: listed[name] for name in versions} == versions


@requirement("VK-EXT-020")
def test_extensions_of_the_loader_have_versions(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """What the loader has of its own has a version, too."""
    sandbox.driver("a", extensions=f"{GROUPS}:7")

    with vulkan_loader.start(sandbox) as vk:
        listed = vk.extensions()
    assert [extension.name for extension in listed if extension.version == 0] == []


@requirement("VK-EXT-010")
def test_empty_name_is_not_that_of_a_layer(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """Extensions of the layer "" are those of the loader and the drivers, of instances and of devices."""
    sandbox.driver("a", extensions=PROPERTIES2, device_extensions="VK_CLH_one VK_CLH_two")

    with vulkan_loader.start(sandbox) as vk:
        (device,) = vk.physical_devices(vk.instance())
        numbers = []
        for name in (None, ""):
            count = vk.buffer(4, 0)
            assert vk.vkEnumerateInstanceExtensionProperties(name, count, None) == 0
            numbers.append([count.u32()])
            assert vk.vkEnumerateDeviceExtensionProperties(device, name, count, None) == 0
            numbers[-1].append(count.u32())
    assert numbers[0] == numbers[1] and numbers[0][1] == 2


@requirement("VK-EXT-005")
@pytest.mark.parametrize("name", [PROPERTIES2, GROUPS, MEMORY])
def test_extension_of_no_driver_is_not_listed(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, name: str) -> None:
    """What a driver has is listed while that driver is there, and not otherwise."""
    sandbox.driver("without")
    with vulkan_loader.start(sandbox) as vk:
        assert name not in vk.extension_names()
    sandbox.driver("with", extensions=name)
    with vulkan_loader.start(sandbox) as vk:
        assert name in vk.extension_names()


@requirement("VK-EXT-005")
def test_list_of_extensions_takes_any_size_of_memory(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """With less room than there are extensions, the list is cut and the answer is VK_INCOMPLETE."""
    sandbox.driver("a", extensions=f"{PROPERTIES2} {GROUPS} {MEMORY}")

    with vulkan_loader.start(sandbox) as vk:
        count = vk.buffer(4)
        assert vk.vkEnumerateInstanceExtensionProperties(None, count, None) == 0
        number = count.u32()
        assert number >= 3
        for room in (1, number - 1):
            count = vk.data(room.to_bytes(4, "little"))
            listed = vk.buffer(260 * room)
            assert str(vk.vkEnumerateInstanceExtensionProperties(None, count, listed)) == "VK_INCOMPLETE"
            assert count.u32() == room


@requirement("VK-EXT-001")
@pytest.mark.parametrize("wanted", [[PROPERTIES2], [GROUPS], [PROPERTIES2, GROUPS], []], ids=len)
@pytest.mark.parametrize("first", ["both", "none", "one"])
def test_driver_sees_only_extensions_that_it_has(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, wanted: list[str], first: str
) -> None:
    """Each driver gets those of the enabled extensions that it has itself, and no instance is lost for it."""
    own = {"both": {PROPERTIES2, GROUPS}, "one": {PROPERTIES2}, "other": {GROUPS}, "none": set[str]()}
    own["alike"] = {PROPERTIES2.lower(), GROUPS.lower()}
    for name in sorted(own, key=lambda name: name != first):
        settings: dict[str, Any] = {"extensions": " ".join(sorted(own[name])), "api_version": "1.0.0"}
        sandbox.driver(name, faults=["create_instance_refuses_extensions"], **settings)

    with vulkan_loader.start(sandbox) as vk:
        assert vk.drivers(extensions=wanted) == set(own)
    for name, extensions in own.items():
        (seen,) = enabled(sandbox, name)
        assert extensions & set(wanted) <= seen <= extensions  # a loader may enable more of them for its own use


@requirement("VK-EXT-001")
def test_driver_sees_each_of_many_extensions(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """Eight at a time: a driver that has all of them gets each one, and one that lacks some gets the others."""
    every = sorted(vulkan().instance_extensions)
    sandbox.driver("all", extensions=" ".join(every))
    sandbox.driver("some", extensions=" ".join(every[::2]))

    with vulkan_loader.start(sandbox) as vk:
        listed = set(vk.extension_names())
        wanted = [name for name in every if name in listed and "LUNARG" not in name]
        parts = [wanted[first : first + 8] for first in range(0, len(wanted), 8)]
        assert len(parts[0]) == 8
        for part in parts:
            vk.instance("1.1.0", extensions=part)
    for name, own in (("all", every), ("some", every[::2])):
        for seen, part in zip(enabled(sandbox, name), parts, strict=True):
            assert set(part) & set(own) <= seen <= set(own)  # a loader may enable more of them for its own use


@requirement("VK-EXT-018")
def test_extensions_that_are_no_newer_than_the_loader_are_known(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox
) -> None:
    """A driver has all that need no window system: each is listed, and all can be enabled."""
    api = vulkan()
    names = [name for name, system in api.instance_extensions.items() if not system and "LUNARG" not in name]
    sandbox.driver("a", extensions=" ".join(names))

    with vulkan_loader.start(sandbox) as vk:
        version = vk.instance_version()
        if version < api.version:
            vulkan_loader.require("extensions of today", f"it is of {version_text(version)}, and the registry is newer")
        listed = vk.extension_names()
        assert [name for name in names if name not in listed] == []
        vk.instance("1.1.0", extensions=names)


@requirement("VK-EXT-006")
def test_extension_that_nobody_has_is_refused(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """VK_ERROR_EXTENSION_NOT_PRESENT, and no driver is asked for it; with an extension that is there it succeeds."""
    sandbox.driver("a", extensions=PROPERTIES2)

    with vulkan_loader.start(sandbox) as vk:
        rc, _ = vk.CreateInstance(extensions=["VK_CLH_nobody_has_this"])
        assert str(rc) == "VK_ERROR_EXTENSION_NOT_PRESENT"
        assert not any("VK_CLH_nobody_has_this" in extensions for extensions in enabled(sandbox, "a"))
        assert vk.drivers(extensions=[PROPERTIES2]) == {"a"}


@requirement("VK-EXT-006")
def test_known_extension_that_no_driver_has_is_refused(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """Whatever the loader knows: what it does not list without the driver that has it is an error to ask for."""
    sandbox.driver("a")
    every = VulkanSandbox(vulkan_loader.path)
    every.driver("all", extensions=" ".join(vulkan().instance_extensions))
    try:
        with vulkan_loader.start(every) as vk:
            known = vk.extension_names()
    finally:
        every.close()

    with vulkan_loader.start(sandbox) as vk:
        listed = vk.extension_names()
        others = [name for name in known if name not in listed]
        assert PROPERTIES2 in others
        results = {name: str(vk.CreateInstance(extensions=[name])[0]) for name in others}
    assert results == dict.fromkeys(others, "VK_ERROR_EXTENSION_NOT_PRESENT")
    assert not any(extensions & set(others) for extensions in enabled(sandbox, "a"))


@requirement("VK-EXT-002")
def test_function_of_an_extension_works_on_drivers_that_lack_it(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox
) -> None:
    """vkGetPhysicalDeviceProperties2KHR answers for devices of a driver with the extension and of one without."""
    lacking = ["vkGetPhysicalDeviceProperties2KHR", "vkGetPhysicalDeviceProperties2"]
    sandbox.driver("has", extensions=PROPERTIES2, api_version="1.0.0")
    sandbox.driver("lacks", functions={"lacks": lacking}, api_version="1.0.0")

    with vulkan_loader.start(sandbox) as vk:
        instance = vk.instance(extensions=[PROPERTIES2])
        names = []
        for device in vk.physical_devices(instance):
            properties = vk.structure("VkPhysicalDeviceProperties2")
            vk.call_found(instance, "vkGetPhysicalDeviceProperties2KHR", device, properties)
            start = 16 + 20  # sType, pNext; five numbers
            names.append(properties[start : start + 256].split(b"\0")[0].decode())
    assert sorted(names) == ["has.0", "lacks.0"]
    assert any(sandbox.log.calls(name, by="has") for name in lacking)  # by which of its names is open


@requirement("VK-EXT-002")
@pytest.mark.parametrize("what", ["Features", "Properties", "MemoryProperties"])
@pytest.mark.parametrize("suffix", ["", "KHR"], ids=["core", "extension"])
def test_query_reaches_a_driver_that_has_one_name_of_it(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, what: str, suffix: str
) -> None:
    """A driver of 1.1 may lack the name of the extension, and one of 1.0 that of 1.1: it is asked by what it has."""
    name = f"vkGetPhysicalDevice{what}2"
    version = "1.0.0" if suffix else "1.1.0"
    lacking = [name if suffix else f"{name}KHR"]
    sandbox.driver("a", extensions=PROPERTIES2, functions={"lacks": lacking}, api_version=version)

    with vulkan_loader.start(sandbox) as vk:
        instance = vk.instance(version, extensions=[PROPERTIES2] if suffix else [])
        (device,) = vk.physical_devices(instance)
        vk.call_found(instance, f"{name}{suffix}", device, vk.structure(f"VkPhysicalDevice{what}2"))
    assert sandbox.log.calls(f"{name}{suffix}", by="a")


@requirement("VK-EXT-002")
@pytest.mark.parametrize("what", ["Features", "MemoryProperties", "QueueFamilyProperties"])
def test_other_queries_are_emulated(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, what: str) -> None:
    """The queries of the extension reach a driver without it as the queries of Vulkan 1.0."""
    new, old = f"vkGetPhysicalDevice{what}2KHR", f"vkGetPhysicalDevice{what}"
    sandbox.driver("has", extensions=PROPERTIES2, api_version="1.0.0")
    sandbox.driver("lacks", functions={"lacks": [new, new.removesuffix("KHR")]}, api_version="1.0.0")

    with vulkan_loader.start(sandbox) as vk:
        instance = vk.instance(extensions=[PROPERTIES2])
        for device in vk.physical_devices(instance):
            if what == "QueueFamilyProperties":
                count = vk.buffer(4, 0)
                vk.call_found(instance, new, device, count, None)
                assert count.u32() == 2
            else:
                name = "VkPhysicalDeviceFeatures2" if what == "Features" else "VkPhysicalDeviceMemoryProperties2"
                answer = vk.structure(name)
                vk.call_found(instance, new, device, answer)
                assert any(answer[16:])
    assert sandbox.log.calls(new, by="has") or sandbox.log.calls(new.removesuffix("KHR"), by="has")
    assert not sandbox.log.calls(old, by="has")
    assert sandbox.log.calls(old, by="lacks")


@requirement("VK-EXT-004")
def test_drivers_are_not_asked_for_layers(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """Neither lists of layers nor extensions of a named layer are a driver's: only its own extensions are."""
    sandbox.driver("a", extensions=PROPERTIES2, device_extensions="VK_KHR_swapchain")

    with vulkan_loader.start(sandbox) as vk:
        count = vk.buffer(4, 0)
        assert vk.vkEnumerateInstanceLayerProperties(count, None) == 0
        vk.vkEnumerateInstanceExtensionProperties("VK_LAYER_CLH_none", count, None)
        instance = vk.instance()
        (device,) = vk.physical_devices(instance)
        vk.vkEnumerateDeviceLayerProperties(device, count, None)
        for memory in (None, vk.buffer(260, 0)):
            vk.vkEnumerateDeviceExtensionProperties(device, "VK_LAYER_CLH_none", vk.data(b"\1\0\0\0"), memory)
        assert vk.vkEnumerateDeviceExtensionProperties(device, None, count, None) == 0
        assert count.u32() == 1
    log = sandbox.log.of("a")
    assert not log.calls("vkEnumerateInstanceLayerProperties") and not log.calls("vkEnumerateDeviceLayerProperties")
    requests = [
        *log.calls("vkEnumerateInstanceExtensionProperties"),
        *log.calls("vkEnumerateDeviceExtensionProperties"),
    ]
    assert requests and not any("pLayerName" in event.data["in"] for event in requests)


@requirement("VK-EXT-023")
def test_layer_that_is_not_there_has_no_extensions(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """Asked for extensions of such a layer a loader says that it is not there; for a device it may list none."""
    sandbox.driver("a", extensions=PROPERTIES2, device_extensions="VK_KHR_swapchain")

    with vulkan_loader.start(sandbox) as vk:
        rc = vk.vkEnumerateInstanceExtensionProperties("VK_LAYER_CLH_none", vk.buffer(4, 0), None)
        assert str(rc) == "VK_ERROR_LAYER_NOT_PRESENT"
        (device,) = vk.physical_devices(vk.instance())
        for memory in (None, vk.buffer(260, 0)):
            count = vk.data(b"\1\0\0\0")
            rc = vk.vkEnumerateDeviceExtensionProperties(device, "VK_LAYER_CLH_none", count, memory)
            assert str(rc) == "VK_ERROR_LAYER_NOT_PRESENT" or count.u32() == 0


@requirement("VK-EXT-007")
@pytest.mark.parametrize(
    "fault", ["extension_count_fails=-1", "extension_list_fails=-3", "extension_count_is_higher=2"]
)
def test_driver_that_cannot_list_its_extensions_costs_only_itself(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, fault: str
) -> None:
    """Extensions of the other drivers are listed, and instances are made on them, as usual."""
    sandbox.driver("bad", faults=[fault], extensions=GROUPS)
    sandbox.driver("good", extensions=PROPERTIES2)

    with vulkan_loader.start(sandbox) as vk:
        assert PROPERTIES2 in vk.extension_names()
        assert "good" in vk.drivers(extensions=[PROPERTIES2])


@requirement("VK-EXT-020")
@pytest.mark.parametrize("more", [1, 3])
def test_list_that_is_shorter_than_said_has_nothing_after_its_end(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, more: int
) -> None:
    """A driver lists fewer extensions than it said, all of them unfiltered: what it did not write is not listed."""
    unknown = "VK_CLH_unheard_of"
    sandbox.driver("shorter", faults=[f"extension_count_is_higher={more}"], extensions=f"{GROUPS} {unknown}")
    with vulkan_loader.start(sandbox) as vk:
        own = set(vk.extension_names()) - {GROUPS}

    sandbox.env["VK_LOADER_DISABLE_INST_EXT_FILTER"] = "1"
    with vulkan_loader.start(sandbox) as vk:
        assert set(vk.extension_names()) == {GROUPS, unknown, *own}


@requirement("VK-EXT-008")
def test_extension_that_the_loader_does_not_know_is_not_listed(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox
) -> None:
    """A driver's extension of instances that the loader cannot support is left out, unless the user wants it."""
    unknown = "VK_CLH_unheard_of"
    sandbox.driver("a", extensions=f"{PROPERTIES2} {unknown}")

    for value in (None, "0", "1", "2", "00", "-1", "10"):
        if value is not None:
            sandbox.env["VK_LOADER_DISABLE_INST_EXT_FILTER"] = value
        with vulkan_loader.start(sandbox) as vk:
            names = vk.extension_names()
        assert PROPERTIES2 in names
        assert (unknown in names) == bool(int(value or 0)), value  # "a non-zero number"


@requirement("VK-EXT-008")
@pytest.mark.parametrize("known", [PROPERTIES2, GROUPS, "VK_KHR_surface", "VK_EXT_debug_utils"])
def test_extension_with_a_name_like_a_known_one_is_not_listed(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, known: str
) -> None:
    """Names that are longer, shorter, written otherwise, or begin like it are unknown, and cannot be enabled."""
    begins = [f"{known[:length]}_clh" for length in (12, 16, 20, 24, 31, 32) if length < len(known)]
    like = [f"{known}_2", f"{known}x", known[:-1], known.lower(), f"{known[:-1]}{known[-1].swapcase()}x", *begins]
    sandbox.driver("a", extensions=" ".join([*like, known]))

    with vulkan_loader.start(sandbox) as vk:
        names = vk.extension_names()
        assert known in names
        assert [name for name in like if name in names] == []
        for name in like:
            assert str(vk.CreateInstance(extensions=[name])[0]) == "VK_ERROR_EXTENSION_NOT_PRESENT"


@requirement("VK-EXT-001", "VK-EXT-006")
def test_extension_whose_name_begins_another_is_another(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """A driver that has the longer one alone does not get the shorter one, and beside no other driver nobody does."""
    longer, shorter = "VK_KHR_surface_protected_capabilities", "VK_KHR_surface"
    sandbox.driver("longer", extensions=longer)
    with vulkan_loader.start(sandbox) as vk:
        assert str(vk.CreateInstance(extensions=[shorter])[0]) == "VK_ERROR_EXTENSION_NOT_PRESENT"
        assert vk.drivers(extensions=[longer]) == {"longer"}

    sandbox.driver("shorter", extensions=shorter)
    with vulkan_loader.start(sandbox) as vk:
        assert vk.drivers(extensions=[shorter]) == {"longer", "shorter"}
    assert shorter in enabled(sandbox, "shorter")[-1]
    assert shorter not in enabled(sandbox, "longer")[-1]


@requirement("VK-EXT-008")
def test_extension_that_the_loader_does_not_know_is_enabled_where_the_user_wants_it(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox
) -> None:
    """It is refused, and with the variable it reaches the driver that has it."""
    unknown = "VK_CLH_unheard_of"
    sandbox.driver("a", extensions=f"{PROPERTIES2} {unknown}")

    for expected in ("VK_ERROR_EXTENSION_NOT_PRESENT", "VK_SUCCESS"):
        with vulkan_loader.start(sandbox) as vk:
            rc, _ = vk.CreateInstance(extensions=[unknown])
            assert str(rc) == expected
        sandbox.env["VK_LOADER_DISABLE_INST_EXT_FILTER"] = "1"
    creation = sandbox.log.calls("vkCreateInstance", by="a").only
    assert unknown in creation.data["in"]["extensions"].split()


@requirement("VK-EXT-024")
def test_features_of_a_device_reach_a_driver_that_lacks_the_extension(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox
) -> None:
    """Features in VkPhysicalDeviceFeatures2 are enabled in a driver that knows only those of Vulkan 1.0, too."""
    name = "vkGetPhysicalDeviceFeatures2"
    sandbox.driver("has", extensions=PROPERTIES2, api_version="1.0.0")
    sandbox.driver("lacks", functions={"lacks": [name, f"{name}KHR"]}, api_version="1.0.0")

    with vulkan_loader.start(sandbox) as vk:
        instance = vk.instance(extensions=[PROPERTIES2])
        for device in vk.physical_devices(instance):
            features = vk.structure("VkPhysicalDeviceFeatures2", features=(1).to_bytes(4, "little") * 3)
            last = vk.words([0x7E57_0000, features, 0])  # after a structure that nobody knows
            for chain in (features, last):
                assert vk.CreateDevice(device, chain=chain)[0] == 0
    for who, expected in (("has", 0), ("lacks", 7)):
        for creation in sandbox.log.calls("vkCreateDevice", by=who):
            assert int(creation.data["in"]["enabledFeatures"], 16) == expected
            assert who == "lacks" or creation.data["in"]["chain"]
