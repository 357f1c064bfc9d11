# SPDX-License-Identifier: Apache-2.0
"""How layers hang together: targets, early calls, threads, a layer's platforms, loaders without layers (LAY-CHN)."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

import pytest

from harness.check import (
    CL,
    SCHEMES,
    Loader,
    Objects,
    Sandbox,
    Session,
    Unsupported,
    Value,
    api,
    requirement,
    slots,
    unpack,
    use_layers,
    use_scheme,
)

Record = Callable[[str], None]


def through(sandbox: Sandbox, function: str) -> list[str]:
    """Who was in the application's last call of a function, from the outside to the inside."""
    log = sandbox.log.during(function)[-1]
    return [event.who for event in log.calls(function) if event.who != "application"]


# --- targets ---

SHORT = 20


def target_of(cl: Session, sandbox: Sandbox, layer: str, init: str) -> tuple[int, list[int]]:
    """Where the table is that a layer was given, and what it holds."""
    count, address = sandbox.log.calls(init, by=layer)[0].arguments[:2]
    table = bytes.fromhex(cl.command(f"read {address} {api().address * count}"))
    return address, unpack(table)


def libraries_of(cl: Session, addresses: Sequence[int]) -> list[str]:
    return [os.path.basename(path) for path in cl.modules([Value(address, hex(address)) for address in addresses])]


@requirement("LAY-CHN-018")
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("tables", ["complete", "partial", "short"])
@pytest.mark.parametrize("count", [1, 2, 3, 16])
def test_target_is_the_completed_table_of_the_layer_before(
    loader: Loader, sandbox: Sandbox, count: int, tables: str, scheme: str
) -> None:
    """Each layer's target holds the entries of the layer loaded before it, and where that has none, its target's.

    The first layer's target is the loader's own. Partial layers have two functions each, one of them its neighbour's;
    short tables end after the first SHORT slots.
    """
    partial = tables == "partial"
    init = use_scheme(loader, sandbox, scheme).init
    sandbox.vendor("a")
    dispatched = [f for f in api().dispatched() if slots()[f.name].reached == "export"]
    own = {f"layer{i}": [dispatched[3 * i].name, dispatched[3 * i + 3].name] for i in range(count)}
    faults = [f"table_length_is={SHORT}"] if tables == "short" else []
    layers = [sandbox.layer(name, faults=faults, functions={"only": own[name]} if partial else {}) for name in own]
    use_layers(sandbox, layers[::-1])
    with loader.start(sandbox) as cl:
        assert cl.platform_names() == ["a"]
        targets = [target_of(cl, sandbox, name, init) for name in own]
        assert len({address for address, _ in targets}) == count
        own_library = set(libraries_of(cl, [entry for entry in targets[0][1] if entry]))
        assert own_library == {os.path.basename(loader.path)}
        for number, name in enumerate(list(own)[:-1]):
            following, table = targets[number][1], targets[number + 1][1]
            assert len(table) == len(following)
            functions = own[name] if partial else [f.name for f in dispatched]
            known = SHORT if tables == "short" else len(table)
            intercepted = {n for n in (slots()[function].number for function in functions) if n < known}
            libraries = libraries_of(cl, [table[slot] for slot in intercepted])
            for slot, library in zip(intercepted, libraries, strict=True):
                assert library == f"lib{name}{sandbox.suffix}", f"slot {slot} is not the layer's"
            changed = {slot for slot in range(len(table)) if table[slot] != following[slot]}
            assert changed == intercepted if tables != "complete" else changed >= intercepted


@requirement("LAY-CHN-002")
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("count", [1, 2, 3, 16])
def test_calls_leave_the_layers_in_opposite_order(loader: Loader, sandbox: Sandbox, count: int, scheme: str) -> None:
    """A call enters each layer from the front to the back and leaves them in the opposite order."""
    use_scheme(loader, sandbox, scheme)
    sandbox.vendor("a")
    names = [f"layer{number}" for number in range(count)]
    use_layers(sandbox, [sandbox.layer(name) for name in names])
    with loader.start(sandbox) as cl:
        objects = Objects(cl, cl.GetPlatformIDs()[0])
        for function in ("clFinish", "clFlush", "clRetainCommandQueue"):
            assert cl.call(function, objects.queue) == CL.SUCCESS
            log = sandbox.log.during(function)[-1]
            inside = [(event.who, event.kind) for event in log if event.who != "application"]
            down = [(name, "call") for name in [*names, "a"]]
            assert inside == down + [(name, "return") for name in ["a", *reversed(names)]]


