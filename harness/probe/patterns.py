# SPDX-License-Identifier: Apache-2.0
"""Calls in which every argument is a bit pattern of its own, and what has to arrive and to come back, bit for bit.

The vendor is told with `answers` or `silent` (Sandbox.icd) to take any arguments and to answer patterns, too:

    call = PatternedCall(cl, function, objects)
    call.make()
    problems = call.problems(sandbox.log)
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from harness.api.codes import Code, code_of_word
from harness.api.contract.slots import slots
from harness.api.model import Function, Parameter, api
from harness.calllog.reader import CallLog, Event
from harness.probe.calls import Buffer
from harness.probe.objects import Objects
from harness.probe.session import Session
from harness.probe.values import Callback, Value, pack
from harness.sandbox.machine import Unsupported

MASK = (1 << 64) - 1
TOGETHER = 16  # calls that are made in one exchange with the probe
LIST = 3  # elements of a list whose number is right


def address_of(session: Session, function: Function) -> Value | None:
    """Where an application calls a function: None for its exported name. `unsupported` where the loader has none."""
    if slots()[function.name].reached == "export":
        if not session.symbol(function.name):
            raise Unsupported("loader", f"this loader does not export {function.name}")
        return None
    address = session.GetExtensionFunctionAddress(function.name)
    if not address:
        raise Unsupported("loader", f"this loader does not know {function.name}")
    return address


def pattern(*parts: object) -> int:
    """64 bits that differ for different parts: FNV-1a, spread by the finaliser of splitmix64."""
    return _spread(_hashed(_START, "/".join(map(str, parts))))


_START = 0xCBF29CE484222325


@functools.lru_cache(maxsize=4096)  # the same function and parameter come again with each variant of a call
def _hashed(value: int, text: str) -> int:
    for byte in text.encode():
        value = (value ^ byte) * 0x100000001B3 & MASK
    return value


def _spread(value: int) -> int:
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    value = (value ^ (value >> 27)) * 0x94D049BB133111EB & MASK
    return value ^ (value >> 31)


def answered(vendor: str, function: str, index: int) -> int:
    """What a vendor's function writes through its parameter `index`, or answers (harness/calllog/distinct.c)."""
    return pattern(vendor, function, f"{index:02}")


