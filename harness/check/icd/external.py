# SPDX-License-Identifier: Apache-2.0
"""A vendor's external memory, semaphores and command buffers, as an application uses them.

for platform in platforms_with(session, "cl_khr_semaphore"):
    context = platform.context([platform.able[0]])
"""

from __future__ import annotations

import contextlib
import os
import stat
import struct
from collections.abc import Iterator, Sequence
from typing import Any

from harness.api.codes import CL
from harness.api.model import api
from harness.probe.calls import Buffer, CallFailed
from harness.probe.extensions import (
    function_of,
)
from harness.probe.icd_objects import IcdObjects
from harness.probe.icd_session import IcdSession
from harness.probe.session import CommandError
from harness.probe.values import Value, pack
from harness.probe.verdicts import Hung
from harness.sandbox import Unsupported

UUID_SIZE = 16
VULKAN_TYPES = {
    CL.EXTERNAL_MEMORY_HANDLE_OPAQUE_FD_KHR: 0x1,
    CL.EXTERNAL_MEMORY_HANDLE_DMA_BUF_KHR: 0x200,
}  # VkExternalMemoryHandleTypeFlagBits
SIZE = 4096  # of the memory that is shared, in bytes
STATUS, TYPE = "CL_EVENT_COMMAND_EXECUTION_STATUS", "CL_EVENT_COMMAND_TYPE"
UNKNOWN = (0, 0, 0)  # a revision that the vendor does not tell


