# SPDX-License-Identifier: Apache-2.0
"""Objects in numbers, that come and go, and that an application leaves to the end of their instance (VK-OBJ)."""

from pathlib import Path
from typing import Any

import pytest

from harness.check import Value, VulkanLoader, VulkanSandbox, VulkanSession, requirement

SURFACE, HEADLESS, SWAPCHAIN = "VK_KHR_surface", "VK_EXT_headless_surface", "VK_KHR_swapchain"
UTILS, REPORT = "VK_EXT_debug_utils", "VK_EXT_debug_report"
# What an application makes of an instance: the extensions, the functions, and what a mock driver calls it.
KINDS = {
    "surface": ([SURFACE, HEADLESS], "vkCreateHeadlessSurfaceEXT", "vkDestroySurfaceKHR", "surface"),
    "messenger": ([UTILS], "vkCreateDebugUtilsMessengerEXT", "vkDestroyDebugUtilsMessengerEXT", "messenger"),
    "report": ([REPORT], "vkCreateDebugReportCallbackEXT", "vkDestroyDebugReportCallbackEXT", "messenger"),
}
MANY = 70  # more than lists that grow begin with, twice


def start_instance(loader: VulkanLoader, vk: VulkanSession, kind: str) -> Value:
    extensions = KINDS[kind][0]
    for name in set(extensions) - set(vk.extension_names()):
        loader.require(name)
    return vk.instance("1.1.0", extensions=extensions)


def add_drivers(sandbox: VulkanSandbox, kind: str) -> None:
    for name in ("a", "b"):
        sandbox.driver(name, extensions=" ".join(KINDS[kind][0]), surfaces=True, device_extensions=SWAPCHAIN)


def make(vk: VulkanSession, instance: Value, kind: str, allocator: Value | None = None) -> Value:
    callback = vk.library_symbol(Path("libc.so.6"), "sched_yield")  # takes anything, answers 0
    members: dict[str, dict[str, Any]] = {
        "VkHeadlessSurfaceCreateInfoEXT": {},
        "VkDebugUtilsMessengerCreateInfoEXT": {
            "messageSeverity": 0x1111, "messageType": 7, "pfnUserCallback": callback
        },
        "VkDebugReportCallbackCreateInfoEXT": {"flags": 31, "pfnCallback": callback},
    }  # fmt: skip
    function = KINDS[kind][1]
    name = f"Vk{function.removeprefix('vkCreate').removesuffix('EXT')}CreateInfoEXT"
    to = vk.buffer(8, 0)
    assert vk.call_found(instance, function, instance, vk.structure(name, **members[name]), allocator, to) == 0
    return to.handle()


def use(vk: VulkanSession, instance: Value, kind: str, thing: Value) -> None:
    """Has drivers make a surface, where a loader leaves that until it is used."""
    for device in vk.physical_devices(instance) if kind == "surface" else []:
        assert vk.vkGetPhysicalDeviceSurfaceSupportKHR(device, 0, thing, vk.buffer(4, 0)) == 0


def created_handles(sandbox: VulkanSandbox, driver: str, kind: str) -> list[int]:
    objects = sandbox.log.happened("object", by=driver)
    return [int(e.data["handle"], 16) for e in objects if e.data["detail"].startswith(f"{KINDS[kind][3]} ")]


def destroyed_handles(sandbox: VulkanSandbox, driver: str, kind: str) -> list[int]:
    return [event.arguments[1] for event in sandbox.log.calls(KINDS[kind][2], by=driver)]


@requirement("VK-OBJ-016", "VK-OBJ-025")
@pytest.mark.parametrize("kind", KINDS)
def test_many_objects_are_told_apart(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, kind: str) -> None:
    """Each has one of its own in each driver; every second one is ended, made anew, and all are ended in the end."""
    add_drivers(sandbox, kind)

    with vulkan_loader.start(sandbox) as vk:
        instance = start_instance(vulkan_loader, vk, kind)
        things = []
        for _ in range(MANY):
            things.append(make(vk, instance, kind))
            use(vk, instance, kind, things[-1])
        assert len(set(things)) == MANY
        first = list(range(0, MANY, 2))
        for index in first:
            vk.call_found(instance, KINDS[kind][2], instance, things[index], None)
        for index in first:
            things[index] = make(vk, instance, kind)
            use(vk, instance, kind, things[index])
        for thing in things:
            vk.call_found(instance, KINDS[kind][2], instance, thing, None)
    for driver in ("a", "b"):
        handles = created_handles(sandbox, driver, kind)
        assert len(handles) == MANY + len(first)
        last = handles[:MANY]
        last[::2] = handles[MANY:]
        assert destroyed_handles(sandbox, driver, kind) == handles[:MANY:2] + last
    assert not sandbox.log.happened("foreign handle")


