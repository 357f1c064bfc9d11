# SPDX-License-Identifier: Apache-2.0
"""What vkGetInstanceProcAddr and vkGetDeviceProcAddr find, and functions that a loader does not know (VK-EP)."""

from collections.abc import Callable
from typing import Any

import pytest

from harness.check import (
    Names,
    Unsupported,
    Value,
    VulkanLoader,
    VulkanSandbox,
    VulkanSession,
    requirement,
    version_number,
    vulkan,
    vulkan_extensions_of,
)

OWN_OF_PHYSICAL_DEVICES, OWN_OF_DEVICES = "vkGetPhysicalDeviceThingCLH", "vkDoThingCLH"
# Functions that every driver has to have: it is of no use without one of them.
# Unknown names that begin alike, of which one begins another; {} stands for what level they are of.
ALIKE = ["vk{}ThingOfItsOwn", "vk{}ThingOfItsOwnCLH", "vk{}ThingOfItsOwnCLH2", "vk{}ThingOfItsOwnCLH3"]
MANDATORY = [
    "vkDestroyInstance", "vkEnumeratePhysicalDevices", "vkGetPhysicalDeviceFeatures",
    "vkGetPhysicalDeviceFormatProperties", "vkGetPhysicalDeviceImageFormatProperties", "vkGetPhysicalDeviceProperties",
    "vkGetPhysicalDeviceQueueFamilyProperties", "vkGetPhysicalDeviceMemoryProperties", "vkGetDeviceProcAddr",
    "vkCreateDevice", "vkEnumerateDeviceExtensionProperties", "vkGetPhysicalDeviceSparseImageFormatProperties",
]  # fmt: skip
GLOBAL = ["vkEnumerateInstanceVersion", "vkEnumerateInstanceExtensionProperties", "vkEnumerateInstanceLayerProperties"]


def devices_by_driver(vk: VulkanSession, instance: Value) -> dict[str, Value]:
    """The first physical device of each driver."""
    return {vk.device_name(device).partition(".")[0]: device for device in vk.physical_devices(instance)}