class Platform:
    """One platform that has an extension, and its devices that have it (`able`) among all of its devices."""

    def __init__(self, session: IcdSession, handle: Value, extension: str) -> None:
        self.session = session
        self.handle = handle
        self.extension = extension
        self.objects = IcdObjects(session, handle)
        self.devices = session.GetDeviceIDs(handle)
        listed = session.GetPlatformInfo(handle, "CL_PLATFORM_EXTENSIONS").split()
        own = [device for device in self.devices if extension in self.extensions(device)]
        self.advertised = bool(own) or extension in listed
        types = {"cl_khr_external_memory": CL.DEVICE_EXTERNAL_MEMORY_IMPORT_HANDLE_TYPES_KHR}.get(extension)
        types = CL.DEVICE_SEMAPHORE_TYPES_KHR if "semaphore" in extension else types
        self.able = [
            device for device in own if types is None or self.types(device, types) or self._lacks(device, types)
        ]
        self._addresses: dict[str, Value] = {}

    # --- queries ---

    def _lacks(self, device: Value, types: int) -> bool:
        """Whether a device with semaphores does not know the query of their types, which is another check's affair."""
        unknown = self.answer("clGetDeviceInfo", device, types)[0] != 0
        return unknown and types == CL.DEVICE_SEMAPHORE_TYPES_KHR

    def answer(self, function: str, owner: Value, query: int) -> tuple[int, bytes]:
        """The error of a query, and the answer where there is none."""
        size = self.session.buffer(8, 0)
        if error := self.call(function, owner, query, 0, None, size):
            return error, b""
        value = self.session.buffer(max(size.u64(), 1))
        error = self.call(function, owner, query, size.u64(), value, None) if size.u64() else 0
        return error, value[: size.u64()]

    def extensions(self, device: Value) -> list[str]:
        """The extensions that a device reports. Raises CallFailed where the query returns an error."""
        error, text = self.answer("clGetDeviceInfo", device, api().constant("CL_DEVICE_EXTENSIONS"))
        if error:
            raise CallFailed(f"clGetDeviceInfo(CL_DEVICE_EXTENSIONS) answered {error}")
        return text.rstrip(b"\0").decode(errors="replace").split()

    def types(self, owner: Value, query: int) -> list[int]:
        """Handle types or semaphore types of a device or platform; none where the query is not known."""
        function = "clGetPlatformInfo" if owner == self.handle else "clGetDeviceInfo"
        error, answer = self.answer(function, owner, query)
        return [] if error else list(struct.unpack(f"<{len(answer) // 4}I", answer[: len(answer) // 4 * 4]))

    def revision(self, extension: str = "") -> tuple[int, int, int]:
        """What the devices tell of the extension's revision; UNKNOWN where they do not."""
        for device in self.able or self.devices:
            _, listed = self.answer("clGetDeviceInfo", device, CL.DEVICE_EXTENSIONS_WITH_VERSION)
            for at in range(0, len(listed), 68):
                name = listed[at + 4 : at + 68].split(b"\0")[0].decode(errors="replace")
                if name == (extension or self.extension):
                    (version,) = struct.unpack("<I", listed[at : at + 4])
                    return version >> 22, version >> 12 & 0x3FF, version & 0xFFF
        return UNKNOWN

    def is_since(self, *revision: int) -> bool:
        """Whether the extension is of that revision or later, as far as the vendor tells."""
        return self.revision() in (UNKNOWN, revision) or self.revision() > revision

    # --- calls ---

    def address(self, function: str) -> Value:
        """Where the platform has a function. Raises CallFailed where it has none."""
        if function not in self._addresses:
            address = function_of(self.session, self.handle, function)
            if not address:
                raise CallFailed(
                    f"clGetExtensionFunctionAddressForPlatform({function}) answered NULL for a platform with "
                    f"{self.extension}, expected an address"
                )
            self._addresses[function] = address
        return self._addresses[function]

    def call(self, function: str, *arguments: Any) -> int:
        """Calls a function of the core through the table, one of an extension by its address."""
        if api().functions[function].slot is None:
            return self.session.call_at(self.address(function), function, *arguments)
        return self.session.call(function, *arguments)

    def call_named(self, function: str, **arguments: Any) -> int:
        """The same with arguments by their names in the headers; what is not named is 0."""
        names = [parameter.name for parameter in api().functions[function].parameters]
        unknown = arguments.keys() - set(names)
        assert not unknown, f"{function} has no parameter {', '.join(unknown)}"
        return self.call(function, *(arguments.get(name) for name in names))

    def expect_success(self, function: str, *arguments: Any) -> None:
        """A call that has to succeed. Raises CallFailed."""
        if error := self.call(function, *arguments):
            raise CallFailed(f"{function} answered {error}, expected CL_SUCCESS")

    def create(self, function: str, *arguments: Any) -> tuple[int, Value]:
        """The error and the object of a function whose last argument is errcode_ret."""
        code = self.session.buffer(4)
        result = self.call(function, *arguments, code)
        assert isinstance(result, Value)
        error = code.code()
        if bool(error) == bool(result):
            raise CallFailed(f"{function} answered {result:#x} with the error {error}")
        return error, result

    def make(self, function: str, *arguments: Any) -> Value:
        """What a creating function makes. Raises CallFailed where it returns an error."""
        error, result = self.create(function, *arguments)
        if error:
            raise CallFailed(f"{function} answered {error}, expected CL_SUCCESS")
        return result

    def words(self, *values: Any) -> Buffer:
        """A buffer of the probe with these 64-bit words: a property list, or an array of handles."""
        return self.session.words(list(values))

    # --- objects ---

    def context(self, devices: Sequence[Value]) -> Value:
        """A new context of these devices. Raises CallFailed where there is none."""
        properties = [api().constant("CL_CONTEXT_PLATFORM"), self.handle, 0]
        error, context = self.session.CreateContext(properties, list(devices))
        if error:
            raise CallFailed(f"clCreateContext of {len(devices)} devices answered {error}, expected CL_SUCCESS")
        return context

    def queue(self, context: Value, device: Value, properties: int = 0) -> Value:
        """A new queue with these bits of CL_QUEUE_PROPERTIES. Raises CallFailed where there is none."""
        return self.make("clCreateCommandQueue", context, device, properties)

    def buffer(self, context: Value, size: int = SIZE) -> Value:
        """A new buffer of `size` bytes, for reading and writing. Raises CallFailed where there is none."""
        return self.make("clCreateBuffer", context, 0, size, None)

    def user_event(self, context: Value) -> Value:
        """A new user event. Raises CallFailed where there is none."""
        return self.make("clCreateUserEvent", context)

    def set_event(self, event: Value, status: int = CL.COMPLETE) -> None:
        """Sets the status of a user event. Raises CallFailed where that returns an error."""
        self.expect_success("clSetUserEventStatus", event, status)

    def event(self, event: Value, query: str) -> int:
        """Type or status of an event."""
        error, value = self.answer("clGetEventInfo", event, api().constant(query))
        if error or len(value) != 4:
            raise CallFailed(f"clGetEventInfo({query}) answered {error} and {len(value)} bytes, expected 4")
        return int.from_bytes(value, "little", signed=True)

    def write(self, queue: Value, memory: Value, content: bytes, event: Buffer | None = None) -> None:
        """Enqueues a write of `content` to a buffer's start: a blocking one unless the caller wants its event."""
        data = self.session.data(content)
        self.expect_success(
            "clEnqueueWriteBuffer", queue, memory, int(event is None), 0, len(content), data, 0, None, event
        )

    def read(self, queue: Value, memory: Value, size: int) -> bytes:
        """The first `size` bytes of a buffer, by a blocking read. Raises CallFailed where that returns an error."""
        data = self.session.buffer(size, 0)
        self.expect_success("clEnqueueReadBuffer", queue, memory, 1, 0, size, data, 0, None, None)
        return data.bytes()

    def unsupported(self, reason: str) -> Unsupported:
        """The error, to be raised, that says what this machine lacks, with the name of the ICD in front."""
        return Unsupported("machine", f"{self.objects.owner}: {reason}")


def platforms_with(session: IcdSession, extension: str, devices: int = 1) -> list[Platform]:
    """The platforms that have an extension, on so many devices; makes the case `unsupported` where none has."""
    platforms = []
    advertised = False
    for handle in session.some_platforms():
        session.platform = handle
        platform = Platform(session, handle, extension)
        advertised = advertised or platform.advertised
        if platform.advertised and len(platform.able) >= devices:
            platforms.append(platform)
    if not advertised:
        raise Unsupported("loader", f"this ICD does not advertise {extension}", extension)
    if not platforms:
        raise Unsupported("machine", f"no platform of this ICD has {devices} devices with {extension} on this machine")
    return platforms


class OnPlatform:
    """What is used on one platform, whose calls it has."""

    platform: Platform

    def call(self, function: str, *arguments: Any) -> int:
        """Platform.call: the error of a function that has one."""
        return self.platform.call(function, *arguments)

    def expect_success(self, function: str, *arguments: Any) -> None:
        """Platform.expect_success: a call that has to succeed. Raises CallFailed."""
        self.platform.expect_success(function, *arguments)

    def words(self, *values: Any) -> Buffer:
        """Platform.words: 64-bit words in the probe's memory, such as a property list."""
        return self.platform.words(*values)


@contextlib.contextmanager
def may_block(outcomes: list[str]) -> Iterator[None]:
    """For calls that may wait, by the specification, for what they are to be ordered after."""
    try:
        yield
    except Hung:
        outcomes.append("blocks")


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
        return int.from_bytes(value, "little")

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
