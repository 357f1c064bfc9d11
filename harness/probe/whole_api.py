# SPDX-License-Identifier: Apache-2.0
"""Every function of the API that a loader has, called on the objects of one platform in one session.

Calls are bare: the object that belongs to the vendor, and zeros. They are cheap, so that the whole API can be called in
many situations; what becomes of arguments and answers is shown by harness/probe/patterns.py.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.api.codes import CL, code_of_word
from harness.api.contract.slots import slots
from harness.api.model import Function, api
from harness.calllog.reader import CallLog
from harness.probe.objects import Objects
from harness.probe.patterns import PatternedCall, routing_parameter
from harness.probe.session import Session
from harness.probe.values import Value, pack
from harness.sandbox import Sandbox

# Functions that no object routes: they have checks of their own.
_NO_OBJECT = ("loader", "none")

Functions = Mapping[Function, Value | None]

_exports: dict[str, frozenset[str]] = {}


def _exported(cl: Session) -> frozenset[str]:
    """Names of the API's functions that the loader exports; asked once."""
    path = cl.argv[cl.argv.index("--loader") + 1]
    if path not in _exports:
        names = [f.name for f in api().dispatched()]
        _exports[path] = frozenset(name for name in names if int(cl.command(f"symbol {name}"), 16))
    return _exports[path]


def reached(cl: Session) -> Functions:
    """Every function that this loader has and routes by an object, with its address: None for its exported name."""
    functions: dict[Function, Value | None] = {}
    for function in api().dispatched():
        slot = slots()[function.name]
        if slot.class_ in _NO_OBJECT:
            continue
        if slot.reached == "export":
            if function.name in _exported(cl):
                functions[function] = None
        elif address := cl.GetExtensionFunctionAddress(function.name):
            functions[function] = address
    return functions


def with_slots(functions: Functions, slot_numbers: Iterable[int]) -> Functions:
    """Those of the functions whose slots are wanted."""
    numbers = set(slot_numbers)
    return {function: address for function, address in functions.items() if function.slot in numbers}


@dataclass
class BareCall:
    """One call of a function on an object of `owner`; `log` and `result` are what became of it."""

    function: Function
    address: Value | None
    objects: Objects
    object: Value  # whose vendor it is for, where that is a single handle; else 0
    log: CallLog = field(default_factory=lambda: CallLog([]))

    @property
    def owner(self) -> str:
        """The vendor whose objects are in the arguments."""
        return self.objects.owner

    @property
    def vendor(self) -> str:
        """The component in the log: the platforms of the vendor "a" are "a.0", "a.1", …"""
        return self.owner.partition(".")[0]

    def __str__(self) -> str:
        return f"{self.function} of {self.owner}"

    @property
    def result(self) -> int:
        """As cl_int or address, by the function's type; 0 for void."""
        value = self.log.returns(by="application")[0].result or 0
        signed = self.function.result_kind == "signed"
        return code_of_word(value) if signed else value

    @property
    def reached(self) -> list[str]:
        """Which vendors' functions were called, and what else the mocks logged meanwhile."""
        return [f"{e.who} ({e.name})" for e in self.log if e.who != "application" and e.kind != "return"]

    def problems(self) -> list[str]:
        """It reaches its owner's function, once, with the object that it was given, and nobody else."""
        expected = [f"{self.vendor} ({self.function})"]
        if self.reached != expected:
            return [f"{self}: reached {self.reached or 'nobody'}, expected {expected}"]
        had = next(e for e in self.log if e.who == self.vendor).arguments[routing_parameter(self.function)]
        return (
            [f"{self}: the object {self.object:#x} arrived as {had:#x}"] if self.object and had != self.object else []
        )

    def arguments(self) -> list[Any]:
        """The object that belongs to the vendor, also in the place of other objects, where NULL could be refused on the
        way; and zeros.
        """
        routing = routing_parameter(self.function)
        parameters = self.function.parameters
        values = {"integer": 0, "handle": self.object}
        arguments: list[Any] = [values.get(p.kind) for p in parameters]
        if parameters[routing].kind == "handle":
            arguments[routing] = self.object
        elif parameters[routing].kind == "handles":
            arguments[routing - 1 : routing + 1] = [1, [self.objects[parameters[routing].handle]]]
        else:
            arguments[routing] = [api().constant("CL_CONTEXT_PLATFORM"), self.objects.platform, 0]
        return arguments

    def send(self, cl: Session) -> None:
        """Sends it together with the next command."""
        cl.call_later(self.function.name, *self.arguments(), address=self.address)