# --- before anything has triggered discovery ---

EARLY: dict[str, tuple[object, ...]] = {
    "clWaitForEvents": (0, None),
    "clUnloadCompiler": (),
    "clFlush": (None,),
    "clRetainContext": (None,),
    "clGetPlatformInfo": (None, CL.PLATFORM_NAME, 0, None, None),
    "clGetDeviceIDs": (None, 0xFFFFFFFF, 0, None, None),
    "clCreateContext": (None, 0, None, None, None, None),
    "clCreateContextFromType": ((0,), 0xFFFFFFFF, None, None, None),
    "clGetExtensionFunctionAddress": ("clNothing",),
    "clGetExtensionFunctionAddressForPlatform": (None, "clNothing"),
    "clSVMAlloc": (None, 0, 64, 0),
    "clUnloadPlatformCompiler": (None,),
}


@requirement("LAY-CHN-011")
@pytest.mark.parametrize("function", EARLY)
def test_first_call_passes_the_layers_or_misses_them(
    loader: Loader, sandbox: Sandbox, function: str, record: Record
) -> None:
    """The very first call passes the layers or misses them; once discovery has run, the same call passes them."""
    loader.require("OPENCL_LAYERS")
    sandbox.vendor("a")
    use_layers(sandbox, [sandbox.layer("front"), sandbox.layer("back")])
    arguments = [list(a) if isinstance(a, tuple) else a for a in EARLY[function]]
    with loader.start(sandbox) as cl:
        if not int(cl.command(f"symbol {function}"), 16):
            raise Unsupported("loader", f"this loader does not export {function}")
        cl.call(function, *arguments)
        early = [e.who for e in sandbox.log.calls(function) if e.who in ("front", "back")]
        record("passes the layers" if early else "misses the layers")
        assert cl.platform_names() == ["a"]
        cl.call(function, *arguments)
    assert early in ([], ["front", "back"])
    assert [who for who in through(sandbox, function) if who != "a"] == ["front", "back"]


# --- threads ---


@requirement("LAY-CHN-013")
@pytest.mark.parametrize("threads", [16, 64])
def test_calls_of_many_threads_pass_both_layers_once(loader: Loader, sandbox: Sandbox, threads: int) -> None:
    """Calls of many threads, on objects of two vendors, each pass both layers once and reach their owner."""
    loader.require("OPENCL_LAYERS")
    for name in "ab":
        sandbox.vendor(name)
    use_layers(sandbox, [sandbox.layer("front"), sandbox.layer("back")])
    with loader.start(sandbox) as cl:
        owners = [Objects(cl, platform) for platform in cl.GetPlatformIDs()]
        kinds = {"clRetainCommandQueue": "cl_command_queue", "clRetainContext": "cl_context"}
        kinds["clFlush"] = "cl_command_queue"
        for objects in owners:
            for kind in kinds.values():
                assert objects[kind]
        before = len(sandbox.log)
        done = []
        for thread in range(threads):
            for function, kind in kinds.items():
                done.append(cl.in_thread(thread, function, owners[thread % 2][kind]))
        assert cl.go() == threads
        assert [later.result() for later in done] == [0] * len(done)
    by_thread: dict[int, list[tuple[str, str]]] = {}
    for event in sandbox.log[before:]:
        if event.kind == "call":
            by_thread.setdefault(event.thread, []).append((event.who, event.name))
    courses = [course for course in by_thread.values() if ("application", "clFlush") in course]
    for owner in "ab":
        want = [(who, function) for function in kinds for who in ("application", "front", "back", owner)]
        assert courses.count(want) == threads // 2


