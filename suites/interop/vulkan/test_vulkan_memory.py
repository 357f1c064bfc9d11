# SPDX-License-Identifier: Apache-2.0
"""Memory that a loader takes by the allocator of the application (VK-OBJ)."""

from collections.abc import Callable
from typing import Any

import pytest

from harness.check import Buffer, Value, VulkanLoader, VulkanSandbox, VulkanSession, requirement

SURFACE, HEADLESS = "VK_KHR_surface", "VK_EXT_headless_surface"
UTILS, REPORT = "VK_EXT_debug_utils", "VK_EXT_debug_report"
EXTENSIONS = [SURFACE, HEADLESS, UTILS, REPORT]
PHYSICAL, OF_DEVICES = "vkGetPhysicalDeviceThing{}CLH", "vkDoThing{}CLH"
# Drivers that are left out, by what they are called.
BESIDE: dict[str, dict[str, Any]] = {
    "manifest without a library": {"manifest": {"library_path": None}},
    "library that is not there": {"manifest": {"library_path": "/nowhere/lib.so"}},
    "driver that refuses": {"faults": ["negotiation_fails=-9"]},
    "driver without an instance": {"faults": ["create_instance_fails=-3"]},
    "driver without a function": {"functions": {"lacks": ["vkGetPhysicalDeviceProperties"]}},
    "driver without devices": {"devices": 0},
}
EXTENSION_OF = {"DebugUtilsMessengerEXT": UTILS, "DebugReportCallbackEXT": REPORT}


def add_drivers(sandbox: VulkanSandbox, by_bare_names: bool = False) -> None:
    for name in ("a", "b"):
        sandbox.driver(
            name,
            devices=2,
            extensions=" ".join(EXTENSIONS),
            surfaces=name == "b",
            device_extensions="VK_CLH_own",
            physical_device_functions=" ".join(PHYSICAL.format(i) for i in range(3)),
            device_functions=" ".join(OF_DEVICES.format(i) for i in range(3)),
            manifest={"library_path": f"lib{name}.so"} if by_bare_names else {},
        )
    if by_bare_names:
        sandbox.env["LD_LIBRARY_PATH"] = str(sandbox.libraries)


def instance_by(vk: VulkanSession, allocator: Value, **settings: Any) -> tuple[int, Value]:
    """The result of vkCreateInstance by an allocator, and the instance."""
    to = vk.buffer(8, 0)
    return vk.vkCreateInstance(vk.instance_info("1.1.0", **settings), allocator, to), to.handle()


def use_devices(vk: VulkanSession, instance: Value, own: Value) -> None:
    """Lists devices again and again, then makes some, by the allocator and without; one cannot be made."""
    for _ in range(3):
        devices = vk.physical_devices(instance)
    for allocator in (own, None):
        for physical_device in devices:
            info, to = vk.structure("VkDeviceCreateInfo"), vk.buffer(8)
            assert vk.vkCreateDevice(physical_device, info, allocator, to) == 0
            vk.vkDestroyDevice(to.handle(), allocator)
    wrong = vk.structure(
        "VkDeviceCreateInfo", enabledExtensionCount=1, ppEnabledExtensionNames=vk.strings(["VK_CLH_no"])
    )
    assert vk.vkCreateDevice(devices[0], wrong, own, vk.buffer(8)) != 0


def use_surfaces(vk: VulkanSession, instance: Value, own: Value) -> None:
    """Makes more surfaces than a first list may hold, by the allocator and without, and ends all."""
    surfaces: list[tuple[Value, Value | None]] = []
    for number in range(40):
        allocator, to = own if number % 2 else None, vk.buffer(8, 0)
        info: Buffer = vk.structure("VkHeadlessSurfaceCreateInfoEXT")
        assert vk.call_found(instance, "vkCreateHeadlessSurfaceEXT", instance, info, allocator, to) == 0
        surfaces.append((to.handle(), allocator))
    for surface, allocator in surfaces:
        vk.vkDestroySurfaceKHR(instance, surface, allocator)


def messenger_info(vk: VulkanSession, kind: str) -> Buffer:
    """What makes a messenger or a callback for reports that hears everything."""
    if EXTENSION_OF[kind] == REPORT:
        return vk.structure("VkDebugReportCallbackCreateInfoEXT", flags=31, pfnCallback=vk.hearer(reports=True))
    about = {"messageSeverity": 0x1111, "messageType": 7, "pfnUserCallback": vk.hearer()}
    return vk.structure("VkDebugUtilsMessengerCreateInfoEXT", **about)


