# SPDX-License-Identifier: Apache-2.0
"""Calls on different objects run at the same time: none waits for another one to come back (DISP-ARG-023)."""

from __future__ import annotations

import os
from collections.abc import Iterable

import pytest

from harness.check import Function, Loader, Objects, PatternedCall, Sandbox, Session, Value, api, requirement, slots

# Two functions that no other one stands in for: what comes to meet the call under test at the same vendor.
COUNTERPARTS = ("clGetEventProfilingInfo", "clGetKernelArgInfo")


def reachable(cl: Session) -> dict[Function, Value | None]:
    """Every function that reaches a vendor by one of its arguments: where it is called, None for its exported name."""
    result: dict[Function, Value | None] = {}
    for function in api().dispatched():
        slot = slots()[function.name]
        if slot.class_ in ("loader", "none"):
            continue
        if slot.reached == "export" and cl.symbol(function.name):
            result[function] = None
        elif slot.reached == "query" and (address := cl.GetExtensionFunctionAddress(function.name)):
            result[function] = address
    return result


def meeting(cl: Session, thread: int, function: Function, objects: Objects, address: Value | None = None) -> None:
    call = PatternedCall(cl, function, objects)
    cl.in_thread(thread, function.name, *[sent.value for sent in call.sent], address=address)


@requirement("DISP-ARG-023")
def test_same_function_of_two_vendors_runs_at_once(loader: Loader, sandbox: Sandbox) -> None:
    """While a vendor is in a function, the same function of another vendor can be called; for every function."""
    place = sandbox.root / "meeting"
    sandbox.vendor("waits", functions={"waits_at": [f"all {place}"]})
    sandbox.vendor("arrives", functions={"arrives_at": [f"all {place}"]})
    with loader.start(sandbox) as cl:
        waits, arrives = sorted((Objects(cl, p) for p in cl.GetPlatformIDs()), key=lambda o: o.owner != "waits")
        functions = reachable(cl)
        assert len(functions) > 70
        for function in functions:
            for objects in (waits, arrives):
                PatternedCall(cl, function, objects)  # makes what it needs, while there is nothing to meet at
        os.mkfifo(place)
        for function, address in functions.items():
            meeting(cl, 0, function, waits, address)
            meeting(cl, 1, function, arrives, address)
            cl.go()
        place.unlink()
    check_met(sandbox, functions, "waits", "arrives")


@requirement("DISP-ARG-023")
@pytest.mark.parametrize("position", ["first", "last"])
def test_two_functions_of_a_vendor_run_at_once(loader: Loader, sandbox: Sandbox, position: str) -> None:
    """While a vendor is in a function, another function of the same vendor can be called; for every function."""
    place = sandbox.root / "meeting"
    others = [f.name for f in api().dispatched() if f.name not in COUNTERPARTS]
    behaviour = {
        "waits_at": [f"{name} {place}" for name in others],
        "arrives_at": [f"{name} {place}" for name in COUNTERPARTS],
    }
    sandbox.vendor("both", functions=behaviour)
    with loader.start(sandbox) as cl:
        objects = Objects(cl, cl.GetPlatformIDs()[0])
        functions = {f: address for f, address in reachable(cl).items() if f.name in others}
        assert len(functions) > 70
        counterpart = api().functions[COUNTERPARTS[position == "last"]]
        for function in (*functions, counterpart):
            PatternedCall(cl, function, objects)
        os.mkfifo(place)
        for function, address in functions.items():
            meeting(cl, int(position == "last"), function, objects, address)
            meeting(cl, int(position == "first"), counterpart, objects)
            cl.go()
        place.unlink()
    check_met(sandbox, functions, "both")


def check_met(sandbox: Sandbox, functions: Iterable[Function], *vendors: str) -> None:
    """Each call met its counterpart inside the vendor."""
    for vendor in vendors:
        inside: dict[int, str] = {}  # by thread
        met = set()
        for event in sandbox.log.of(vendor):
            if event.kind == "call":
                inside[event.thread] = event.name
            elif event.name == "met":
                met.add(inside[event.thread])
        assert {function.name for function in functions} <= met
