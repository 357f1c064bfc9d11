# SPDX-License-Identifier: Apache-2.0
"""The end of layers: clDeinitLayer, exit handlers, and when their libraries are closed (LAY-DEI)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from harness.check import (
    CL,
    DEINIT,
    SCHEMES,
    CallLog,
    Leaked,
    Loader,
    MockLayer,
    Objects,
    Sandbox,
    Session,
    Unsupported,
    requirement,
    use_layers,
    use_scheme,
)

Record = Callable[[str], None]
NAMES = ("front", "middle", "back")
WAYS = ("close", "exit", "exit-linked")
KEEP = "OCL_ICD_DISABLE_DYNAMIC_LIBRARY_UNLOADING"


def require_deinitialisation(loader: Loader) -> None:
    loader.require("OPENCL_LAYERS")
    loader.require("initialises layers with properties", "this loader initialises layers by the older scheme only")


def chain(sandbox: Sandbox, position: str, faults: Sequence[str], variant: str = "layer") -> list[MockLayer]:
    """Three layers, of which the one at `position` has the faults or is another variant."""
    layers = [
        sandbox.layer(name, faults=faults if name == position else (), variant=variant if name == position else "layer")
        for name in NAMES
    ]
    use_layers(sandbox, layers)
    return layers


def end(cl: Session, way: str) -> None:
    if way == "close":
        cl.close()
    else:
        cl.require_removal_at_exit()
    assert cl.quit() == 0


def deinitialised(log: CallLog) -> list[str]:
    return [event.who for event in log.calls(DEINIT)]


def deinitialised_first(log: CallLog) -> list[str]:
    """The layers in the order in which they were deinitialised: how often is LAY-DEI-004."""
    return list(dict.fromkeys(deinitialised(log)))


def during_deinit(log: CallLog, layer: str) -> CallLog:
    """What happened while a layer was in its clDeinitLayer."""
    marks = [i for i, e in enumerate(log) if (e.who, e.name) == (layer, DEINIT)]
    assert len(marks) >= 2, f"{layer} was not deinitialised, to the end"
    return CallLog(log[marks[0] + 1 : marks[1]])


# --- order and number ---


@requirement("LAY-DEI-001")
@pytest.mark.parametrize("listed", [0, 1, 2], ids=lambda n: f"{n} in the list")
@pytest.mark.parametrize("way", WAYS)
def test_layers_of_the_folder_are_deinitialised_as_those_of_the_list(
    loader: Loader, sandbox: Sandbox, way: str, listed: int
) -> None:
    """Wherever a layer was named, it is deinitialised: the last that was loaded first."""
    require_deinitialisation(loader)
    loader.require("OPENCL_LAYER_PATH")
    sandbox.vendor("a")
    folder = sandbox.folder("layer files")
    for name in ("inner", "middle"):
        (folder / f"{name}.lay").write_text(f"{sandbox.layer(name)}\n")
    sandbox.env["OPENCL_LAYER_PATH"] = str(folder)
    use_layers(sandbox, [sandbox.layer(f"listed{number}") for number in reversed(range(listed))])
    with loader.start(sandbox, linked=way == "exit-linked") as cl:
        assert cl.platform_names() == ["a"]
        end(cl, way)
    loaded = [e.who for e in sandbox.log.calls() if e.name.startswith("clInitLayer")]
    assert sorted(loaded) == sorted(["inner", "middle", *(f"listed{number}" for number in range(listed))])
    assert deinitialised_first(sandbox.log) == loaded[::-1]


@requirement("LAY-DEI-001")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("count", [0, 1, 2, 3, 16])
def test_layers_are_deinitialised_from_front_to_back(loader: Loader, sandbox: Sandbox, count: int, way: str) -> None:
    """Layers are deinitialised from the front to the back, one after the other, and not before the end."""
    require_deinitialisation(loader)
    sandbox.vendor("a")
    names = [f"layer{number}" for number in range(count)]
    use_layers(sandbox, [sandbox.layer(name) for name in names])
    with loader.start(sandbox, linked=way == "exit-linked") as cl:
        assert cl.platform_names() == ["a"]
        assert deinitialised(sandbox.log) == []
        end(cl, way)
    log = sandbox.log
    courses = dict.fromkeys((e.who, e.kind) for e in log if e.name == DEINIT)
    assert list(courses) == [(name, kind) for name in names for kind in ("call", "return")]


@requirement("LAY-DEI-004")
@pytest.mark.parametrize("way", WAYS)
def test_layers_are_deinitialised_once(loader: Loader, sandbox: Sandbox, way: str) -> None:
    """No layer is deinitialised twice, however the loader ends."""
    require_deinitialisation(loader)
    sandbox.vendor("a")
    chain(sandbox, "", [])
    with loader.start(sandbox, linked=way == "exit-linked") as cl:
        assert cl.platform_names() == ["a"]
        end(cl, way)
    assert sorted(deinitialised(sandbox.log)) == sorted(NAMES)


@requirement("LAY-DEI-004")
@pytest.mark.parametrize("used", [True, False], ids=["used", "never used"])
def test_layers_of_a_closed_loader_are_not_deinitialised_again(loader: Loader, sandbox: Sandbox, used: bool) -> None:
    """Layers that were deinitialised when the loader was closed are not deinitialised again; unused ones never."""
    require_deinitialisation(loader)
    sandbox.vendor("a")
    chain(sandbox, "", [])
    with loader.start(sandbox) as cl:
        if used:
            assert cl.platform_names() == ["a"]
        cl.close()
        assert deinitialised(sandbox.log) == (list(NAMES) if used else [])
        assert cl.quit() == 0
    assert len(deinitialised(sandbox.log)) == (3 if used else 0)


@requirement("LAY-DEI-001")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("position", NAMES)
def test_layer_without_deinit_does_not_stop_the_others(
    loader: Loader, sandbox: Sandbox, position: str, way: str
) -> None:
    """A layer without clDeinitLayer keeps no other one from being deinitialised, in order."""
    require_deinitialisation(loader)
    sandbox.vendor("a")
    chain(sandbox, position, [], variant="layer_without_deinit")
    with loader.start(sandbox, linked=way == "exit-linked") as cl:
        assert cl.platform_names() == ["a"]
        end(cl, way)
    assert deinitialised_first(sandbox.log) == [name for name in NAMES if name != position]


@requirement("LAY-DEI-003")
@pytest.mark.parametrize("way", ["close", "exit"])
@pytest.mark.parametrize("error", [-5, -6, -30, -1, 1, 2**31 - 1, -(2**31)])
@pytest.mark.parametrize("position", NAMES)
def test_layer_that_fails_to_deinit_is_closed_like_the_others(
    loader: Loader, sandbox: Sandbox, position: str, error: int, way: str
) -> None:
    """A layer that fails its clDeinitLayer is closed as the others are, and the others are deinitialised."""
    require_deinitialisation(loader)
    sandbox.vendor("a")
    layers = chain(sandbox, position, [f"deinit_fails={error}"])
    with loader.start(sandbox) as cl:
        assert cl.platform_names() == ["a"]
        if way == "close":
            cl.close()
            assert [cl.maps(layer) for layer in layers] == [False] * 3
        else:
            cl.require_removal_at_exit()
        assert cl.quit() == 0
    assert deinitialised(sandbox.log) == list(NAMES)


# --- what works while it goes on ---


@requirement("LAY-DEI-002", "LAY-INI-014")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("unloadable", [False, True], ids=["stays", "unloadable"])
@pytest.mark.parametrize("position", [*NAMES, "all"])
def test_target_works_during_deinitialisation(
    loader: Loader, sandbox: Sandbox, position: str, unloadable: bool, way: str
) -> None:
    """In clDeinitLayer the target works: through the layers below, which are not deinitialised, to the vendor."""
    require_deinitialisation(loader)
    sandbox.vendor("a", extensions="cl_khr_icd cl_khr_icd_unloadable", unloadable=unloadable)
    callers = NAMES if position == "all" else (position,)
    use_layers(sandbox, [sandbox.layer(n, faults=["deinit_calls_target"] if n in callers else []) for n in NAMES])
    with loader.start(sandbox, linked=way == "exit-linked") as cl:
        assert cl.platform_names() == ["a"]
        end(cl, way)
    log = sandbox.log
    for name in callers:
        inside = during_deinit(log, name)
        later = list(NAMES[NAMES.index(name) + 1 :])
        assert [e.data["detail"] for e in inside.happened("call of target done")] == ["success"]
        assert [e.data["detail"] for e in inside.happened("platform of target")] == ["a"]
        assert [e.who for e in inside.calls("clGetPlatformIDs")] == later
        assert [e.who for e in inside.calls("clGetPlatformInfo")] == [*later, "a"]
    assert deinitialised_first(log) == list(NAMES)


@requirement("LAY-DEI-007")
@pytest.mark.parametrize("way", ["exit", "exit-linked"])
@pytest.mark.parametrize("position", NAMES)
def test_loader_call_during_deinitialisation_enters_no_layer_that_is_gone(
    loader: Loader, sandbox: Sandbox, position: str, way: str, record: Record
) -> None:
    """A call of the loader's own function while layers go is answered or refused, and enters no layer that is gone."""
    require_deinitialisation(loader)
    if loader.facts.sanitizer:
        raise Unsupported("machine", "a sanitizer's library does not bear to be asked for again after its end")
    sandbox.vendor("a")
    chain(sandbox, position, ["deinit_calls_loader"])
    with loader.start(sandbox, linked=way == "exit-linked") as cl:
        assert cl.platform_names() == ["a"]
        cl.require_removal_at_exit()
        assert cl.quit() == 0
    log = sandbox.log
    inside = during_deinit(log, position)
    outcomes = [e.data["detail"] for e in inside.happened("call of loader done")]
    assert outcomes in (["success"], ["refused"])
    record(outcomes[0])
    gone = NAMES[: NAMES.index(position)]
    assert not [e.who for e in inside.calls("clGetPlatformIDs") if e.who in gone]
    assert deinitialised(log) == list(NAMES)


