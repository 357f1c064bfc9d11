# SPDX-License-Identifier: Apache-2.0
"""The proper call of every function, as the texts have it, in front of a vendor that refuses whatever is not in order.

A layer that validates may answer improper calls itself, so that calls with made-up arguments say nothing about it. To
these it can only listen. It may ask the vendor whatever it wants to know: which questions arrive there is not compared.
"""

from __future__ import annotations

import pytest

from harness.check import (
    Buffer,
    IcdObjects,
    Layer,
    Loader,
    Sandbox,
    Session,
    calls,
    require_kept,
    requirement,
    start_with_layers,
    vendors_calls,
)

TIMERS = ("clGetDeviceAndHostTimer", "clGetHostTimer")  # their answers differ each time
# Those of calls.toml are in order but for what they are given: bytes that are no program, a queue of the host.
IMPROPER = (*calls.FOREIGN_PROGRAMS, "clSetDefaultDeviceCommandQueue")
ABLE = "images out_of_order pipes compiler il sub_groups"


def made(cl: Session, function: str) -> list[object]:
    """What the application saw of the call: its error, whether there was a result, and what was written."""
    call = calls.prepare(IcdObjects(cl, cl.GetPlatformIDs()[0]), function)
    error = call.make()
    if function in TIMERS:
        return [error]
    is_address = call.errcode is None and call.function.result_kind == "pointer"
    seen: list[object] = [bool(error) if is_address else error, bool(call.result)]
    for parameter, argument, word in zip(
        call.function.parameters, call.arguments, calls.words_of(function, {}), strict=True
    ):
        if isinstance(argument, Buffer) and word.startswith("?"):  # what else is given to a call holds addresses
            seen.append((parameter.name, argument.bytes()))
        elif isinstance(argument, Buffer) and word == ">":
            seen.append((parameter.name, any(argument.bytes())))
    return seen


@requirement("LAY-CHN-010")
@pytest.mark.parametrize("function", [name for name in calls.recipes() if name not in IMPROPER])
def test_proper_call_is_the_same_through_the_layer(
    layer: Layer, through: Loader, sandbox: Sandbox, function: str
) -> None:
    """A call that is in order has the same results, and reaches the vendor as it does without the layer."""
    layer.require_proper(function)
    sandbox.vendor("a", refuses=True, features=ABLE)
    seen = []
    for layers in ([], [layer]):
        sandbox.forget_log()
        with start_with_layers(through, sandbox, layers) as cl:
            result = made(cl, function)
            if layers:
                require_kept(layer, cl)
        arrived = [call for call in vendors_calls(sandbox.log, "a") if not call[1].startswith("clGet")]
        seen.append((result, arrived))
    without_it, with_it = seen
    assert with_it[0] == without_it[0], "the application sees something else"
    assert with_it[1] == without_it[1], "the vendor gets other calls"
