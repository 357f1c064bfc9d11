# SPDX-License-Identifier: Apache-2.0
"""What a call leaves in the loader: no function costs memory each time that it is called (DISP-ARG)."""

from __future__ import annotations

from typing import Any

import pytest

from harness.check import (
    Function,
    Leaked,
    Loader,
    Objects,
    PatternedCall,
    Sandbox,
    address_of,
    also_through_layers,
    api,
    make_all,
    requirement,
    slots,
)

ROUNDS, CALLS = 4, 25


def forwarded() -> list[Any]:
    """Every function whose vendor an argument tells."""
    functions = [function for function in api().dispatched() if slots()[function.name].class_ not in ("loader", "none")]
    return [pytest.param(function, id=function.name) for function in functions]


@requirement("DISP-ARG-025")
@pytest.mark.parametrize("function", forwarded())
def test_repeated_calls_of_a_function_cost_no_memory(loader: Loader, sandbox: Sandbox, function: Function) -> None:
    """A function that is called a hundred times leaves the heap as it left it half way."""
    sandbox.vendor("a", functions={"answers": [function.name]})
    with loader.start(sandbox, counted_heap=True) as cl:
        objects = Objects(cl, cl.GetPlatformIDs()[0])
        call = PatternedCall(cl, function, objects, address=address_of(cl, function))
        used = []
        for _ in range(ROUNDS):
            make_all([call] * CALLS)
            used.append(cl.heap())
    if used[-1] - used[1] >= CALLS:
        raise Leaked(f"{CALLS} calls of {function}: {used[-2]} bytes of the heap were in use, and then {used[-1]}")


also_through_layers(globals(), counts=[1])