# --- the older scheme ---


@requirement("LAY-DEI-006", "LAY-INI-014")
@pytest.mark.parametrize("linked", [False, True], ids=["opened", "linked"])
@pytest.mark.parametrize("position", NAMES)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_exit_handler_of_a_layer_may_call_its_target(
    loader: Loader, sandbox: Sandbox, scheme: str, position: str, linked: bool
) -> None:
    """By the older scheme a layer may call its target from an exit handler, down to the vendor."""
    if use_scheme(loader, sandbox, scheme).deinitialises:
        raise Unsupported("loader", "by the newer scheme layers do not use exit handlers (LAY-DEI-005)")
    sandbox.vendor("a", extensions="cl_khr_icd cl_khr_icd_unloadable", unloadable=True)
    chain(sandbox, position, ["init_registers_exit_handler"])
    with loader.start(sandbox, linked=linked) as cl:
        assert cl.platform_names() == ["a"]
        assert not sandbox.log.happened("call of target")
        assert cl.quit() == 0
    log = sandbox.log
    assert [e.data["detail"] for e in log.happened("call of target", by=position)] == ["exit handler"]
    assert [e.data["detail"] for e in log.happened("call of target done")] == ["success"]
    assert [e.data["detail"] for e in log.happened("platform of target")] == ["a"]


