# SPDX-License-Identifier: Apache-2.0
"""Calls of any function of Vulkan whose every bit is known, and what a driver should have seen of them.

A parameter that is passed by value gets a pattern of its own; one that is a pointer gets memory that is large enough
for whatever a loader may read there, filled with zeros, in which surfaces are real ones. A structure that others can
follow is followed by two that nobody knows, which a driver logs where it is told to (`chains` of its functions).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from harness.api.vulkan.model import Function, Parameter, vulkan
from harness.calllog.reader import CallLog, Event
from harness.probe.values import Value
from harness.probe.vulkan_session import VulkanSession

ROOM = 4096  # bytes that each pointer points to

# Functions that are a loader's own business: it makes or ends objects, or answers for all drivers.
OF_LOADERS = {
    "vkCreateDevice", "vkEnumerateDeviceExtensionProperties", "vkEnumerateDeviceLayerProperties", "vkDestroyDevice",
    "vkGetDeviceProcAddr", "vkGetDeviceQueue", "vkGetDeviceQueue2", "vkAllocateCommandBuffers",
    "vkCreateSharedSwapchainsKHR",  # an array of structures, each with a surface
}  # fmt: skip
# Functions with a structure in which a loader has to replace handles of its own: the driver gets a copy.
COPIED = {
    "vkDebugMarkerSetObjectNameEXT", "vkDebugMarkerSetObjectTagEXT", "vkSetDebugUtilsObjectNameEXT",
    "vkSetDebugUtilsObjectTagEXT", "vkCreateSwapchainKHR",
    "vkGetDeviceGroupSurfacePresentModes2EXT", "vkGetPhysicalDeviceSurfaceCapabilities2KHR",
    "vkGetPhysicalDeviceSurfaceFormats2KHR", "vkGetPhysicalDeviceSurfacePresentModes2EXT",
}  # fmt: skip
# Where the surface is in structures that have one.
_SURFACE_AT = {"VkPhysicalDeviceSurfaceInfo2KHR": 16, "VkSwapchainCreateInfoKHR": 24}
# The structures that nobody knows: sType, and what stands after pNext.
CHAIN = [0x7E57_0002, 0x0102030405060708, 0x7E57_0001, 0x1112131415161718]
_BITS = {"u64": 64, "u32": 32, "i32": 32, "u16": 16, "u8": 8, "float": 32, "double": 64}


@dataclass
class Calls:
    """Calls that were made, and of each the driver and the handle that it should have reached."""

    surface: Value | None = None  # for the functions that need one, which are left out without
    by_function: dict[str, list[tuple[str, int | None, str]]] = field(default_factory=lambda: defaultdict(list))
    chain: Any = None  # the structures that follow those of all calls

    def make(
        self, vk: VulkanSession, function: Function, address: Value | str, handle: Value, owner: str, own: int | None
    ) -> None:
        """Calls a function on an object of the driver `owner`, whose handle there is `own` (None: not known)."""
        self.chain = self.chain or unknown_chain(vk)
        arguments = _arguments(vk, function, handle, self.surface, self.chain)
        if arguments is not None:
            way = address if isinstance(address, str) else "its address"
            self.by_function[function.name].append((owner, own, way))
            vk.call_at(address, function.name, *arguments)

    def problems(self, log: CallLog, *, copies: bool = False) -> list[str]:
        """What is wrong with what the drivers saw and with the results, in sentences.

        With `copies`, a driver may get other memory than that of the application, as long as it gets some.
        """
        result: list[str] = []
        for name, expected in self.by_function.items():
            for part, (owner, own, way) in zip(log.during(name), expected, strict=True):
                result += [f"{name} ({way}): {problem}" for problem in _problems(part, name, owner, own, copies)]
        return result


def _problems(log: CallLog, name: str, owner: str, own: int | None, copies: bool) -> Iterator[str]:
    """`log` has one call of the application, and what happened until it returned."""
    function = vulkan().functions[name]
    passed = log.calls(name, by="application")[0].arguments
    calls = [event for event in log.calls() if event.who != "application" and is_same(event.name, name)]
    if [event.who for event in calls] != [owner]:
        yield f"reached {[event.who for event in calls] or 'no driver'}, expected [{owner!r}]"
        return
    for index, (word, there) in enumerate(zip(calls[0].arguments, passed, strict=True)):
        expected: int | None = there
        if index == 0:
            expected = own
        elif _may_be_replaced(function, index):
            expected = None
        elif copies and function.parameters[index].kind == "pointer":
            expected = None if word and there else there
        if expected is not None and word != expected:
            yield f"{function.parameters[index].name} arrived as {word:#x}, expected {expected:#x}"
        if there and _is_followed(function.parameters[index]) and (chain := chain_of(calls[0], index)) != CHAIN:
            followers = [f"{word:#x}" for word in chain[::2]]
            yield f"{function.parameters[index].name} arrived followed by {followers}, expected {CHAIN[::2]}"
    if function.result != "void":
        came = log.returns(name, by="application")[-1].result or 0
        went = log.returns(calls[0].name, by=owner)[-1].result or 0
        mask = (1 << 64) - 1 if function.result in ("pointer", "u64") else (1 << 32) - 1
        if came & mask != went & mask:
            yield f"answered {came & mask:#x}, expected the driver's {went & mask:#x}"


def is_same(one: str, other: str) -> bool:
    """Whether two names are those of one function: a loader may call it by either."""
    known = vulkan().functions
    return one in known and known[one].same_as == known[other].same_as


def names_of(name: str) -> list[str]:
    """All names of a function."""
    return [other for other in vulkan().functions if is_same(other, name)]


def _may_be_replaced(function: Function, index: int) -> bool:
    parameter = function.parameters[index]
    return parameter.of == "VkSurfaceKHR" or (function.name in COPIED and parameter.kind == "pointer")


def pattern(index: int, kind: str) -> int:
    """A word for the index-th parameter, no two of which are alike, with no zero byte."""
    return (0x1122334455667788 + 0x0101010101010101 * index) & ((1 << _BITS[kind]) - 1)


def unknown_chain(vk: VulkanSession) -> Any:
    """Two structures that nobody knows, the first of which points to the second."""
    return vk.words([CHAIN[0], vk.words([CHAIN[2], 0, CHAIN[3]]), CHAIN[1]])


def chain_of(call: Event, index: int) -> list[int]:
    """What followed the structure in a parameter, of a call that a driver logged with its chains: sType and content."""
    return [int(word, 16) for word in call.data["in"].get(f"chain{index}", ())]


def _is_followed(parameter: Parameter) -> bool:
    layout = vulkan().structures.get(parameter.of)
    return parameter.kind == "pointer" and layout is not None and layout.stype is not None


def _arguments(
    vk: VulkanSession, function: Function, handle: Value, surface: Value | None, chain: Any
) -> list[Any] | None:
    """Arguments of a call on an object; None where it needs a surface, and there is none."""
    arguments: list[Any] = [handle]
    for index, parameter in enumerate(function.parameters[1:], 1):
        needs_surface = parameter.of in _SURFACE_AT or parameter.of == "VkSurfaceKHR"
        if needs_surface and surface is None:
            return None
        if parameter.kind == "pointer":
            arguments.append(_memory(vk, parameter, surface, chain))
        elif parameter.of == "VkSurfaceKHR":
            arguments.append(surface)
        else:
            arguments.append(pattern(index, parameter.kind))
    return arguments


def _memory(vk: VulkanSession, parameter: Parameter, surface: Value | None, chain: Any) -> Any:
    buffer, owner = vk.buffer(ROOM, 0), parameter.of
    if _is_followed(parameter):
        layout = vulkan().structures[owner]
        vk.later(f"put {buffer.index} 0 {(layout.stype or 0).to_bytes(4, 'little').hex()}")
        vk.later(f"word {buffer.index} {layout.members['pNext'].offset} {chain.token}")
    if owner in _SURFACE_AT and surface is not None:
        vk.later(f"word {buffer.index} {_SURFACE_AT[owner]} {surface.token}")
    return buffer


def by_origin() -> dict[str, list[Function]]:
    """The functions of devices by where they come from: a version, or an extension."""
    groups: dict[str, list[Function]] = defaultdict(list)
    for function in vulkan().of_level("device"):
        if function.name not in OF_LOADERS:
            groups[function.extension or f"Vulkan {function.version}"].append(function)
    return dict(sorted(groups.items()))


def physical_device_functions() -> list[str]:
    """The functions of physical devices that go to the driver."""
    return [f.name for f in vulkan().of_level("physical_device") if f.name not in OF_LOADERS]


def extensions_of(kind: str) -> list[str]:
    """The extensions of instances or of devices that the registry has functions of."""
    return sorted({f.extension for f in vulkan().functions.values() if f.extends == kind and f.extension})
