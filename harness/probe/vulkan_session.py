# SPDX-License-Identifier: Apache-2.0
"""One probe process that uses Vulkan, as a check uses it.

with vulkan_loader.start(sandbox) as vk:
    rc, instance = vk.CreateInstance(api_version="1.1.0")     # convenient forms, named without `vk`
    rc = vk.vkEnumeratePhysicalDevices(instance, count, None)  # any exported function, as in C
    address = vk.proc(instance, "vkCreateDebugUtilsMessengerEXT")
    vk.call_at(address, "vkCreateDebugUtilsMessengerEXT", ...)  # any function at an address
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from harness.api.codes import nearest
from harness.api.vulkan.model import VK, Result, version_number, vulkan
from harness.probe.calls import CANARY, Buffer
from harness.probe.process_calls import ProcessCalls
from harness.probe.values import Names, Value, pack


class VulkanCallFailed(AssertionError):
    """A call that a check relies on did not succeed."""


@dataclass(frozen=True)
class Extension:
    """What a loader or a driver says of an extension."""

    name: str
    version: int


def _typed(function: str, word: int, variable: int) -> int:
    """A result's 64 bits as the function's type has them; `variable` is its number in the probe."""
    about = vulkan().functions[function]
    if about.result_type == "VkResult":
        return Result.of_word(word)
    return Value(word, f"r{variable}") if about.result in ("pointer", "u64") else word & 0xFFFFFFFF


class VulkanCalls(ProcessCalls):
    """Calls and structures as C has them."""

    def call_at(self, address: Value | str, like: str, *arguments: Any) -> int:
        """Calls the function at an address, with the signature of a function of the registry."""
        target = address if isinstance(address, str) else address.token
        tokens = " ".join(self.token(a) for a in arguments)
        self._values += 1
        word = int(self.command(f"vkcall {self._values} {target} {like} {tokens}".rstrip()), 16)
        return _typed(like, word, self._values)

    def call(self, function: str, *arguments: Any) -> int:
        """Calls a function that the loader exports."""
        return self.call_at(f"@{function}", function, *arguments)

    def allocator(self, *, internal: bool = False) -> Value:
        """A VkAllocationCallbacks, with functions that hear of internal memory or without.

        Its memory is never 0, and given once only. What it has not given is an event "foreign memory", what was written
        beyond the end of a piece "memory overrun", and after it was given back "memory written late" (`allocated`)."""
        self._values += 1
        return Value(int(self.command(f"vkallocator {self._values} {int(internal)}"), 16), f"r{self._values}")

    def allocated(self, *, look: bool = True) -> int:
        """How many pieces of memory the allocator has given and not got back; looks whether those were written to."""
        return int(self.command(f"vkallocated {int(look)}"))

    def refuse_memory(self, first: int = 0, *, once: bool = False) -> int:
        """From now on the allocator gives nothing at the `first`-th request for memory, counted from 1, and at those
        after it, unless `once`; at none where it is 0. Gives how many requests were refused since the last call."""
        return int(self.command(f"vkrefuse {first} {int(once)}"))

    def hearer(self, *, reports: bool = False) -> Value:
        """The function of a messenger, or of a callback for reports: each call is an event "message" or "report", with
        the user data first, then the other arguments; after the address of a message what is in it: number, name, text,
        and type and handle of its first object."""
        self._values += 1
        return Value(int(self.command(f"vkhearer {self._values} {int(reports)}"), 16), f"r{self._values}")

    def structure(self, name: str, **members: Any) -> Buffer:
        """New memory with a structure: members by name, the others 0, and sType as it must be."""
        return self.structures(name, [members])

    def structures(self, name: str, elements: Sequence[dict[str, Any]]) -> Buffer:
        """New memory with an array of structures."""
        layout = vulkan().structures[name]
        content = bytearray(layout.size * len(elements))
        words: list[tuple[int, Any]] = []
        for index, members in enumerate(elements):
            start = index * layout.size
            values = ({} if layout.stype is None else {"sType": layout.stype}) | members
            for member_name, value in values.items():
                member = layout.members[member_name]
                offset = start + member.offset
                if isinstance(value, bytes):
                    content[offset : offset + len(value)] = value
                elif isinstance(value, (Value, Buffer)):
                    words.append((offset, value))
                elif value is not None:
                    content[offset : offset + member.size] = pack([int(value)], member.size)
        buffer = self.data(bytes(content))
        for offset, value in words:
            self.later(f"word {buffer.index} {offset} {value.token}")
        return buffer

    def member(self, buffer: Buffer, name: str, member: str, index: int = 0) -> int:
        """A number in a structure, the `index`-th of an array."""
        return int.from_bytes(self.member_bytes(buffer, name, member, index), "little")

    def member_bytes(self, buffer: Buffer, name: str, member: str, index: int = 0) -> bytes:
        """The bytes of one member, in the structure of this name that is at `index` in an array."""
        layout = vulkan().structures[name]
        at = layout.members[member]
        start = index * layout.size + at.offset
        return buffer[start : start + at.size]

    def strings(self, texts: Iterable[str]) -> Buffer | None:
        """New memory with an array of C strings; None where there are none."""
        values = [self.data(text.encode() + b"\0") for text in texts]
        return self.words(list(values)) if values else None


class VulkanSession(VulkanCalls):
    """A running probe that has opened a Vulkan loader. Use it as a context manager (harness.probe.connection)."""

    def __getattr__(self, name: str) -> Callable[..., int]:
        if name.startswith("vk") and name in vulkan().functions:
            return lambda *arguments: self.call(name, *arguments)
        near = "" if name.startswith("_") else nearest(name, [*vulkan().functions, *dir(self)])
        raise AttributeError(f"a session has no {name}{near}")

    def _succeed(self, what: str, rc: int) -> None:
        if rc != 0:
            raise VulkanCallFailed(f"{what} answered {Result(rc)}, expected VK_SUCCESS")

    # --- finding functions ---

    def proc(self, instance: Value | None, name: str) -> Value:
        """vkGetInstanceProcAddr."""
        address = self.vkGetInstanceProcAddr(instance, name)
        assert isinstance(address, Value)
        return address

    def device_proc(self, device: Value, name: str) -> Value:
        """vkGetDeviceProcAddr."""
        address = self.vkGetDeviceProcAddr(device, name)
        assert isinstance(address, Value)
        return address

    def call_found(self, instance: Value, name: str, *arguments: Any) -> int:
        """Calls a function that is found by vkGetInstanceProcAddr."""
        return self.call_at(self.proc(instance, name), name, *arguments)

    # --- instances ---

    def instance_info(
        self,
        api_version: str | None = None,
        extensions: Sequence[str] = (),
        layers: Sequence[str] = (),
        flags: int = 0,
        chain: Any = None,
    ) -> Buffer:
        """A VkInstanceCreateInfo; without a version it has no VkApplicationInfo."""
        application = None
        if api_version is not None:
            application = self.structure("VkApplicationInfo", apiVersion=version_number(api_version))
        return self.structure(
            "VkInstanceCreateInfo",
            pNext=chain,
            flags=flags,
            pApplicationInfo=application,
            enabledLayerCount=len(layers),
            ppEnabledLayerNames=self.strings(layers),
            enabledExtensionCount=len(extensions),
            ppEnabledExtensionNames=self.strings(extensions),
        )

    def CreateInstance(self, api_version: str | None = None, **settings: Any) -> tuple[int, Value]:
        """Gives the result and the instance; settings are those of `instance_info`."""
        instance = self.buffer(8)
        rc = self.vkCreateInstance(self.instance_info(api_version, **settings), None, instance)
        return rc, instance.handle()

    def instance(self, api_version: str | None = None, **settings: Any) -> Value:
        """An instance, which must be had."""
        rc, instance = self.CreateInstance(api_version, **settings)
        self._succeed("vkCreateInstance", rc)
        return instance

    def instance_version(self) -> int:
        """vkEnumerateInstanceVersion."""
        version = self.buffer(4)
        self._succeed("vkEnumerateInstanceVersion", self.vkEnumerateInstanceVersion(version))
        return version.u32()

    def extensions(self) -> list[Extension]:
        """vkEnumerateInstanceExtensionProperties."""
        count = self.buffer(4)
        self._succeed("the number of extensions", self.vkEnumerateInstanceExtensionProperties(None, count, None))
        return self._extensions("VkExtensionProperties", count, self.vkEnumerateInstanceExtensionProperties, None)

    def _extensions(self, name: str, count: Buffer, ask: Callable[..., int], *first: Any) -> list[Extension]:
        number = count.u32()
        layout = vulkan().structures[name]
        listed = self.buffer(layout.size * number) if number else None
        self._succeed("the list of extensions", ask(*first, count, listed))
        result = []
        for index in range(count.u32() if listed else 0):
            assert listed is not None
            text = self.member_bytes(listed, name, "extensionName", index).split(b"\0")[0].decode(errors="replace")
            result.append(Extension(text, self.member(listed, name, "specVersion", index)))
        return result

    def extension_names(self) -> list[str]:
        """The names of the instance extensions that the loader enumerates, in its order."""
        return [extension.name for extension in self.extensions()]

    # --- physical devices ---

    def physical_devices(self, instance: Value) -> list[Value]:
        """All of an instance, which must be had."""
        count = self.buffer(4)
        self._succeed("the number of devices", self.vkEnumeratePhysicalDevices(instance, count, None))
        number = count.u32()
        if number == 0:
            return []
        devices = self.buffer(8 * number)
        self._succeed("the list of devices", self.vkEnumeratePhysicalDevices(instance, count, devices))
        return devices.handles()[: count.u32()]

    def device_name(self, device: Value) -> str:
        """The name of a physical device: "a.0" is the first one of the mock driver "a"."""
        properties = self.buffer(vulkan().structures["VkPhysicalDeviceProperties"].size)
        self.vkGetPhysicalDeviceProperties(device, properties)
        name = self.member_bytes(properties, "VkPhysicalDeviceProperties", "deviceName")
        return name.split(b"\0")[0].decode(errors="replace")

    def device_names(self, instance: Value | None = None, **settings: Any) -> Names:
        """The names of all physical devices, in order; without an instance, those of a new one, and none where the
        loader finds no driver.
        """
        own = instance
        if own is None:
            rc, own = self.CreateInstance(**settings)
            if rc == VK.ERROR_INCOMPATIBLE_DRIVER:
                return Names()
            self._succeed("vkCreateInstance", rc)
        names = Names(self.device_name(device) for device in self.physical_devices(own))
        if instance is None:
            self.vkDestroyInstance(own, None)
        return names

    def devices_of_groups(self, instance: Value) -> list[list[str]]:
        """The names of the devices in each group, of 16 at most, in order."""
        name = "VkPhysicalDeviceGroupProperties"
        count, listed = self.data((16).to_bytes(4, "little")), self.structures(name, [{}] * 16)
        self._succeed("vkEnumeratePhysicalDeviceGroups", self.vkEnumeratePhysicalDeviceGroups(instance, count, listed))
        layout = vulkan().structures[name]
        first = layout.members["physicalDevices"].offset // 8
        return [
            [
                self.device_name(listed.handle(index * layout.size // 8 + first + place))
                for place in range(self.member(listed, name, "physicalDeviceCount", index))
            ]
            for index in range(count.u32())
        ]

    def drivers(self, instance: Value | None = None, **settings: Any) -> Names:
        """The names of the drivers that devices come from, each once, in order."""
        names = self.device_names(instance, **settings)
        return Names(dict.fromkeys(name.rpartition(".")[0] for name in names))

    # --- devices ---

    def CreateDevice(
        self, physical_device: Value, extensions: Sequence[str] = (), chain: Any = None, queues: int = 1
    ) -> tuple[int, Value]:
        """Gives the result and the device, which has queues of the first family."""
        priorities = self.data(b"\0\0\x80\x3f" * queues)
        queue = self.structure("VkDeviceQueueCreateInfo", queueCount=queues, pQueuePriorities=priorities)
        info = self.structure(
            "VkDeviceCreateInfo",
            pNext=chain,
            queueCreateInfoCount=1,
            pQueueCreateInfos=queue,
            enabledExtensionCount=len(extensions),
            ppEnabledExtensionNames=self.strings(extensions),
        )
        device = self.buffer(8)
        rc = self.vkCreateDevice(physical_device, info, None, device)
        return rc, device.handle()

    def device_extensions(self, physical_device: Value) -> list[Extension]:
        """vkEnumerateDeviceExtensionProperties."""
        ask, count = self.vkEnumerateDeviceExtensionProperties, self.buffer(4)
        self._succeed("the number of extensions", ask(physical_device, None, count, None))
        return self._extensions("VkExtensionProperties", count, ask, physical_device, None)

    def device(self, physical_device: Value, **settings: Any) -> Value:
        """A device, which must be had."""
        rc, device = self.CreateDevice(physical_device, **settings)
        self._succeed("vkCreateDevice", rc)
        return device

    def queue(self, device: Value, index: int = 0) -> Value:
        """vkGetDeviceQueue."""
        queue = self.buffer(8)
        self.vkGetDeviceQueue(device, 0, index, queue)
        return queue.handle()

    def command_buffers(self, device: Value, count: int = 1) -> list[Value]:
        """vkAllocateCommandBuffers, which must succeed."""
        info = self.structure("VkCommandBufferAllocateInfo", commandPool=1, commandBufferCount=count)
        buffers = self.buffer(8 * count)
        self._succeed("vkAllocateCommandBuffers", self.vkAllocateCommandBuffers(device, info, buffers))
        return buffers.handles()


__all__ = ["CANARY", "Extension", "VulkanCallFailed", "VulkanSession"]
