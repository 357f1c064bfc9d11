# SPDX-License-Identifier: Apache-2.0
"""Calls of any function of the API through a probe, plain as in C and in the form that a check reads best, with the
memory, threads and callbacks that they need. Buffers and results are named, so that a recorded exchange can be
replayed.
"""

from __future__ import annotations

import builtins
import os
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from harness.api.codes import CL, Code, code_of_word, constant
from harness.api.model import api
from harness.probe.connection import Connection
from harness.probe.replies import CommandError
from harness.probe.values import Callback, CallbackArgument, Names, Value, is_sequence, pack, unpack

CANARY = 0xA5
MAX_OBJECTS = 1 << 16  # platforms, or devices, in one list
MAX_TEXT = 16 << 20  # bytes of a string
_AT_ONCE = 16  # objects that are asked in one exchange
MAX_NAME = 64  # bytes of a name that a mock gives


class CallFailed(AssertionError):
    """A call that a check relies on answered an error."""


class Commands(Protocol):
    """What values need of the connection to their probe."""

    def command(self, text: str) -> str:
        """Sends a command and returns the answer to it."""

    def later(self, text: str) -> None:
        """Sends a command with the next one that is waited for."""


class Buffer:
    """Memory in the probe. Its end is followed by an unreadable page: reading or writing past it is a crash.

    `buffer[8:16]` gives bytes, `u32(n)`, `u64(n)`, `word(n)` (a size_t or an address) and `handle(n)` the n-th element,
    `code()` an error code, `text()` a C string.
    """

    def __init__(self, session: Commands, index: int, size: int) -> None:
        self.session = session
        self.index = index
        self.size = size
        self.token = f"b{index}"
        self.answer: builtins.bytes | None = None  # all of it, as it stood when the call returned that was to read it

    def __getitem__(self, part: slice) -> bytes:
        answer, self.answer = self.answer, None
        if answer is not None:
            return answer[part]
        start, stop, _ = part.indices(self.size)
        return bytes.fromhex(self.session.command(f"get {self.index} {start} {max(stop - start, 0)}"))

    def bytes(self) -> bytes:
        """All bytes, as they are in the probe now."""
        return self[:]

    def u32(self, index: int = 0) -> int:
        """The unsigned 32-bit number at `index`, counted in numbers."""
        return int(struct.unpack("<I", self[4 * index : 4 * index + 4])[0])

    def i32(self, index: int = 0) -> int:
        """The signed 32-bit number at `index`, counted in numbers."""
        return int(struct.unpack("<i", self[4 * index : 4 * index + 4])[0])

    def code(self) -> Code:
        """The cl_int at the start, as an errcode_ret has it."""
        return Code(self.i32())

    def u64(self, index: int = 0) -> int:
        """The unsigned 64-bit number at `index`, counted in numbers."""
        return int(struct.unpack("<Q", self[8 * index : 8 * index + 8])[0])

    def word(self, index: int = 0) -> int:
        """The n-th word of the buffer, as wide as an address of the probe's machine: a size_t, intptr_t or address."""
        return self.u64(index) if api().address == 8 else self.u32(index)

    def handle(self, index: int = 0) -> Value:
        """The handle or pointer at `index`, counted in pointers of the probe's machine."""
        return Value(self.word(index), f"*b{self.index}+{api().address * index}")

    def handles(self) -> list[Value]:
        """All handles or pointers; bytes at the end that make no whole one are left out."""
        width = api().address
        words = unpack(self[: self.size // width * width], width)
        return [Value(word, f"*b{self.index}+{width * i}") for i, word in enumerate(words)]

    def text(self) -> str:
        """What is before the first NUL, as a string; bytes that are not UTF-8 are replaced."""
        return self.bytes().split(b"\0")[0].decode(errors="replace")

    def put(self, content: builtins.bytes) -> None:
        """Overwrites the start of the buffer."""
        assert len(content) <= self.size
        self.session.later(f"put {self.index} 0 {content.hex()}")

    def fill(self, byte: int) -> None:
        """Overwrites the whole buffer."""
        self.session.later(f"put {self.index} 0 {bytes([byte] * self.size).hex()}")

    def protect(self) -> None:
        """From now on writing to the buffer is a crash."""
        self.session.later(f"protect {self.index}")

    def at(self, offset: int) -> Value:
        """The address of a byte of the buffer, as an argument."""
        return Value(0, f"b{self.index}+{offset}")

    def __repr__(self) -> str:
        return f"<buffer {self.index}, {self.size} bytes>"


class Later:
    """A call that was kept for a thread or for a callback."""

    def __init__(self, session: Commands, function: str, variable: int) -> None:
        self.session = session
        self.function = function
        self.variable = variable

    def result(self) -> int:
        """What it answered, when it was made (last)."""
        value = int(self.session.command(f"value r{self.variable}"), 16)
        return result_value(self.function, value, self.variable)


class Calls(Connection):
    """A connection that makes calls as in C."""

    _values = 0  # numbers of buffers and results given so far
    _read: Buffer | None = None  # to be read by the call that is given it

    def buffer(self, size: int, fill: int = CANARY) -> Buffer:
        """New memory in the probe, every byte `fill`."""
        self._values += 1
        self._prepared.append(f"buffer {self._values} {size} {fill}")
        return Buffer(self, self._values, size)

    def data(self, content: bytes) -> Buffer:
        """New memory with this content."""
        buffer = self.buffer(len(content), 0)
        if content:
            self._prepared.append(f"put {buffer.index} 0 {content.hex()}")
        return buffer

    def room(self, count: int = 1, fill: int = CANARY) -> Buffer:
        """New memory for handles, or for numbers of the type size_t."""
        return self.buffer(api().address * count, fill)

    def words(self, values: list[Any], width: int = 0) -> Buffer:
        """New memory that holds words of `width` bytes (0: of an address): numbers, handles, buffers' addresses."""
        width = width or api().address
        buffer = self.data(pack([v if isinstance(v, int) else 0 for v in values], width))
        for index, value in enumerate(values):
            if isinstance(value, (Value, Buffer)):
                self._prepared.append(f"word {buffer.index} {width * index} {value.token}")
        return buffer

    def token(self, value: Any) -> str:
        """The token for an argument: None, numbers, Value, Buffer, Callback, str, bytes, or a list of words.

        CallbackArgument(n) is for calls that `when` keeps.
        """
        if value is None:
            return "0"
        if isinstance(value, (Value, Buffer, Callback, CallbackArgument)):
            return value.token
        if isinstance(value, int):
            return str(int(value))
        if isinstance(value, (str, bytes)):
            return self.data((value.encode() if isinstance(value, str) else value) + b"\0").token
        if is_sequence(value):
            return self.words(list(value)).token
        raise TypeError(f"no OpenCL argument: {value!r}")

    def _result(self, function: str, command: str, variable: int) -> int:
        buffer = self._read
        if buffer is None or buffer.token not in command.split():
            return result_value(function, int(self.command(command), 16), variable)
        self._read = None
        answer, content = self.commands(command, f"get {buffer.index} 0 {buffer.size}")
        buffer.answer = bytes.fromhex(content)
        return result_value(function, int(answer, 16), variable)

    def _call_line(self, function: str, arguments: Sequence[Any], address: Value | None = None) -> str:
        """A call of the exported function, or at an address, whose result gets the next number."""
        tokens = " ".join(self.token(a) for a in arguments)
        self._values += 1
        how = f"call {self._values}" if address is None else f"address {self._values} {address.token}"
        return f"{how} {function} {tokens}".rstrip()

    def call(self, function: str, *arguments: Any) -> int:
        """Calls a function of the loader. Gives its result: cl_int as signed number, handles and pointers as Value."""
        line = self._call_line(function, arguments)
        return self._result(function, line, self._values)

    def read_with_call(self, buffer: Buffer) -> Buffer:
        """The same buffer: what is read from it first after the next call that is given it is what stood there right
        after that call, in the same exchange with the probe."""
        self._read = buffer
        return buffer

    def read_together(self, buffers: list[Buffer]) -> None:
        """What is read from each of the buffers first is what stands there now, which is asked for in one exchange."""
        contents = self.commands(*(f"get {b.index} 0 {b.size}" for b in buffers)) if buffers else []
        for buffer, content in zip(buffers, contents, strict=True):
            buffer.answer = bytes.fromhex(content)

    def call_for(self, buffer: Buffer, function: str, *arguments: Any) -> int:
        """Like `call`, with a buffer among the arguments, which is read with the call."""
        self.read_with_call(buffer)
        return self.call(function, *arguments)

    def calls_together(self, calls: Sequence[tuple[Buffer | None, Value | None, str, Sequence[Any]]]) -> list[int]:
        """Makes calls one after the other in one exchange with the probe; gives their results.

        Each is a buffer that is read with the call, or None; the address, None for the exported name; the function; and
        its arguments.
        """
        lines: list[str] = []
        places: list[tuple[str, int, int, Buffer | None]] = []
        for buffer, address, function, arguments in calls:
            place = len(lines)
            lines.append(self._call_line(function, arguments, address))
            places.append((function, place, self._values, buffer))
            if buffer is not None:
                lines.append(f"get {buffer.index} 0 {buffer.size}")
        answers = self.commands(*lines) if lines else []
        results = []
        for function, place, variable, buffer in places:
            results.append(result_value(function, int(answers[place], 16), variable))
            if buffer is not None:
                buffer.answer = bytes.fromhex(answers[place + 1])
        return results

    def call_at(self, address: Value, like: str, *arguments: Any) -> int:
        """Calls the function at an address, with the signature of a function of the API."""
        line = self._call_line(like, arguments, address)
        return self._result(like, line, self._values)

    def peek(self, address: Value, offset: int) -> Value:
        """The word at an address, as wide as one. Raises CommandError where nothing is."""
        self._values += 1
        number = int(self.command(f"peek {self._values} {address.token} {offset}"), 16)
        return Value(number, f"r{self._values}")

    def bytes_at(self, address: Value, size: int) -> bytes:
        """Memory at an address, such as of a mapping. Raises CommandError where nothing can be read."""
        text = self.command(f"read {address.token} {size}")
        return bytes.fromhex(text)

    def store(self, address: Value, offset: int, content: bytes) -> None:
        """Writes to memory at an address. Raises CommandError where nothing can be written."""
        if content:
            self.command(f"store {address.token} {offset} {content.hex()}")

    def descriptor(self, what: str) -> Value:
        """A file descriptor in the probe: "memory SIZE", "copy TOKEN NUMBER" (-1 for any), "close TOKEN"."""
        self._values += 1
        number = int(self.command(f"descriptor {self._values} {what}"), 16)
        return Value(number, f"r{self._values}")

    def vulkan(self, what: str) -> Value:
        """Memory of Vulkan's (harness/probe/vulkan.c). Raises CommandError with the reason where it has none."""
        self._values += 1
        number = int(self.command(f"vulkan {self._values} {what}"), 16)
        return Value(number, f"r{self._values}")

    def module(self, address: Value) -> str:
        """Path of the library that an address lies in; "" for none."""
        try:
            return self._library_path(self.command(f"module {address.token}"))
        except CommandError:
            return ""

    def modules(self, addresses: Sequence[Value]) -> list[str]:
        """The same of several addresses."""
        paths = []
        for at in range(0, len(addresses), _AT_ONCE):
            some = addresses[at : at + _AT_ONCE]
            try:
                answers = self.commands(*(f"module {address.token}" for address in some))
                paths += [self._library_path(answer) for answer in answers]
            except CommandError:  # one of them lies in none
                paths += [self.module(address) for address in some]
        return paths

    def _library_path(self, answer: str) -> str:
        """The path that the probe answers."""
        return bytes.fromhex(answer).decode()

    def library_symbol(self, library: Path, name: str) -> Value:
        """The address of a symbol of a library, which stays loaded."""
        self._values += 1
        command = f"load {os.fsencode(library).hex()} {name.encode().hex()} {self._values}"
        return Value(int(self.command(command), 16), f"r{self._values}")

    def call_later(self, function: str, *arguments: Any, address: Value | None = None) -> Later:
        """Sends a call together with the next command; at an address, where one is given."""
        self._prepared.append(self._call_line(function, arguments, address))
        return Later(self, function, self._values)

    def _keep(self, what: str, function: str, arguments: tuple[Any, ...], address: Value | None = None) -> Later:
        line = self._call_line(function, arguments, address)
        kept = Later(self, function, self._values)
        self._prepared.append(f"{what} {line}")
        return kept

    def in_thread(self, thread: int, function: str, *arguments: Any, address: Value | None = None) -> Later:
        """Keeps a call for a thread, of the exported function or at an address; `go` runs all threads at once."""
        return self._keep(f"thread {thread}", function, arguments, address)

    def when(self, callback: str, function: str, *arguments: Any, address: Value | None = None) -> Later:
        """Keeps a call to be made each time that a callback is called, such as "clBuildProgram.pfn_notify"; of the
        exported function or at an address."""
        return self._keep(f"when {callback}", function, arguments, address)

    def peek_when(self, callback: str, address: Value | CallbackArgument, offset: int) -> Value:
        """Reads a word at an address each time that a callback is called; gives it for further such reads, and for
        `number_of`."""
        self._values += 1
        self._prepared.append(f"when {callback} peek {self._values} {address.token} {offset}")
        return Value(0, f"r{self._values}")

    def number_of(self, value: Value) -> int:
        """The number that a value has by now."""
        return int(self.command(f"value {value.token}"), 16)

    def callbacks(self) -> int:
        """How many calls that `when` kept have been made."""
        return int(self.command("callbacks"))

    def go(self) -> int:
        """Runs the threads and waits for them; gives their number."""
        return int(self.command("go"))


class Convenience(Calls):
    """Calls in the form that a check reads best."""

    platforms_listed: int | None = None  # how many platforms there were when a list of them was asked for last

    # --- OpenCL ---

    def platform_count(self) -> int:
        """The count that clGetPlatformIDs reports; 0 when there is no platform."""
        count = self.buffer(4)
        result = self.call_for(count, "clGetPlatformIDs", 0, None, count)
        if result == CL.PLATFORM_NOT_FOUND_KHR:
            return 0
        if result:
            raise CallFailed(f"clGetPlatformIDs(0, NULL, &count) answered {result}, expected CL_SUCCESS")
        return count.u32()

    def _list_of(self, function: str, count: int) -> Buffer:
        """Memory for a list of handles. Raises CallFailed for a count that cannot be meant."""
        if count > MAX_OBJECTS:
            raise CallFailed(f"{function} answered a count of {count}, expected no more than {MAX_OBJECTS}")
        return self.room(count, 0)

    def GetPlatformIDs(self) -> list[Value]:
        """All platforms in the loader's order; an empty list when there is none."""
        count = self.platforms_listed = self.platform_count()
        if count == 0:
            return []
        platforms = self._list_of("clGetPlatformIDs", count)
        result = self.call_for(platforms, "clGetPlatformIDs", count, platforms, None)
        if result:
            raise CallFailed(f"clGetPlatformIDs({count}, platforms, NULL) answered {result} after a count of {count}")
        return platforms.handles()

    def GetPlatformInfo(self, platform: Value, query: str = "CL_PLATFORM_NAME") -> str:
        """A string of a platform."""
        return self._texts([(platform, query)])[0]

    def _texts(self, asked: Sequence[tuple[Value, str]]) -> list[str]:
        """Strings of platforms: the sizes of all are asked for, then all strings."""
        sizes = [self.room(1, 0) for _ in asked]
        results = self.calls_together(
            [
                (size, None, "clGetPlatformInfo", (platform, constant(query), 0, None, size))
                for (platform, query), size in zip(asked, sizes, strict=True)
            ]
        )
        texts = []
        for (_, query), size, result in zip(asked, sizes, results, strict=True):
            if result:
                raise CallFailed(f"clGetPlatformInfo({query}) answered {result} to the size query")
            length = size.word()
            if length > MAX_TEXT:
                raise CallFailed(f"clGetPlatformInfo({query}) answered a size of {length}, expected at most {MAX_TEXT}")
            texts.append(self.buffer(length))
        results = self.calls_together(
            [
                (text, None, "clGetPlatformInfo", (platform, constant(query), text.size, text, None))
                for (platform, query), text in zip(asked, texts, strict=True)
            ]
        )
        for (_, query), result in zip(asked, results, strict=True):
            if result:
                raise CallFailed(f"clGetPlatformInfo({query}) answered {result}")
        return [text.text() for text in texts]

    def platform_names(self) -> Names:
        """Names of all platforms, asked through the loader: each name comes from the mock that it belongs to."""
        platforms = self.GetPlatformIDs()
        names = Names()
        for at in range(0, len(platforms), _AT_ONCE):
            names += self._texts([(platform, "CL_PLATFORM_NAME") for platform in platforms[at : at + _AT_ONCE]])
        return names

    def used_platforms(self) -> Names:
        """Names of all platforms, each of them used as an application does: information, devices, and back."""
        names = Names()
        about = [f"CL_PLATFORM_{what}" for what in ("NAME", "PROFILE", "VERSION", "VENDOR", "EXTENSIONS")]
        owner_query = constant("CL_DEVICE_PLATFORM")
        for platform in self.GetPlatformIDs():
            names.append(self._texts([(platform, query) for query in about])[0])
            devices = self.GetDeviceIDs(platform)
            for at in range(0, len(devices), _AT_ONCE):
                asked = [(device, self.room(1, 0)) for device in devices[at : at + _AT_ONCE]]
                results = self.calls_together(
                    [
                        (room, None, "clGetDeviceInfo", (device, owner_query, room.size, room, None))
                        for device, room in asked
                    ]
                )
                for (_, room), result in zip(asked, results, strict=True):
                    if result or room.word() != platform:
                        raise CallFailed(f"a device of platform {names[-1]} names another platform ({result})")
        return names

    def vendor_function(self, name: str) -> str | None:
        """Asks the loader for a vendor's function and calls it; gives the mock that answered, None without address."""
        address = self.GetExtensionFunctionAddress(name)
        if not address:
            return None
        self._values += 1
        call = f"address {self._values} {address.token} clGetExtensionFunctionAddress 0"
        _, text = self.commands(call, f"read r{self._values} {MAX_NAME}")
        return _text(text)

    def text_at(self, address: Value) -> str:
        """The C string at an address, as far as it is shorter than 64 bytes."""
        return _text(self.command(f"read {address.token} {MAX_NAME}"))

    def GetDeviceIDs(self, platform: Value, kind: str = "CL_DEVICE_TYPE_ALL") -> list[Value]:
        """Devices of a platform; an empty list when there is none."""
        room = self.buffer(4, 0)
        number = constant(kind)
        if self.call_for(room, "clGetDeviceIDs", platform, number, 0, None, room) or not (count := room.u32()):
            return []
        devices = self._list_of("clGetDeviceIDs", count)
        result = self.call_for(devices, "clGetDeviceIDs", platform, number, count, devices, None)
        if result:
            raise CallFailed(f"clGetDeviceIDs answered {result} after a count")
        return devices.handles()

    def CreateContext(self, properties: list[Any] | None, devices: list[Value]) -> tuple[Code, Value]:
        """The error code and the context."""
        error = self.read_with_call(self.buffer(4))
        context = self.call("clCreateContext", properties, len(devices), list(devices) or None, None, None, error)
        assert isinstance(context, Value)
        return error.code(), context

    def GetExtensionFunctionAddress(self, name: str) -> Value:
        """The address that the loader gives for a function's name; 0 for none."""
        return self.function_addresses([name])[0]

    def function_addresses(self, names: Sequence[str]) -> list[Value]:
        """The addresses that the loader gives for names, one after the other; 0 for none."""
        addresses: list[Any] = []
        for at in range(0, len(names), _AT_ONCE):
            calls = [(None, None, "clGetExtensionFunctionAddress", (name,)) for name in names[at : at + _AT_ONCE]]
            addresses += self.calls_together(calls)
        return addresses


def _text(digits: str) -> str:
    """The C string that begins the bytes."""
    return bytes.fromhex(digits).split(b"\0")[0].decode(errors="replace")


def result_value(function: str, value: int, variable: int) -> int:
    """A result's 64 bits as the function's type has them; `variable` is its number in the probe."""
    kind = api().functions[function].result_kind
    if kind == "signed":
        return code_of_word(value)
    return Value(value, f"r{variable}") if kind in ("handle", "pointer") else value
