# SPDX-License-Identifier: Apache-2.0
"""A vendor's external memory and semaphores, as an application uses them."""

from __future__ import annotations

import os
import stat
from typing import Any

from harness.api.codes import CL
from harness.api.model import api
from harness.check.icd.platform import UNKNOWN, OnPlatform, Platform, platforms_with
from harness.probe.answers import number_of
from harness.probe.calls import CallFailed
from harness.probe.icd_session import IcdSession
from harness.probe.session import CommandError
from harness.probe.values import Value, pack
from harness.sandbox import Unsupported

UUID_SIZE = 16
VULKAN_TYPES = {
    CL.EXTERNAL_MEMORY_HANDLE_OPAQUE_FD_KHR: 0x1,
    CL.EXTERNAL_MEMORY_HANDLE_DMA_BUF_KHR: 0x200,
}  # VkExternalMemoryHandleTypeFlagBits
SIZE = 4096  # of the memory that is shared, in bytes
STATUS, TYPE = "CL_EVENT_COMMAND_EXECUTION_STATUS", "CL_EVENT_COMMAND_TYPE"


# --- descriptors ---


def target(session: IcdSession, fd: int) -> tuple[int, int] | None:
    """What a descriptor of the probe refers to (device and inode); None where it is closed."""
    try:
        state = os.stat(f"/proc/{session.pid}/fd/{fd}")
    except OSError:
        return None
    return state.st_dev, state.st_ino


class Memory:
    """Memory outside OpenCL of SIZE bytes, and its data. `descriptor` gives a new descriptor of it each time.

    It is Vulkan's where that has the same device, else shared memory of the system, which not every vendor takes.
    """

    def __init__(self, platform: Platform, device: Value, kind: int) -> None:
        self.session = platform.session
        self.without_vulkan = self._ask_vulkan(platform, device, kind)
        if self.without_vulkan:
            self._own = self.session.descriptor(f"memory {SIZE}")
            own = f"/proc/{self.session.pid}/fd/{int(self._own)}"
            assert stat.S_ISREG(os.stat(own).st_mode), f"descriptor {int(self._own)} is not the memory any more"
            self._file = os.open(own, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)

    def _ask_vulkan(self, platform: Platform, device: Value, kind: int) -> str:
        """Makes the memory there; gives the reason why not."""
        error, uuid = platform.answer("clGetDeviceInfo", device, CL.DEVICE_UUID_KHR)
        if error or len(uuid) != UUID_SIZE:
            return "the device has no UUID"
        try:
            self.session.vulkan(f"open {uuid.hex()}")
            self.session.vulkan(f"memory {SIZE} {VULKAN_TYPES[kind]}")
            self._mapped = self.session.vulkan("mapped")
        except CommandError as refused:
            return str(refused).rpartition(": ")[2]
        return ""

    def descriptor(self, number: int = -1) -> Value:
        """A new descriptor of the memory, for clharness to hand over; with `number` under that number of the probe's
        process.
        """
        if self.without_vulkan:
            return self.session.descriptor(f"copy {self._own.token} {number}")
        descriptor = self.session.vulkan("export")
        if number < 0:
            return descriptor
        copy = self.session.descriptor(f"copy {descriptor.token} {number}")
        self.session.descriptor(f"close {descriptor.token}")
        return copy

    def write(self, content: bytes) -> None:
        """Writes to the memory's start from outside OpenCL."""
        if self.without_vulkan:
            os.pwrite(self._file, content, 0)
        else:
            self.session.vulkan(f"write {content.hex()}")

    def read(self, size: int) -> bytes:
        """The first `size` bytes of the memory, as read from outside OpenCL."""
        if self.without_vulkan:
            return os.pread(self._file, size, 0)
        self.session.vulkan("take")
        return bytes.fromhex(self.session.command(f"read {self._mapped.token} {size}"))