@requirement("LAY-CHN-017")
@pytest.mark.parametrize("function", ["clFinish", "clFlush"])
@pytest.mark.parametrize("count", [1, 2, 16])
def test_layers_do_not_wait_for_one_another(loader: Loader, sandbox: Sandbox, count: int, function: str) -> None:
    """While a call is inside a vendor, other threads' calls go through the same layers, to it and to another vendor."""
    loader.require("OPENCL_LAYERS")
    place = sandbox.root / "meeting"
    sandbox.vendor("a", functions={"waits_at": [f"clFinish {place}"], "arrives_at": [f"clFlush {place}"]})
    sandbox.vendor("b", functions={"arrives_at": [f"clFinish {place}", f"clFlush {place}"]})
    use_layers(sandbox, [sandbox.layer(f"layer{number}") for number in range(count)])
    with loader.start(sandbox) as cl:
        owners = {objects.owner: objects for objects in (Objects(cl, platform) for platform in cl.GetPlatformIDs())}
        other = owners["a" if function == "clFlush" else "b"]
        queues = owners["a"].queue, other.queue
        os.mkfifo(place)
        meeting = [cl.in_thread(0, "clFinish", queues[0]), cl.in_thread(1, function, queues[1])]
        assert cl.go() == 2
        assert [later.result() for later in meeting] == [0, 0]
    assert len(sandbox.log.happened("met")) == 2


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("function", ["clGetPlatformIDs", "clGetExtensionFunctionAddress", "clCreateContextFromType"])
@pytest.mark.parametrize(
    "what",
    [
        pytest.param("once", marks=pytest.mark.requirement("LAY-INI-019")),
        pytest.param("way", marks=pytest.mark.requirement("LAY-CHN-013")),
    ],
)
def test_first_calls_of_64_threads_initialise_layers_once(
    loader: Loader, sandbox: Sandbox, function: str, scheme: str, what: str
) -> None:
    """64 threads that make the first call of the process: layers are initialised once, and every call after it passes
    all three."""
    init = use_scheme(loader, sandbox, scheme).init
    sandbox.vendor("a")
    names = ["front", "middle", "back"]
    layers = [sandbox.layer(name, faults=["init_sleeps=5"] if name == "middle" else []) for name in names]
    use_layers(sandbox, layers)
    with loader.start(sandbox) as cl:
        for thread in range(64):
            arguments: Sequence[object] = {
                "clGetPlatformIDs": (0, None, cl.buffer(4)),  # the loader writes there: each thread has its own
                "clGetExtensionFunctionAddress": ("clNothing",),
                "clCreateContextFromType": (None, 0, None, None, None),
            }[function]
            cl.in_thread(thread, function, *arguments)
            cl.in_thread(thread, "clGetPlatformIDs", 0, None, cl.buffer(4))  # a first call may be none for layers
            cl.in_thread(thread, function, *arguments)
        assert cl.go() == 64
    log = sandbox.log
    if what == "once":
        assert [e.who for e in log.calls(init)] == ["back", "middle", "front"]
        return
    passed: dict[int, list[str]] = {}  # by the last call of each thread
    for event in log.calls(function):
        if event.who == "application":
            passed[event.thread] = []
        elif event.who in names and event.thread in passed:
            passed[event.thread].append(event.who)
    assert list(passed.values()) == [names] * 64


# --- platforms ---


@requirement("LAY-DSC-013")
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("vendors", [1, 2, 9])
def test_layers_see_all_platforms_when_they_start(loader: Loader, sandbox: Sandbox, vendors: int, scheme: str) -> None:
    """A layer that lists platforms in its init function gets those of all vendors, also where it is in front."""
    init = use_scheme(loader, sandbox, scheme).init
    names = [f"vendor{number}" for number in range(vendors)]
    sandbox.vendors_in_order([f"{sandbox.icd(name)}\n" for name in names])
    asks = ["init_calls_target"]
    layers = {name: sandbox.layer(name, faults=asks if name != "back" else []) for name in ("front", "back", "first")}
    use_layers(sandbox, list(layers.values()))
    with loader.start(sandbox) as cl:
        listed = cl.platform_names()
        assert listed == set(names)
    log = sandbox.log
    assert [e.who for e in log.calls(init)] == ["first", "back", "front"]
    assert [e.data["detail"] for e in log.happened("call of target done")] == ["success"] * 2
    assert [e.data["detail"] for e in log.happened("platform of target")] == [listed[0]] * 2
    counted = log.returns("clGetPlatformIDs", by="back")[0].data["out"]["num_platforms"]
    assert int(counted, 16) == vendors