def use_messengers(vk: VulkanSession, instance: Value, own: Value) -> None:
    """Makes more messengers and callbacks for reports than a first list may hold, by the allocator and without."""
    for kind in EXTENSION_OF:
        messengers: list[tuple[Value, Value | None]] = []
        info = messenger_info(vk, kind)
        for number in range(40):
            allocator, to = own if number % 2 else None, vk.buffer(8, 0)
            assert vk.call_found(instance, f"vkCreate{kind}", instance, info, allocator, to) == 0
            messengers.append((to.handle(), allocator))
        for messenger, allocator in messengers:
            vk.call_found(instance, f"vkDestroy{kind}", instance, messenger, allocator)


def use_unknown_functions(vk: VulkanSession, instance: Value, own: Value) -> None:
    """Looks up functions that the loader does not know, and leaves them at that."""
    assert own
    for number in range(3):
        assert vk.proc(instance, PHYSICAL.format(number)) and vk.proc(instance, OF_DEVICES.format(number))


def use_nothing(vk: VulkanSession, instance: Value, own: Value) -> None:
    """What is of interest is how the drivers are found."""
    assert vk and instance and own


USES: dict[str, Callable[[VulkanSession, Value, Value], None]] = {
    "devices": use_devices,
    "surfaces": use_surfaces,
    "messengers": use_messengers,
    "unknown functions": use_unknown_functions,
    "drivers by bare names": use_nothing,
}


def require_known(loader: VulkanLoader, names: list[str]) -> None:
    """Makes the case unsupported where the loader does not know one of the extensions."""
    machine = VulkanSandbox(loader.path)
    try:
        machine.driver("a", extensions=" ".join(names))
        with loader.start(machine) as vk:
            for name in set(names) - set(vk.extension_names()):
                loader.require(name)
    finally:
        machine.close()


@requirement("VK-OBJ-029")
@pytest.mark.parametrize("what", USES)
def test_memory_of_an_instance_goes_back_to_its_allocator(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, what: str
) -> None:
    """When the instance is gone, all that it took is given back, each piece by the functions that it came from."""
    require_known(vulkan_loader, EXTENSIONS)
    add_drivers(sandbox, by_bare_names=what == "drivers by bare names")

    with vulkan_loader.start(sandbox) as vk:
        own = vk.allocator()
        for _ in range(2):
            rc, instance = instance_by(vk, own, extensions=EXTENSIONS)
            assert rc == 0
            USES[what](vk, instance, own)
            vk.vkDestroyInstance(instance, own)
            assert vk.allocated() == 0
        assert vk.device_names() == {"a.0", "a.1", "b.0", "b.1"}
        assert vk.allocated() == 0
    for event in ("foreign memory", "memory overrun", "memory written late"):
        assert not sandbox.log.happened(event)


@requirement("VK-OBJ-029")
@pytest.mark.parametrize("way", ["exported", "found with the device"])
def test_memory_of_a_device_goes_back_when_it_is_destroyed(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, way: str
) -> None:
    """By whichever vkDestroyDevice, and long before the instance is gone."""
    add_drivers(sandbox)

    with vulkan_loader.start(sandbox) as vk:
        own, instance = vk.allocator(), vk.instance("1.1.0")
        devices, name = vk.physical_devices(instance), "vkDestroyDevice"
        for physical_device in devices:
            to = vk.buffer(8)
            assert vk.vkCreateDevice(physical_device, vk.structure("VkDeviceCreateInfo"), own, to) == 0
            device = to.handle()
            address = f"@{name}" if way == "exported" else vk.device_proc(device, name)
            vk.call_at(address, name, device, own)
            assert vk.allocated() == 0
        vk.vkDestroyInstance(instance, None)
    assert len([event for event in sandbox.log.calls("vkDestroyDevice") if event.who in ("a", "b")]) == len(devices)


@requirement("VK-OBJ-029")
@pytest.mark.parametrize("beside", BESIDE)
def test_driver_that_is_left_out_keeps_no_memory_of_the_allocator(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, beside: str
) -> None:
    """Beside a driver that is used; and alone, where there is no instance in the end."""
    sandbox.driver("out", **BESIDE[beside])

    with vulkan_loader.start(sandbox) as vk:
        own = vk.allocator()
        rc, instance = instance_by(vk, own)
        if rc == 0:
            vk.vkDestroyInstance(instance, own)
        assert vk.allocated() == 0
    sandbox.driver("a")
    with vulkan_loader.start(sandbox) as vk:
        own = vk.allocator()
        rc, instance = instance_by(vk, own)
        assert rc == 0 and "a" in vk.drivers(instance)  # whether the other is left out has requirements of its own
        vk.vkDestroyInstance(instance, own)
        assert vk.allocated() == 0
    assert not sandbox.log.happened("foreign memory") and not sandbox.log.happened("memory overrun")


