# SPDX-License-Identifier: Apache-2.0
"""Answers of a vendor that know where they came from, and what they were compared with.

A check compares what it was answered, and fails at the first comparison that is not as it must be: the last one on
record. A program without the harness can then make the same comparison (harness/run/reproducer.py).
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self, SupportsIndex, overload

from harness.api.codes import Code
from harness.api.model import api
from harness.probe.calls import Buffer, Commands
from harness.probe.values import Value

KEPT = 16  # comparisons on record


@dataclass(frozen=True)
class Compared:
    """`answer` is a C expression of results (r5) and buffers (u32(b3, 8)); `other` one as well, or a Python value."""

    answer: str
    relation: str  # ==, !=, <, <=, >, >=
    other: str | int | bytes
    holds: bool
    is_expression: bool = False  # `other`
    kind: str = "number"  # "code", "bytes", or "text"


class Record:
    """The last comparisons of a session, newest last."""

    def __init__(self) -> None:
        self.comparisons: list[Compared] = []

    def add(self, compared: Compared) -> None:
        """Takes note of a comparison; the oldest goes where there are too many."""
        self.comparisons = [*self.comparisons[1 - KEPT :], compared]


_RELATIONS: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class _Answer:
    """What all answers have: comparisons that go on record."""

    expression: str
    record: Record
    kind = "number"

    def _plain(self) -> Any:
        raise NotImplementedError

    def _compare(self, relation: str, other: Any) -> bool:
        plain = other._plain() if isinstance(other, _Answer) else other
        if not isinstance(plain, (int, bytes, str)) or isinstance(plain, (str, bytes)) != (self.kind in _LISTED):
            return NotImplemented  # type: ignore[no-any-return]
        holds = bool(_RELATIONS[relation](self._plain(), plain))
        same = isinstance(other, _Answer) and other.record is self.record and other.expression != self.expression
        about = other.expression if isinstance(other, _Answer) and same else plain
        self.record.add(Compared(self.expression, relation, about, holds, same, self.kind))
        return holds

    def __eq__(self, other: object) -> bool:
        return self._compare("==", other)

    def __ne__(self, other: object) -> bool:
        return self._compare("!=", other)

    def __lt__(self, other: Any) -> bool:
        return self._compare("<", other)

    def __le__(self, other: Any) -> bool:
        return self._compare("<=", other)

    def __gt__(self, other: Any) -> bool:
        return self._compare(">", other)

    def __ge__(self, other: Any) -> bool:
        return self._compare(">=", other)


_LISTED = ("bytes", "text")


class _Numeric(_Answer):
    """Numbers: what is computed from one is another one."""

    def _plain(self) -> int:
        return int.__int__(self)  # type: ignore[arg-type]

    def __bool__(self) -> bool:
        return self._compare("!=", 0)

    def __hash__(self) -> int:
        return hash(self._plain())

    def _computed(self, sign: str, other: Any, compute: Callable[[int, int], int], swapped: bool = False) -> Any:
        if not isinstance(other, int) or self.kind == "code":
            return compute(*((int(other), self._plain()) if swapped else (self._plain(), int(other))))
        right = other.expression if isinstance(other, _Numeric) and other.record is self.record else f"{int(other)}ull"
        left, right = (right, self.expression) if swapped else (self.expression, right)
        numbers = (int(other), self._plain()) if swapped else (self._plain(), int(other))
        result = compute(*numbers)
        return result if result < 0 else Number(result, f"({left} {sign} {right})", self.record)

    def __and__(self, other: Any) -> Any:
        return self._computed("&", other, operator.and_)

    def __rand__(self, other: Any) -> Any:
        return self._computed("&", other, operator.and_, True)

    def __or__(self, other: Any) -> Any:
        return self._computed("|", other, operator.or_)

    def __add__(self, other: Any) -> Any:
        return self._computed("+", other, operator.add)

    def __sub__(self, other: Any) -> Any:
        return self._computed("-", other, operator.sub)

    def __mul__(self, other: Any) -> Any:
        return self._computed("*", other, operator.mul)

    def __floordiv__(self, other: Any) -> Any:
        return self._computed("/", other, operator.floordiv)

    def __mod__(self, other: Any) -> Any:
        return self._computed("%", other, operator.mod)

    def __rshift__(self, other: Any) -> Any:
        return self._computed(">>", other, operator.rshift)


class Number(_Numeric, int):
    """A number that was answered, or computed from such."""

    def __new__(cls, number: int, expression: str, record: Record) -> Self:
        self = super().__new__(cls, number)
        self.expression, self.record = expression, record
        return self

    __hash__ = _Numeric.__hash__

    def __reduce__(self) -> tuple[Any, ...]:
        return int, (int(self),)


class ErrorCode(_Numeric, Code):
    """An error code that was answered."""

    kind = "code"
    __hash__ = _Numeric.__hash__

    @classmethod
    def of(cls, number: int, expression: str, record: Record) -> ErrorCode:
        """A code that was returned, with the C expression that gives it and the record that its comparisons go to."""
        self = cls(number)
        self.expression, self.record = expression, record
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return Code, (int(self),)


class Handle(_Numeric, Value):
    """A handle or an address that was answered."""

    __hash__ = _Numeric.__hash__

    @classmethod
    def of(cls, value: Value, expression: str, record: Record) -> Handle:
        """A handle that was returned, with the C expression that gives it and the record that its comparisons go to."""
        self = cls(int(value), value.token)
        self.expression, self.record = expression, record
        return self

    def __add__(self, other: Any) -> Any:
        return self._computed("+", other, operator.add)

    def __reduce__(self) -> tuple[Any, ...]:
        return Value, (int(self), self.token)


class Content(_Answer, bytes):
    """Bytes that were read."""

    kind = "bytes"
    start: str
    offset: int

    @classmethod
    def of(cls, content: bytes, start: str, offset: int, record: Record) -> Content:
        """Bytes that were read at `offset` from the pointer `start`, and the record that their comparisons go to."""
        self = cls(content)
        self.start, self.offset, self.record = start, offset, record
        self.expression = f"at({start}, {offset}), {len(content)}"
        return self

    def _plain(self) -> bytes:
        return bytes.__getitem__(self, slice(None))

    def __hash__(self) -> int:
        return bytes.__hash__(self)

    @overload
    def __getitem__(self, part: SupportsIndex) -> int: ...
    @overload
    def __getitem__(self, part: slice) -> bytes: ...
    def __getitem__(self, part: SupportsIndex | slice) -> int | bytes:
        chosen = bytes.__getitem__(self, part)
        if isinstance(part, slice):
            begin, end, step = part.indices(len(self))
            if step != 1 or end <= begin:
                return chosen
            return Content.of(bytes(chosen), self.start, self.offset + begin, self.record)
        place = range(len(self))[part]
        return Number(chosen, f"u8({self.start}, {self.offset + place})", self.record)  # type: ignore[arg-type]

    def number(self) -> int:
        """The little-endian number that these bytes are."""
        width = len(self)
        plain = int.from_bytes(self._plain(), "little")
        if width not in (1, 2, 4, 8):
            return plain
        return Number(plain, f"u{8 * width}({self.start}, {self.offset})", self.record)


def number_of(content: bytes, *, signed: bool = False) -> int:
    """The little-endian number that bytes are. Where they were answered, comparisons of it are kept."""
    plain = int.from_bytes(bytes(content), "little", signed=signed)
    if not isinstance(content, Content) or len(content) not in ((4,) if signed else (1, 2, 4, 8)):
        return plain
    like = "i32" if signed else f"u{8 * len(content)}"
    return Number(plain, f"{like}({content.start}, {content.offset})", content.record)


def numbers_of(content: bytes, width: int) -> list[int]:
    """The little-endian numbers of `width` bytes that bytes are, as number_of() has each."""
    return [number_of(content[at : at + width]) for at in range(0, len(content) // width * width, width)]


class Text(_Answer, str):
    """A C string that was read."""

    kind = "text"

    @classmethod
    def of(cls, text: str, index: str, record: Record) -> Text:
        """The string in the probe's buffer `index`, and the record that its comparisons go to."""
        self = cls(text)
        self.expression, self.record = f"at({index}, 0)", record
        return self

    def _plain(self) -> str:
        return str.__getitem__(self, slice(None))

    def __hash__(self) -> int:
        return str.__hash__(self)


