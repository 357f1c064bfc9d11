# SPDX-License-Identifier: Apache-2.0
"""Applications' allocators that have no memory left (VK-OBJ)."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count

import pytest

from harness.check import VK, Buffer, Value, VulkanLoader, VulkanSandbox, VulkanSession, requirement

SURFACE, HEADLESS = "VK_KHR_surface", "VK_EXT_headless_surface"
UTILS, REPORT = "VK_EXT_debug_utils", "VK_EXT_debug_report"
EXTENSIONS = [SURFACE, HEADLESS, UTILS, REPORT]
DEVICES = {"a.0", "a.1", "b.0", "b.1"}
MOST_REQUESTS = 5000  # far more than any loader makes for one call


@dataclass
class Attempts:
    """Calls of one function, each with the allocator refusing one request later: what was wrong, by that number."""

    results: dict[int, int] = field(default_factory=dict)  # others than success and that there is no memory
    incomplete: list[int] = field(default_factory=list)  # success, and yet not all that the call is for
    kept: dict[int, int] = field(default_factory=dict)  # pieces that the allocator has not got back
    failures: int = 0


class Attempt:
    """One call of a function while the allocator refuses the `first`-th request."""

    def __init__(self, vk: VulkanSession, own: Value, first: int, once: bool) -> None:
        self.vk, self.own, self._first, self._once = vk, own, first, once
        self.rc, self.refused, self.is_complete = 0, 0, True

    @contextmanager
    def refusing(self) -> Iterator[None]:
        """While the allocator refuses."""
        self.vk.refuse_memory(self._first, once=self._once)
        yield
        self.refused = self.vk.refuse_memory()

    def instance(self) -> Value:
        """An instance by the allocator, which must be had."""
        to = self.vk.buffer(8, 0)
        assert self.vk.vkCreateInstance(self.vk.instance_info("1.1.0", extensions=EXTENSIONS), self.own, to) == 0
        return to.handle()


def create_instance(attempt: Attempt) -> None:
    vk, to = attempt.vk, attempt.vk.buffer(8, 0)
    info = vk.instance_info("1.1.0", extensions=EXTENSIONS)
    with attempt.refusing():
        attempt.rc = vk.vkCreateInstance(info, attempt.own, to)
    if attempt.rc == 0:
        attempt.is_complete = vk.device_names(to.handle()) == DEVICES
        vk.vkDestroyInstance(to.handle(), attempt.own)


def create_device(attempt: Attempt) -> None:
    vk, to = attempt.vk, attempt.vk.buffer(8, 0)
    instance = attempt.instance()
    (device, *_), info = vk.physical_devices(instance), vk.structure("VkDeviceCreateInfo")
    with attempt.refusing():
        attempt.rc = vk.vkCreateDevice(device, info, attempt.own, to)
    if attempt.rc == 0:
        attempt.is_complete = vk.device_proc(to.handle(), "vkGetDeviceQueue") != 0
        vk.vkDestroyDevice(to.handle(), attempt.own)
    vk.vkDestroyInstance(instance, attempt.own)


def enumerate_devices(attempt: Attempt) -> None:
    """The first time for an instance; the application's memory has room for more than there are."""
    vk = attempt.vk
    instance = attempt.instance()
    number, listed = vk.data((8).to_bytes(4, "little")), vk.buffer(8 * 8, 0)
    with attempt.refusing():
        attempt.rc = vk.vkEnumeratePhysicalDevices(instance, number, listed)
    if attempt.rc == 0:
        devices = listed.handles()[: number.u32()]
        attempt.is_complete = 0 not in devices and {vk.device_name(device) for device in devices} == DEVICES
    elif vk.device_names(instance) != DEVICES:
        attempt.is_complete = False
    vk.vkDestroyInstance(instance, attempt.own)


def enumerate_groups(attempt: Attempt) -> None:
    """The first time for an instance."""
    vk, name = attempt.vk, "VkPhysicalDeviceGroupProperties"
    instance = attempt.instance()
    number, listed = vk.data((16).to_bytes(4, "little")), vk.structures(name, [{}] * 16)
    with attempt.refusing():
        attempt.rc = vk.vkEnumeratePhysicalDeviceGroups(instance, number, listed)
    if attempt.rc == 0:
        attempt.is_complete = number.u32() == len(DEVICES) and all(
            vk.member_bytes(listed, name, "physicalDevices", index)[:8] != bytes(8) for index in range(len(DEVICES))
        )
    vk.vkDestroyInstance(instance, attempt.own)


def _create_object(attempt: Attempt, kind: str, info: Buffer) -> None:
    vk, to = attempt.vk, attempt.vk.buffer(8, 0)
    instance = attempt.instance()
    create = vk.proc(instance, f"vkCreate{kind}")
    with attempt.refusing():
        attempt.rc = vk.call_at(create, f"vkCreate{kind}", instance, info, attempt.own, to)
    if attempt.rc == 0:
        attempt.is_complete = to.handle() != 0
        destroy = "vkDestroySurfaceKHR" if "Surface" in kind else f"vkDestroy{kind}"
        vk.call_found(instance, destroy, instance, to.handle(), attempt.own)
    vk.vkDestroyInstance(instance, attempt.own)