@requirement("VK-OBJ-029")
def test_device_that_a_driver_refuses_keeps_no_memory_of_the_allocator(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox
) -> None:
    """However often it is tried."""
    sandbox.driver("a", faults=["create_device_fails=-3"])

    with vulkan_loader.start(sandbox) as vk:
        own = vk.allocator()
        (device,) = vk.physical_devices(vk.instance())
        info, to = vk.structure("VkDeviceCreateInfo"), vk.buffer(8)
        for _ in range(24):
            assert vk.vkCreateDevice(device, info, own, to) == -3
        assert vk.allocated() == 0


@requirement("VK-OBJ-042")
def test_device_that_a_driver_refuses_keeps_no_memory_of_the_heap(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox
) -> None:
    """However often it is tried, without an allocator."""
    sandbox.driver("a", faults=["create_device_fails=-3"])

    with vulkan_loader.start(sandbox, counted_heap=True) as vk:
        (device,) = vk.physical_devices(vk.instance())
        info, to, heaps = vk.structure("VkDeviceCreateInfo"), vk.buffer(8), list[int]()
        for _ in range(3):
            for _ in range(8):
                assert vk.vkCreateDevice(device, info, None, to) == -3
            heaps.append(vk.heap())
    assert heaps[2] <= heaps[1]


@requirement("VK-OBJ-034")
@pytest.mark.parametrize("beside", [None, "folder", *(name for name in BESIDE if "function" not in name)])
def test_instances_leave_neither_files_nor_memory(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, beside: str | None
) -> None:
    """Made and ended again and again, with drivers in a folder: files that were opened for them are closed."""
    folder = sandbox.search_folder("place")
    sandbox.env["XDG_DATA_HOME"] = str(sandbox.root / "place")
    sandbox.manifest("a.json", sandbox.library("a"), folder)
    if beside in BESIDE:
        settings = dict(BESIDE[beside])
        fields = settings.pop("manifest", {})
        sandbox.manifest("out.json", sandbox.library("out", **settings), folder, **fields)
    elif beside:
        (folder / "out.json").mkdir()

    with vulkan_loader.start(sandbox, search=True, counted_heap=True) as vk:
        found = []
        for _ in range(3):
            for _ in range(4):
                vk.extension_names()
                instance = vk.instance()
                assert vk.drivers(instance) == {"a"}
                vk.vkDestroyInstance(instance, None)
            found.append((vk.open_files(), vk.heap()))
    assert found[1][0] == found[2][0]
    assert found[2][1] <= found[1][1]


@requirement("VK-OBJ-029")
def test_instance_that_is_refused_keeps_no_memory_of_the_allocator(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox
) -> None:
    """For an extension or a layer that nobody has; the same request without it succeeds."""
    sandbox.driver("a")

    with vulkan_loader.start(sandbox) as vk:
        own = vk.allocator()
        for wrong in ({"extensions": ["VK_CLH_nobody"]}, {"layers": ["VK_LAYER_CLH_nobody"]}):
            assert instance_by(vk, own, **wrong)[0] != 0
            assert vk.allocated() == 0
        rc, instance = instance_by(vk, own)
        assert rc == 0 and vk.drivers(instance) == {"a"}
    assert not sandbox.log.happened("foreign memory") and not sandbox.log.happened("memory overrun")


# What vkCreateInstance fails for, beside an instance that was made without it.
FAILING: dict[str, dict[str, Any]] = {
    "driver": {},  # it refuses the callbacks for memory
    "extension": {"extensions": ["VK_CLH_nobody"]},
    "layer": {"layers": ["VK_LAYER_CLH_nobody"]},
}


@requirement("VK-OBJ-021")
@pytest.mark.parametrize("cause", FAILING)
def test_instance_that_fails_harms_no_other(vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, cause: str) -> None:
    """Whatever it fails for, another instance, its devices and their queues work on; nothing touches what was its."""
    sandbox.driver("a", faults=["create_instance_refuses_allocators"] if cause == "driver" else [])

    with vulkan_loader.start(sandbox) as vk:
        own, instance = vk.allocator(), vk.instance("1.1.0")
        devices = [vk.device(physical_device) for physical_device in vk.physical_devices(instance)]
        for _ in range(2):
            assert instance_by(vk, own, **FAILING[cause])[0] < 0
            assert vk.drivers(instance) == {"a"}
            devices += [vk.device(physical_device) for physical_device in vk.physical_devices(instance)]
            for device in devices:
                assert vk.queue(device) and vk.device_proc(device, "vkDestroyDevice")
            assert vk.allocated() == 0
        for device in devices:
            vk.vkDestroyDevice(device, None)
        vk.vkDestroyInstance(instance, None)
        assert vk.allocated() == 0
        assert vk.drivers() == {"a"}
    assert not sandbox.log.happened("memory written late") and not sandbox.log.happened("foreign handle")