@requirement("VK-OBJ-042")
@pytest.mark.parametrize("kind", KINDS)
def test_objects_leave_no_memory_behind(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, kind: str) -> None:
    """Made and ended again and again in one instance: the heap does not grow."""
    sandbox.driver("a", extensions=" ".join(KINDS[kind][0]), surfaces=True)

    with vulkan_loader.start(sandbox, counted_heap=True) as vk:
        instance = start_instance(vulkan_loader, vk, kind)
        sizes = []
        for _ in range(2):
            for _ in range(MANY):
                vk.call_found(instance, KINDS[kind][2], instance, make(vk, instance, kind), None)
            sizes.append(vk.heap())
    assert sizes[1] <= sizes[0]


@requirement("VK-OBJ-031")
@pytest.mark.parametrize("kind", KINDS)
def test_objects_that_are_left_are_ended_with_the_instance(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, kind: str
) -> None:
    """Of three, one is ended by the application: each driver ends the others once, before its instance."""
    add_drivers(sandbox, kind)

    with vulkan_loader.start(sandbox) as vk:
        instance = start_instance(vulkan_loader, vk, kind)
        things = [make(vk, instance, kind) for _ in range(3)]
        for thing in things:
            use(vk, instance, kind, thing)
        vk.call_found(instance, KINDS[kind][2], instance, things[1], None)
        vk.vkDestroyInstance(instance, None)
    for driver in ("a", "b"):
        handles = created_handles(sandbox, driver, kind)
        assert len(handles) == 3
        assert destroyed_handles(sandbox, driver, kind)[0] == handles[1]
        assert sorted(destroyed_handles(sandbox, driver, kind)) == sorted(handles)
        names = [event.name for event in sandbox.log.of(driver).calls()]
        assert names[-1] == "vkDestroyInstance"
        assert [event.arguments[2] for event in sandbox.log.calls(KINDS[kind][2], by=driver)] == [0, 0, 0]
    assert not sandbox.log.happened("foreign handle")


@requirement("VK-OBJ-018", "VK-OBJ-014")
@pytest.mark.parametrize("place", range(4))
def test_other_devices_work_on_when_one_is_gone(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, place: int
) -> None:
    """Of four devices of one driver, whichever is destroyed, the others have queues, swapchains and look-ups."""
    add_drivers(sandbox, "surface")

    with vulkan_loader.start(sandbox) as vk:
        instance = start_instance(vulkan_loader, vk, "surface")
        surface = make(vk, instance, "surface")
        (first, *_) = [d for d in vk.physical_devices(instance) if vk.device_name(d) == "a.0"]
        devices = [vk.device(first, extensions=[SWAPCHAIN]) for _ in range(4)]
        vk.vkDestroyDevice(devices.pop(place), None)
        devices.insert(place, vk.device(first, extensions=[SWAPCHAIN]))
        for device in devices:
            table = int(vk.peek(device, 0))
            for name in ("vkGetDeviceQueue", "vkGetDeviceQueue2"):
                find, to = vk.device_proc(device, name), vk.buffer(8, 0)
                index = [vk.structure("VkDeviceQueueInfo2", queueIndex=1)] if name.endswith("2") else [0, 1]
                vk.call_at(find, name, device, *index, to)
                assert int(vk.peek(to.handle(), 0)) == table
            name = "vkCreateSwapchainKHR"
            info = vk.structure("VkSwapchainCreateInfoKHR", surface=surface)
            assert vk.call_at(vk.device_proc(device, name), name, device, info, None, vk.buffer(8)) == 0
        for device in devices:
            vk.vkDestroyDevice(device, None)
    assert len(sandbox.log.happened("own surface", by="a")) == 4
    assert len(sandbox.log.calls("vkDestroyDevice", by="a")) == 5
    assert not sandbox.log.happened("foreign handle")