@requirement("VK-EP-012")
def test_functions_without_an_instance_are_found_with_none(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """With NULL, vkGetInstanceProcAddr finds functions that need no instance, and none of the others."""
    sandbox.driver("a")

    with vulkan_loader.start(sandbox) as vk:
        names = [*GLOBAL, "vkCreateInstance"]
        if vk.instance_version() >= version_number("1.2.0"):  # which has vkGetInstanceProcAddr find itself
            names.append("vkGetInstanceProcAddr")
        assert [name for name in names if not vk.proc(None, name)] == []
        others = [f.name for f in vulkan().functions.values() if f.level != "global"]
        others_at_hand = [name for name in others if name != "vkGetInstanceProcAddr" and vk.proc(None, name)]
    assert others_at_hand == []


@requirement("VK-EP-017")
@pytest.mark.parametrize("version", ["1.0.0", "1.1.0", "1.2.0", "1.2.300", None])
def test_older_application_finds_functions_without_an_instance_by_one(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, version: str | None
) -> None:
    """What needs no instance is found by one, where the application asks for no Vulkan of 1.3 or newer, or for none."""
    sandbox.driver("a", api_version="1.3.0")

    with vulkan_loader.start(sandbox) as vk:
        instance = vk.instance(version)
        assert [name for name in GLOBAL if not vk.proc(instance, name)] == []
        assert [name for name in GLOBAL if vk.proc(vk.instance("1.3.0"), name)] == []


@requirement("VK-EP-020")
def test_functions_of_vulkan_are_found_whatever_drivers_have(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox
) -> None:
    """All that the loader's own version of Vulkan has, beside a driver of 1.0 with nothing of what came later."""
    core = [f for f in vulkan().functions.values() if f.version and f.level != "global"]
    later = [f.name for f in vulkan().of_level("instance", "physical_device", "device") if f.version != "1.0"]
    sandbox.driver("a", api_version="1.0.0", functions={"lacks": later})

    with vulkan_loader.start(sandbox) as vk:
        instance, of_loader = vk.instance("1.3.0"), vk.instance_version()
        names = [f.name for f in core if version_number(f.version) <= of_loader]
        addresses = {name: vk.proc(instance, name) for name in names}
    assert [name for name in names if not addresses[name]] == []


@requirement("VK-EP-012")
def test_unknown_name_is_not_found(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """A name that neither loader nor driver know is NULL in every way, beside one that is known."""
    sandbox.driver("a")

    with vulkan_loader.start(sandbox) as vk:
        instance = vk.instance()
        device = vk.device(vk.physical_devices(instance)[0])
        for name in ("vkNobodyHasThisCLH", "clFinish", "", "vk"):
            assert not vk.proc(None, name) and not vk.proc(instance, name) and not vk.device_proc(device, name)
        assert vk.proc(instance, "vkDestroyDevice") and vk.device_proc(device, "vkDestroyDevice")


@requirement("VK-EP-013")
def test_functions_of_devices_are_found_with_a_device(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """vkGetDeviceProcAddr finds all functions of Vulkan 1.0 that take a device, and none that take another object."""
    sandbox.driver("a")
    core = [f for f in vulkan().functions.values() if f.version == "1.0"]

    with vulkan_loader.start(sandbox) as vk:
        device = vk.device(vk.physical_devices(vk.instance())[0])
        result = {f.name for f in core if vk.device_proc(device, f.name)}
    assert result == {f.name for f in core if f.level == "device"}


@requirement("VK-EP-013")
@pytest.mark.parametrize("version", ["1.0.0", "1.3.0"])
def test_functions_of_other_objects_are_not_found_with_a_device(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, version: str
) -> None:
    """Of all versions and extensions, functions of instances, physical devices and nothing are NULL, by either way."""
    every = vulkan_extensions_of("instance")
    sandbox.driver("a", api_version="1.3.0", surfaces=True, extensions=" ".join(every))
    others = [f.name for f in vulkan().functions.values() if f.level != "device" and f.name != "vkGetDeviceProcAddr"]

    with vulkan_loader.start(sandbox) as vk:
        listed = [name for name in every if name in vk.extension_names() and "LUNARG" not in name]
        instance = vk.instance(version, extensions=listed)
        device = vk.device(vk.physical_devices(instance)[0])
        assert vk.device_proc(device, "vkGetDeviceProcAddr") and vk.device_proc(device, "vkCmdDraw")
        assert [name for name in others if vk.device_proc(device, name)] == []


@requirement("VK-EP-016")
@pytest.mark.parametrize("version", ["1.0", "1.1", "1.2"])
def test_function_of_a_newer_version_is_not_found_where_that_is_wanted(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, version: str
) -> None:
    """With maintenance5, a device has the functions of the version that the application asked for, and no others."""
    extension, feature = "VK_KHR_maintenance5", 1000470000  # VkPhysicalDeviceMaintenance5FeaturesKHR
    core = {f.name: f.version for f in vulkan().functions.values() if f.version and f.level == "device"}
    newer = [name for name, since in core.items() if since > version]
    assert newer
    sandbox.driver("a", api_version="1.3.0", device_extensions=extension, functions={"lacks": newer})

    with vulkan_loader.start(sandbox) as vk:
        if vk.instance_version() < version_number("1.3.260"):
            raise Unsupported("loader", f"this loader is older than {extension}", extension)
        (physical_device,) = vk.physical_devices(vk.instance(f"{version}.0"))
        device = vk.device(physical_device, extensions=[extension], chain=vk.words([feature, 0, 1]))
        wrong = [name for name in core if bool(vk.device_proc(device, name)) == (name in newer)]
    assert wrong == []


@requirement("VK-EP-018")
@pytest.mark.parametrize("lacks", ["extension and feature", "extension", "feature", "feature that is off"])
@pytest.mark.parametrize("version", ["1.0.0", "1.1.0"])
def test_function_of_a_newer_version_is_the_drivers_where_nothing_else_is_wanted(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, version: str, lacks: str
) -> None:
    """Without all of maintenance5, functions of devices are found whose version the driver has, asked for or not."""
    extension, feature = "VK_KHR_maintenance5", 1000470000  # VkPhysicalDeviceMaintenance5FeaturesKHR
    core = [f.name for f in vulkan().functions.values() if f.version in ("1.0", "1.1", "1.2") and f.level == "device"]
    sandbox.driver("a", api_version="1.2.0", device_extensions=extension)

    with vulkan_loader.start(sandbox) as vk:
        (physical_device,) = vk.physical_devices(vk.instance(version))
        chain = None if "feature" in lacks.split() else vk.words([feature, 0, 1])
        chain = vk.words([feature, 0, 0]) if "off" in lacks else chain
        device = vk.device(physical_device, extensions=[] if "extension" in lacks else [extension], chain=chain)
        assert [name for name in core if not vk.device_proc(device, name)] == []


@requirement("VK-EP-022")
@pytest.mark.parametrize("name", ["vkCmdDraw", "vkQueueSubmit", "vkMapMemory"])
def test_function_that_the_driver_lacks_is_not_found(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, name: str
) -> None:
    """What one driver lacks is NULL for its devices, and found for those of the other."""
    sandbox.driver("has")
    sandbox.driver("lacks", functions={"lacks": [name]})

    with vulkan_loader.start(sandbox) as vk:
        devices = devices_by_driver(vk, vk.instance())
        result = {who: bool(vk.device_proc(vk.device(device), name)) for who, device in devices.items()}
    assert result == {"has": True, "lacks": False}


@requirement("VK-EP-005", "VK-EP-009")
def test_unknown_function_of_physical_devices_reaches_their_driver(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox
) -> None:
    """Each driver that has it gets its own handle, all other bits, and its answer comes back."""
    for name in ("a", "b"):
        sandbox.driver(name, physical_device_functions=OWN_OF_PHYSICAL_DEVICES)

    with vulkan_loader.start(sandbox) as vk:
        instance = vk.instance()
        address = vk.proc(instance, OWN_OF_PHYSICAL_DEVICES)
        assert address
        for device in devices_by_driver(vk, instance).values():
            vk.vkGetPhysicalDeviceMemoryProperties(device, vk.buffer(1024))
            rc = vk.call_at(address, "vkReleaseDisplayEXT", device, 0x1122334455667788)
            assert rc == 2000
    log = sandbox.log
    calls = log.calls(OWN_OF_PHYSICAL_DEVICES)
    anchors = [event for event in log.calls("vkGetPhysicalDeviceMemoryProperties") if event.who != "application"]
    assert [(event.who, event.arguments[0]) for event in calls] == [(e.who, e.arguments[0]) for e in anchors]
    assert [event.arguments[1] for event in calls] == [0x1122334455667788] * 2
    for name in ("a", "b"):
        own = int(log.happened("object", by=name)[0].data["handle"], 16)
        assert {event.arguments[0] for event in log.calls("vk_icdGetPhysicalDeviceProcAddr", by=name)} == {own}


@requirement("VK-EP-005", "VK-EP-009")
def test_unknown_function_of_one_driver_is_found_beside_others(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox
) -> None:
    """Drivers without the query or without the function do not hide that of the driver that has it."""
    sandbox.driver("without", variant="driver_without_physical_device_query")
    sandbox.driver("has", physical_device_functions=OWN_OF_PHYSICAL_DEVICES)
    sandbox.driver("lacks")

    with vulkan_loader.start(sandbox) as vk:
        instance = vk.instance()
        device = devices_by_driver(vk, instance)["has"]
        vk.call_at(vk.proc(instance, OWN_OF_PHYSICAL_DEVICES), "vkReleaseDisplayEXT", device, 5)
    assert [(event.who, event.arguments[1]) for event in sandbox.log.calls(OWN_OF_PHYSICAL_DEVICES)] == [("has", 5)]


@requirement("VK-EP-009")
def test_several_unknown_functions_are_told_apart(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """Each has a trampoline of its own, whatever the order of look-ups in the drivers."""
    names = [name.format("GetPhysicalDevice") for name in ALIKE]
    sandbox.driver("a", interface=4, physical_device_functions=" ".join(names))
    sandbox.driver("b", interface=4, physical_device_functions=" ".join(reversed(names)))

    with vulkan_loader.start(sandbox) as vk:
        instance = vk.instance()
        addresses = [vk.proc(instance, name) for name in names]
        assert all(vk.proc(instance, name) for name in names)  # looked up again, which changes nothing
        devices = devices_by_driver(vk, instance)
        for number, address in enumerate(addresses):
            for device in (devices["a"], devices["b"]):
                vk.call_at(address, "vkReleaseDisplayEXT", device, number)
    lookups = [(event.who, event.name, event.arguments[1]) for event in sandbox.log if event.name in names
            and event.kind == "call"]  # fmt: skip
    assert lookups == [(who, name, number) for number, name in enumerate(names) for who in ("a", "b")]


@requirement("VK-EP-009", "VK-EP-010")
@pytest.mark.parametrize("kind", ["physical devices", "devices"])
def test_many_unknown_functions_are_told_apart(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, kind: str) -> None:
    """Nearly two hundred, four of each driver: each one reaches the driver that has it, and is found again."""
    prefix = "vkGetPhysicalDevice" if kind == "physical devices" else "vkDo"
    names = [f"{prefix}ThingNumber{number}CLH" for number in range(192)]
    for first in range(0, len(names), 4):
        own = " ".join(names[first : first + 4])
        settings: dict[str, Any] = {}
        settings["physical_device_functions" if kind == "physical devices" else "device_functions"] = own
        sandbox.driver(f"d{first // 4}", **settings)

    with vulkan_loader.start(sandbox) as vk:
        instance = vk.instance()
        addresses = [vk.proc(instance, name) for name in names]
        assert [name for name, address in zip(names, addresses, strict=True) if not address] == []
        devices = devices_by_driver(vk, instance)
        for number in (0, 7, 15, 16, 31, 32, 63, 64, 99, 100, 127, 128, 191):
            device = devices[f"d{number // 4}"]
            if kind == "physical devices":
                vk.call_at(addresses[number], "vkReleaseDisplayEXT", device, number)
            else:
                vk.call_at(addresses[number], "vkGetEventStatus", vk.device(device), number)
            assert vk.proc(instance, names[number])
            call = sandbox.log.calls(names[number]).only
            assert (call.who, call.arguments[1]) == (f"d{number // 4}", number)


@requirement("VK-EP-019")
@pytest.mark.parametrize("kind", ["physical devices", "devices"])
def test_more_unknown_functions_than_there_is_room_for(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, kind: str, record: Callable[[str], None]
) -> None:
    """Each is found and works, or is not found; those that were found before stay what they are."""
    prefix = "vkGetPhysicalDevice" if kind == "physical devices" else "vkDo"
    names = [f"{prefix}ThingNumber{number}CLH" for number in range(320)]
    variant = "driver" if kind == "physical devices" else "driver_without_physical_device_query"
    sandbox.driver("a", variant=variant, interface=4 if variant == "driver" else 3, faults=["finds_any_name"])

    with vulkan_loader.start(sandbox) as vk:
        instance = vk.instance()
        addresses = [vk.proc(instance, name) for name in names]
        count = sum(map(bool, addresses))
        assert all(addresses[:count]) and not any(addresses[count:])
        assert len(set(addresses[:count])) == count
        assert [bool(vk.proc(instance, name)) for name in names] == [index < count for index in range(len(names))]
        assert vk.drivers(instance) == {"a"}
        vk.vkDestroyInstance(instance, None)
    record(f"{count} of {len(names)}")


@requirement("VK-EP-019")
@pytest.mark.parametrize("kind", ["physical devices", "devices"])
def test_function_of_another_kind_than_those_without_room(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, kind: str, record: Callable[[str], None]
) -> None:
    """Where there is no room for more functions of one kind, one of the other works, or is not found."""
    prefix, other = "vkGetPhysicalDevice", "vkDoOtherThingCLH"
    variant, settings = "driver", dict[str, Any](device_functions=other)
    if kind == "devices":
        prefix, other = "vkDo", "vkGetPhysicalDeviceOtherThingCLH"
        variant, settings = "driver_without_physical_device_query", {"physical_device_functions": other}
    sandbox.driver("a", variant=variant, interface=4 if variant == "driver" else 3, faults=["finds_any_name"])
    sandbox.driver("b", **settings)

    with vulkan_loader.start(sandbox) as vk:
        instance = vk.instance()
        device = devices_by_driver(vk, instance)["b"]
        for number in range(320):
            vk.proc(instance, f"{prefix}ThingNumber{number}CLH")
        address = vk.proc(instance, other)
        if address and kind == "devices":
            vk.call_at(address, "vkReleaseDisplayEXT", device, 7)
        elif address:
            vk.call_at(address, "vkGetEventStatus", vk.device(device), 7)
        vk.vkDestroyInstance(instance, None)
    assert [(event.who, event.arguments[1]) for event in sandbox.log.calls(other)] == [("b", 7)] * bool(address)
    record("works" if address else "is not found")


@requirement("VK-EP-012")
def test_functions_without_an_instance_are_not_found_with_one(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox
) -> None:
    """With an instance of 1.3, vkGetInstanceProcAddr finds functions of instances, and none of these."""
    sandbox.driver("a", api_version="1.3.0")

    with vulkan_loader.start(sandbox) as vk:
        if vk.instance_version() < version_number("1.3.0"):
            raise Unsupported("loader", "this loader is older than Vulkan 1.3")
        instance = vk.instance("1.3.0")
        assert vk.proc(instance, "vkDestroyInstance")
        assert [name for name in (*GLOBAL, "vkCreateInstance") if vk.proc(instance, name)] == []


@requirement("VK-EP-010")
@pytest.mark.parametrize("holder", ["a", "b"])
def test_unknown_function_of_devices_that_exist_already(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, holder: str
) -> None:
    """Looked up after the device was made, and had by one driver only, whichever: the call reaches it."""
    for name in ("a", "b"):
        sandbox.driver(name, device_functions=OWN_OF_DEVICES if name == holder else "")

    with vulkan_loader.start(sandbox) as vk:
        instance = vk.instance()
        devices = {who: vk.device(device) for who, device in devices_by_driver(vk, instance).items()}
        trampoline = vk.proc(instance, OWN_OF_DEVICES)
        assert trampoline
        assert vk.call_at(trampoline, "vkGetEventStatus", devices[holder], 1) == 2000
    assert [e.who for e in sandbox.log.calls(OWN_OF_DEVICES)] == [holder]


@requirement("VK-EP-010")
def test_unknown_function_is_found_for_every_device_of_a_driver(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox
) -> None:
    """Looked up after three devices of one driver were made, the function works on each of them."""
    sandbox.driver("a", devices=2, device_functions=OWN_OF_DEVICES)

    with vulkan_loader.start(sandbox) as vk:
        instance = vk.instance()
        first, second = vk.physical_devices(instance)
        devices = [vk.device(first), vk.device(second), vk.device(first)]
        trampoline = vk.proc(instance, OWN_OF_DEVICES)
        for device in devices:
            assert vk.call_at(trampoline, "vkGetEventStatus", device, 1) == 2000
    assert [e.arguments[0] for e in sandbox.log.calls(OWN_OF_DEVICES)] == [int(device) for device in devices]


@requirement("VK-EP-010")
@pytest.mark.parametrize("order", ["before the device", "with the device"])
def test_several_unknown_functions_of_devices_are_told_apart(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, order: str
) -> None:
    """Each has a trampoline of its own, on devices of two drivers, looked up before they are made or after that."""
    names = [name.format("Do") for name in ALIKE]
    sandbox.driver("a", device_functions=" ".join(names))
    sandbox.driver("b", device_functions=" ".join(reversed(names)))

    with vulkan_loader.start(sandbox) as vk:
        instance = vk.instance()
        physical_devices = devices_by_driver(vk, instance)
        if order == "before the device":
            addresses = [vk.proc(instance, name) for name in names]
        devices = {who: vk.device(device) for who, device in physical_devices.items()}
        if order == "with the device":
            addresses = [vk.proc(instance, name) for name in names]
        assert all(addresses)
        assert all(vk.proc(instance, name) for name in names)  # looked up again, which changes nothing
        for number, address in enumerate(addresses):
            for who in ("a", "b"):
                vk.call_at(address, "vkGetEventStatus", devices[who], number)
    lookups = [(event.who, event.name, event.arguments[1]) for event in sandbox.log.calls() if event.name in names]
    assert lookups == [(who, name, number) for number, name in enumerate(names) for who in ("a", "b")]


@requirement("VK-EP-005", "VK-EP-010")
def test_unknown_function_of_devices_reaches_their_driver(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """By vkGetInstanceProcAddr's trampoline and by vkGetDeviceProcAddr: the device, all bits, and the answer."""
    for name in ("a", "b"):
        sandbox.driver(name, device_functions=OWN_OF_DEVICES)

    with vulkan_loader.start(sandbox) as vk:
        instance = vk.instance()
        trampoline = vk.proc(instance, OWN_OF_DEVICES)
        assert trampoline
        expected = []
        for who, physical_device in devices_by_driver(vk, instance).items():
            device = vk.device(physical_device)
            for address in (trampoline, vk.device_proc(device, OWN_OF_DEVICES)):
                assert vk.call_at(address, "vkGetEventStatus", device, 0x8877665544332211) == 2000
                expected.append((who, int(device), 0x8877665544332211))
    assert [(e.who, *e.arguments) for e in sandbox.log.calls(OWN_OF_DEVICES)] == expected


@requirement("VK-EP-005")
def test_order_of_look_ups(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """An unknown name is asked as a function of physical devices first, and of devices after that."""
    sandbox.driver("a", device_functions=OWN_OF_DEVICES)

    with vulkan_loader.start(sandbox) as vk:
        instance = vk.instance()
        assert vk.proc(instance, OWN_OF_DEVICES)
    functions = [e.name for e in sandbox.log.of("a").calls() if e.data.get("in", {}).get("pName") == OWN_OF_DEVICES]
    assert functions[0] == "vk_icdGetPhysicalDeviceProcAddr"
    assert "vk_icdGetInstanceProcAddr" in functions


@requirement("VK-EP-011")
@pytest.mark.parametrize("name", MANDATORY)
def test_driver_without_a_mandatory_function_costs_only_itself(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, name: str
) -> None:
    """A driver that lacks what every driver must have is not used; the one beside it is."""
    sandbox.driver("good")
    sandbox.driver("lacks", functions={"lacks": [name]})

    with vulkan_loader.start(sandbox) as vk:
        names: Names = vk.drivers()
    assert names == {"good"}


@requirement("VK-EP-011")
@pytest.mark.parametrize("name", ["vkCreateInstance", "vkEnumerateInstanceExtensionProperties"])
def test_driver_without_a_global_function_costs_only_itself(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, name: str
) -> None:
    """A driver that does not find what is needed before there is an instance is not used; the one beside it is."""
    sandbox.driver("lacks", functions={"lacks": [name]})
    sandbox.driver("good")

    with vulkan_loader.start(sandbox) as vk:
        assert vk.drivers() == {"good"}


@requirement("VK-EP-011")
@pytest.mark.parametrize("fault", ["finds_nothing", "finds_nothing_without_instance", "finds_nothing_with_instance"])
def test_driver_that_finds_nothing_costs_only_itself(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, fault: str
) -> None:
    """A driver whose look-ups answer NULL is not used; the one beside it is."""
    sandbox.driver("good")
    sandbox.driver("finds", faults=[fault])

    with vulkan_loader.start(sandbox) as vk:
        assert vk.drivers() == {"good"}


@requirement("VK-EP-011")
def test_functions_that_appear_late_are_found(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """Functions of instances are looked up once there is an instance, and not only before that."""
    sandbox.driver("early")
    sandbox.driver("late", functions={"late": MANDATORY})

    with vulkan_loader.start(sandbox) as vk:
        assert vk.drivers() == {"early", "late"}
