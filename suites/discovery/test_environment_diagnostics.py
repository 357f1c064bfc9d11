# SPDX-License-Identifier: Apache-2.0
"""Calls while a loader writes what it does: they arrive and are answered as ever (DISC-ENV-016, DISC-ENV-019)."""

from __future__ import annotations

import pytest

from harness.check import Loader, Objects, PatternedCall, Sandbox, address_of, api, slots

CLASSES = ("platform", "device", "context", "queue", "memory", "program", "kernel", "event", "sampler", "properties")
# What other functions of a context need an object of: a case of their own, since patterns are no objects.
MAKERS = ("clCreateCommandQueue", "clCreateProgramWithSource")
SWITCHES = [
    pytest.param("OCL_ICD_ENABLE_TRACE", "True", marks=pytest.mark.requirement("DISC-ENV-016"), id="trace"),
    pytest.param("OCL_ICD_DEBUG", "7", marks=pytest.mark.requirement("DISC-ENV-019"), id="debug"),
]


@pytest.mark.parametrize(("variable", "value"), SWITCHES)
@pytest.mark.parametrize("kind", [*CLASSES, "makers"])
def test_diagnostics_change_no_call(loader: Loader, sandbox: Sandbox, kind: str, variable: str, value: str) -> None:
    """With what the loader writes of its work, every call reaches its owner with its arguments, and its answer the
    program; nothing comes to standard output."""
    functions = [
        function
        for function in api().dispatched()
        if kind == ("makers" if function.name in MAKERS else slots()[function.name].class_)
    ]
    sandbox.vendor_of_each_kind(loader.has("ICD 2"), functions={"answers": [f.name for f in functions]})
    sandbox.env[variable] = value
    with loader.start(sandbox) as cl:
        owners = [Objects(cl, platform) for platform in cl.GetPlatformIDs()]
        for function in functions:
            address = address_of(cl, function)
            for objects in owners:
                call = PatternedCall(cl, function, objects, address=address)
                call.make()
                log = sandbox.log.during(function.name)[-1]
                assert not call.routing_problems(log) + call.argument_problems(log) + call.answer_problems()
    assert cl.stdout == ""
