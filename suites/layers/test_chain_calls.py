# SPDX-License-Identifier: Apache-2.0
"""Every entry point through a chain of layers: each layer once, in order, and unchanged (LAY-CHN)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from harness.check import (
    CL,
    CallLog,
    Function,
    Loader,
    Objects,
    PatternedCall,
    Sandbox,
    Value,
    address_of,
    api,
    make_all,
    read_all,
    requirement,
    slots,
    use_layers,
    variants,
)


def chain(loader: Loader, sandbox: Sandbox, names: Sequence[str], **settings: Any) -> list[str]:
    """Layers so that calls go through `names` in this order; each layer is loaded before the one in front of it."""
    loader.require("OPENCL_LAYERS")
    use_layers(sandbox, [sandbox.layer(name, **settings) for name in names])
    return list(names)


def functions() -> list[Any]:
    """Every function of the table that can be reached here, with the requirement that it is for."""
    result = []
    for function in api().dispatched():
        slot = slots()[function.name]
        if slot.class_ not in ("loader", "none"):
            identifier = "LAY-CHN-001" if slot.reached == "export" else "LAY-CHN-004"
            marks = pytest.mark.requirement(identifier, "LAY-CHN-003")
            result.append(pytest.param(function, marks=marks, id=function.name))
    return result


def queried() -> list[Function]:
    """Functions that loaders know without exporting them."""
    inferred = [f for f in api().dispatched() if slots()[f.name].class_ not in ("loader", "none")]
    return [f for f in inferred if slots()[f.name].reached == "query"]


def through(log: CallLog, name: str) -> list[str]:
    """Who was in the function, from the outside to the inside."""
    return [event.who for event in log.calls(name) if event.who != "application"]


@pytest.mark.parametrize("function", functions())
def test_every_function_passes_every_layer(loader: Loader, sandbox: Sandbox, function: Function) -> None:
    """A call enters the first layer, then the second, then the owner, each once, with the same arguments.

    0 and NULL are among these, in every place but those of objects. What the vendor answers comes back through both
    layers; vendors of both generations are at the end.
    """
    layers = chain(loader, sandbox, ["front", "back"])
    sandbox.vendor_of_each_kind(loader.has("ICD 2"), functions={"answers": [function.name]})
    with loader.start(sandbox) as cl:
        address = address_of(cl, function)
        owners = [Objects(cl, platform) for platform in cl.GetPlatformIDs()]
        calls = [call for owner in owners for call in variants(cl, function, owner, address)]
        calls = [call for call in calls if not call.names_no_object]  # what else becomes of them is DISP-ARG-021
        make_all(calls)
        read_all(calls)
        logs = sandbox.log.during(function.name)[-len(calls) :]
        for call, log in zip(calls, logs, strict=True):
            assert through(log, function.name) == [*layers, call.objects.owner]
            for layer in layers:
                assert not call.argument_problems(log, at=layer)
            assert not call.argument_problems(log)
            assert not call.answer_problems()


@requirement("LAY-CHN-004")
@pytest.mark.parametrize("function", queried(), ids=lambda function: function.name)
def test_function_by_the_address_of_a_platform_passes_every_layer(
    loader: Loader, sandbox: Sandbox, function: Function
) -> None:
    """A function that the loader knows passes the layers also where its address is asked for by platform."""
    layers = chain(loader, sandbox, ["front", "back"])
    sandbox.vendor_of_each_kind(loader.has("ICD 2"), functions={"answers": [function.name]})
    with loader.start(sandbox) as cl:
        known = address_of(cl, function)
        assert known
        calls = []
        for platform in cl.GetPlatformIDs():
            address = cl.call("clGetExtensionFunctionAddressForPlatform", platform, function.name)
            assert isinstance(address, Value) and address
            objects = Objects(cl, platform)
            calls += [PatternedCall(cl, function, objects, address=where) for where in (known, address)]
        for call in calls:
            call.make()
        logs = sandbox.log.during(function.name)[-len(calls) :]
        seen = [through(log, function.name) for log in logs]
        assert seen == [[*layers, call.objects.owner] for call in calls]


@requirement("LAY-CHN-007")
@pytest.mark.parametrize("count", [1, 2, 3, 16])
def test_calls_that_the_loader_answers_pass_the_layers(loader: Loader, sandbox: Sandbox, count: int) -> None:
    """clGetPlatformIDs, clUnloadCompiler and calls with NULL pass every layer, and end before a vendor."""
    layers = chain(loader, sandbox, [f"layer{i}" for i in range(count)])
    sandbox.vendor("a")
    number = api().constant("CL_PLATFORM_NAME")
    with loader.start(sandbox) as cl:
        objects = Objects(cl, cl.GetPlatformIDs()[0])
        cl.clFinish(objects.queue)
        calls: dict[str, tuple[tuple[Any, ...], int]] = {
            "clGetPlatformIDs": ((0, None, cl.buffer(4)), 0),
            "clUnloadCompiler": ((), 0),
            "clFlush": ((None,), CL.INVALID_COMMAND_QUEUE),
            "clRetainContext": ((None,), CL.INVALID_CONTEXT),
            "clGetDeviceInfo": ((None, number, 0, None, cl.room()), CL.INVALID_DEVICE),
            "clCreateBuffer": ((None, 0, 64, None, None), 0),
        }
        for name, (arguments, answer) in calls.items():
            assert cl.call(name, *arguments) == answer, name
    log = sandbox.log
    assert through(log.during("clFinish")[-1], "clFinish") == [*layers, "a"]
    for name in calls:
        assert through(log.during(name)[-1], name) == layers, name


@requirement("LAY-CHN-006")
@pytest.mark.parametrize("form", ["clGetExtensionFunctionAddress", "clGetExtensionFunctionAddressForPlatform"])
@pytest.mark.parametrize("name", ["clThingMOCK", "clGetGLContextInfoKHR", "clNothing"])
def test_address_queries_are_intercepted(loader: Loader, sandbox: Sandbox, form: str, name: str) -> None:
    """A layer that answers an address of its own is what the application gets; without it the loader's answer."""
    chain(loader, sandbox, ["plain"])
    sandbox.vendor("a")
    with loader.start(sandbox) as cl:
        platform = cl.GetPlatformIDs()[0]
        arguments = (name,) if form == "clGetExtensionFunctionAddress" else (platform, name)
        plain = cl.call(form, *arguments)
        assert bool(plain) == (name == "clThingMOCK") or name == "clGetGLContextInfoKHR"  # not every loader's own
        assert through(sandbox.log.during(form)[-1], form)[0] == "plain"
    chain(loader, sandbox, ["substitutes"], faults=["substitutes_addresses"])
    with loader.start(sandbox) as cl:
        platform = cl.GetPlatformIDs()[0]
        arguments = (name,) if form == "clGetExtensionFunctionAddress" else (platform, name)
        address = cl.call(form, *arguments)
        assert isinstance(address, Value)
        answer = cl.call_at(address, "clGetExtensionFunctionAddress", None)
        assert isinstance(answer, Value)
        assert bytes.fromhex(cl.command(f"read {answer.token} 12")).split(b"\0")[0] == b"substitutes"