class Importer(OnPlatform):
    """A platform that imports memory of a handle type, with a context of one device, and memory that it takes."""

    def __init__(self, platform: Platform, kind: int) -> None:
        self.platform = platform
        self.kind = kind
        self.session = platform.session
        self.able = [
            device
            for device in platform.able
            if kind in platform.types(device, CL.DEVICE_EXTERNAL_MEMORY_IMPORT_HANDLE_TYPES_KHR)
        ]
        self.device = self.able[0]
        self.context = platform.context([self.device])
        self.memory = Memory(platform, self.device, kind)

    def create(self, *words: Any, **arguments: Any) -> tuple[int, Value]:
        """Error and buffer of a property list, the final 0 left out."""
        arguments = {"context": self.context, "size": SIZE, "flags": 0, "host_ptr": None} | arguments
        return self.platform.create(
            "clCreateBufferWithProperties",
            arguments["context"],
            self.words(*words, 0),
            arguments["flags"],
            arguments["size"],
            arguments["host_ptr"],
        )

    def buffer(self, *before: Any, context: Value | None = None) -> Value:
        """A buffer of the memory, with further properties in front."""
        words = [*before, self.kind, self.memory.descriptor()]
        error, memory = self.create(*words, context=context or self.context)
        if error:
            raise CallFailed(f"the import of memory answered {error}, expected CL_SUCCESS")
        return memory

    def image(self, *words: Any) -> tuple[int, Value]:
        """Error and image of 16 by 16 bytes."""
        api_format = pack([api().constant("CL_R"), api().constant("CL_UNSIGNED_INT8")], 4)
        description = bytearray(72)
        description[0:4] = pack([api().constant("CL_MEM_OBJECT_IMAGE2D")], 4)
        description[8:24] = pack([16, 16])
        return self.platform.create(
            "clCreateImageWithProperties",
            self.context,
            self.words(*words, 0),
            0,
            self.session.data(api_format),
            self.session.data(bytes(description)),
            None,
        )

    def hand_over(self, function: str, queue: Value, *memories: Value, after: Value | None = None) -> Value:
        """Acquires or releases; gives the event. `function` is "Acquire" or "Release"."""
        event = self.session.buffer(8, 0)
        events = [after] if after else None
        listed = self.words(*memories)
        name = f"clEnqueue{function}ExternalMemObjectsKHR"
        self.expect_success(name, queue, len(memories), listed, len(events or ()), events, event)
        return event.handle()


def importers(session: IcdSession, kind: int, extension: str, devices: int = 1, must: bool = False) -> list[Importer]:
    """The platforms that import a handle type and take memory that can be had on this machine.

    Makes the case `unsupported` where there is none. must: raises CallFailed where memory of the device itself, that
    Vulkan exports, is refused.
    """
    result = []
    refusals = []
    for platform in platforms_with(session, "cl_khr_external_memory"):
        able = [
            device
            for device in platform.able
            if kind in platform.types(device, CL.DEVICE_EXTERNAL_MEMORY_IMPORT_HANDLE_TYPES_KHR)
        ]
        if len(able) < devices:
            continue
        importer = Importer(platform, kind)
        try:
            error, memory = importer.create(kind, importer.memory.descriptor())
        except CallFailed as failure:
            if not importer.memory.without_vulkan:
                raise
            refusals.append(f"{failure} ({importer.memory.without_vulkan})")
            continue
        if error:
            if must and not importer.memory.without_vulkan:
                raise CallFailed(
                    f"{platform.objects.owner} answered {error} to memory that Vulkan exports, expected CL_SUCCESS"
                )
            refusals.append(f"{platform.objects.owner} answered {error} ({importer.memory.without_vulkan or 'Vulkan'})")
            continue
        platform.expect_success("clReleaseMemObject", memory)
        result.append(importer)
    if not result and not refusals:
        raise Unsupported("loader", f"no platform of this ICD has {devices} devices with {extension}", extension)
    if not result:
        raise Unsupported("machine", f"no memory is here that this ICD takes as such a handle: {', '.join(refusals)}")
    return result


# --- semaphores ---


