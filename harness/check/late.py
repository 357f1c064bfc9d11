# SPDX-License-Identifier: Apache-2.0
"""Calls of every function that are made while a process ends, and what became of each."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping, Sequence

from harness.build import build
from harness.calllog.reader import CallLog
from harness.check.layer_schemes import DEINIT
from harness.deviation import Deviation
from harness.probe.deviations import with_deviations
from harness.probe.objects import Objects
from harness.probe.session import Session
from harness.probe.values import Value
from harness.probe.verdicts import Crashed, Hung
from harness.probe.whole_api import bare, reached
from harness.sandbox import Sandbox

# Points in a process's end, and the word that the probe has for each.
POINTS = {
    "exit handler from before loading": "exit",
    "exit handler from after use": "exit",
    "destructor": "destructor",
    "thread of a destructor": "thread",
    "handle closed": "now",
}
VENDOR = "v"  # whose objects the calls are on
# Functions that no object routes, with proper arguments.
_WITHOUT_OBJECT: Mapping[str, Sequence[object]] = {
    "clGetPlatformIDs": (0, None, [0]),
    "clGetExtensionFunctionAddress": ("clSomethingElse",),
    "clUnloadCompiler": (),
}


def open_before(cl: Session, point: str) -> None:
    """Opens the loader, with what runs at the point: a destructor's library comes between the loader and its vendors,
    so that it ends after the loader and before them."""
    if point == "exit handler from before loading":
        cl.late_handler()
    cl.open()
    if POINTS[point] in ("destructor", "thread"):
        cl.late_library(build().late_caller)


def keep_late_calls(cl: Session, objects: Objects, point: str) -> list[str]:
    """Keeps a call of each function on objects that are made now; gives the names of the functions, in order."""
    rows: list[tuple[str, Sequence[object], Value]] = []
    for function, address in reached(cl).items():
        call = bare(objects, function, address)
        rows.append((function.name, call.arguments(), address or _exported(cl, function.name)))
    rows += [(name, arguments, _exported(cl, name)) for name, arguments in _WITHOUT_OBJECT.items()]
    for name, arguments, address in rows:
        cl.call_when_it_ends(POINTS[point], name, *arguments, address=address)
    if point == "exit handler from after use":
        cl.late_handler()
    return [name for name, _, _ in rows]


def _exported(cl: Session, name: str) -> Value:
    address = cl.symbol(name)
    return Value(address, hex(address))


def late_outcomes(sandbox: Sandbox, functions: Sequence[str]) -> dict[str, str]:
    """What became of each call on an object: "forwarded" to the vendor once, or "refused".

    Raises Crashed, or Hung, for all that were not answered, and AssertionError where a layer was entered that is gone.
    """
    log = sandbox.log
    logs = _by_line(log)
    assert len(logs) == len(functions), f"{len(logs)} of {len(functions)} calls were made: this proves nothing"
    ends = {name: _died(one) for name, one in zip(functions, logs, strict=True)}
    died = {name: how for name, how in ends.items() if how}
    if died:
        text = f"{len(died)} of {len(functions)} functions were not answered: "
        text += ", ".join(f"{name} ({how})" for name, how in died.items())
        kind = Hung if set(died.values()) == {_SILENT} else Crashed
        raise with_deviations(kind(text), [Deviation(name, how) for name, how in died.items()])
    places = {id(event): place for place, event in enumerate(log)}
    deinitialised = {event.who: places[id(event)] for event in log.calls(DEINIT)}
    for name, one in zip(functions, logs, strict=True):
        begun = places[id(one[0])]
        entered = [e.who for e in one.calls() if deinitialised.get(e.who, begun) < begun]
        assert not entered, f"{name} entered a layer that is deinitialised"
    outcomes = {name: _outcome(name, one) for name, one in zip(functions, logs, strict=True)}
    return {name: outcome for name, outcome in outcomes.items() if outcome}


def summary(outcomes: Mapping[str, str]) -> str:
    """The outcomes in a few words: the usual one, and the functions that differ."""
    kinds = sorted(set(outcomes.values()), key=list(outcomes.values()).count, reverse=True)
    others = [name for name, outcome in outcomes.items() if outcome != kinds[0]]
    return kinds[0] + (f", but not {' '.join(sorted(others))}" if others else "")


_SILENT = "no answer"


def _by_line(log: CallLog) -> list[CallLog]:
    """The part of the log that belongs to each call: from "late line" to "late line done"."""
    logs: list[CallLog] = []
    inside = False
    for event in log:
        if event.who == "application" and event.name == "late line":
            logs.append(CallLog([]))
            inside = True
        if inside:
            logs[-1].events.append(event)
        inside = inside and not (event.who == "application" and event.name == "late line done")
    return logs


def _died(log: CallLog) -> str:
    """How the child ended that made a call; "" for in order."""
    ends = log.happened("late line done", by="application")
    assert ends, "a call was neither finished nor noticed to be lost: this proves nothing"
    status = ends[0].arguments[1]
    if not os.WIFSIGNALED(status):
        return f"the process ended with exit code {os.waitstatus_to_exitcode(status)}" if status else ""
    number = os.WTERMSIG(status)
    return _SILENT if number == signal.SIGALRM else signal.Signals(number).name


def _outcome(name: str, log: CallLog) -> str:
    if name in _WITHOUT_OBJECT:
        return ""
    entered = [event.who for event in log.calls(name) if event.who != "application"]
    assert len(set(entered)) == len(entered), f"{name} reached {entered}"
    return "forwarded" if VENDOR in entered else "refused"