@requirement("LAY-CHN-009")
@pytest.mark.parametrize("vendors", [1, 2])
@pytest.mark.parametrize("position", ["front", "back"])
def test_platform_that_a_layer_adds_is_listed(loader: Loader, sandbox: Sandbox, position: str, vendors: int) -> None:
    """A layer that adds a platform of its own is believed: it is listed, and calls with it reach the layer."""
    loader.require("OPENCL_LAYERS")
    for number in range(vendors):
        sandbox.vendor(f"vendor{number}")
    names = ["front", "back"]
    use_layers(sandbox, [sandbox.layer(n, faults=["supplies_platform"] if n == position else []) for n in names])
    with loader.start(sandbox) as cl:
        platforms = cl.GetPlatformIDs()
        assert len(platforms) == vendors + 1
        assert cl.platform_names()[-1] == position
        assert cl.GetDeviceIDs(platforms[-1]) == []
        assert all(Objects(cl, platform).queue for platform in platforms[:-1])
    assert through(sandbox, "clGetDeviceIDs")[-1].startswith("vendor")


@requirement("LAY-DSC-012")
@pytest.mark.parametrize("supplies", [False, True], ids=["plain", "supplies a platform"])
@pytest.mark.parametrize("place", ["missing", "empty", "unusable"])
def test_layers_without_a_vendor_are_loaded_or_not(
    loader: Loader, sandbox: Sandbox, place: str, supplies: bool, record: Record
) -> None:
    """Without any vendor layers are loaded or not; where they are, a platform that one supplies is there."""
    loader.require("OPENCL_LAYERS")
    if place == "missing":
        sandbox.vendors.rmdir()
    elif place == "unusable":
        sandbox.vendor("bad", faults=["count_call_fails"])
    sandbox.env["OPENCL_LAYERS"] = str(sandbox.layer("layer", faults=["supplies_platform"] if supplies else []))
    with loader.start(sandbox) as cl:
        names = cl.platform_names()
        assert cl.GetExtensionFunctionAddress("clNothing") == 0
    loaded = bool(sandbox.log.of("layer"))
    record("loaded" if loaded else "not loaded")
    assert names == (["layer"] if loaded and supplies else [])


@requirement("LAY-DSC-015")
@pytest.mark.parametrize("value", ["{layer}", "{layer}:{layer}", "/missing", ":", "", "x" * 100_000])
@pytest.mark.parametrize("variable", ["OPENCL_LAYERS", "OPENCL_LAYER_PATH"])
def test_loader_without_layers_ignores_their_variables(
    loader: Loader, sandbox: Sandbox, variable: str, value: str
) -> None:
    """A loader without layers does not care for their variables, whatever they say."""
    if loader.has(variable):
        raise Unsupported("loader", f"this loader has {variable}")
    sandbox.vendor("a")
    sandbox.env[variable] = value.format(layer=sandbox.layer("layer"))
    with loader.start(sandbox) as cl:
        assert cl.used_platforms() == ["a"]
        assert cl.vendor_function("clThingMOCK") == "a"
    assert not sandbox.log.of("layer")


@requirement("LAY-API-005")
@pytest.mark.parametrize("scheme", SCHEMES)
def test_output_of_a_layer_comes_out_once(loader: Loader, sandbox: Sandbox, scheme: str) -> None:
    """What a layer prints while it is initialised comes out once, and nothing is added to it or lost."""
    use_scheme(loader, sandbox, scheme)
    sandbox.vendor("a")
    prints = ["init_prints"]
    use_layers(sandbox, [sandbox.layer("front"), sandbox.layer("middle", faults=prints), sandbox.layer("back")])
    with loader.start(sandbox) as cl:
        assert cl.platform_names() == ["a"]
        assert cl.quit() == 0
    assert cl.stdout == "the layer's greeting\n"
    assert cl.stderr == ""
