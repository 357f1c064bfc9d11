# SPDX-License-Identifier: Apache-2.0
"""What layers cost where there are none: instructions of a call, files opened, and the same results (LAY-CST)."""

from __future__ import annotations

import ctypes
import os
import struct
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from harness.check import (
    CL,
    SCHEMES,
    Function,
    Loader,
    Objects,
    PatternedCall,
    Sandbox,
    Session,
    Unsupported,
    api,
    counted,
    requirement,
    slots,
    use_layers,
    use_scheme,
)

# Calls of each class of objects, with what is to be known of their first argument; all answer without a callback.
CALLS: dict[str, str] = {
    "clGetPlatformInfo": "cl_platform_id",
    "clRetainDevice": "cl_device_id",
    "clRetainContext": "cl_context",
    "clFlush": "cl_command_queue",
    "clRetainMemObject": "cl_mem",
    "clRetainProgram": "cl_program",
    "clRetainKernel": "cl_kernel",
    "clRetainEvent": "cl_event",
    "clRetainSampler": "cl_sampler",
    "clGetPlatformIDs": "",
    "clUnloadCompiler": "",
}

# What layers are told that leave these calls to the loader below them, so that its part of a call is seen whole.
FEW = {"only": ["clSVMFree"]}

# Functions that platforms and objects are made with, in the last check; they have checks of their own.
NEEDED = ("clGetExtensionFunctionAddress", "clGetPlatformIDs", "clGetPlatformInfo", "clGetDeviceIDs", "clGetDeviceInfo",
          "clCreateContext", "clCreateCommandQueue", "clCreateBuffer", "clCreateSampler", "clCreateProgramWithSource",
          "clCreateKernel", "clCreateUserEvent")  # fmt: skip


def costs(loader: Loader, sandbox: Sandbox) -> dict[str, int]:
    """Instructions of each call, in the loader and on its behalf, after a first one; the vendor is the first listed."""
    result = {}
    with loader.start(sandbox) as cl:
        objects = Objects(cl, next(p for p in cl.GetPlatformIDs() if cl.GetPlatformInfo(p) == "a"))
        for function, handle in CALLS.items():
            arguments: tuple[object, ...] = (objects[handle],) if handle else ()
            arguments += {"clGetPlatformInfo": (CL.PLATFORM_NAME, 0, None, cl.room())}.get(function, ())
            arguments += {"clGetPlatformIDs": (0, None, cl.buffer(4))}.get(function, ())
            if int(cl.command(f"symbol {function}"), 16):
                cl.call(function, *arguments)
                result[function] = counted(cl, loader.path, sandbox, function, *arguments).cost
    assert len(result) >= 9
    return result


def missing(sandbox: Sandbox) -> None:
    sandbox.env["OPENCL_LAYERS"] = ":".join(f"/missing/{number}.so" for number in range(20))


def empty(sandbox: Sandbox) -> None:
    sandbox.env["OPENCL_LAYERS"] = ""


def dropped(sandbox: Sandbox) -> None:
    """Libraries that are not layers, or refuse."""
    layers = [sandbox.layer(f"bad{number}", faults=["init_fails"]) for number in range(3)]
    sandbox.env["OPENCL_LAYERS"] = ":".join(map(str, [*layers, sandbox.icd("vendor")]))


def empty_folder(sandbox: Sandbox) -> None:
    sandbox.env["OPENCL_LAYER_PATH"] = str(sandbox.folder("layers"))


def full_folder(sandbox: Sandbox) -> None:
    empty_folder(sandbox)
    for number in range(20):
        (sandbox.root / "layers" / f"{number}.lay").write_text("/missing.so\n")


def larger_environment(sandbox: Sandbox) -> None:
    sandbox.env |= {f"CLHARNESS_OTHER_{number}": "x" for number in range(50)}


@requirement("LAY-CST-001")
@pytest.mark.parametrize(
    "machine", [missing, empty, dropped, empty_folder, full_folder, larger_environment], ids=lambda m: m.__name__
)
def test_cost_of_a_call_is_the_same_without_layers(
    loader: Loader, sandbox: Sandbox, machine: Callable[[Sandbox], None]
) -> None:
    """A call has the same number of instructions whatever layers were looked for, as long as none is there."""
    loader.require("OPENCL_LAYERS")
    sandbox.vendor("a")
    usual = costs(loader, sandbox)
    machine(sandbox)
    now = costs(loader, sandbox)
    assert now.keys() == usual.keys()
    assert not {function for function in usual if now[function] != usual[function]}