@requirement("VK-OBJ-018", "VK-OBJ-017")
@pytest.mark.parametrize("place", range(4))
def test_devices_of_other_instances_work_on_when_one_is_gone(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, place: int
) -> None:
    """Of four instances with a device each, whichever is destroyed, the devices of the others work on, and end."""
    add_drivers(sandbox, "surface")

    with vulkan_loader.start(sandbox) as vk:
        instances = [start_instance(vulkan_loader, vk, "surface") for _ in range(4)]
        devices = []
        for instance in instances:
            (first, *_) = [d for d in vk.physical_devices(instance) if vk.device_name(d) == "a.0"]
            devices.append(vk.device(first, extensions=[SWAPCHAIN]))
        vk.vkDestroyDevice(devices.pop(place), None)
        vk.vkDestroyInstance(instances.pop(place), None)
        for instance, device in zip(instances, devices, strict=True):
            surface, name, to = make(vk, instance, "surface"), "vkCreateSwapchainKHR", vk.buffer(8, 0)
            info = vk.structure("VkSwapchainCreateInfoKHR", surface=surface)
            assert vk.call_at(vk.device_proc(device, name), name, device, info, None, vk.buffer(8)) == 0
            find, queue = vk.device_proc(device, "vkGetDeviceQueue2"), vk.structure("VkDeviceQueueInfo2")
            assert find
            vk.call_at(find, "vkGetDeviceQueue2", device, queue, to)
            assert int(vk.peek(to.handle(), 0)) == int(vk.peek(device, 0))
            vk.vkDestroySurfaceKHR(instance, surface, None)
        for instance, device in zip(instances, devices, strict=True):
            vk.vkDestroyDevice(device, None)
            vk.vkDestroyInstance(instance, None)
    assert len(sandbox.log.happened("own surface", by="a")) == 3
    for name in ("vkDestroyDevice", "vkDestroyInstance"):
        assert len({event.arguments[0] for event in sandbox.log.calls(name, by="a")}) == 4
    assert not sandbox.log.happened("foreign handle")


@requirement("VK-OBJ-017")
@pytest.mark.parametrize("listed", [False, True], ids=["never listed", "listed"])
def test_instance_of_a_driver_without_devices_is_destroyed(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, listed: bool
) -> None:
    """Once, whether a loader lets go of such a driver when its devices are listed or in the end; the other works on."""
    sandbox.driver("a")
    sandbox.driver("none", devices=0)
    sandbox.driver("b")

    with vulkan_loader.start(sandbox) as vk:
        instance = vk.instance()
        for _ in range(2 if listed else 0):
            assert vk.device_names(instance) == {"a.0", "b.0"}
        vk.vkDestroyInstance(instance, None)
        assert vk.device_names() == {"a.0", "b.0"}
    for name in ("a", "none", "b"):
        objects = [e.data["handle"] for e in sandbox.log.happened("object", by=name)]
        instances = [int(handle, 16) for handle in objects if handle]
        destroyed = [event.arguments[0] for event in sandbox.log.calls("vkDestroyInstance", by=name)]
        assert len(destroyed) == 2 and set(destroyed) <= set(instances)
    assert not sandbox.log.happened("foreign handle")


@requirement("VK-DSC-055")
@pytest.mark.parametrize("times", [0, 1, 3])
def test_library_goes_with_the_instance_whatever_was_listed_before(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, times: int
) -> None:
    """Extensions may be listed without an instance first: when one is destroyed, the driver's library is unloaded."""
    vulkan_loader.require("unloads drivers")
    sandbox.driver("a")
    with vulkan_loader.start(sandbox) as vk:
        for _ in range(times):
            assert vk.extension_names()
        vk.device_names()
        assert sandbox.log.happened("unloaded", by="a")


# Drivers that are of no use after their library was loaded, by what they do.
LEFT_OUT: dict[str, dict[str, Any]] = {
    "refuses": {"faults": ["negotiation_fails=-9"]},
    "lacks vkCreateInstance": {"functions": {"lacks": ["vkCreateInstance"]}},
    "makes no instance": {"faults": ["create_instance_fails=-3"]},
    "has no devices": {"devices": 0},
}


@requirement("VK-DSC-055")
@pytest.mark.parametrize("why", LEFT_OUT)
def test_library_of_a_driver_that_is_left_out_goes_with_the_instance(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, why: str
) -> None:
    """It is unloaded when the instance is destroyed, at the latest, as the library of the driver beside it is."""
    vulkan_loader.require("unloads drivers")
    sandbox.driver("good")
    sandbox.driver("bad", **LEFT_OUT[why])
    with vulkan_loader.start(sandbox) as vk:
        assert vk.device_names() == {"good.0"}
        assert sandbox.log.happened("loaded", by="bad")
        unloaded = {name for name in ("good", "bad") if sandbox.log.happened("unloaded", by=name)}
        assert unloaded == {"good", "bad"}