def create_surface(attempt: Attempt) -> None:
    _create_object(attempt, "HeadlessSurfaceEXT", attempt.vk.structure("VkHeadlessSurfaceCreateInfoEXT"))


def create_messenger(attempt: Attempt) -> None:
    about = {"messageSeverity": 0x1111, "messageType": 7, "pfnUserCallback": attempt.vk.hearer()}
    info = attempt.vk.structure("VkDebugUtilsMessengerCreateInfoEXT", **about)
    _create_object(attempt, "DebugUtilsMessengerEXT", info)


def create_report(attempt: Attempt) -> None:
    hearer = attempt.vk.hearer(reports=True)
    info = attempt.vk.structure("VkDebugReportCallbackCreateInfoEXT", flags=31, pfnCallback=hearer)
    _create_object(attempt, "DebugReportCallbackEXT", info)


CALLS: dict[str, Callable[[Attempt], None]] = {
    "vkCreateInstance": create_instance,
    "vkCreateDevice": create_device,
    "vkEnumeratePhysicalDevices": enumerate_devices,
    "vkEnumeratePhysicalDeviceGroups": enumerate_groups,
    "vkCreateHeadlessSurfaceEXT": create_surface,
    "vkCreateDebugUtilsMessengerEXT": create_messenger,
    "vkCreateDebugReportCallbackEXT": create_report,
}


def add_drivers(loader: VulkanLoader, sandbox: VulkanSandbox) -> None:
    """Two drivers of two devices, with all the extensions; unsupported where the loader does not know one of them."""
    for name in ("a", "b"):
        sandbox.driver(name, devices=2, extensions=" ".join(EXTENSIONS))
    with loader.start(sandbox) as vk:
        for name in set(EXTENSIONS) - set(vk.extension_names()):
            loader.require(name)


def attempts(vk: VulkanSession, call: str, once: bool) -> Attempts:
    """Calls it until the allocator has refused nothing; then there is memory for all, and all must be as ever."""
    own, found = vk.allocator(), Attempts()
    for first in count(1):
        assert first < MOST_REQUESTS
        before = vk.allocated(look=False)
        attempt = Attempt(vk, own, first, once)
        CALLS[call](attempt)
        if attempt.rc not in (0, VK.ERROR_OUT_OF_HOST_MEMORY):
            found.results[first] = attempt.rc
        if not attempt.is_complete:
            found.incomplete.append(first)
        if kept := vk.allocated(look=False) - before:
            found.kept[first] = kept
        found.failures += attempt.rc != 0
        if attempt.refused == 0:
            assert attempt.rc == 0
            vk.allocated()  # looks at what was given back
            return found
    raise AssertionError("never reached")


@requirement("VK-OBJ-043")
@pytest.mark.parametrize("once", [True, False], ids=["one", "all"])
@pytest.mark.parametrize("call", CALLS)
def test_call_without_memory_fails_or_does_all(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, call: str, once: bool
) -> None:
    """Whichever request is refused, alone or with all after it: VK_ERROR_OUT_OF_HOST_MEMORY, or as with memory."""
    add_drivers(vulkan_loader, sandbox)

    with vulkan_loader.start(sandbox) as vk:
        found = attempts(vk, call, once)
    assert (found.results, found.incomplete) == ({}, [])


@requirement("VK-OBJ-044")
@pytest.mark.parametrize("once", [True, False], ids=["one", "all"])
@pytest.mark.parametrize("call", CALLS)
def test_call_without_memory_keeps_none(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, call: str, once: bool
) -> None:
    """Whichever request is refused: what was given before it is given back."""
    add_drivers(vulkan_loader, sandbox)

    with vulkan_loader.start(sandbox) as vk:
        found = attempts(vk, call, once)
    assert found.kept == {}
    for event in ("foreign memory", "memory overrun", "memory written late"):
        assert not sandbox.log.happened(event)


@requirement("VK-OBJ-042")
@pytest.mark.parametrize("once", [True, False], ids=["one", "all"])
@pytest.mark.parametrize("call", CALLS)
def test_call_without_memory_leaves_nothing_in_drivers(
    vulkan_loader: VulkanLoader, sandbox: VulkanSandbox, call: str, once: bool
) -> None:
    """Whichever request is refused: instances and devices of drivers are ended where the loader's is not made."""
    add_drivers(vulkan_loader, sandbox)

    with vulkan_loader.start(sandbox) as vk:
        attempts(vk, call, once)
    for thing in ("Instance", "Device"):
        for driver in ("a", "b"):
            made, ended = (sandbox.log.calls(f"vk{verb}{thing}", by=driver) for verb in ("Create", "Destroy"))
            assert len(made) == len(ended)