@requirement("LAY-CST-001")
@pytest.mark.parametrize("layers", [0, 1])
def test_cost_of_a_call_does_not_grow_with_vendors(loader: Loader, sandbox: Sandbox, layers: int) -> None:
    """A call with an object has the same number of instructions with one vendor and with twenty of 5 platforms."""
    loader.require("OPENCL_LAYERS")
    use_layers(sandbox, [sandbox.layer("layer", functions=FEW)] if layers else [])
    sandbox.vendors_in_order([f"{sandbox.icd('a')}\n"])
    usual = costs(loader, sandbox)
    others = [sandbox.icd(f"b{number}", platforms=5) for number in range(19)]
    own = sandbox.libraries / f"liba{sandbox.suffix}"
    sandbox.vendors_in_order([f"{mock}\n" for mock in (*others[:9], own, *others[9:])])
    many = costs(loader, sandbox)
    changed = {function for function in usual if many[function] != usual[function]}
    assert not {function for function in changed if CALLS[function]}


@requirement("LAY-CST-001")
@pytest.mark.parametrize("scheme", SCHEMES)
def test_loaders_part_of_a_call_does_not_grow_with_layers(loader: Loader, sandbox: Sandbox, scheme: str) -> None:
    """The loader's own part of a call is the same with any number of layers, and no larger without any.

    A few instructions are left to the compiler, which may have one path save registers that the other does not need.
    """
    use_scheme(loader, sandbox, scheme)
    sandbox.vendor("a")
    layers = [sandbox.layer(f"layer{number}", functions=FEW) for number in range(16)]
    result = []
    for count in (0, 1, 3, 16):
        use_layers(sandbox, layers[:count])
        result.append(costs(loader, sandbox))
    without, one, three, sixteen = result
    assert three == sixteen == one
    assert all(without[function] <= one[function] + 8 for function in one)


# --- files ---

IN_ACCESS, IN_CLOSE, IN_OPEN = 0x1, 0x18, 0x20


