# SPDX-License-Identifier: Apache-2.0
"""A session in which the probe stands in the place of the loader: it initialises a layer, and calls its table.

with layer.open(sandbox) as session:
    table = session.initialized(layer)
    call = DirectCall(session, function, session.objects(), address=table.entry(function))
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Protocol

from harness.api.codes import CL, Code
from harness.api.model import Function, Parameter, api
from harness.probe.calls import Buffer, CallFailed, Later
from harness.probe.objects import Objects
from harness.probe.patterns import PatternedCall, pattern
from harness.probe.session import CommandError, Session
from harness.probe.values import Value, pack

TARGET = "target"  # the component in the call log


@cache
def all_entries() -> int:
    """How many entries a complete dispatch table has."""
    return len(api().slots)


class _Layer(Protocol):
    @property
    def init(self) -> str: ...


@dataclass
class Table:
    """What a layer's initialisation gave."""

    session: LayerSession
    result: int
    count: int
    address: Value
    _entries: dict[int, Value] = field(default_factory=dict)

    def __getitem__(self, slot: int) -> Value:
        """The layer's entry of a slot; 0 for none. Raises CommandError where the table cannot be read there."""
        if slot not in self._entries:
            self._entries[slot] = self.session.peek(self.address, api().address * slot)
        return self._entries[slot]

    def entry(self, function: Function) -> Value | None:
        """Where a loader would call the function: None where the layer leaves it to the target."""
        assert function.slot is not None
        return (self[function.slot] or None) if function.slot < self.count else None

    def functions(self, below: int | None = None) -> Iterator[tuple[Function, Value]]:
        """The functions that the layer intercepts, with their entries; those of slots before `below`, else all."""
        limit = all_entries() if below is None else below
        for function in api().dispatched():
            assert function.slot is not None
            if function.slot < limit and (entry := self.entry(function)):
                yield function, entry


class LayerSession(Session):
    """The layer's functions under their own names, and the target below it."""

    def layer_call(self, function: str, *arguments: Any) -> Code:
        """Calls one of the four functions of a layer; gives its cl_int."""
        tokens = " ".join(self.token(a) for a in arguments)
        return Code(int(self.command(f"layer {function} {tokens}".rstrip())))

    def info(self, name: int, size: int, value: object, size_ret: object) -> int:
        """clGetLayerInfo with memory of the probe, NULL or bits in the place of pointers; gives its cl_int."""
        return self.layer_call("clGetLayerInfo", name, size, value, size_ret)

    def name(self) -> str:
        """CL_LAYER_NAME, or "" where it is not known."""
        size = self.buffer(8, 0)
        if self.info(CL.LAYER_NAME, 0, None, size) or not 0 < size.u64() < 4096:
            return ""
        text = self.buffer(size.u64())
        return "" if self.info(CL.LAYER_NAME, size.u64(), text, None) else text.text()

    def target(self, length: int | None = None, *, writable: bool = False, silent: bool = False) -> Value:
        """A table to call into, complete or of a length, which answers patterns or, silent, writes nothing."""
        self._values += 1
        length = all_entries() if length is None else length
        how = "+".join(["writable" if writable else "read-only"] + ["silent"] * silent)
        value = int(self.command(f"target {self._values} {length} {how}"), 16)
        return Value(value, f"r{self._values}")

    def in_thread_at(self, thread: int, address: Value, like: str, *arguments: Any) -> Later:
        """Keeps a call of the function at an address for a thread; `go` runs all threads."""
        kept = self.call_later(like, *arguments, address=address)
        self._prepared[-1] = f"thread {thread} {self._prepared[-1]}"
        return kept

    def initialize(
        self,
        function: str,
        entries: int | None = None,
        *,
        target: Value | None = None,
        properties: list[int] | None = None,
        silent: bool = False,
    ) -> Table:
        """Calls an init function as a loader does whose table has so many entries, else all."""
        entries = all_entries() if entries is None else entries
        table = self.target(entries, silent=silent) if target is None else target
        count, output = self.buffer(4, 0), self.buffer(8, 0)
        more = [properties] if function == "clInitLayerWithProperties" else []
        result = self.layer_call(function, entries, table, count, output, *more)
        return Table(self, result, count.u32(), output.handle())

    def initialized(self, layer: _Layer, *, silent: bool = False, function: str = "") -> Table:
        """The table of a layer that must accept a complete target. Raises CallFailed where it does not."""
        table = self.initialize(function or layer.init, silent=silent)
        if table.result or not table.address:
            raise CallFailed(f"{function or layer.init} answered {table.result} to a complete table, expected success")
        return table

    def exit_handlers(self) -> int:
        """How many exit handlers were registered so far."""
        return int(self.command("handlers"))

    def objects(self) -> StandIns:
        """Handles to call the layer's table with; they live as long as the session."""
        return StandIns(self)


