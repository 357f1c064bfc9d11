# SPDX-License-Identifier: Apache-2.0
"""What a call costs in the loader, in instructions, without layers and with some: `clharness bench dispatch`.

Instructions are counted one by one (harness.probe.counting), so two runs give the same numbers, and each number is
that of one call. A vendor's instructions are not in it, nor a layer's: the layers here leave all of these calls to what
comes after them, which is the same for a loader, as it cannot know whose functions stand in a layer's table.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness.api.contract.slots import slots
from harness.api.model import Function, api
from harness.errors import HarnessError
from harness.probe import Session
from harness.probe.counting import counted
from harness.probe.objects import Objects
from harness.probe.patterns import PatternedCall
from harness.sandbox import Sandbox
from harness.subject.loader import Loader

LAYERS = (0, 1, 2, 3)

# The one function of these layers: an application gets it by a query only, so it is not among the entry points.
_LAYER = {"only": ["clGetGLContextInfoKHR"]}

# Calls that the loader answers by itself.
_OWN: dict[str, tuple[object, ...]] = {
    "clGetPlatformIDs": (0, None, "count"),
    "clUnloadCompiler": (),
    "clGetExtensionFunctionAddress": ("clNothingMOCK",),
}

# Told to answer patterns they could not make the objects that the others are called with.
_NEEDED = ("clGetExtensionFunctionAddress", "clGetPlatformIDs", "clGetPlatformInfo", "clGetDeviceIDs",
           "clGetDeviceInfo", "clCreateContext", "clCreateCommandQueue", "clCreateBuffer", "clCreateSampler",
           "clCreateProgramWithSource", "clCreateKernel", "clCreateUserEvent")  # fmt: skip


def measure_dispatch(path: Path) -> dict[str, Any]:
    """Instructions of a call of every entry point that the loader exports, for each number of layers it can have.

    Raises UsageError where it is not a loader, HarnessError where two runs differ or layers are not active.
    """
    loader = Loader(path)
    loader.ask()
    numbers = LAYERS if loader.has("OPENCL_LAYERS") else (0,)
    columns = {number: dict(_column(loader, number)) for number in numbers}
    if columns[0] != dict(_column(loader, 0)):
        raise HarnessError(f"{path}: two runs do not have the same number of instructions")
    functions = {
        name: {
            "class": slots()[name].class_,
            "loader": [columns[number][name][0] for number in numbers],
            "system": [columns[number][name][1] for number in numbers],
        }
        for name in columns[0]
    }
    return {"loader": loader.facts.real_path, "name": str(loader), "layers": list(numbers), "functions": functions}


def _column(loader: Loader, layers: int) -> Iterator[tuple[str, tuple[int, int]]]:
    """Of each function: instructions in the loader, and in system libraries that it called."""
    sandbox = Sandbox(loader.path)
    try:
        answers = [f.name for f in api().dispatched() if f.name not in _NEEDED]
        sandbox.vendor("a", functions={"answers": answers})
        chain = [sandbox.layer(f"layer{number}", functions=_LAYER) for number in range(layers)]
        if chain:
            sandbox.env["OPENCL_LAYERS"] = ":".join(map(str, chain))
        with loader.start(sandbox, time_limit=120) as cl:
            objects = Objects(cl, cl.GetPlatformIDs()[0])
            for function in _exported(cl):
                arguments = _arguments(cl, function, objects)
                cl.call(function.name, *arguments)  # the dynamic linker looks names up in the first call
                count = counted(cl, loader.path, sandbox, function.name, *arguments)
                yield function.name, (count.loader, count.system)
            started = [e for e in sandbox.log.calls() if e.name.startswith("clInitLayer")]
            if len(started) != layers:
                raise HarnessError(f"{loader.path}: {len(started)} layers are active, not {layers}")
    finally:
        sandbox.close()


def _exported(cl: Session) -> list[Function]:
    reached = [f for f in api().dispatched() if slots()[f.name].reached == "export"]
    routed = [f for f in reached if slots()[f.name].class_ not in ("loader", "none") or f.name in _OWN]
    return [f for f in routed if cl.symbol(f.name)]


def _arguments(cl: Session, function: Function, objects: Objects) -> list[Any]:
    if function.name in _OWN:
        return [cl.buffer(4) if argument == "count" else argument for argument in _OWN[function.name]]
    return [sent.value for sent in PatternedCall(cl, function, objects).sent]


# --- what is printed ---


def dispatch_lines(numbers: dict[str, Any], without: dict[str, Any] | None = None) -> list[str]:
    """A table for the terminal of what measure_dispatch gave, in instructions.

    `without`: the same of a loader that was built without layers.
    """
    classes: dict[str, list[str]] = defaultdict(list)
    for name, about in numbers["functions"].items():
        classes[about["class"]].append(name)
    heads = [_head(number) for number in numbers["layers"]]
    lines = [f"instructions of a call in {numbers['loader']} ({numbers['name']}), mean of each class"]
    lines.append(f"{'class':10}{'entry points':>14}" + "".join(f"{head:>12}" for head in heads))
    lines += [_line(numbers, name, members) for name, members in classes.items()]
    lines.append(_line(numbers, "all", list(numbers["functions"])))
    sums = [
        sum(_cost(numbers, function, i) for function in numbers["functions"]) for i in range(len(numbers["layers"]))
    ]
    lines.append(f"{'sum':24}" + "".join(f"{total:12}" for total in sums))
    lines += _promise(numbers)
    if without is not None:
        lines += _compared(numbers, without)
    return lines


def _head(number: int) -> str:
    return "no layer" if number == 0 else "1 layer" if number == 1 else f"{number} layers"


def _line(numbers: dict[str, Any], name: str, members: list[str]) -> str:
    means = [
        sum(_cost(numbers, function, i) for function in members) / len(members) for i in range(len(numbers["layers"]))
    ]
    return f"{name:10}{len(members):14}" + "".join(f"{mean:12.1f}" for mean in means)


def _cost(numbers: dict[str, Any], function: str, column: int) -> int:
    about = numbers["functions"][function]
    return int(about["loader"][column] + about["system"][column])


def _promise(numbers: dict[str, Any]) -> list[str]:
    """The slides: "the cost of layers when there is no active layer is one pointer check", as far as one file shows."""
    if len(numbers["layers"]) < 2:
        return ["  this loader has no layers"]
    first = [_cost(numbers, function, 1) - _cost(numbers, function, 0) for function in numbers["functions"]]
    last = [
        _cost(numbers, function, column) - _cost(numbers, function, 1)
        for function in numbers["functions"]
        for column in range(2, len(numbers["layers"]))
    ]
    return [
        f"  the first layer adds {_range(first)} to a call, each further one {_range(last)}",
        "  what the check itself costs where there is no layer shows against a build without them: --without PATH",
    ]


def _compared(numbers: dict[str, Any], without: dict[str, Any]) -> list[str]:
    shared = [function for function in numbers["functions"] if function in without["functions"]]
    more = [_cost(numbers, function, 0) - _cost(without, function, 0) for function in shared]
    return [
        f"  without a layer a call has {_range(more)} more than in {without['loader']} "
        f"({len(shared)} entry points, mean {sum(more) / len(more):.1f}); one pointer check takes about 4",
    ]


def _range(values: list[int]) -> str:
    low, high = min(values), max(values)
    return f"{low} instructions" if low == high else f"{low} to {high} instructions"