@requirement("LAY-CHN-005")
def test_functions_of_a_vendor_bypass_the_layers(loader: Loader, sandbox: Sandbox) -> None:
    """A vendor's function that the loader does not know is called at its own address; the query passed the layers."""
    layers = chain(loader, sandbox, ["front", "back"])
    sandbox.vendor("a", suffix="AA")
    with loader.start(sandbox) as cl:
        assert cl.vendor_function("clSomethingAA") == "a"
    log = sandbox.log
    assert through(log, "clGetExtensionFunctionAddress")[-3:] == [*layers, "a"]
    assert len(log.happened("vendor function", by="a")) == 1


@requirement("LAY-CHN-008")
@pytest.mark.parametrize("front", [(), ("before",)], ids=["alone", "after-another"])
@pytest.mark.parametrize("icd2", [False, True], ids=["icd1", "icd2"])
def test_wrapped_handles_that_are_not_addresses_work(
    loader: Loader, sandbox: Sandbox, icd2: bool, front: tuple[str, ...]
) -> None:
    """Handles that are not addresses at all work when a layer hands them out: nothing looks into them before it."""
    if icd2:
        loader.require("ICD 2")
    loader.require("OPENCL_LAYERS")
    wraps = sandbox.layer("wraps", faults=["wraps_handles"])
    others = [sandbox.layer(name) for name in front]
    use_layers(sandbox, [*reversed(others), wraps])
    for name in "ab":
        sandbox.vendor(name, icd2=icd2)
    with loader.start(sandbox) as cl:
        for platform in cl.GetPlatformIDs():
            assert platform < 4096, "the layer wraps nothing: the check would prove nothing"
            objects = Objects(cl, platform)
            used = []
            for function in api().dispatched():
                slot = slots()[function.name]
                plain = slot.reached == "export" and function.name.startswith(("clRetain", "clFlush", "clFinish"))
                if plain and int(cl.command(f"symbol {function.name}"), 16):
                    call = PatternedCall(cl, function, objects)
                    call.make()
                    assert call.result == 0, str(call)
                    used.append(function.name)
            assert len(used) >= 9
    log = sandbox.log
    assert not log.happened("foreign handle")
    for name in used:
        assert {event.who for event in log.calls(name)} == {"application", "wraps", *front, "a", "b"}