class AnsweredBuffer(Buffer):
    """Memory in the probe whose content is an answer."""

    def __init__(self, session: Commands, index: int, size: int, record: Record) -> None:
        super().__init__(session, index, size)
        self.record = record

    def __getitem__(self, part: slice) -> bytes:
        start, _, _ = part.indices(self.size)
        return Content.of(super().__getitem__(part), self.token, start, self.record)

    def _number(self, number: int, like: str, offset: int) -> int:
        return Number(number, f"{like}({self.token}, {offset})", self.record)

    def u32(self, index: int = 0) -> int:
        """As Buffer.u32; comparisons of it are kept."""
        return self._number(super().u32(index), "u32", 4 * index)

    def i32(self, index: int = 0) -> int:
        """As Buffer.i32; comparisons of it are kept."""
        return self._number(super().i32(index), "i32", 4 * index)

    def u64(self, index: int = 0) -> int:
        """As Buffer.u64; comparisons of it are kept."""
        return self._number(super().u64(index), "u64", 8 * index)

    def code(self) -> Code:
        """As Buffer.code; comparisons of it are kept."""
        return ErrorCode.of(int(super().i32()), f"i32({self.token}, 0)", self.record)

    def handle(self, index: int = 0) -> Value:
        """As Buffer.handle; comparisons of it are kept."""
        return self._handle(super().handle(index), index)

    def handles(self) -> list[Value]:
        """As Buffer.handles; comparisons of them are kept."""
        return [self._handle(value, index) for index, value in enumerate(super().handles())]

    def _handle(self, value: Value, index: int) -> Value:
        width = api().address
        return Handle.of(Value(int(value), value.token), f"u{8 * width}({self.token}, {width * index})", self.record)

    def text(self) -> str:
        """As Buffer.text; comparisons of it are kept."""
        return Text.of(super().text(), self.token, self.record)


def result_answer(value: int, variable: int, record: Record) -> int:
    """The result of a call, as an answer."""
    if isinstance(value, Code):
        return ErrorCode.of(int(value), f"r{variable}", record)
    if isinstance(value, Value):
        return Handle.of(value, f"r{variable}", record)
    return Number(value, f"r{variable}", record)
