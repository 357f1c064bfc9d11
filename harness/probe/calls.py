# SPDX-License-Identifier: Apache-2.0
"""Calls of any function of the API through a probe, with the memory, threads and callbacks that they need."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from harness.api.model import api
from harness.probe.connection import Connection
from harness.probe.replies import CommandError
from harness.probe.values import Buffer, Callback, CallbackArgument, Later, Value, is_sequence, pack, result_value

CANARY = 0xA5


class Calls(Connection):
    """A connection that makes calls as in C."""

    _values = 0  # numbers of buffers and results given so far

    def buffer(self, size: int, fill: int = CANARY) -> Buffer:
        """New memory in the probe, every byte `fill`."""
        self._values += 1
        self.later(f"buffer {self._values} {size} {fill}")
        return Buffer(self, self._values, size)

    def data(self, content: bytes) -> Buffer:
        """New memory with this content."""
        buffer = self.buffer(len(content), 0)
        if content:
            self.later(f"put {buffer.index} 0 {content.hex()}")
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
                self.later(f"word {buffer.index} {width * index} {value.token}")
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
        return result_value(function, int(self.command(command), 16), variable)

    def _call_line(self, function: str, arguments: tuple[Any, ...]) -> str:
        tokens = " ".join(self.token(a) for a in arguments)
        self._values += 1
        return f"call {self._values} {function} {tokens}".rstrip()

    def call(self, function: str, *arguments: Any) -> int:
        """Calls a function of the loader. Gives its result: cl_int as signed number, handles and pointers as Value."""
        line = self._call_line(function, arguments)
        return self._result(function, line, self._values)

    def call_at(self, address: Value, like: str, *arguments: Any) -> int:
        """Calls the function at an address, with the signature of a function of the API."""
        tokens = " ".join(self.token(a) for a in arguments)
        self._values += 1
        return self._result(like, f"address {self._values} {address.token} {like} {tokens}".rstrip(), self._values)

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
            return bytes.fromhex(self.command(f"module {address.token}")).decode()
        except CommandError:
            return ""

    def library_symbol(self, library: Path, name: str) -> Value:
        """The address of a symbol of a library, which stays loaded."""
        self._values += 1
        command = f"load {os.fsencode(library).hex()} {name.encode().hex()} {self._values}"
        return Value(int(self.command(command), 16), f"r{self._values}")

    def call_later(self, function: str, *arguments: Any, address: Value | None = None) -> Later:
        """Sends a call together with the next command; at an address, where one is given."""
        line = self._call_line(function, arguments)
        if address is not None:
            line = line.replace(
                f"call {self._values} {function}", f"address {self._values} {address.token} {function}", 1
            )
        self.later(line)
        return Later(self, function, self._values)

    def _keep(self, what: str, function: str, arguments: tuple[Any, ...], address: Value | None = None) -> Later:
        line = self._call_line(function, arguments)
        if address is not None:
            line = f"address {self._values} {address.token} {line.split(' ', 2)[2]}"
        kept = Later(self, function, self._values)
        self.later(f"{what} {line}")
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
        self.later(f"when {callback} peek {self._values} {address.token} {offset}")
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
