# SPDX-License-Identifier: Apache-2.0
"""A layer in front of a loader's vendors: results, and calls at the vendors, are the same as without it (LAY-CHN-010).

Where they are not, and the loader does not do without the layer what it should, the loader is to blame and the case is
`unsupported`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from harness.check import (
    Function,
    Layer,
    Loader,
    MockLayer,
    Objects,
    OrdinaryCall,
    Sandbox,
    Session,
    Unsupported,
    address_of,
    api,
    exchanges,
    handles_of,
    log_without,
    noticeable_problems,
    ordinary_variants,
    preparing,
    require_kept,
    requirement,
    run_mistakes,
    run_rare_mistakes,
    run_rarities,
    run_workload,
    slots,
    start_with_layers,
    vendors_calls,
    vendors_numbers,
)

PLACES = ("alone", "between")


def functions() -> list[Any]:
    """Every function that a loader hands to a vendor and that can be reached here."""
    result = []
    for function in api().dispatched():
        slot = slots()[function.name]
        if slot.reached != "windows-query" and slot.class_ not in ("loader", "none"):
            result.append(pytest.param(function, id=function.name))
    return result


def chain(sandbox: Sandbox, layer: Layer, place: str) -> list[Layer | MockLayer]:
    """The layer alone, or with one that only logs before it and one after it."""
    return [layer] if place == "alone" else [sandbox.layer("before"), layer, sandbox.layer("after")]


def wrong(loader: Loader, sandbox: Sandbox, layers: Sequence[Layer | MockLayer], function: Function) -> list[str]:
    """Calls the function on objects of vendors of both generations; gives what is wrong with what became of it."""
    around = [layer.name for layer in layers if isinstance(layer, MockLayer)]
    wraps = any(isinstance(layer, Layer) and layer.wraps_handles for layer in layers)
    behaviour = {"answers": [function.name]}
    sandbox.vendor("a", functions=behaviour)
    sandbox.vendor("b", functions=behaviour, icd2=loader.has("ICD 2"))
    with start_with_layers(loader, sandbox, layers) as cl:
        with preparing():
            platforms = cl.GetPlatformIDs()
            for layer in layers:
                if isinstance(layer, Layer):
                    require_kept(layer, cl)
            address = address_of(cl, function)
            known = [Objects(cl, platform) for platform in platforms]
            calls = [call for objects in known for call in ordinary_variants(cl, function, objects, address)]
        assert calls, "the loader lists no platform"
        for call in calls:
            call.make()
        log = sandbox.log
        handles = handles_of(log_without(log, *around), known) if wraps else None
        result = []
        for call, own in zip(calls, exchanges(log)[-len(calls) :], strict=True):
            result += noticeable_problems(call, log_without(own, *around), handles)
            passed = [event.who for event in own.calls() if event.who in around]
            result += [] if passed == around else [f"{call}: passed {passed}, expected {around}"]
    return result


@requirement("LAY-CHN-010", "LAY-INI-013")
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("function", functions())
def test_call_through_a_loader_passes_the_chain_once(
    layer: Layer, through: Loader, sandbox: Sandbox, function: Function, place: str
) -> None:
    """A call goes to its owner, once, through every layer of the chain, and nowhere else; arguments and answers are
    the same as without the layer."""
    layer.require_unchanged(function.name)
    result = wrong(through, sandbox, chain(sandbox, layer, place), function)
    if result and wrong(through, sandbox, [m for m in chain(sandbox, layer, place) if m is not layer], function):
        raise Unsupported("loader", f"without the layer the loader {through} does not do it, either")
    assert not result


def runs(
    layer: Layer,
    through: Loader,
    sandbox: Sandbox,
    icd2: bool,
    place: str,
    work: Callable[[Session], list[object]],
    **settings: Any,
) -> tuple[tuple[object, ...], tuple[object, ...]]:
    """What the application, the vendors and the layers around saw: without the layer, and with it.

    settings: those of the vendors.
    """
    if layer.changes - {"invalid"}:
        raise Unsupported("loader", "this layer declares to change calls that an application makes (--changes)")
    if icd2:
        through.require("ICD 2")
    for name in "ab":
        sandbox.vendor(name, icd2=icd2, suffix=name * 2, **settings)
    around = [m for m in chain(sandbox, layer, place) if isinstance(m, MockLayer)]
    seen = []
    for layers in (around, chain(sandbox, layer, place)):
        sandbox.forget_log()
        with start_with_layers(through, sandbox, layers) as cl:
            results = work(cl)
            if layer in layers:
                require_kept(layer, cl)
        log = sandbox.log
        assert not log.happened("foreign handle")
        passed = [e.name for e in log.calls() if e.who in ("before", "after") and e.name in api().functions]
        calls, numbers = (
            [call for call in result if not (layer.validates and call[1].startswith("clGet"))]  # it may ask
            for result in (vendors_calls(log, "ab"), vendors_numbers(log, "ab"))
        )
        seen.append((results, calls, [n for n in passed if not (layer.validates and n.startswith("clGet"))], numbers))
    return seen[0], seen[1]


def check_same(without_it: tuple[object, ...], with_it: tuple[object, ...]) -> None:
    """Nobody noticed the layer."""
    assert with_it[0] == without_it[0], "the application sees something else"
    assert with_it[1] == without_it[1], "the vendors get other calls"
    assert with_it[2] == without_it[2], "the layers before and after get other calls"


@requirement("LAY-CHN-010")
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("generation", ["icd1", "icd2"])
def test_application_sees_no_difference(
    layer: Layer, through: Loader, sandbox: Sandbox, generation: str, place: str
) -> None:
    """An application that uses every class of objects sees the same results, and vendors get the same calls, in the
    same order, as without the layer."""
    check_same(
        *runs(
            layer,
            through,
            sandbox,
            generation == "icd2",
            place,
            lambda cl: [*run_workload(cl), *([] if layer.validates else run_mistakes(cl))],
        )
    )


@requirement("LAY-CHN-010")
@pytest.mark.parametrize("place", PLACES)
def test_seldom_made_calls_are_the_same_through_the_layer(
    layer: Layer, through: Loader, sandbox: Sandbox, place: str
) -> None:
    """Long lists of events, hundreds of objects, failed events, each type of device and each string of a platform
    are the same to the application and to vendors, with every number that is handed on."""
    without_it, with_it = runs(layer, through, sandbox, False, place, run_rarities, refuses=True)
    check_same(without_it, with_it)
    assert with_it[3] == without_it[3], "the vendors get other numbers"


@requirement("LAY-CHN-010")
def test_refused_calls_are_refused_below_the_layer(layer: Layer, through: Loader, sandbox: Sandbox) -> None:
    """Calls that a vendor or the loader refuses get there, and their error comes back in the way that they have."""
    if layer.validates:
        raise Unsupported("loader", "this layer declares to answer invalid calls itself (--changes invalid)")
    check_same(*runs(layer, through, sandbox, False, "between", run_rare_mistakes, refuses=True))


def callback_functions() -> list[str]:
    """Functions of the API that take a callback which the mock ICD can call."""
    return [
        f.name
        for f in api().dispatched()
        if any(p.kind == "callback" for p in f.parameters)
        and f.name not in ("clEnqueueSVMFree", "clSetContextDestructorCallback")
    ]


@requirement("LAY-CHN-010")
@pytest.mark.parametrize("name", callback_functions())
def test_callbacks_are_called(layer: Layer, through: Loader, sandbox: Sandbox, name: str) -> None:
    """A vendor that calls back reaches the application's own callback, once, with the application's user data."""
    layer.require_unchanged(name)
    sandbox.vendor("a", functions={"calls_back": [name]})
    with start_with_layers(through, sandbox, [layer]) as cl:
        if not cl.symbol(name):
            raise Unsupported("loader", f"the loader does not export {name}")
        with preparing():
            objects = Objects(cl, cl.GetPlatformIDs()[0])
            require_kept(layer, cl)
            call = OrdinaryCall(cl, api().functions[name], objects)
        call.make()
    log = sandbox.log.during(name)[-1]
    called = [e for e in log.of("application") if e.name.startswith("callback ")]
    assert len(called) == 1
    names = [p.name for p in call.function.parameters]
    sent = log.calls(name, by="application")[0].arguments
    if "args" in names:
        assert called[0].arguments[0] == sent[names.index("args")]
    else:
        assert called[0].arguments[-1] == sent[names.index("user_data")]
