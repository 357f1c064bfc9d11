# SPDX-License-Identifier: Apache-2.0
"""The last entries of a table: a layer that ends just before a function leaves it to its target (LAY-INI)."""

from __future__ import annotations

import pytest

from harness.check import (
    SCHEMES,
    Function,
    Loader,
    Objects,
    Sandbox,
    address_of,
    api,
    requirement,
    slots,
    use_layers,
    use_scheme,
    variants,
)

NAMES = ("front", "middle", "back")
# Every function from OpenCL 2.1's on: one of these is the last of any published table that a loader with layers has.
LAST = [
    api().functions[name]
    for slot, name in enumerate(api().slots)
    if name and slot >= 138 and slots()[name].reached == "export"
]


@requirement("LAY-INI-007")
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("position", NAMES)
@pytest.mark.parametrize("function", LAST, ids=lambda function: function.name)
def test_function_just_after_the_end_of_a_layers_table_comes_from_its_target(
    loader: Loader, sandbox: Sandbox, function: Function, position: str, scheme: str
) -> None:
    """A table that ends one entry before a function: its calls pass the other layers, with every argument in place."""
    use_scheme(loader, sandbox, scheme)
    sandbox.vendor("a", functions={"answers": [function.name]})
    short = [f"table_length_is={function.slot}"]
    use_layers(sandbox, [sandbox.layer(name, faults=short if name == position else []) for name in NAMES])
    with loader.start(sandbox) as cl:
        address = address_of(cl, function)
        call = variants(cl, function, Objects(cl, cl.GetPlatformIDs()[0]), address)[0]
        call.make()
        log = sandbox.log.during(function.name)[-1]
        reached = [event.who for event in log.calls(function.name) if event.who != "application"]
        assert reached == [*(name for name in NAMES if name != position), "a"]
        assert not call.argument_problems(log)
        assert not call.answer_problems()
