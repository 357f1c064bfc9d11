# SPDX-License-Identifier: Apache-2.0
"""Initialisation of layers: what they are given, what they give back, and who refuses (LAY-INI)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness.check import (
    CL,
    INIT_WITH_PROPERTIES,
    SCHEMES,
    CallLog,
    Loader,
    Objects,
    Sandbox,
    Session,
    api,
    requirement,
    slots,
    use_layers,
    use_scheme,
)

NAMES = ("front", "middle", "back")


def chain(sandbox: Sandbox, position: str, faults: list[str], **settings: object) -> None:
    """Three layers, of which the one at `position` has the faults."""
    special: dict[str, Any] = {"faults": faults, **settings}
    use_layers(sandbox, [sandbox.layer(name, **(special if name == position else {})) for name in NAMES])


def used(cl: Session, sandbox: Sandbox) -> dict[str, list[str]]:
    """Uses functions of early, middle and late slots; gives the layers that each went through."""
    objects = Objects(cl, cl.GetPlatformIDs()[0])
    functions = {"clRetainContext": objects.context, "clFlush": objects.queue, "clFinish": objects.queue}
    functions |= {"clRetainKernel": objects.kernel, "clReleaseKernel": objects.kernel, "clRetainDevice": objects.device}
    for name, handle in functions.items():
        assert cl.call(name, handle) == 0, name
    result = {}
    log = sandbox.log
    for name in functions:
        reached = [event.who for event in log.during(name)[-1].calls(name) if event.who != "application"]
        assert reached[-1:] == [objects.owner]
        result[name] = reached[:-1]
    return result


def all_through(names: list[str]) -> dict[str, list[str]]:
    functions = ("clRetainContext", "clFlush", "clFinish", "clRetainKernel", "clReleaseKernel", "clRetainDevice")
    return dict.fromkeys(functions, names)


def others(position: str) -> list[str]:
    return [name for name in NAMES if name != position]


def initialisations(loader: Loader, sandbox: Sandbox, count: int, scheme: str) -> CallLog:
    """How the layers of a chain are initialised, which are used and come to their end then."""
    kind = use_scheme(loader, sandbox, scheme)
    sandbox.vendor("a")
    names = [f"layer{i}" for i in range(count)]
    use_layers(sandbox, [sandbox.layer(name) for name in names])
    with loader.start(sandbox) as cl:
        objects = Objects(cl, cl.GetPlatformIDs()[0])
        assert cl.clFlush(objects.queue) == CL.SUCCESS
        cl.close()
    log = sandbox.log
    inits = log.calls(kind.init)
    assert inits.components() == names[::-1]
    return inits


@requirement("LAY-INI-001", "LAY-INI-002")
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("count", [1, 2, 3, 16])
def test_layer_is_given_a_table_without_holes(loader: Loader, sandbox: Sandbox, count: int, scheme: str) -> None:
    """Each layer gets a table without holes and the number of its entries, which is not one of bytes."""
    inits = initialisations(loader, sandbox, count, scheme)
    assert len(inits) >= count
    for event in inits:
        assert 0 < event.arguments[0] < 4 * len(api().slots), "no table that was published is nearly as long"
    assert all(all(event.arguments[1:4]) for event in inits)
    assert not sandbox.log.happened("hole in target")


@requirement("LAY-INI-025")
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("count", [1, 2, 3, 16])
def test_target_of_a_layer_stays_as_it_is(loader: Loader, sandbox: Sandbox, count: int, scheme: str) -> None:
    """The table that a layer was given holds the same in each of its calls."""
    assert initialisations(loader, sandbox, count, scheme)
    assert not sandbox.log.happened("target changed")


@requirement("LAY-INI-001")
@pytest.mark.parametrize("scheme", SCHEMES)
def test_number_of_entries_reaches_to_the_last_function(loader: Loader, sandbox: Sandbox, scheme: str) -> None:
    """No function that the loader exports has its entry past the number of entries that a layer is told."""
    kind = use_scheme(loader, sandbox, scheme)
    sandbox.vendor("a")
    use_layers(sandbox, [sandbox.layer(name) for name in NAMES])
    with loader.start(sandbox) as cl:
        exports = {symbol.name for symbol in cl.exports()}
        assert cl.platform_names() == {"a"}
    last = max(slot.number for slot in slots().values() if slot.function in exports)
    inits = sandbox.log.calls(kind.init)
    assert len(inits) == len(NAMES)
    assert min(event.arguments[0] for event in inits) > last


@requirement("LAY-INI-017")
def test_layers_are_given_no_properties(loader: Loader, sandbox: Sandbox) -> None:
    """The list of properties is NULL: there are none yet."""
    loader.require("initialises layers with properties")
    sandbox.vendor("a")
    use_layers(sandbox, [sandbox.layer(name) for name in NAMES])
    with loader.start(sandbox) as cl:
        assert cl.platform_names() == {"a"}
    inits = sandbox.log.calls(INIT_WITH_PROPERTIES)
    assert [event.arguments[4] for event in inits] == [0] * len(NAMES)


@requirement("LAY-INI-005")
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("position", NAMES)
@pytest.mark.parametrize("error", [-30, 1, -(2**31)])
@pytest.mark.parametrize("fault", ["init_fails", "init_fails_after_writing"])
def test_layer_that_refuses_is_discarded(
    loader: Loader, sandbox: Sandbox, fault: str, error: int, position: str, scheme: str
) -> None:
    """Any result but CL_SUCCESS discards the layer, also where it gave a table; the chain is as without it."""
    kind = use_scheme(loader, sandbox, scheme)
    sandbox.vendor("a")
    chain(sandbox, position, [f"{fault}={error}"])
    with loader.start(sandbox) as cl:
        assert used(cl, sandbox) == all_through(others(position))
    log = sandbox.log
    assert log.of(position).functions() == ["clGetLayerInfo", kind.init]
    assert not log.happened("target changed")
    targets = {event.who: event.arguments[1] for event in log.calls(kind.init)}
    following = NAMES[NAMES.index(position) - 1] if position != "front" else None
    if following:
        assert targets[following] == targets[position], "the next layer's target is what the refusing one was given"


PARTIAL = {
    "one": ["clFlush"],
    "first-slot": ["clGetPlatformIDs"],
    "last-slot": [api().slots[-1]],
    "two": ["clFlush", "clRetainDevice"],
    "early": ["clRetainContext"],
}


@requirement("LAY-INI-006")
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("position", NAMES)
@pytest.mark.parametrize("only", PARTIAL)
def test_null_entry_of_a_layer_goes_on_to_what_is_after_it(
    loader: Loader, sandbox: Sandbox, only: str, position: str, scheme: str
) -> None:
    """Where a layer has NULL in its table calls go on to what is below it, for every function that it leaves out."""
    use_scheme(loader, sandbox, scheme)
    sandbox.vendor("a")
    chain(sandbox, position, [], functions={"only": PARTIAL[only]})
    with loader.start(sandbox) as cl:
        actual = used(cl, sandbox)
    for name, layers in actual.items():
        assert layers == (list(NAMES) if name in PARTIAL[only] else others(position)), name
    platforms = sandbox.log.during("clGetPlatformIDs")[-1]
    expected = list(NAMES) if "clGetPlatformIDs" in PARTIAL[only] else others(position)
    assert [event.who for event in platforms.calls("clGetPlatformIDs") if event.who in NAMES] == expected


@requirement("LAY-INI-006")
def test_calls_meet_the_layers_that_have_them_in_order(loader: Loader, sandbox: Sandbox) -> None:
    """Each layer intercepts other functions: every call meets those that have it, in their order."""
    loader.require("OPENCL_LAYERS")
    sandbox.vendor("a")
    has = {"front": ["clFlush", "clFinish"], "middle": ["clFinish", "clRetainKernel"], "back": ["clFlush"]}
    use_layers(sandbox, [sandbox.layer(name, functions={"only": has[name]}) for name in NAMES])
    with loader.start(sandbox) as cl:
        result = used(cl, sandbox)
    assert result == {name: [layer for layer in NAMES if name in has[layer]] for name in result}


@requirement("LAY-INI-007")
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("position", NAMES)
@pytest.mark.parametrize("length", [1, 6, 7, 47, 48, 147, 149])
def test_shorter_layer_table_is_completed_by_its_target(
    loader: Loader, sandbox: Sandbox, length: int, position: str, scheme: str
) -> None:
    """Entries beyond the number that a layer gives are not read (its table ends there) and come from its target."""
    use_scheme(loader, sandbox, scheme)
    sandbox.vendor("a")
    chain(sandbox, position, [f"table_length_is={length}"])
    with loader.start(sandbox) as cl:
        result = used(cl, sandbox)
    for name, layers in result.items():
        slot = api().functions[name].slot
        assert slot is not None
        assert layers == (list(NAMES) if slot < length else others(position)), name


@requirement("LAY-INI-008")
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("position", NAMES)
@pytest.mark.parametrize("length", [150, 151, 200, 4096])
def test_longer_layer_table_works(loader: Loader, sandbox: Sandbox, length: int, position: str, scheme: str) -> None:
    """A table longer than the loader's is fine: what is known works, what is surplus is ignored."""
    use_scheme(loader, sandbox, scheme)
    sandbox.vendor("a")
    chain(sandbox, position, [f"table_length_is={length}"])
    with loader.start(sandbox, guarded_heap=True) as cl:
        assert used(cl, sandbox) == all_through(list(NAMES))
    assert not sandbox.log.happened("surplus entry called")


