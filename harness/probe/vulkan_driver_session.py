# SPDX-License-Identifier: Apache-2.0
"""A session in which the probe stands in the place of the loader: it has opened a Vulkan driver's library itself.

with vulkan_driver.open(sandbox) as vk:
    rc, version = vk.negotiate(7)                  # as a loader does it first
    instance = vk.instance(api_version="1.1.0")    # what VulkanSession has, through the driver's own functions
    address = vk.find(instance, "vkCreateDevice")  # vk_icdGetInstanceProcAddr
"""

from __future__ import annotations

import re
from typing import Any

from harness.api.vulkan.model import version_number, vulkan
from harness.probe.calls import Buffer
from harness.probe.values import Value
from harness.probe.vulkan_session import VulkanCallFailed, VulkanSession
from harness.sandbox import Unsupported

NEGOTIATE = "vk_icdNegotiateLoaderICDInterfaceVersion"
GET_INSTANCE = "vk_icdGetInstanceProcAddr"
GET_PHYSICAL_DEVICE = "vk_icdGetPhysicalDeviceProcAddr"
OFFICIAL = ("vkGetInstanceProcAddr", "vkCreateInstance", "vkEnumerateInstanceExtensionProperties")
NEWEST = 7  # version of the interface that today's loaders offer
MAGIC = 0x01CDC0DE  # what a driver puts into the first word of a dispatchable object (vk_icd.h)
DRIVER_FILE_LIMIT = 64 << 30  # bytes: some drivers keep the memory of their objects in files
# Functions of the registry with the same parameters and result as those of the interface.
_GROUP = "VkPhysicalDeviceGroupProperties"
_DRIVER = "VkPhysicalDeviceDriverProperties"
_LIKE_NEGOTIATE, _LIKE_GET = "vkEnumerateInstanceVersion", "vkGetInstanceProcAddr"