class Semaphores(OnPlatform):
    """Semaphores of one device in a context of its own, or of several devices."""

    def __init__(self, platform: Platform, devices: int = 1) -> None:
        self.platform = platform
        self.session = platform.session
        self.devices = platform.able[:devices]
        self.device = self.devices[0]
        self.context = platform.context(self.devices)
        self.binary = (CL.SEMAPHORE_TYPE_KHR, CL.SEMAPHORE_TYPE_BINARY_KHR)

    @property
    def list_name(self) -> int:
        """The name of device lists: until revision 0.9.0 that of memory."""
        revision = self.platform.revision("cl_khr_semaphore")
        if revision == UNKNOWN:
            newer, semaphore = self.create(*self.binary, CL.SEMAPHORE_DEVICE_HANDLE_LIST_KHR, self.device, 0)
            if semaphore:
                self.expect_success("clReleaseSemaphoreKHR", semaphore)
            return (
                CL.MEM_DEVICE_HANDLE_LIST_KHR if newer == CL.INVALID_PROPERTY else CL.SEMAPHORE_DEVICE_HANDLE_LIST_KHR
            )
        return CL.SEMAPHORE_DEVICE_HANDLE_LIST_KHR if revision > (0, 9, 0) else CL.MEM_DEVICE_HANDLE_LIST_KHR

    def required(self, device: Value | None = None) -> list[Any]:
        """The properties that a semaphore of `device`, or of the first one, needs."""
        listed = [self.list_name, device or self.device, 0] if len(self.devices) > 1 else []
        return [*self.binary, *listed]

    def create(self, *words: Any, context: Value | None = None) -> tuple[int, Value]:
        """Error and semaphore of a property list, the final 0 left out."""
        listed = self.words(*words, 0)
        return self.platform.create("clCreateSemaphoreWithPropertiesKHR", context or self.context, listed)

    def make(self, *further: Any, device: Value | None = None) -> Value:
        """A binary semaphore with further properties."""
        error, semaphore = self.create(*self.required(device), *further)
        if error:
            raise CallFailed(f"clCreateSemaphoreWithPropertiesKHR answered {error}, expected CL_SUCCESS")
        return semaphore

    def queue(self, device: Value | None = None, properties: int = 0) -> Value:
        """A new queue on `device`, or on the first one."""
        return self.platform.queue(self.context, device or self.device, properties)

    def enqueue(self, what: str, queue: Value, *semaphores: Value, after: Value | None = None) -> Value:
        """Enqueues a "Wait" or "Signal"; gives the event."""
        event = self.session.buffer(8, 0)
        events = [after] if after else None
        listed = self.words(*semaphores)
        name = f"clEnqueue{what}SemaphoresKHR"
        self.expect_success(name, queue, len(semaphores), listed, None, len(events or ()), events, event)
        return event.handle()

    def finish(self, queue: Value) -> None:
        """Waits for a queue. Raises CallFailed where that returns an error."""
        self.expect_success("clFinish", queue)

    def query(self, semaphore: Value, name: int) -> tuple[int, bytes]:
        """clGetSemaphoreInfoKHR: error code, and the bytes of the answer."""
        return self.platform.answer("clGetSemaphoreInfoKHR", semaphore, name)

    def payload(self, semaphore: Value) -> int:
        """What the semaphore holds: 1 where it is signalled. Raises CallFailed where the answer has not 8 bytes."""
        error, value = self.query(semaphore, CL.SEMAPHORE_PAYLOAD_KHR)
        if error or len(value) != 8:
            raise CallFailed(f"the query of the payload answered {error} and {len(value)} bytes, expected 8")
        return number_of(value)

    def export(self, semaphore: Value, kind: int, device: Value | None = None) -> Value:
        """A new descriptor of a semaphore."""
        descriptor = self.session.buffer(8, 0)
        size = self.session.buffer(8, 0)
        function = "clGetSemaphoreHandleForTypeKHR"
        self.expect_success(function, semaphore, device or self.device, kind, 4, descriptor, size)
        if size.u64() != 4:
            raise CallFailed(f"{function} answered a size of {size.u64()}, expected 4")
        number = descriptor.i32()
        return Value(number & 0xFFFFFFFFFFFFFFFF, f"*{descriptor.token}" if number >= 0 else "-1")