@requirement("LAY-INI-009")
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("position", NAMES)
def test_layer_table_without_entries_intercepts_nothing_or_is_dropped(
    loader: Loader, sandbox: Sandbox, position: str, scheme: str, record: Callable[[str], None]
) -> None:
    """A layer that gives 0 entries intercepts nothing, or is dropped; the others are not affected."""
    use_scheme(loader, sandbox, scheme)
    sandbox.vendor("a")
    chain(sandbox, position, ["table_is_empty"])
    with loader.start(sandbox) as cl:
        assert used(cl, sandbox) == all_through(others(position))
        record("kept" if cl.maps(sandbox.libraries / f"lib{position}{sandbox.suffix}") else "dropped")


@requirement("LAY-INI-010", "LAY-INI-011")
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("position", NAMES)
@pytest.mark.parametrize("fault", ["table_is_null", "init_leaves_outputs"])
def test_layer_success_without_a_table_does_not_crash(
    loader: Loader, sandbox: Sandbox, fault: str, position: str, scheme: str
) -> None:
    """A layer that answers success and gives no table intercepts nothing or is dropped; nothing crashes."""
    use_scheme(loader, sandbox, scheme)
    sandbox.vendor("a")
    chain(sandbox, position, [fault])
    with loader.start(sandbox) as cl:
        assert used(cl, sandbox) == all_through(others(position))


