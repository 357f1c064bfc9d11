# SPDX-License-Identifier: Apache-2.0
"""The end of the loader: layers first, then vendors, and what late calls get (DISP-DEI)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.check import Loader, Objects, Sandbox, Session, Unsupported, requirement

UNLOADABLE = {"extensions": "cl_khr_icd cl_khr_icd_unloadable", "unloadable": True}
LEGACY = "OCL_ICD_FORCE_LEGACY_TERMINATION"


def end(cl: Session, way: str) -> None:
    if way == "close":
        cl.close()
    else:
        cl.require_removal_at_exit()
    cl.quit()


def order(sandbox: Sandbox) -> list[str]:
    """Who was released, in order; a layer is released when its clDeinitLayer is called, a library when unloaded."""
    return [
        f"{event.who} {event.name}"
        for event in sandbox.log
        if event.who != "application" and event.name in ("clDeinitLayer", "unloaded") and event.kind != "return"
    ]


@requirement("DISP-DEI-001")
@pytest.mark.parametrize("vendors", [1, 3])
@pytest.mark.parametrize("layers", [1, 2, 3])
@pytest.mark.parametrize("way", ["close", "exit", "exit-linked"])
def test_layers_are_deinitialised_before_vendors_are_unloaded(
    loader: Loader, sandbox: Sandbox, way: str, layers: int, vendors: int
) -> None:
    """All layers are deinitialised while the vendors still answer, and before any of these is unloaded."""
    loader.require("OPENCL_LAYERS")
    loader.require("unloads vendors")
    loader.require("initialises layers with properties")
    names = [f"layer{i}" for i in range(layers)]
    sandbox.env["OPENCL_LAYERS"] = ":".join(str(sandbox.layer(name, faults=["deinit_calls_target"])) for name in names)
    for i in range(vendors):
        sandbox.vendor(f"v{i}", **UNLOADABLE)
    with loader.start(sandbox, linked=way == "exit-linked") as cl:
        assert len(cl.GetPlatformIDs()) == vendors
        assert order(sandbox) == []
        end(cl, way)
    happened = order(sandbox)
    deinits = {what for what in happened if "clDeinitLayer" in what}
    assert deinits == {f"{name} clDeinitLayer" for name in names}
    unloaded = [what in {f"v{i} unloaded" for i in range(vendors)} for what in happened]
    assert not any(what in deinits for what in happened[unloaded.index(True) if True in unloaded else len(happened) :])
    log = sandbox.log
    assert {event.data["detail"] for event in log.happened("call of target done")} == {"success"}
    assert set(log.happened("platform of target").components()) == set(names)


@requirement("DISP-DEI-004")
@pytest.mark.parametrize("value", ["1", "True"])
def test_legacy_termination_calls_no_layer_and_unloads_no_vendor(loader: Loader, sandbox: Sandbox, value: str) -> None:
    """With OCL_ICD_FORCE_LEGACY_TERMINATION a loader that is closed calls no layer and unloads no vendor."""
    loader.require("OPENCL_LAYERS")
    loader.require("unloads vendors")
    sandbox.env["OPENCL_LAYERS"] = str(sandbox.layer("layer"))
    mock = sandbox.vendor("v", **UNLOADABLE)
    sandbox.env[LEGACY] = value
    with loader.start(sandbox) as cl:
        assert len(cl.GetPlatformIDs()) == 1
        assert sandbox.log.calls("clInitLayer", by="layer")
        cl.close()
        assert order(sandbox) == []
        assert cl.maps(mock)


@requirement("DISP-DEI-002")
@pytest.mark.parametrize("layered", [False, True], ids=["no-layer", "layer"])
@pytest.mark.parametrize("unloadable", [False, True], ids=["stays", "unloadable"])
def test_enumeration_after_the_end_does_not_crash(
    loader: Loader, sandbox: Sandbox, unloadable: bool, layered: bool, record: Callable[[str], None]
) -> None:
    """clGetPlatformIDs of an application's library whose destructor runs after the loader's: an answer, no crash."""
    outcome = late_call(loader, sandbox, "destructor_calls_opencl", unloadable, layered)
    record(outcome)
    assert outcome in ("success", "error")


@requirement("DISP-DEI-002", "DISP-DEI-003")
@pytest.mark.parametrize("layered", [False, True], ids=["no-layer", "layer"])
@pytest.mark.parametrize("unloadable", [False, True], ids=["stays", "unloadable"])
def test_release_after_the_end_does_not_crash(
    loader: Loader, sandbox: Sandbox, unloadable: bool, layered: bool, record: Callable[[str], None]
) -> None:
    """clReleaseContext from there is forwarded or refused with CL_INVALID_OPERATION; it does not crash."""
    outcome = late_call(loader, sandbox, "destructor_releases_context", unloadable, layered)
    record({"success": "forwarded"}.get(outcome, outcome))
    assert outcome in ("success", "refused")
    assert len(sandbox.log.calls("clReleaseContext", by="v")) == (outcome == "success")


def late_call(loader: Loader, sandbox: Sandbox, fault: str, unloadable: bool, layered: bool) -> str:
    """Has a library of the application call the loader when all else is over; gives what came of it."""
    if loader.facts.sanitizer:
        raise Unsupported("machine", "a sanitizer's library does not bear to be asked for again after its end")
    sandbox.require_linux("destructors that run after the loader's, where the process ends")
    caller = sandbox.icd("caller", faults=[fault])
    sandbox.env["GLIBC_TUNABLES"] = "glibc.malloc.perturb=165"  # what is freed does not look as it did
    sandbox.vendor("v", **(UNLOADABLE if unloadable else {}))
    if layered:
        loader.require("OPENCL_LAYERS")
        sandbox.env["OPENCL_LAYERS"] = str(sandbox.layer("layer"))
    with loader.start(sandbox, late=True) as cl:
        cl.open()
        cl.load(caller)  # after the loader: destructors of libraries that do not need each other run in this order
        objects = Objects(cl, cl.GetPlatformIDs()[0])
        cl.setenv("CLHARNESS_LATE_CONTEXT", hex(objects.context))
        assert not sandbox.log.happened("call back")
        assert cl.quit() == 0
    log = sandbox.log
    assert len(log.happened("call back", by="caller")) == 1
    if layered and loader.has("initialises layers with properties"):
        names = [event.name for event in log]
        assert names.index("clDeinitLayer") < names.index("call back"), "the call was not late: this proves nothing"
    return str(log.happened("call back done", by="caller")[0].data["detail"])