@requirement("LAY-CHN-009")
@pytest.mark.parametrize("position", ["front", "middle", "back"])
def test_what_a_layer_changes_is_what_others_see(loader: Loader, sandbox: Sandbox, position: str) -> None:
    """Arguments changed on the way down arrive changed; results changed on the way up, too; a swallowed call ends."""
    loader.require("OPENCL_LAYERS")
    changes = {
        "swallows": ["clFinish"],
        "changes_result": ["clFlush", "clCreateUserEvent"],
        "changes_arguments": ["clSetUserEventStatus"],
    }
    names = ["front", "middle", "back"]
    layers = [sandbox.layer(name, functions=changes if name == position else {}) for name in names]
    use_layers(sandbox, layers)
    sandbox.vendor("a")
    with loader.start(sandbox) as cl:
        objects = Objects(cl, cl.GetPlatformIDs()[0])
        error = cl.buffer(4)
        assert cl.clFinish(objects.queue) == -7777
        assert cl.clFlush(objects.queue) == 1
        assert cl.clCreateUserEvent(objects.context, error) % 8 == 1
        assert error.code() == 1
        objects.forget("cl_event")
        cl.clSetUserEventStatus(cl.clCreateUserEvent(objects.context, None) - 1, 5)
    log = sandbox.log
    assert through(log, "clFinish") == names[: names.index(position) + 1]
    assert through(log, "clFlush") == [*names, "a"]
    status = log.calls("clSetUserEventStatus", by="a")[0].arguments[1]
    assert status == 6


@pytest.mark.parametrize(
    "what",
    [
        pytest.param("way", marks=pytest.mark.requirement("LAY-CHN-007")),
        pytest.param("answer", marks=pytest.mark.requirement("LAY-CHN-009")),
    ],
)
@pytest.mark.parametrize("position", [0, 1])
def test_layer_may_answer_what_the_loader_would(loader: Loader, sandbox: Sandbox, position: int, what: str) -> None:
    """Where a layer answers a call that the loader would, the application gets that; other calls go all the way."""
    loader.require("OPENCL_LAYERS")
    swallows = {"swallows": ["clGetPlatformIDs", "clUnloadCompiler"]}
    layers = [sandbox.layer(f"layer{i}", functions=swallows if i == position else {}) for i in range(2)]
    use_layers(sandbox, layers)
    sandbox.vendor("a")
    with loader.start(sandbox) as cl:
        answers = [cl.clGetPlatformIDs(0, None, cl.buffer(4)), cl.clUnloadCompiler(), cl.clFlush(None)]
    if what == "answer":
        assert answers == [-7777, -7777, CL.INVALID_COMMAND_QUEUE]
        return
    log = sandbox.log
    names = [layer.name for layer in layers]
    for function in swallows["swallows"]:
        assert through(log.during(function)[-1], function) == names[: position + 1]
    assert through(log.during("clFlush")[-1], "clFlush") == names


@pytest.mark.parametrize(
    "how",
    [
        pytest.param("recurses", marks=pytest.mark.requirement("LAY-CHN-009")),  # no text has layers call the loader
        pytest.param("calls_another", marks=pytest.mark.requirement("LAY-CHN-003")),
    ],
)
@pytest.mark.parametrize("position", [0, 1, 2])
def test_calls_that_a_layer_makes_go_to_what_is_after_it(
    loader: Loader, sandbox: Sandbox, position: int, how: str
) -> None:
    """A call of a layer to its target goes to what is below it; one to the loader itself starts at the front."""
    loader.require("OPENCL_LAYERS")
    names = ["front", "middle", "back"]
    layers = [
        sandbox.layer(name, functions={how: ["clFlush"]} if i == position else {}) for i, name in enumerate(names)
    ]
    use_layers(sandbox, layers)
    sandbox.vendor("a")
    with loader.start(sandbox) as cl:
        objects = Objects(cl, cl.GetPlatformIDs()[0])
        assert cl.clFlush(objects.queue) == CL.SUCCESS
    during = sandbox.log.during("clFlush")[-1]
    assert through(during, "clFlush") == [*names, "a"]
    assert through(during, "clGetPlatformIDs") == (names if how == "recurses" else names[position + 1 :])
    done = during.happened("call of loader done" if how == "recurses" else "call of target done")
    assert [event.data["detail"] for event in done] == ["success"]


@requirement("LAY-CHN-014")
@pytest.mark.parametrize("count", [0, 1, 2, 3, 16])
@pytest.mark.parametrize("order", ["12", "21", "212", "121"])
def test_chains_of_0_to_16_layers_reach_vendors_of_both_generations(
    loader: Loader, sandbox: Sandbox, order: str, count: int
) -> None:
    """Chains of 0 to 16 layers work in front of vendors of ICD 1 and 2, in every order: each object's vendor is met."""
    loader.require("ICD 2")
    layers = chain(loader, sandbox, [f"layer{i}" for i in range(count)]) if count else []
    traps = {"1": [], "2": ["icd2_table_traps"]}  # an ICD 2 vendor's own table is not for calls
    mocks = [sandbox.icd(f"v{i}", icd2=kind == "2", faults=traps[kind]) for i, kind in enumerate(order)]
    sandbox.vendors_in_order([f"{mock}\n" for mock in mocks])
    with loader.start(sandbox) as cl:
        owners = [Objects(cl, platform) for platform in cl.GetPlatformIDs()]
        for objects in owners:
            assert cl.clRetainKernel(objects.kernel) == CL.SUCCESS
            assert cl.clFlush(objects.queue) == CL.SUCCESS
    log = sandbox.log
    for objects, flush in zip(owners, log.during("clFlush"), strict=True):
        assert through(flush, "clFlush") == [*layers, objects.owner]
    assert not log.happened("foreign handle")