@requirement("LAY-INI-012")
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("position", NAMES)
def test_calls_during_initialisation_reach_the_vendors(
    loader: Loader, sandbox: Sandbox, position: str, scheme: str
) -> None:
    """A layer that calls its target from its init function reaches the vendors through the layers below it."""
    kind = use_scheme(loader, sandbox, scheme)
    sandbox.vendor("a")
    chain(sandbox, position, ["init_calls_target"])
    with loader.start(sandbox) as cl:
        assert used(cl, sandbox) == all_through(list(NAMES))
    log = sandbox.log
    assert [event.data["detail"] for event in log.happened("call of target done", by=position)] == ["success"]
    assert [event.data["detail"] for event in log.happened("platform of target", by=position)] == ["a"]
    start = next(i for i, e in enumerate(log) if (e.who, e.name, e.kind) == (position, kind.init, "call"))
    end = next(i for i, e in enumerate(log) if (e.who, e.name, e.kind) == (position, kind.init, "return"))
    inside = [e.who for e in log[start:end] if e.kind == "call" and e.name == "clGetPlatformInfo"]
    assert inside == [*NAMES[NAMES.index(position) + 1 :], "a"]


@requirement("LAY-INI-015")
@pytest.mark.parametrize("position", NAMES)
def test_layer_table_that_changes_later_is_followed_or_not(
    loader: Loader, sandbox: Sandbox, position: str, record: Callable[[str], None]
) -> None:
    """A layer that exchanges two entries of its table after the start is followed, or the first table holds."""
    loader.require("OPENCL_LAYERS")
    sandbox.vendor("a")
    chain(sandbox, position, ["table_changes_after_init"])
    with loader.start(sandbox) as cl:
        objects = Objects(cl, cl.GetPlatformIDs()[0])
        assert cl.clFlush(objects.queue) == CL.SUCCESS
    during = sandbox.log.during("clFlush")[-1]
    reached = during.calls(by="a").functions()
    assert reached in (["clFlush"], ["clFinish"])
    record("copied" if reached == ["clFlush"] else "followed")


@requirement("LAY-INI-019")
@pytest.mark.parametrize("scheme", SCHEMES)
def test_first_call_in_32_threads_initialises_each_layer_once(loader: Loader, sandbox: Sandbox, scheme: str) -> None:
    """32 threads that make the first call at once: each layer is initialised once, and every call passes all layers."""
    kind = use_scheme(loader, sandbox, scheme)
    sandbox.vendor("a")
    use_layers(sandbox, [sandbox.layer("front", faults=["init_sleeps=20"]), sandbox.layer("back")])
    with loader.start(sandbox) as cl:
        counts = [cl.buffer(4, 0) for _ in range(32)]
        done = [cl.in_thread(i, "clGetPlatformIDs", 0, None, count) for i, count in enumerate(counts)]
        assert cl.go() == 32
        assert [later.result() for later in done] == [0] * 32
        assert [count.u32() for count in counts] == [1] * 32
    log = sandbox.log
    assert [event.who for event in log.calls(kind.init)] == ["back", "front"]
    for layer in ("front", "back"):
        assert len(log.calls("clGetPlatformIDs", by=layer)) == 32