class VulkanDriverSession(VulkanSession):
    """The driver's functions as a loader finds them; `call` takes them from the instance and the device in use."""

    file_limit = DRIVER_FILE_LIMIT
    instance_in_use: Value | None = None
    device_in_use: Value | None = None
    gate = ""  # why no instance can be had (harness/subject/vulkan_driver.py)

    # --- the interface ---

    def negotiator(self) -> Value | str | None:
        """The driver's function for the negotiation: exported, or found as version 7 has it; None for none."""
        if self.symbol(NEGOTIATE):
            return f"@{NEGOTIATE}"
        return (self.symbol(GET_INSTANCE) and self.find(None, NEGOTIATE)) or None

    def negotiate_in(self, version: Buffer) -> int:
        """The negotiation, with the version in memory of its own. The case is `unsupported` where there is none."""
        function = self.negotiator()
        if function is None:
            raise Unsupported("loader", f"this driver is older than version 2 of the interface: it has no {NEGOTIATE}")
        return self.call_at(function, _LIKE_NEGOTIATE, version)

    def negotiate(self, offer: int) -> tuple[int, int]:
        """Offers a version; gives the result, and the version that was agreed on."""
        version = self.data(offer.to_bytes(4, "little"))
        rc = self.negotiate_in(version)
        return rc, version.u32()

    def begin(self, offer: int = NEWEST) -> int:
        """Negotiates as a loader of that version does, where the driver can; gives the version that is used then.

        Makes the case `unsupported` where the driver makes no instance at all, which its own check reports.
        """
        if self.gate:
            raise Unsupported("loader", f"precondition failed: {self.gate}", "precondition")
        if self.negotiator() is None:
            return 1 if self.symbol(GET_INSTANCE) else 0
        rc, version = self.negotiate(offer)
        self._succeed(f"{NEGOTIATE} of {offer}", rc)
        return version

    def find(self, instance: Value | None, name: str) -> Value:
        """The address that the driver gives for a function's name, 0 for none: by vk_icdGetInstanceProcAddr, or by what
        drivers of version 0 of the interface have in its place. Without an instance: of a global function."""
        function = GET_INSTANCE if self.symbol(GET_INSTANCE) else OFFICIAL[0]
        address = self.call_at(f"@{function}", _LIKE_GET, instance, name)
        assert isinstance(address, Value)
        return address

    def physical_device_query(self) -> Value | str:
        """vk_icdGetPhysicalDeviceProcAddr. The case is `unsupported` where the driver has none."""
        if self.symbol(GET_PHYSICAL_DEVICE):
            return f"@{GET_PHYSICAL_DEVICE}"
        address = self.find(None, GET_PHYSICAL_DEVICE)
        if not address:
            raise Unsupported("loader", f"this driver has no {GET_PHYSICAL_DEVICE}")
        return address

    def find_for_physical_devices(self, query: Value | str, instance: Value, name: str) -> Value:
        """What vk_icdGetPhysicalDeviceProcAddr answers; 0 for none."""
        address = self.call_at(query, _LIKE_GET, instance, name)
        assert isinstance(address, Value)
        return address

    def replace_first_word(self, handle: Value, word: int) -> None:
        """Writes the first word of a dispatchable object, as a loader does with the address of its table."""
        self.command(f"vkword {handle.token} {word}")

    # --- calls ---

    def call(self, function: str, *arguments: Any) -> int:
        """Calls a function of the driver, as a loader would find it. Raises VulkanCallFailed where it is not found."""
        return self.call_at(self._address(function), function, *arguments)

    def proc(self, instance: Value | None, name: str) -> Value:
        """What the driver's vk_icdGetInstanceProcAddr returns for a name; NULL instance for None."""
        return self.find(instance, name)

    def device_proc(self, device: Value, name: str) -> Value:
        """vkGetDeviceProcAddr of the driver."""
        address = self.call_at(self._found(self.instance_in_use, "vkGetDeviceProcAddr"), _LIKE_GET, device, name)
        assert isinstance(address, Value)
        return address

    def _address(self, function: str) -> Value:
        level = vulkan().functions[function].level
        if level == "device" and self.device_in_use and function != "vkGetDeviceProcAddr":
            address = self.device_proc(self.device_in_use, function)
            if not address:
                raise VulkanCallFailed(f"vkGetDeviceProcAddr answered NULL to {function}")
            return address
        return self._found(None if level == "global" else self.instance_in_use, function)

    def _found(self, instance: Value | None, function: str) -> Value:
        address = self.find(instance, function)
        if not address:
            raise VulkanCallFailed(f"{GET_INSTANCE} answered NULL to {function}")
        return address

    def CreateInstance(self, api_version: str | None = None, **settings: Any) -> tuple[int, Value]:
        """As in VulkanSession; entry points are then asked for with the new instance."""
        rc, instance = super().CreateInstance(api_version, **settings)
        if rc == 0:
            self.instance_in_use = instance
        return rc, instance

    def CreateDevice(self, physical_device: Value, *arguments: Any, **settings: Any) -> tuple[int, Value]:
        """As in VulkanSession; functions of devices are then asked for with the new device."""
        rc, device = super().CreateDevice(physical_device, *arguments, **settings)
        if rc == 0:
            self.device_in_use = device
        return rc, device

    # --- what the driver has ---

    def some_devices(self, instance: Value) -> list[Value]:
        """All physical devices; makes the case `unsupported` where there is none, as without the hardware."""
        devices = self.physical_devices(instance)
        if not devices:
            raise Unsupported("machine", "this driver has no device on this machine")
        return devices

    def devices_in_groups(self, instance: Value) -> list[Value]:
        """The devices of all groups of vkEnumeratePhysicalDeviceGroups."""
        count, layout = self.buffer(4), vulkan().structures[_GROUP]
        self._succeed("the number of groups", self.vkEnumeratePhysicalDeviceGroups(instance, count, None))
        number = count.u32()
        groups = self.structures(_GROUP, [{} for _ in range(number)])
        self._succeed("the list of groups", self.vkEnumeratePhysicalDeviceGroups(instance, count, groups))
        devices = []
        for index in range(number):
            first = (index * layout.size + layout.members["physicalDevices"].offset) // 8
            devices += groups.handles()[first : first + self.member(groups, _GROUP, "physicalDeviceCount", index)]
        return devices

    def is_of_vulkan_1_1(self) -> bool:
        """Whether the driver itself is of Vulkan 1.1 or newer; those of 1.0 may refuse instances of a later version."""
        tells = bool(self.find(None, "vkEnumerateInstanceVersion"))
        return tells and self.instance_version() >= version_number("1.1.0")

    def newer_version(self) -> str:
        """1.1.0, or 1.0.0 where the driver may refuse that."""
        return "1.1.0" if self.is_of_vulkan_1_1() else "1.0.0"

    def device_version(self, device: Value) -> int:
        """The version of Vulkan of a physical device."""
        properties = self.buffer(vulkan().structures["VkPhysicalDeviceProperties"].size)
        self.vkGetPhysicalDeviceProperties(device, properties)
        return self.member(properties, "VkPhysicalDeviceProperties", "apiVersion")

    def device_extension_names(self, device: Value) -> list[str]:
        """Those of vkEnumerateDeviceExtensionProperties."""
        return [extension.name for extension in self.device_extensions(device)]

    def name_and_version(self, device: Value) -> tuple[str, str]:
        """What the driver says of itself where it is of Vulkan 1.2 or newer, such as "llvmpipe", "22.3.6"; else ""."""
        if self.device_version(device) < version_number("1.2.0"):
            return "", ""
        driver = self.structure(_DRIVER)
        self.vkGetPhysicalDeviceProperties2(device, self.structure("VkPhysicalDeviceProperties2", pNext=driver))
        name, about = (
            self.member_bytes(driver, _DRIVER, member).split(b"\0")[0].decode(errors="replace")
            for member in ("driverName", "driverInfo")
        )
        number = re.search(r"\d+(\.\d+)+", about)
        return name, number[0] if number else ""

    def command_buffers(self, device: Value, count: int = 1, level: int = 0) -> list[Value]:
        """Those of a new pool; VkCommandBufferLevel is a number."""
        info, pool = self.structure("VkCommandPoolCreateInfo"), self.buffer(8, 0)
        rc = self.vkCreateCommandPool(device, info, None, pool)
        if rc < 0:
            self._succeed("vkCreateCommandPool", rc)
        members = {"commandPool": pool.handle(), "commandBufferCount": count, "level": level}
        info = self.structure("VkCommandBufferAllocateInfo", **members)
        buffers = self.buffer(8 * count)
        self._succeed("vkAllocateCommandBuffers", self.vkAllocateCommandBuffers(device, info, buffers))
        return buffers.handles()


__all__ = ["GET_INSTANCE", "GET_PHYSICAL_DEVICE", "MAGIC", "NEGOTIATE", "NEWEST", "OFFICIAL", "VulkanDriverSession"]