def bare(objects: Objects, function: Function, address: Value | None) -> BareCall:
    """The call, with its object made. What is released is an object of its own."""
    parameter = function.parameters[routing_parameter(function)]
    if parameter.kind != "handle":
        if parameter.handle in objects:
            objects[parameter.handle]
        return BareCall(function, address, objects, Value(0, "0"))
    kept = objects.forget(parameter.handle) if function.name.startswith("clRelease") else None
    call = BareCall(function, address, objects, objects[parameter.handle])
    if kept is not None:
        objects.remember(parameter.handle, kept)
    return call


def exchanges(log: CallLog) -> list[CallLog]:
    """One log for each call by the application, from its entry to its return."""
    logs: list[CallLog] = []
    inside = False
    for event in log:
        own = event.who == "application"
        if own and event.kind == "call":
            inside = True
            logs.append(CallLog([]))
        if inside:
            logs[-1].events.append(event)
        if own and event.kind == "return":
            inside = False
    return logs


def call_all(sandbox: Sandbox, cl: Session, targets: Sequence[tuple[Objects, Functions]]) -> list[BareCall]:
    """Makes one call of each function on the objects beside it, platforms in turn; gives what became of the calls."""
    rows = [[bare(objects, f, address) for f, address in functions.items()] for objects, functions in targets]
    calls = [call for turn in itertools.zip_longest(*rows) for call in turn if call]
    assert calls
    for call in calls:
        call.send(cl)
    cl.command("hello")
    for call, log in zip(calls, exchanges(sandbox.log)[-len(calls) :], strict=True):
        call.log = log
    return calls


def misrouted(sandbox: Sandbox, cl: Session, functions: Sequence[tuple[Objects, Functions]]) -> list[str]:
    """The same; says of each call what is wrong with where it arrived."""
    return [problem for call in call_all(sandbox, cl, functions) for problem in call.problems()]


def lacking_calls(cl: Session, objects: Objects, functions: Functions) -> list[PatternedCall]:
    """Calls of functions that their vendor lacks, for `refusal_problems`: with errcode_ret, and with NULL there."""
    calls = []
    for function, address in functions.items():
        calls.append(PatternedCall(cl, function, objects, address=address, silent=True))
        if any(p.kind == "errcode" for p in function.parameters):
            calls.append(PatternedCall(cl, function, objects, address=address, silent=True, null="errcode_ret"))
    return calls


def refusal_problems(call: PatternedCall) -> list[str]:
    """Makes a call whose vendor lacks the function, silent: what differs from CL_INVALID_OPERATION and no effect."""
    call.make()
    code = pack([CL.INVALID_OPERATION], 4)
    kind = call.function.result_kind
    problems = []
    if kind != "void" and call.result != (CL.INVALID_OPERATION if kind == "signed" else 0):
        expected = CL.INVALID_OPERATION if kind == "signed" else "NULL"
        problems.append(f"{call}: answered {call.result}, expected {expected}")
    for parameter, sent in zip(call.function.parameters, call.sent, strict=True):
        if sent.buffer is None or not sent.content:
            continue
        correct = code + sent.content[4:] if parameter.kind == "errcode" else sent.content
        if (had := sent.buffer.bytes()) != correct:
            problems.append(f"{call}: memory of {parameter.name} holds {had.hex()}, expected {correct.hex()}")
    return problems