def _bytes(size: int, *parts: object) -> bytes:
    start = _hashed(_START, "/".join([*map(str, parts), ""]))
    return pack((_spread(_hashed(start, str(i))) for i in range(size // 8 + 1)), 8)[:size]


def narrowed(value: int, parameter: Parameter) -> int:
    """What arrives of 64 bits in a parameter, widened again as C does it."""
    bits = 8 * parameter.size
    value &= (1 << bits) - 1
    return (value - (1 << bits) if parameter.signed and value >> (bits - 1) else value) & MASK


def width_of(parameter: Parameter) -> int:
    """Bytes of each word that is logged of what a parameter points to: of a list its element, of other memory 8."""
    listed = parameter.kind in ("handles", "properties") and parameter.pointee in (api().address, 8)
    return parameter.pointee if listed else 8


def narrowed_result(value: int, function: Function) -> int:
    """The part of a 64-bit answer that fits the function's result type, which is all that its caller gets."""
    return value & ((1 << 8 * api().address) - 1) if function.result_kind in ("handle", "pointer") else value


def arriving(value: int, parameter: Parameter) -> int:
    """What arrives of an argument: integers, and addresses of 32 bits, are narrower than what was sent."""
    return narrowed(value, parameter) if parameter.kind == "integer" or 0 < parameter.size < 8 else value


def _is_count(function: Function, index: int) -> bool:
    """An integer that says how long a list among the parameters is."""
    name = function.parameters[index].name
    return function.parameters[index].kind == "integer" and (name.startswith("num_") or name in ("count", "work_dim"))


def routing_parameter(function: Function) -> int:
    """The parameter that the vendor is inferred from (harness/api/contract/slots.toml says which); -1: from none."""
    slot = slots().get(function.name)
    if slot is None:
        return -1  # no loader infers anything: the address is a vendor's own
    word = slot.argument.removesuffix("[0]").removeprefix("CL_CONTEXT_PLATFORM in ")
    for index, parameter in enumerate(function.parameters):
        if parameter.name == word:
            return index
    return next((i for i, p in enumerate(function.parameters) if p.kind == "handle"), -1)


@dataclass
class Sent:
    """One argument: what is passed, and for memory its content before the call."""

    value: object
    buffer: Buffer | None = None
    content: bytes = b""


class PatternedCall:
    """One call of a function, on an object of `objects`. Functions without a slot need an address.

    wide: every integer, every handle but the deciding one and every count is a pattern, and lists are NULL; else
    lists are lists of LIST elements and handles are the owner's. objects_only: wide ones have the owner's handles, too.
    null: the name of one pointer to be NULL; where it is the deciding one, `refusal_problems` says what has to come of
    it.
    zero: names of integers that are 0, and of further pointers that are NULL, whatever stands in the other places.
    gap: the place of a 0 or NULL in every list, among the values of properties, and in other memory.
    strangers: whose objects all other handles are, if not the owner's. address: where the function is called, if not
    by its exported name. silent: the vendor was told to write nothing.
    """

    def __init__(
        self,
        session: Session,
        function: Function,
        objects: Objects,
        *,
        wide: bool = False,
        objects_only: bool = False,
        null: str = "",
        zero: Collection[str] = (),
        gap: int | None = None,
        strangers: Objects | None = None,
        address: Value | None = None,
        silent: bool = False,
    ) -> None:
        self.session = session
        self.function = function
        self.objects = objects
        self.wide = wide
        self.objects_only = objects_only
        self.null = null
        self.zero = zero
        self.gap = gap
        self.others = strangers or objects
        self.address = address
        self.silent = silent
        self.routing = routing_parameter(function)
        self.sent = [self._argument(i) for i in range(len(function.parameters))]
        self.result = 0

    def __str__(self) -> str:
        how = ", every bit of it a pattern" if self.wide else ""
        how += " but those of handles" if self.objects_only else ""
        how += f", {self.null} NULL" if self.null else ""
        how += f", {' and '.join(self.zero)} 0" if self.zero else ""
        how += f", 0 at place {self.gap} of each list" if self.gap is not None else ""
        return f"{self.function} of {self.objects.owner}{how}"

    def make(self) -> None:
        """Makes the call, by its address where there is one, and keeps its result."""
        arguments = [sent.value for sent in self.sent]
        if self.address is None:
            self.result = self.session.call(self.function.name, *arguments)
        else:
            self.result = self.session.call_at(self.address, self.function.name, *arguments)

    @property
    def names_no_object(self) -> bool:
        """Whether NULL or garbage stands for an object that decides nothing, as an argument or in a list."""
        handles = [p.name for i, p in enumerate(self.function.parameters) if p.kind == "handle" and i != self.routing]
        listed = any(p.kind == "handles" for p in self.function.parameters)
        garbage = self.wide and not self.objects_only and bool(handles)
        return garbage or self.null in handles or (self.gap is not None and listed)

    # --- arguments ---

    def give_list(self, index: int, words: Sequence[object]) -> None:
        """Has a list of these words as that argument, which ends where an unreadable page begins."""
        self.sent[index] = self._words(self.function.parameters[index], words)

    def _argument(self, index: int) -> Sent:
        parameter = self.function.parameters[index]
        if parameter.name == self.null or parameter.name in self.zero:
            return Sent(0 if parameter.kind == "integer" else None)
        if index == self.routing:
            return self._deciding(parameter)
        if parameter.kind == "integer":
            return Sent(self._number(index))
        if parameter.kind == "handle":
            # A garbage handle ends in 1, so that it is not the address of anybody's object.
            garbage = self.wide and not self.objects_only
            return Sent(pattern(self.function, parameter.name) | 1 if garbage else self._other(parameter))
        if parameter.kind == "callback":
            return Sent(Callback(f"{self.function.name}.{parameter.name}"))
        if self.wide and parameter.kind in ("handles", "strings", "properties", "scalar_in"):
            return Sent(None)
        return self._memory(parameter)

    def _number(self, index: int) -> int:
        """The right number for a list, or a pattern; wide ones have the opposite of each bit."""
        if _is_count(self.function, index) and (not self.wide or self.counts_deciding(index)):
            return LIST
        value = pattern(self.function, self.function.parameters[index].name)
        return ~value & MASK if self.wide else value

    def counts_deciding(self, index: int) -> bool:
        """Whether an integer is the length of the list that the vendor is inferred from."""
        return index + 1 == self.routing and self.function.parameters[self.routing].kind == "handles"

    def _other(self, parameter: Parameter) -> Value:
        """An object for a handle that decides nothing; for a class that cannot be made simply a context stands in."""
        return self.others[parameter.handle if parameter.handle in self.others else "cl_context"]

    def _deciding(self, parameter: Parameter) -> Sent:
        if parameter.kind == "handle":
            return Sent(self.objects[parameter.handle])
        if parameter.kind == "handles":
            return self._words(parameter, self._with_gap([self.objects[parameter.handle]] * LIST))
        return self._properties(parameter)

    def _with_gap(self, words: Sequence[object]) -> list[object]:
        return [0 if place == self.gap else word for place, word in enumerate(words)]

    def _properties(self, parameter: Parameter) -> Sent:
        """A list of three pairs, the platform in the middle where it decides, and something past its end."""
        values = [pattern(self.function, parameter.name, i) & ~0xFFFF | 0x8000 for i in range(6)]
        values[1::2] = [0 if place == self.gap else value for place, value in enumerate(values[1::2])]
        words: list[object] = [*values, 0, pattern("past the end")]
        if self.function.name in ("clCreateContext", "clCreateContextFromType", "clGetGLContextInfoKHR"):
            words[2:4] = [api().constant("CL_CONTEXT_PLATFORM"), self.objects.platform]
        return self._words(parameter, words)

    def _words(self, parameter: Parameter, words: Sequence[object]) -> Sent:
        width = parameter.pointee
        buffer = self.session.words(list(words), width)
        return Sent(buffer, buffer, pack((int(w) if isinstance(w, int) else 0 for w in words), width))

    def _memory(self, parameter: Parameter) -> Sent:
        if parameter.kind == "properties" and parameter.pointee in (api().address, 8):
            return self._properties(parameter)
        if parameter.kind == "handles":
            return self._words(parameter, self._with_gap([self._other(parameter)] * LIST))
        if parameter.kind == "strings":
            texts = [self.session.data(f"{parameter.name}{i}\0".encode()) for i in range(LIST)]
            addresses = self._words(parameter, self._with_gap(texts))
            return Sent(addresses.value, addresses.buffer, b"")  # the addresses are known in the probe only
        content = _bytes(max(LIST * parameter.pointee, 32), self.function, parameter.name)
        if self.gap is not None:
            width = parameter.pointee or 8
            content = content[: self.gap * width] + bytes(width) + content[(self.gap + 1) * width :]
        if parameter.kind == "string":
            content = f"{self.function.name} {parameter.name} %s %n \\ \x7f".encode().ljust(40, b".") + b"\0"
        buffer = self.session.data(content)
        return Sent(buffer, buffer, content)

    # --- what came of it; `log` holds what was logged while the call was made (CallLog.during) ---

    def problems(self, log: CallLog) -> list[str]:
        """Everything that is wrong with the call."""
        return self.routing_problems(log) + self.argument_problems(log) + self.answer_problems()

    def routing_problems(self, log: CallLog) -> list[str]:
        """It reaches the owner, once, and nobody is asked anything else."""
        reached = [f"{e.who} ({e.name})" for e in log.calls() if e.who != "application"]
        expected = [f"{self.objects.owner} ({self.function})"]
        return [] if reached == expected else [f"{self}: reached {reached or 'nobody'}, expected {expected}"]

    def argument_problems(self, log: CallLog, at: str = "") -> list[str]:
        """Every argument, and the memory that it points to, arrives as it was sent: at the owner, or at a layer."""
        at = at or self.objects.owner
        sent = next((e for e in log.calls(by="application")), None)
        arrived = next((e for e in log.calls(self.function.name, by=at)), None)
        if sent is None or arrived is None:
            return [f"{self}: did not arrive at {at}"]
        problems = [p for i in range(len(self.sent)) for p in self._argument_problems(i, sent, arrived)]
        return [f"{self}: {problem}" for problem in problems]

    def refusal_problems(self, error: int | None) -> list[str]:
        """The loader answers by itself: the error as result or through errcode_ret, NULL else, and nothing more.

        error: None for a function that has no way to report one.
        """
        reports = any(parameter.kind == "errcode" for parameter in self.function.parameters)
        want = Code(error) if error is not None and not reports else 0
        problems = [] if self.result == want else [f"{self}: answered {self.result}, expected {want or 'NULL'}"]
        self._read_memory()
        for parameter, sent in zip(self.function.parameters, self.sent, strict=True):
            if sent.buffer is None or not sent.content:
                continue
            content = sent.content
            if parameter.kind == "errcode" and error is not None:
                content = pack([error], 4) + content[4:]
            if (had := sent.buffer.bytes()) != content:
                problems.append(f"{self}: memory of {parameter.name} holds {had.hex()}, expected {content.hex()}")
        return problems

    def answer_problems(self) -> list[str]:
        """The result and everything that the vendor wrote come back, and nothing else was written."""
        return [f"{self}: {problem}" for problem in [*self._result_problems(), *self._memory_problems()]]

    def _argument_problems(self, index: int, sent: Event, arrived: Event) -> list[str]:
        parameter = self.function.parameters[index]
        had, want = arrived.arguments[index], sent.arguments[index]
        want = arriving(want, parameter)
        content = self.sent[index].content
        seen = arrived.data.get("in", {}).get(parameter.name, ())
        words = [] if isinstance(seen, str) else [int(word, 16) for word in seen]  # layers log strings as text
        width = width_of(parameter)
        same = pack(words, width) == content[: width * len(words)]
        if had != want and not (parameter.kind == "properties" and had and words and same):
            return [f"argument {index} ({parameter.name}) reached {arrived.who} as {had:#x}, sent was {want:#x}"]
        if content and not same:
            where = f"argument {index} ({parameter.name})"
            reached = pack(words, width).hex()
            return [f"what {where} points to reached {arrived.who} as {reached}, sent was {content.hex()}"]
        return []

    def _result_problems(self) -> list[str]:
        if self.function.result_kind == "void":
            return []
        want = narrowed_result(answered(self.objects.owner, self.function.name, len(self.sent)), self.function)
        if self.function.result_kind == "signed":
            want = code_of_word(want)
        if self.result == want:
            return []
        return [f"the vendor answered {want:#x}, the application got {int(self.result):#x}"]

    def _memory_problems(self) -> list[str]:
        problems = []
        self._read_memory()
        for index, sent in enumerate(self.sent):
            if sent.buffer is None or not sent.content:
                continue
            want, had = self._written(index, sent.content), sent.buffer.bytes()
            if had != want:
                what = self.function.parameters[index].name
                problems.append(
                    f"memory of argument {index} ({what}) holds {had.hex()} after the call, not {want.hex()}"
                )
        return problems

    def memory(self) -> list[Buffer]:
        """All memory that has a content."""
        return [s.buffer for s in self.sent if s.buffer is not None and s.content]

    def _read_memory(self) -> None:
        """Reads it in one exchange, unless it was read with that of others."""
        self.session.read_together([buffer for buffer in self.memory() if buffer.answer is None])

    def _written(self, index: int, content: bytes) -> bytes:
        """The content of a parameter's memory after the call."""
        parameter = self.function.parameters[index]
        output = parameter.kind in ("handle_out", "scalar_out", "errcode") or parameter.name == "param_value"
        if not output or self.silent:
            return content
        size = min(parameter.pointee or 8, 8)
        return pack([answered(self.objects.owner, self.function.name, index)], 8)[:size] + content[size:]


def make_all(calls: Sequence[PatternedCall]) -> None:
    """Makes the calls, one after the other."""
    for at in range(0, len(calls), TOGETHER):
        some = calls[at : at + TOGETHER]
        made = [(None, c.address, c.function.name, [sent.value for sent in c.sent]) for c in some]
        for call, result in zip(some, some[0].session.calls_together(made), strict=True):
            call.result = result


def read_all(calls: Sequence[PatternedCall]) -> None:
    """Reads what the memory of the calls holds now, before their `answer_problems` are asked for."""
    for at in range(0, len(calls), TOGETHER):
        some = calls[at : at + TOGETHER]
        some[0].session.read_together([buffer for call in some for buffer in call.memory()])


def variants(
    session: Session, function: Function, objects: Objects, address: Value | None = None, silent: bool = False
) -> list[PatternedCall]:
    """The call with right lists, with every bit a pattern (but those of handles, and all), and with 0 or NULL in each
    place that decides nothing.

    In one place alone, beside numbers, lists and sizes of the others; in all of them; and at each place of all lists.
    """

    def call(**how: Any) -> PatternedCall:
        return PatternedCall(session, function, objects, address=address, silent=silent, **how)

    whole = call()
    routing = whole.routing
    free = [p for i, p in enumerate(function.parameters) if i != routing and not whole.counts_deciding(i)]
    pointers = [p.name for p in free if p.kind not in ("integer", "handle")]
    integers = [p.name for p in free if p.kind == "integer"]
    calls = [whole, call(wide=True, objects_only=True), call(wide=True)]
    calls += [call(null=p.name) for p in free if p.kind != "integer"]
    calls += [call(zero=[name]) for name in integers]
    together = ([*pointers, *integers], pointers, integers)
    calls += [call(zero=names) for names in together if len(names) > 1]
    decides = function.parameters[routing].kind == "handles"
    return calls + ([call(gap=place) for place in range(int(decides), LIST)] if pointers or decides else [])
