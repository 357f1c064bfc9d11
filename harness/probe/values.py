# SPDX-License-Identifier: Apache-2.0
"""Values that live in the probe, named so that a recorded exchange can be replayed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from harness.api.model import api


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