class StandIns(Objects):
    """Handles of no object: memory that nobody but the owner of a handle may look into."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.owner = TARGET
        self._made: dict[str, Value] = {}

    def __contains__(self, handle: str) -> bool:
        return True

    def _make(self, handle: str) -> Value:
        content: Buffer = self.session.data(pack(pattern(handle, i) for i in range(16)))
        return Value(int(self.session.command(f"value {content.token}"), 16), content.token)


# Integers that say how much memory a pointer points to: a layer may look at all of it.
_SIZES = ("size", "cb", "param_value_size", "arg_size", "pattern_size", "input_value_size", "length", "num_mip_levels")
_ELEMENT = 4  # bytes of a string whose length is an argument


class OrdinaryCall(PatternedCall):
    """A call as an application may make it: sizes are those of the memory, and every handle is an object.

    Layers look into what they hand on: what PatternedCall has in the place of sizes would lead them beyond the end.
    large: sizes are patterns of 64 bits, and there is no memory that they would be the sizes of.
    """

    def __init__(self, session: Session, function: Function, objects: Objects, *, large: bool = False, **more: Any):
        self.large = large
        self._later: Later
        super().__init__(session, function, objects, **more)

    def __str__(self) -> str:
        return super().__str__() + (", large sizes" if self.large else "")

    def keep_for(self, thread: int) -> None:
        """Keeps the call for a thread, in the place of `make`; `fetch_result` is for when the threads have run."""
        assert isinstance(self.session, LayerSession)
        assert self.address is not None
        arguments = [sent.value for sent in self.sent]
        self._later = self.session.in_thread_at(thread, self.address, self.function.name, *arguments)

    def fetch_result(self) -> None:
        """Sets `result` to what the thread's call returned."""
        self.result = self._later.result()

    def _number(self, index: int) -> int:
        parameter = self.function.parameters[index]
        if parameter.name in ("num_entries", "num_sync_points_in_wait_list"):
            return 1 + index % 2
        if self._counts_null(index):
            return 0
        if not self.large and (parameter.name in _SIZES or parameter.name.endswith("_size")):
            return 8 + index
        return super()._number(index)

    def _counts_null(self, index: int) -> bool:
        """Whether a list that is NULL follows: it has no elements."""
        following = self.function.parameters[index + 1 : index + 2]
        return bool(self.null) and any(p.name == self.null and p.kind in ("handles", "strings") for p in following)

    def _written(self, index: int, content: bytes) -> bytes:
        """A vendor always writes errcode_ret; a layer may rely on it and bring back what it had itself there."""
        if self.silent and self.function.parameters[index].kind == "errcode":
            had = self.sent[index].buffer
            return had.bytes()[:4] + content[4:] if had else content
        return super()._written(index, content)

    def _argument(self, index: int) -> Any:
        parameter = self.function.parameters[index]
        sent = super()._argument(index)
        if self.large and index != self.routing and parameter.kind == "memory":
            sent.value, sent.buffer, sent.content = None, None, b""
        return sent

    def _memory(self, parameter: Parameter) -> Any:
        if parameter.name == "lengths":
            return self._words(parameter, [_ELEMENT] * 4)
        return super()._memory(parameter)


def ordinary_variants(
    session: Session, function: Function, objects: Objects, address: Value | None = None, silent: bool = False
) -> list[OrdinaryCall]:
    """The call with everything there, with large sizes, with each pointer NULL that may be, and with each number 0."""
    calls = [
        OrdinaryCall(session, function, objects, large=large, address=address, silent=silent) for large in (False, True)
    ]
    routing = calls[0].routing
    for index, parameter in enumerate(function.parameters):
        if index == routing or calls[0].counts_deciding(index):
            continue
        how: dict[str, Any] = {"zero": [parameter.name]} if parameter.kind == "integer" else {"null": parameter.name}
        calls.append(OrdinaryCall(session, function, objects, **how, address=address, silent=silent))
    return calls


__all__ = ["CommandError", "LayerSession", "OrdinaryCall", "StandIns", "Table", "all_entries"]
