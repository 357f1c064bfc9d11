# SPDX-License-Identifier: Apache-2.0
"""Values that live in the probe: buffers and results, named so that a recorded exchange can be replayed."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from harness.api.codes import Code
from harness.api.model import api


class Commands(Protocol):
    """What values need of the connection to their probe."""

    def command(self, text: str) -> str:
        """Sends a command and returns the answer to it."""

    def later(self, text: str) -> None:
        """Sends a command with the next one that is waited for."""


class Value(int):
    """A number that came from the subject (a handle, an address); knows where it lies in the probe."""

    token: str

    def __new__(cls, number: int, token: str) -> Value:
        value = super().__new__(cls, number)
        value.token = token
        return value

    def plus(self, offset: int) -> Value:
        """An address that lies so many bytes after this one, which is a result."""
        return Value(self + offset, f"{self.token}+{offset}" if offset else self.token)


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

    def __getitem__(self, part: slice) -> bytes:
        start, stop, _ = part.indices(self.size)
        reply = self.session.command(f"get {self.index} {start} {max(stop - start, 0)}")
        return bytes.fromhex(reply)

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
        """The n-th size_t, intptr_t or address."""
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


class Names(list[str]):
    """Platform names in the order in which the loader lists them.

    Equal to a set when they are the same names without a repetition, equal to a list when the order is the same too.
    """

    def __eq__(self, other: object) -> bool:
        if isinstance(other, (set, frozenset)):
            return len(self) == len(other) and set(self) == other
        return list(self) == other

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None


class Callback:
    """A callback function of the probe, by the parameter it is for: Callback("clBuildProgram.pfn_notify")."""

    def __init__(self, name: str) -> None:
        self.token = f"^{name}"


class CallbackArgument:
    """An argument of the callback that a call is made in (Session.when): CallbackArgument(0) is the first."""

    def __init__(self, index: int) -> None:
        self.token = f"c{index}"


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


def pack(values: Iterable[int], width: int = 0) -> bytes:
    """Little-endian bytes of integers of `width` bytes each (0: of an address), negative ones as two's complement."""
    width = width or api().address
    return b"".join((v & ((1 << 8 * width) - 1)).to_bytes(width, "little") for v in values)


def unpack(content: bytes, width: int = 0) -> list[int]:
    """The integers whose little-endian bytes these are, as `pack` takes them."""
    width = width or api().address
    return [int.from_bytes(content[at : at + width], "little") for at in range(0, len(content), width)]


def is_sequence(value: Any) -> bool:
    """Whether a value is a list of values rather than one: text and bytes are one."""
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))


def result_value(function: str, value: int, variable: int) -> int:
    """A result's 64 bits as the function's type has them; `variable` is its number in the probe."""
    kind = api().functions[function].result_kind
    if kind == "signed":
        return Code.of_word(value)
    return Value(value, f"r{variable}") if kind in ("handle", "pointer") else value