# --- libraries ---


@requirement("LAY-DEI-008")
@pytest.mark.parametrize("keep", [False, True], ids=["closed", "kept"])
@pytest.mark.parametrize(("count", "times"), [(1, 1), (2, 1), (3, 1), (16, 1), (3, 2), (1, 5)])
def test_libraries_are_closed_after_their_end(
    loader: Loader, sandbox: Sandbox, count: int, times: int, keep: bool
) -> None:
    """Each layer's library is closed once its clDeinitLayer has returned, also where it is listed several times.

    It is kept where unloading is disabled.
    """
    require_deinitialisation(loader)
    sandbox.vendor("a")
    layers = [sandbox.layer(f"layer{number}") for number in range(count)]
    use_layers(sandbox, layers * times)
    sandbox.env |= {KEEP: "1"} if keep else {}
    with loader.start(sandbox) as cl:
        assert cl.platform_names() == ["a"]
        assert all(cl.maps(layer) for layer in layers)
        cl.close()
        assert [cl.maps(layer) for layer in layers] == [keep] * count
        closed = [(e.who, e.name) for e in sandbox.log if e.name in (DEINIT, "unloaded") and e.kind != "call"]
    for layer in layers:
        ends = [(layer.name, DEINIT), *([] if keep else [(layer.name, "unloaded")])]
        assert [end for end in closed if end[0] == layer.name] == ends


@requirement("LAY-DEI-008")
@pytest.mark.parametrize("position", NAMES)
def test_library_of_a_layer_without_an_end_is_closed(loader: Loader, sandbox: Sandbox, position: str) -> None:
    """A layer that has no clDeinitLayer is closed like the others, and the others are deinitialised."""
    require_deinitialisation(loader)
    sandbox.vendor("a")
    layers = chain(sandbox, position, [], variant="layer_without_deinit")
    with loader.start(sandbox) as cl:
        assert cl.platform_names() == ["a"]
        assert all(cl.maps(layer) for layer in layers)
        cl.close()
        assert [cl.maps(layer) for layer in layers] == [False] * len(NAMES)
    assert deinitialised(sandbox.log) == [name for name in NAMES if name != position]


