# SPDX-License-Identifier: Apache-2.0
"""The platforms of a vendor's ICD that have an extension, with calls of its functions and plain objects.

for platform in platforms_with(session, "cl_khr_semaphore"):
    context = platform.context([platform.able[0]])
"""

from __future__ import annotations

import contextlib
import struct
from collections.abc import Iterator, Sequence
from typing import Any

from harness.api.codes import CL
from harness.api.model import api
from harness.probe.answers import number_of
from harness.probe.calls import Buffer, CallFailed
from harness.probe.extensions import function_of
from harness.probe.icd_objects import IcdObjects
from harness.probe.icd_session import IcdSession
from harness.probe.values import Value
from harness.probe.verdicts import Hung
from harness.sandbox import Unsupported

BUFFER_SIZE = 4096  # bytes of a plain buffer
UNKNOWN = (0, 0, 0)  # a revision that the vendor does not tell
_ENTRY = 68  # bytes of a cl_name_version: a version and a name


def revision_in(listed: bytes, extension: str) -> tuple[int, int, int] | None:
    """The revision of an extension in an answer to CL_DEVICE_EXTENSIONS_WITH_VERSION; None where it is not there."""
    for at in range(0, len(listed) - _ENTRY + 1, _ENTRY):
        if listed[at + 4 : at + _ENTRY].split(b"\0")[0] == extension.encode():
            (version,) = struct.unpack("<I", listed[at : at + 4])
            return version >> 22, version >> 12 & 0x3FF, version & 0xFFF
    return None


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
        room = self.session.read_with_call(self.session.buffer(8, 0))
        if error := self.call(function, owner, query, 0, None, room):
            return error, b""
        if not (size := room.u64()):
            return 0, b""
        value = self.session.read_with_call(self.session.buffer(size))
        error = self.call(function, owner, query, size, value, None)
        return error, value[:size]

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
            if revision := revision_in(listed, extension or self.extension):
                return revision
        return UNKNOWN

    def is_since(self, *revision: int) -> bool:
        """Whether the vendor tells that the extension is of that revision or later: what it adds can be demanded."""
        return self.revision() >= revision

    def may_be_since(self, *revision: int) -> bool:
        """The same, or the vendor tells no revision: what that revision adds is as right as what was before it."""
        return self.revision() == UNKNOWN or self.is_since(*revision)

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
        code = self.session.read_with_call(self.session.buffer(4))
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

    def buffer(self, context: Value, size: int = BUFFER_SIZE) -> Value:
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
        return number_of(value, signed=True)

    def write(self, queue: Value, memory: Value, content: bytes, event: Buffer | None = None) -> None:
        """Enqueues a write of `content` to a buffer's start: a blocking one unless the caller wants its event."""
        data = self.session.data(content)
        self.expect_success(
            "clEnqueueWriteBuffer", queue, memory, int(event is None), 0, len(content), data, 0, None, event
        )

    def read(self, queue: Value, memory: Value, size: int) -> bytes:
        """The first `size` bytes of a buffer, by a blocking read. Raises CallFailed where that returns an error."""
        data = self.session.read_with_call(self.session.buffer(size, 0))
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