@contextmanager
def opens_counted(folder: Path) -> Iterator[Callable[[], Counter[str]]]:
    """Counts how often a folder ("") and each of its files were opened since the last time it was asked (inotify).

    Closing and reading are watched, too, so that the kernel does not take two openings for one event.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    watch = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
    if watch < 0 or libc.inotify_add_watch(watch, os.fsencode(folder), IN_OPEN | IN_ACCESS | IN_CLOSE) < 0:
        raise Unsupported("machine", f"inotify does not work here: {os.strerror(ctypes.get_errno())}")

    def count() -> Counter[str]:
        result: Counter[str] = Counter()
        try:
            events = os.read(watch, 1 << 20)
        except BlockingIOError:
            return result
        at = 0
        while at < len(events):
            _, mask, _, length = struct.unpack_from("=iIII", events, at)
            name = events[at + 16 : at + 16 + length].rstrip(b"\0")
            result[os.fsdecode(name)] += bool(mask & IN_OPEN)
            at += 16 + length
        return result

    try:
        yield count
    finally:
        os.close(watch)


def use_everything(cl: Session) -> None:
    for platform in cl.GetPlatformIDs():
        objects = Objects(cl, platform)
        assert cl.clFlush(objects.queue) == CL.SUCCESS
        assert cl.clRetainKernel(objects.kernel) == CL.SUCCESS
    cl.clWaitForEvents(0, None)
    cl.clUnloadCompiler()
    cl.GetExtensionFunctionAddress("clThingMOCK")


@requirement("LAY-CST-002")
@pytest.mark.parametrize("way", ["variable", "compiled in"])
@pytest.mark.parametrize("content", ["nothing", "missing layers", "layers", "other files"])
def test_layer_files_are_read_once(loader: Loader, sandbox: Sandbox, content: str, way: str) -> None:
    """The folder of layers and each of its files are opened by the first call only, and no file more than once.

    The folder itself may be opened twice then, once to list it and once to reach its files: none of that repeats.
    """
    loader.require("OPENCL_LAYER_PATH")
    sandbox.vendor("a")
    folder = sandbox.folder("layers")
    suffix = "txt" if content == "other files" else "lay"
    files = [] if content == "nothing" else [f"{number}.{suffix}" for number in range(3)]
    for name in files:
        target = sandbox.layer(f"layer{name[0]}") if content == "layers" else "/missing.so"
        (folder / name).write_text(f"{target}\n")
    options: dict[str, Any] = {}
    if way == "variable":
        sandbox.env["OPENCL_LAYER_PATH"] = str(folder)
    else:
        places = {loader.system_vendors: sandbox.vendors, str(Path(loader.system_vendors).parent / "layers"): folder}
        options["system_binds"] = places
    with loader.start(sandbox, **options) as cl, opens_counted(folder) as opened:
        assert not +opened(), "something else opens the folder: the check would prove nothing"
        assert cl.platform_names() == ["a"]
        first = +opened()
        assert first[""] in (1, 2)
        assert {name: first[name] for name in files} == dict.fromkeys(files, int(suffix == "lay"))
        for _ in range(3):
            use_everything(cl)
            cl.GetPlatformIDs()
        assert not +opened()


# --- results ---


def exported(cl: Session) -> list[Function]:
    """Functions that the loader exports and that reach a vendor by one of their arguments, but for NEEDED."""
    routed = [f for f in api().dispatched() if slots()[f.name].class_ not in ("loader", "none")]
    result = [f for f in routed if slots()[f.name].reached == "export" and f.name not in NEEDED]
    return [f for f in result if int(cl.command(f"symbol {f.name}"), 16)]


@requirement("LAY-CST-003")
@pytest.mark.parametrize("icd2", [False, True], ids=["icd1", "icd2"])
@pytest.mark.parametrize("count", [1, 3])
def test_results_are_the_same_with_and_without_layers(loader: Loader, sandbox: Sandbox, count: int, icd2: bool) -> None:
    """With layers and without, every function has the results of the vendor and reaches it once, in the same order."""
    loader.require("OPENCL_LAYERS")
    if icd2:
        loader.require("ICD 2")
    answers = [f.name for f in api().dispatched() if f.name not in NEEDED]
    sandbox.vendor("a", functions={"answers": answers}, icd2=icd2)
    layers = [sandbox.layer(f"layer{number}") for number in range(count)]
    seen = []
    for chain in ([], layers):
        use_layers(sandbox, chain)
        sandbox.forget_log()
        with loader.start(sandbox) as cl:
            objects = Objects(cl, cl.GetPlatformIDs()[0])
            calls = [PatternedCall(cl, function, objects) for function in exported(cl)]
            assert len(calls) > 60
            for call in calls:
                call.make()
            assert [problem for call in calls for problem in call.answer_problems()] == []
        reached = [e.name for e in sandbox.log.calls(by="a") if e.name in answers]
        assert reached[-len(calls) :] == [call.function.name for call in calls]
        seen.append(reached)
    assert seen[0] == seen[1]


def of_no_platform(cl: Session) -> dict[str, object]:
    """What calls that name no platform come to: an error, or whose the answer is."""
    error, text, device, owner, devices = cl.buffer(4), cl.buffer(64, 0), cl.room(1, 0), cl.room(1, 0), cl.room(1, 0)
    everything = api().constant("CL_DEVICE_TYPE_ALL")
    result: dict[str, object] = {}

    def of_device(handle: object) -> str:
        assert cl.clGetDeviceInfo(handle, CL.DEVICE_PLATFORM, owner.size, owner, None) == CL.SUCCESS
        return cl.GetPlatformInfo(owner.handle())

    code = cl.clGetPlatformInfo(None, CL.PLATFORM_NAME, text.size, text, None)
    result["clGetPlatformInfo"] = code or text.text()
    code = cl.clGetDeviceIDs(None, everything, 1, device, None)
    result["clGetDeviceIDs"] = code or of_device(device.handle())
    context = cl.clCreateContextFromType(None, everything, None, None, error)
    if context:
        assert cl.clGetContextInfo(context, CL.CONTEXT_DEVICES, devices.size, devices, None) == CL.SUCCESS
    result["clCreateContextFromType"] = of_device(devices.handle()) if context else error.code()
    if int(cl.command("symbol clUnloadPlatformCompiler"), 16):
        result["clUnloadPlatformCompiler"] = cl.clUnloadPlatformCompiler(None)
    if int(cl.command("symbol clGetExtensionFunctionAddressForPlatform"), 16):
        address = cl.clGetExtensionFunctionAddressForPlatform(None, "clThingA")
        result["clGetExtensionFunctionAddressForPlatform"] = bool(address)
    return result


@requirement("LAY-CST-004")
@pytest.mark.parametrize("count", [1, 3])
def test_no_platform_means_the_same_with_and_without_layers(loader: Loader, sandbox: Sandbox, count: int) -> None:
    """A call that names no platform has a default, or is refused, whether layers hand it on or not."""
    loader.require("OPENCL_LAYERS")
    sandbox.env["OCL_ICD_PLATFORM_SORT"] = "none"
    sandbox.vendors_in_order([f"{sandbox.icd(name, suffix=name.upper())}\n" for name in "ab"])
    seen = []
    for layers in ([], [sandbox.layer(f"layer{number}") for number in range(count)]):
        use_layers(sandbox, layers)
        with loader.start(sandbox) as cl:
            names = cl.platform_names()
            assert sorted(names) == ["a", "b"]
            seen.append((list(names), of_no_platform(cl)))
    assert seen[1] == seen[0]
