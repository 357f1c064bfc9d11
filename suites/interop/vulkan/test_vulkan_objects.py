# SPDX-License-Identifier: Apache-2.0
"""Instances, devices, queues and command buffers: their first word, whose they are, how long they live (VK-OBJ)."""

from typing import Any

import pytest

from harness.check import Value, VulkanLoader, VulkanSandbox, requirement, vulkan

MAGIC = 0x01CDC0DE
# Drivers that are left out, by what they are called.
BESIDE: dict[str, dict[str, Any]] = {
    "nothing": {},
    "manifest without a library": {"manifest": {"library_path": None}},
    "driver that refuses": {"faults": ["negotiation_fails=-9"]},
    "driver without an instance": {"faults": ["create_instance_fails=-3"]},
}
# Which parameter of a function is the allocator.
WITH_ALLOCATOR = {"vkCreateInstance": 1, "vkCreateDevice": 2, "vkDestroyDevice": 1, "vkDestroyInstance": 1}
UNKNOWN_STRUCTURE = 0x7E57_0000  # a VkStructureType that no extension has


def calls_of_drivers(sandbox: VulkanSandbox, function: str) -> list[str]:
    return [event.who for event in sandbox.log.calls(function) if event.who != "application"]


@requirement("VK-OBJ-014")
def test_first_word_of_objects_is_the_loaders(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """A driver's magic number is replaced, by one table for all objects of a device."""
    sandbox.driver("a")

    with vulkan_loader.start(sandbox) as vk:
        device = vk.device(vk.physical_devices(vk.instance())[0])
        objects = [device, vk.queue(device, 0), vk.queue(device, 1), *vk.command_buffers(device, 3)]
        words = [int(vk.peek(thing, 0)) for thing in objects]
    assert MAGIC not in words and 0 not in words
    assert len(set(words)) == 1


@requirement("VK-OBJ-014")
def test_objects_of_two_devices_have_tables_of_their_own(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """Devices of two drivers do not share a table."""
    sandbox.driver("a")
    sandbox.driver("b")

    with vulkan_loader.start(sandbox) as vk:
        devices = [vk.device(physical_device) for physical_device in vk.physical_devices(vk.instance())]
        words = [int(vk.peek(device, 0)) for device in devices]
    assert len(set(words)) == 2 and MAGIC not in words


@requirement("VK-OBJ-014")
@pytest.mark.parametrize("name", ["vkGetDeviceQueue", "vkGetDeviceQueue2", "vkAllocateCommandBuffers"])
@pytest.mark.parametrize("way", ["instance", "device", "device, found by itself"])
def test_objects_of_functions_that_are_looked_up_are_the_loaders(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, way: str, name: str
) -> None:
    """Made by the address that an application looks up, queues and command buffers have the device's table, too."""
    sandbox.driver("a")

    with vulkan_loader.start(sandbox) as vk:
        instance = vk.instance("1.1.0")
        device = vk.device(vk.physical_devices(instance)[0])
        if way == "device, found by itself":
            find = vk.device_proc(device, "vkGetDeviceProcAddr")
            function = vk.call_at(find, "vkGetDeviceProcAddr", device, name)
            assert isinstance(function, Value)
        else:
            function = vk.proc(instance, name) if way == "instance" else vk.device_proc(device, name)
        room = vk.buffer(8, 0)
        if name == "vkGetDeviceQueue":
            vk.call_at(function, name, device, 0, 1, room)
        elif name == "vkGetDeviceQueue2":
            vk.call_at(function, name, device, vk.structure("VkDeviceQueueInfo2", queueIndex=1), room)
        else:
            info = vk.structure("VkCommandBufferAllocateInfo", commandPool=1, commandBufferCount=1)
            assert vk.call_at(function, name, device, info, room) == 0
        assert int(vk.peek(room.handle(), 0)) == int(vk.peek(device, 0))
    assert calls_of_drivers(sandbox, name) == ["a"]


@requirement("VK-OBJ-003")
@pytest.mark.parametrize("kind", ["instance", "physical_device", "device", "queue", "command_buffer"])
def test_object_without_the_magic_number_harms_no_other_driver(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, kind: str
) -> None:
    """What a loader does about such a driver is open; objects of the driver beside it work as usual."""
    sandbox.driver("good")
    sandbox.driver("bare", faults=[f"{kind}_without_magic"])

    with vulkan_loader.start(sandbox) as vk:
        instance = vk.instance()
        names = {vk.device_name(device): device for device in vk.physical_devices(instance)}
        assert "good.0" in names
        device = vk.device(names["good.0"])
        assert int(vk.peek(vk.queue(device), 0)) == int(vk.peek(device, 0))
        assert calls_of_drivers(sandbox, "vkCreateDevice") == ["good"]
        if "bare.0" in names and (bare := vk.CreateDevice(names["bare.0"]))[0] == 0:
            vk.command_buffers(bare[1])
            vk.queue(bare[1])
        vk.vkDeviceWaitIdle(device)
    assert calls_of_drivers(sandbox, "vkDeviceWaitIdle") == ["good"]


@requirement("VK-OBJ-017")
def test_destroying_an_instance_reaches_each_driver_once(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """Each driver that made an instance gets it back, once; one that could not make one is not called."""
    for name in ("a", "b"):
        sandbox.driver(name)
    sandbox.driver("fails", faults=["create_instance_fails=-3"])

    with vulkan_loader.start(sandbox) as vk:
        instance = vk.instance()
        vk.physical_devices(instance)
        vk.vkDestroyInstance(instance, None)
    assert sorted(calls_of_drivers(sandbox, "vkDestroyInstance")) == ["a", "b"]
    for name in ("a", "b"):
        handle = sandbox.log.happened("object", by=name)[0].data["handle"]
        assert sandbox.log.calls("vkDestroyInstance", by=name)[0].arguments[0] == int(handle, 16)
    assert not sandbox.log.happened("foreign handle")


@requirement("VK-OBJ-021")
def test_two_instances_are_two_instances_of_each_driver(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """Each has handles of its own, and the second one works when the first one is gone."""
    sandbox.driver("a")
    sandbox.driver("b")

    with vulkan_loader.start(sandbox) as vk:
        first, second = vk.instance(), vk.instance()
        assert first != second
        assert not set(vk.physical_devices(first)) & set(vk.physical_devices(second))
        vk.vkDestroyInstance(first, None)
        assert vk.device_names(second) == {"a.0", "b.0"}
        vk.vkDestroyInstance(second, None)
    assert sorted(calls_of_drivers(sandbox, "vkCreateInstance")) == ["a", "a", "b", "b"]
    assert sorted(calls_of_drivers(sandbox, "vkDestroyInstance")) == ["a", "a", "b", "b"]
    assert not sandbox.log.happened("foreign handle")


@requirement("VK-OBJ-021")
def test_instances_can_be_made_again_and_again(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """Thirty instances, one after the other: each lists the devices, and each is destroyed in the driver."""
    sandbox.driver("a")
    sandbox.driver("b", devices=2)

    with vulkan_loader.start(sandbox) as vk:
        for _ in range(30):
            assert vk.device_names() == {"a.0", "b.0", "b.1"}
    assert len(sandbox.log.calls("vkDestroyInstance", by="a")) == 30


@requirement("VK-OBJ-042")
@pytest.mark.parametrize("beside", BESIDE)
def test_instances_leave_no_memory_behind(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, beside: str) -> None:
    """The heap does not grow from the tenth instance to the twentieth, whatever driver is left out each time."""
    sandbox.driver("a")
    if BESIDE[beside]:
        sandbox.driver("left-out", **BESIDE[beside])

    with vulkan_loader.start(sandbox, counted_heap=True) as vk:
        sizes = []
        for _ in range(2):
            for _ in range(10):
                vk.device_names()
            sizes.append(vk.heap())
    assert sizes[1] <= sizes[0]


@requirement("VK-OBJ-042")
@pytest.mark.parametrize("way", ["exported", "looked up"])
def test_devices_leave_no_memory_behind(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, way: str) -> None:
    """Made and destroyed again and again, by either way to vkDestroyDevice: the heap does not grow."""
    sandbox.driver("a")

    with vulkan_loader.start(sandbox, counted_heap=True) as vk:
        (physical_device,) = vk.physical_devices(vk.instance())
        sizes = []
        for _ in range(2):
            for _ in range(10):
                device = vk.device(physical_device)
                destroy = "@vkDestroyDevice" if way == "exported" else vk.device_proc(device, "vkDestroyDevice")
                vk.call_at(destroy, "vkDestroyDevice", device, None)
            sizes.append(vk.heap())
    assert sizes[1] <= sizes[0]
    assert calls_of_drivers(sandbox, "vkDestroyDevice") == ["a"] * 20


@requirement("VK-OBJ-023")
@pytest.mark.parametrize("version", ["1.0.0", "1.1.0"])
def test_what_an_instance_is_made_with_reaches_every_driver(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, version: str
) -> None:
    """Structures that the loader does not know stay in the chain, in drivers of 1.0 and newer."""
    for name in ("a", "b"):
        sandbox.driver(name, api_version=version)

    with vulkan_loader.start(sandbox) as vk:
        last = vk.words([UNKNOWN_STRUCTURE, 0])
        chain = vk.words([UNKNOWN_STRUCTURE + 1, last])
        vk.instance("1.1.0", chain=chain)
    for name in ("a", "b"):
        creation = sandbox.log.calls("vkCreateInstance", by=name).only
        seen = [int(word, 16) for word in creation.data["in"]["chain"]]  # a loader may have put its own before them
        assert seen[-2:] == [UNKNOWN_STRUCTURE + 1, UNKNOWN_STRUCTURE]


@requirement("VK-OBJ-023")
def test_allocator_of_the_application_reaches_every_driver(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """Drivers make and end instances and devices with the callbacks that the application gives."""
    for name in ("a", "b"):
        sandbox.driver(name)

    with vulkan_loader.start(sandbox) as vk:
        allocator, to = vk.allocator(), vk.buffer(8)
        assert vk.vkCreateInstance(vk.instance_info("1.1.0"), allocator, to) == 0
        instance = to.handle()
        for physical_device in vk.physical_devices(instance):
            room = vk.buffer(8)
            assert vk.vkCreateDevice(physical_device, vk.structure("VkDeviceCreateInfo"), allocator, room) == 0
            vk.vkDestroyDevice(room.handle(), allocator)
        vk.vkDestroyInstance(instance, allocator)
    for name in ("a", "b"):
        for function, place in WITH_ALLOCATOR.items():
            (given,) = [event.arguments[place] for event in sandbox.log.calls(function, by=name)]
            assert given != 0  # a loader may hand on a copy


@requirement("VK-OBJ-023")
def test_what_a_device_is_made_with_reaches_its_driver(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """Features, queues and the chain of structures are the application's own."""
    sandbox.driver("a")

    with vulkan_loader.start(sandbox) as vk:
        (physical_device,) = vk.physical_devices(vk.instance())
        priority = vk.data(b"\0\0\x80\x3f")
        queue = {"queueCount": 1, "pQueuePriorities": priority}
        info = vk.structure(
            "VkDeviceCreateInfo",
            pNext=vk.words([UNKNOWN_STRUCTURE, 0]),
            queueCreateInfoCount=2,
            pQueueCreateInfos=vk.structures("VkDeviceQueueCreateInfo", [queue, queue]),
            pEnabledFeatures=vk.buffer(vulkan().structures["VkPhysicalDeviceFeatures"].size, 0),
        )
        assert vk.vkCreateDevice(physical_device, info, None, vk.buffer(8)) == 0
    creation = sandbox.log.calls("vkCreateDevice", by="a").only
    seen = creation.data["in"]
    assert int(seen["features"], 16) != 0 and int(seen["queues"], 16) == 2
    assert UNKNOWN_STRUCTURE in [int(word, 16) for word in seen["chain"]]


@requirement("VK-OBJ-018")
def test_device_is_made_used_and_destroyed_in_its_driver(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """Of two drivers with two devices each, only the one whose device it is sees it, with its own handle."""
    sandbox.driver("a", devices=2)
    sandbox.driver("b", devices=2)

    with vulkan_loader.start(sandbox) as vk:
        instance = vk.instance()
        chosen = next(device for device in vk.physical_devices(instance) if vk.device_name(device) == "b.1")
        device = vk.device(chosen)
        vk.vkDeviceWaitIdle(device)
        vk.vkDestroyDevice(device, None)
    for function in ("vkCreateDevice", "vkDeviceWaitIdle", "vkDestroyDevice"):
        assert calls_of_drivers(sandbox, function) == ["b"]
    handles = {e.data["detail"]: int(e.data["handle"], 16) for e in sandbox.log.happened("object", by="b")}
    assert sandbox.log.calls("vkCreateDevice", by="b")[0].arguments[0] == handles["physical device 1"]
    assert sandbox.log.calls("vkDestroyDevice", by="b")[0].arguments[0] == handles["device 1"]


@requirement("VK-OBJ-046")
@pytest.mark.parametrize("code", [-1, -3, -4, -7, -8])
def test_failure_of_a_device_comes_back(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, code: int) -> None:
    """What the driver answers to vkCreateDevice is what the application gets; another driver's device is made."""
    sandbox.driver("good")
    sandbox.driver("fails", faults=[f"create_device_fails={code}"])

    with vulkan_loader.start(sandbox) as vk:
        answers = {}
        for device in vk.physical_devices(vk.instance()):
            answers[vk.device_name(device)] = int(vk.CreateDevice(device)[0])
    assert answers == {"good.0": 0, "fails.0": code}


@requirement("VK-OBJ-047")
@pytest.mark.parametrize("end", ["", "2", "_SECON", "_SECONE", "_SECOND_", "_second"])
def test_device_needs_the_whole_name_of_an_extension(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, end: str
) -> None:
    """Where a driver has two with long names that begin alike, another that begins so, too, is refused."""
    name = "VK_CLH_extension_with_a_long_name"
    own = f"{name}_FIRST {name}_SECOND"
    sandbox.driver("a", device_extensions=own, faults=["create_device_takes_any_extension"])

    with vulkan_loader.start(sandbox) as vk:
        (device,) = vk.physical_devices(vk.instance())
        assert str(vk.CreateDevice(device, extensions=[name + end])[0]) == "VK_ERROR_EXTENSION_NOT_PRESENT"
        assert vk.CreateDevice(device, extensions=[f"{name}_SECOND"])[0] == 0
    assert sandbox.log.calls("vkCreateDevice", by="a").only.data["in"]["extensions"] == f"{name}_SECOND"


@requirement("VK-OBJ-045")
def test_extensions_of_devices_reach_the_driver(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """Extensions that the driver has are enabled there; one that it lacks is refused."""
    sandbox.driver("a", device_extensions="VK_KHR_swapchain VK_CLH_own_thing")

    with vulkan_loader.start(sandbox) as vk:
        (physical_device,) = vk.physical_devices(vk.instance())
        vk.device(physical_device, extensions=["VK_CLH_own_thing", "VK_KHR_swapchain"])
        rc, _ = vk.CreateDevice(physical_device, extensions=["VK_CLH_nobody_has_this"])
        assert str(rc) == "VK_ERROR_EXTENSION_NOT_PRESENT"
    creation = sandbox.log.calls("vkCreateDevice", by="a").only
    assert sorted(creation.data["in"]["extensions"].split()) == ["VK_CLH_own_thing", "VK_KHR_swapchain"]


@requirement("VK-OBJ-045")
@pytest.mark.parametrize("number", [1, 40, 100])
def test_each_of_many_extensions_of_a_device_is_enabled(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, number: int
) -> None:
    """However many a driver has: the first, the last, and several reach it."""
    names = [f"VK_CLH_e{index}" for index in range(number)]
    sandbox.driver("a", device_extensions=" ".join(names))

    with vulkan_loader.start(sandbox) as vk:
        (physical_device,) = vk.physical_devices(vk.instance())
        for wanted in (names[:1], names[-1:], names[-30:]):
            assert vk.CreateDevice(physical_device, extensions=wanted)[0] == 0
    seen = [set(event.data["in"]["extensions"].split()) for event in sandbox.log.calls("vkCreateDevice", by="a")]
    assert seen == [set(names[:1]), set(names[-1:]), set(names[-30:])]


@requirement("VK-EP-007")
def test_extensions_of_devices_are_listed_as_the_driver_has_them(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox
) -> None:
    """vkEnumerateDeviceExtensionProperties answers for each device what its driver says."""
    own = {"a": {"VK_KHR_swapchain"}, "b": {"VK_CLH_one", "VK_CLH_two"}, "c": set[str]()}
    for name, extensions in own.items():
        sandbox.driver(name, device_extensions=" ".join(sorted(extensions)))

    with vulkan_loader.start(sandbox) as vk:
        listed = {}
        for device in vk.physical_devices(vk.instance()):
            listed[vk.device_name(device).partition(".")[0]] = {e.name for e in vk.device_extensions(device)}
    assert listed == own


def make_twice_with_the_same_structures(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, what: str, faults: list[str]
) -> None:
    sandbox.driver("a", devices=2, groups="2", device_extensions="VK_CLH_own", faults=faults)
    sandbox.driver("old", api_version="1.0.0")

    with vulkan_loader.start(sandbox) as vk:
        instance = vk.instance("1.1.0")
        names = {vk.device_name(device): device for device in vk.physical_devices(instance)}
        parts = [vk.words([UNKNOWN_STRUCTURE, 0])]
        if "group" in what:
            group = vk.words([names["a.0"], names["a.1"]])
            last, name = parts[0], "VkDeviceGroupDeviceCreateInfo"
            parts.append(vk.structure(name, pNext=last, physicalDeviceCount=2, pPhysicalDevices=group))
            parts.append(vk.words([UNKNOWN_STRUCTURE + 1, parts[1]]))
            parts.append(group)
        chain = parts[2] if "group" in what else parts[0]
        if what == "instance":
            info = vk.instance_info("1.3.0", chain=chain)
        else:
            names_of = vk.strings(["VK_CLH_own"])
            members = {"enabledExtensionCount": 1, "ppEnabledExtensionNames": names_of}
            info = vk.structure("VkDeviceCreateInfo", pNext=chain, **members)
        before = [bytes(part[:]) for part in (info, *parts)]
        for _ in range(2):
            if what == "instance":
                assert vk.vkCreateInstance(info, None, vk.buffer(8)) == 0
            else:
                rc = vk.vkCreateDevice(names["a.0"], info, None, vk.buffer(8))
                assert int(rc) == (-3 if faults else 0)
            changed = [i for i, part in enumerate((info, *parts)) if bytes(part[:]) != before[i]]
            assert changed == []


@requirement("VK-OBJ-023")
@pytest.mark.parametrize("what", ["instance", "device", "device of a group"])
def test_structures_of_the_application_stay_as_they_are(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, what: str
) -> None:
    """Made twice with the same structures, whose chain the loader may have to change for a driver."""
    make_twice_with_the_same_structures(vulkan_loader, sandbox, what, [])


@requirement("VK-OBJ-036")
@pytest.mark.parametrize("what", ["device", "device of a group"])
def test_structures_of_the_application_stay_as_they_are_where_a_driver_fails(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, what: str
) -> None:
    """An application that tries again with the same structures finds them as it left them."""
    make_twice_with_the_same_structures(vulkan_loader, sandbox, what, ["create_device_fails=-3"])


@requirement("VK-OBJ-042")
@pytest.mark.parametrize("place", range(3))
def test_devices_that_end_in_any_order_leave_no_memory_behind(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, place: int
) -> None:
    """Of three devices that are there at once, another one is ended each time before a new one is made."""
    sandbox.driver("a")

    with vulkan_loader.start(sandbox, counted_heap=True) as vk:
        (physical_device,) = vk.physical_devices(vk.instance())
        devices = [vk.device(physical_device) for _ in range(3)]
        sizes = []
        for _ in range(2):
            for _ in range(10):
                vk.vkDestroyDevice(devices.pop(place), None)
                devices.append(vk.device(physical_device))
            sizes.append(vk.heap())
    assert sizes[1] <= sizes[0]


@requirement("VK-OBJ-017")
@pytest.mark.parametrize("what", ["vkDestroyInstance", "vkDestroyDevice"])
def test_destroying_nothing_does_nothing(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, what: str) -> None:
    """VK_NULL_HANDLE is nobody's: no driver is called, and all are there as before."""
    sandbox.driver("a")

    with vulkan_loader.start(sandbox) as vk:
        instance = vk.instance()
        vk.call(what, None, None)
        assert calls_of_drivers(sandbox, what) == []
        assert vk.drivers(instance) == vk.drivers() == {"a"}


@requirement("VK-EXT-011")
def test_layers_of_a_device_are_not_the_drivers(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """Names of layers, which devices no longer have, are not handed on with what a device is made with."""
    sandbox.driver("a", device_extensions="VK_CLH_own")

    with vulkan_loader.start(sandbox) as vk:
        (physical_device,) = vk.physical_devices(vk.instance())
        info = vk.structure(
            "VkDeviceCreateInfo",
            enabledLayerCount=2,
            ppEnabledLayerNames=vk.strings(["VK_LAYER_CLH_one", "VK_LAYER_CLH_two"]),
            enabledExtensionCount=1,
            ppEnabledExtensionNames=vk.strings(["VK_CLH_own"]),
        )
        assert vk.vkCreateDevice(physical_device, info, None, vk.buffer(8)) == 0
    seen = sandbox.log.calls("vkCreateDevice", by="a").only.data["in"]
    assert seen["layers"] == "" and seen["extensions"] == "VK_CLH_own"