@requirement("LAY-DEI-008")
@pytest.mark.parametrize("variant", ["layer", "layer_without_deinit"])
@pytest.mark.parametrize("number", [1, 2])
def test_layer_library_that_the_application_holds_stays(
    loader: Loader, sandbox: Sandbox, number: int, variant: str
) -> None:
    """A layer's library that the application has opened, too, stays: the loader closes it once, not more."""
    require_deinitialisation(loader)
    sandbox.vendor("a")
    held = sandbox.layer("held", variant=variant)
    sandbox.env["OPENCL_LAYERS"] = ":".join([str(held)] * number)
    with loader.start(sandbox, late=True) as cl:
        cl.load(held)
        for _ in range(2):
            cl.open()
            assert cl.platform_names() == ["a"]
            cl.close()
            assert cl.maps(held)
    assert len(deinitialised(sandbox.log)) == (2 if variant == "layer" else 0)


@requirement("LAY-DEI-008")
@pytest.mark.parametrize("scheme", SCHEMES)
def test_loader_opened_again_initialises_its_layers_again(loader: Loader, sandbox: Sandbox, scheme: str) -> None:
    """A loader that was closed and is opened again initialises its layers again, and ends them again."""
    kind = use_scheme(loader, sandbox, scheme)
    sandbox.vendor("a")
    layers = chain(sandbox, "", [])
    value = sandbox.env["OPENCL_LAYERS"]
    with loader.start(sandbox, late=True) as cl:
        for _ in range(3):
            cl.setenv("OPENCL_LAYERS", value)  # some loaders cut it (DISC-ENV-014)
            before = len(sandbox.log)
            cl.open()
            assert cl.platform_names() == ["a"]
            objects = Objects(cl, cl.GetPlatformIDs()[0])
            assert cl.clFlush(objects.queue) == CL.SUCCESS
            if kind.deinitialises:
                cl.clReleaseContext(objects.context)
            cl.close()
            log = CallLog(sandbox.log[before:])
            assert [e.who for e in log.calls(kind.init)] == list(reversed(NAMES))
            assert [e.who for e in log.calls("clFlush")] == ["application", *NAMES, "a"]
            assert deinitialised(log) == (list(NAMES) if kind.deinitialises else [])
        assert [cl.maps(layer) for layer in layers] == [not kind.deinitialises] * 3


@requirement("LAY-DEI-008")
@pytest.mark.parametrize("count", [0, 1, 3, 8])
def test_nothing_is_left_of_many_rounds(loader: Loader, sandbox: Sandbox, count: int) -> None:
    """A loader with layers that is opened, used and closed over and over leaves no heap, files or libraries."""
    require_deinitialisation(loader)
    sandbox.vendor("a", extensions="cl_khr_icd cl_khr_icd_unloadable", unloadable=True)
    layers = [sandbox.layer(f"layer{number}") for number in range(count)]
    bad = [sandbox.layer("bad", faults=["init_fails"]), "/missing.so", sandbox.icd("vendor")]
    sandbox.env["OPENCL_LAYERS"] = ":".join(str(layer) for layer in (*layers, *bad))
    with loader.start(sandbox, counted_heap=True, late=True) as cl:
        used = []
        for _ in range(6):
            cl.open()
            assert cl.platform_names() == ["a"]
            cl.close()
            assert cl.open_files() == []
            used.append(cl.heap())
        left = [layer.name for layer in layers if cl.maps(layer)]
    if left:
        raise Leaked(f"libraries of layers are still loaded when the loader is not: {left}")
    if used[-1] > used[1]:
        raise Leaked(f"4 more rounds: {used[1]} bytes of the heap were in use, and then {used[-1]}")
    assert len(deinitialised(sandbox.log)) == 6 * count


@requirement("LAY-DEI-002")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("count", [1, 3])
def test_end_of_layers_does_not_damage_the_heap(loader: Loader, sandbox: Sandbox, count: int, way: str) -> None:
    """The end of layers frees nothing twice and uses nothing that is freed."""
    require_deinitialisation(loader)
    sandbox.vendor("a", extensions="cl_khr_icd cl_khr_icd_unloadable", unloadable=True)
    use_layers(sandbox, [sandbox.layer(f"layer{n}", faults=["deinit_calls_target"]) for n in range(count)])
    with loader.start(sandbox, guarded_heap=True, linked=way == "exit-linked") as cl:
        assert cl.platform_names() == ["a"]
        end(cl, way)
    done = [e.data["detail"] for e in sandbox.log.happened("call of target done")]
    assert set(done) == {"success"} and len(done) >= count  # how often is LAY-DEI-004
