# SPDX-License-Identifier: Apache-2.0
"""Layers where one call of the loader for a resource fails: for each of these calls a case (TORT-LAY)."""

from __future__ import annotations

from harness.check import Failure, Loader, Sandbox, Torture, requirement, scenario
from harness.check import answered_in_order as in_order


def chain(loader: Loader, sandbox: Sandbox, torture: Torture) -> list[str]:
    """The layers that were initialised; the platforms' calls pass through all of them, in order."""
    loader.require("OPENCL_LAYERS")
    for name in ("a", "b"):  # without any, layers may stay away
        sandbox.vendor(name)
    sandbox.env["OPENCL_LAYERS"] = ":".join(str(sandbox.layer(name)) for name in ("inner", "outer"))
    if loader.has("OPENCL_LAYER_PATH"):
        folder = sandbox.folder("layers")
        sandbox.vendor_file("layer.lay", f"{sandbox.layer('infolder')}\n", folder)
        sandbox.env["OPENCL_LAYER_PATH"] = str(folder)
    with loader.start(sandbox, torture=torture) as cl:
        in_order(cl, "clGetPlatformIDs", 0, None, cl.buffer(4))
        platforms = cl.used_platforms()
        assert set(platforms) <= {"a", "b"}
    started = [e.who for e in sandbox.log.returns() if e.name.startswith("clInitLayer")]
    if platforms:
        last = sandbox.log.during("clGetPlatformInfo")[-1].calls("clGetPlatformInfo")
        assert [e.who for e in last if e.who in ("inner", "outer", "infolder")] == started[::-1]
    return started


@requirement("TORT-LAY-001", "TORT-LAY-002")
@scenario(chain)
def test_layers_that_can_be_had_work_where_a_call_fails(loader: Loader, sandbox: Sandbox, failure: Failure) -> None:
    """A call for a resource that fails costs the layers that depend on it; the others work, and nothing is left."""
    torture = failure.torture(sandbox, loader.path)
    started = chain(loader, sandbox, torture)
    expected = ["infolder"] * loader.has("OPENCL_LAYER_PATH") + ["inner", "outer"]
    assert started == [name for name in expected if name in started]
    if failure.call is None:
        assert started == expected
    elif failure.call.function == "dlopen":
        assert len(started) >= len(expected) - 1
    failure.expect_it_happened(torture)
    failure.expect_nothing_left(torture)