@requirement("VK-DSC-055")
def test_library_goes_with_the_instance_where_extensions_were_listed_before(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox
) -> None:
    """A loader may keep drivers from one list of extensions to the next, and not beyond an instance."""
    vulkan_loader.require("unloads drivers")
    sandbox.driver("a", extensions="VK_KHR_device_group_creation")

    with vulkan_loader.start(sandbox) as vk:
        for _ in range(2):
            assert "VK_KHR_device_group_creation" in vk.extension_names()
        assert vk.device_names() == {"a.0"}
        assert sandbox.log.happened("loaded", by="a")
        assert len(sandbox.log.happened("unloaded", by="a")) == len(sandbox.log.happened("loaded", by="a"))


def unloaded_where_the_variable_is(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, value: str) -> set[str]:
    """The drivers, of two, whose libraries go with one of two instances; in the end, with the process, each does."""
    vulkan_loader.require("unloads drivers")
    vulkan_loader.require("keeps drivers")
    sandbox.driver("a")
    sandbox.driver("b")
    sandbox.env["VK_LOADER_DISABLE_DYNAMIC_LIBRARY_UNLOADING"] = value
    with vulkan_loader.start(sandbox) as vk:
        for _ in range(2):
            assert vk.device_names() == {"a.0", "b.0"}
        return {name for name in ("a", "b") if sandbox.log.happened("unloaded", by=name)}


@requirement("VK-DSC-037")
def test_libraries_stay_where_a_variable_is_1(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """With VK_LOADER_DISABLE_DYNAMIC_LIBRARY_UNLOADING as 1 the library of each driver stays after each instance."""
    assert unloaded_where_the_variable_is(vulkan_loader, sandbox, "1") == set()


@requirement("VK-DSC-055")
@pytest.mark.parametrize("value", ["", "0", "2", "10", "11", "1 ", "true"])
def test_libraries_go_where_a_variable_is_not_1(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, value: str
) -> None:
    """With another value of it a driver's library goes with its instance."""
    assert unloaded_where_the_variable_is(vulkan_loader, sandbox, value) == {"a", "b"}


# Callbacks for memory, by whether they hear of a driver's internal memory, which they need not.
CALLBACKS = {"no": None, "some": False, "all": True}


@requirement("VK-OBJ-038")
@pytest.mark.parametrize("callbacks", CALLBACKS)
@pytest.mark.parametrize("kind", [*KINDS, "instance"])
def test_what_a_driver_made_is_ended_as_it_was_made_when_its_devices_go(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, kind: str, callbacks: str
) -> None:
    """Once, by the application's callbacks where it was made by them, whenever a loader lets go of such a driver."""
    extensions = list(dict.fromkeys([*KINDS["surface"][0], *(KINDS[kind][0] if kind in KINDS else [])]))
    settings: dict[str, Any] = {"extensions": " ".join(extensions), "surfaces": True}
    sandbox.driver("stays", **settings)
    sandbox.driver("goes", faults=["devices_go_with_surfaces"], **settings)

    with vulkan_loader.start(sandbox) as vk:
        for name in set(extensions) - set(vk.extension_names()):
            vulkan_loader.require(name)
        internal, to = CALLBACKS[callbacks], vk.buffer(8, 0)
        allocator = None if internal is None else vk.allocator(internal=internal)
        of_instance = allocator if kind == "instance" else None
        assert vk.vkCreateInstance(vk.instance_info("1.1.0", extensions=extensions), of_instance, to) == 0
        instance = to.handle()
        things = {
            made: make(vk, instance, made, allocator if made == kind else None) for made in {"surface", kind} & {*KINDS}
        }
        use(vk, instance, "surface", things["surface"])
        for _ in range(2):
            assert vk.device_names(instance) == {"stays.0"}
        for made, thing in things.items():
            vk.call_found(instance, KINDS[made][2], instance, thing, allocator if made == kind else None)
        vk.vkDestroyInstance(instance, of_instance)
    functions = KINDS[kind][1:3] if kind in KINDS else ("vkCreateInstance", "vkDestroyInstance")
    for driver in ("stays", "goes"):
        calls = [sandbox.log.calls(name, by=driver).only for name in functions]
        by_callbacks = [bool(call.arguments[2 if kind in KINDS else 1]) for call in calls]
        assert by_callbacks == [internal is not None] * 2
    assert not sandbox.log.happened("foreign handle")
