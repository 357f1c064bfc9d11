# SPDX-License-Identifier: Apache-2.0
"""Calls of functions for which loaders have no entry: each platform gives the address of its own."""

from __future__ import annotations

from collections.abc import Sequence

from harness.api.model import api
from harness.probe.extensions import function_of
from harness.probe.objects import Objects
from harness.probe.patterns import PatternedCall, address_of
from harness.probe.session import Session
from harness.probe.values import Value
from harness.sandbox import Sandbox
from harness.subject.loader import Loader

# What stands for handles in a list: a device of the vendor, and a name that is text in UTF-16.
DEVICE, NAME = "device", "name"
Words = Sequence[int | str]


def call_with(cl: Session, own: Objects, function: str, words: Words, address: Value | None = None) -> PatternedCall:
    """A call with a property list that ends where an unreadable page begins."""
    call = PatternedCall(cl, api().functions[function], own, address=address)
    place = next(i for i, p in enumerate(call.function.parameters) if p.kind == "properties")
    values = [own.device if w == DEVICE else cl.data(b"n\0a\0\0\0") if w == NAME else w for w in words]
    call.give_list(place, values)
    if NAME in words:  # its address is known in the probe only
        call.sent[place].content = b""
    return call


def problems_of_lists(loader: Loader, sandbox: Sandbox, function: str, lists: dict[str, Words]) -> list[str]:
    """What is wrong with property lists as they reach the vendor: unchanged, up to their terminators.

    `unsupported` where the loader should export the function and does not.
    """
    sandbox.vendor_of_each_kind(loader.has("ICD 2"), functions={"answers": [function]})
    slotless = api().functions[function].slot is None
    with loader.start(sandbox) as cl:
        objects = [Objects(cl, platform) for platform in cl.GetPlatformIDs()]
        if not objects:
            return ["the loader lists no platform, expected those of two vendors"]
        calls = []
        for number, words in enumerate(lists.values()):
            own = objects[number % len(objects)]
            address = function_of(cl, own.platform, function) if slotless else address_of(cl, api().functions[function])
            if slotless and not address:
                return [f"{function} of {own.owner}: no address"]
            calls.append(call_with(cl, own, function, words, address))
        for call in calls:
            call.make()
        logs = sandbox.log.during(function)
        result = []
        for call, log, (name, words) in zip(calls, logs, lists.items(), strict=True):
            result += [f"{name}: {problem}" for problem in call.problems(log)]
            for arrived in log.calls(function, by=call.objects.owner):
                seen = next((len(v) for k, v in arrived.data["in"].items() if k in ("properties", "sema_props")), 0)
                if seen != len(words):
                    result.append(f"{name}: {seen} words arrived, expected {len(words)}")
    return result


def problems_of_function(loader: Loader, sandbox: Sandbox, function: str) -> list[str]:
    """What is wrong with a function of two vendors that have it, and of one that has not.

    Each platform that has the function gives the address of its own; what one without it answers is not looked at:
    an address "does not guarantee that an extension function is actually supported". Arguments arrive, and results and
    what is written (sizes and errors among that) come back unchanged.
    """
    sandbox.vendor("a", platforms=2, functions={"answers": [function]})
    sandbox.vendor("b", icd2=loader.has("ICD 2"), functions={"answers": [function]})
    sandbox.vendor("c", functions={"lacks": [function]})
    result = []
    with loader.start(sandbox) as cl:
        calls = []
        for platform in cl.GetPlatformIDs():
            own = Objects(cl, platform)
            own.owner = own.owner.partition(".")[0]
            address = function_of(cl, platform, function)
            if own.owner != "c" and not address:
                result.append(f"{function} of a platform of {own.owner}: no address")
            elif own.owner != "c":
                calls += [
                    PatternedCall(cl, api().functions[function], own, wide=wide, address=address)
                    for wide in (False, True)
                ]
        for call in calls:
            call.make()
        if len(calls) != 6:
            result.append(f"{len(calls)} calls could be made, expected 6")
        for call, log in zip(calls, sandbox.log.during(function), strict=True):
            result += call.problems(log)
    return result
