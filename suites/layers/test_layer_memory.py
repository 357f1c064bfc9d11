# SPDX-License-Identifier: Apache-2.0
"""Memory that finding layers takes: what was discarded costs nothing, and memory may be lacking (LAY-DSC, LAY-INF)."""

from __future__ import annotations

import struct
from collections.abc import Callable

import pytest

from harness.check import Leaked, Loader, Sandbox, Unsupported, requirement

SMALLEST_BLOCK = 32  # of the C library's heap
POINTER = struct.calcsize("P")

# Elements that bring no layer; names of the same length for numbers below 100.
BAD: dict[str, Callable[[Sandbox, int], str]] = {
    "missing": lambda s, n: f"{s.libraries}/missing{n:02}.so",
    "vendor": lambda s, n: str(s.icd(f"v{n:02}")),
    "no info": lambda s, n: str(s.layer(f"i{n:02}", variant="layer_without_info")),
    "other version": lambda s, n: str(s.layer(f"o{n:02}", faults=["reports_api_version=1"])),
    "no init": lambda s, n: str(s.layer(f"n{n:02}", variant="layer_without_init_init_with_properties")),
    "refuses": lambda s, n: str(s.layer(f"r{n:02}", faults=["init_fails"])),
}


def heap_after_discovery(loader: Loader, sandbox: Sandbox) -> int:
    with loader.start(sandbox, counted_heap=True) as cl:
        assert cl.platform_names() == ["a"]
        loaded = [path for path in sandbox.libraries.glob(f"*{sandbox.suffix}") if cl.maps(path)]
        left = [path for path in loaded if path.name != f"liba{sandbox.suffix}"]
        if left:
            raise Unsupported("loader", "this loader does not close discarded layers, which need memory (LAY-INF-010)")
        return cl.heap()


@requirement("LAY-INF-010")
@pytest.mark.parametrize(
    ("kind", "place"), [(kind, place) for kind in BAD for place in ("list", "folder")] + [("missing", "empty files")]
)
def test_bad_layers_cost_no_memory(loader: Loader, sandbox: Sandbox, kind: str, place: str) -> None:
    """What brings no layer costs no memory once discovery is over: sixteen cost what one costs."""
    loader.require("OPENCL_LAYERS" if place == "list" else "OPENCL_LAYER_PATH")
    sandbox.vendor("a")
    folder = sandbox.folder("layers")
    used = []
    for number in (1, 16):
        bad = [BAD[kind](sandbox, n) for n in range(number)]
        if place == "list":
            sandbox.env["OPENCL_LAYERS"] = ":".join(bad)
        else:
            sandbox.env["OPENCL_LAYER_PATH"] = str(folder)
            for n, path in enumerate(bad):
                (folder / f"{n:02}.lay").write_text("" if place == "empty files" else f"{path}\n")
        used.append(heap_after_discovery(loader, sandbox))
    if used[1] - used[0] >= 15 * SMALLEST_BLOCK:
        raise Leaked(f"fifteen more: {used[0]} bytes of the heap were in use, and then {used[1]}")


@requirement("LAY-INF-010", "LAY-DSC-017")
@pytest.mark.parametrize("content", ["missing library", "empty"])
def test_list_of_the_layer_folder_costs_no_memory(loader: Loader, sandbox: Sandbox, content: str) -> None:
    """The files of the folder cost no memory once discovery is over, not even a pointer for each."""
    loader.require("OPENCL_LAYER_PATH")
    sandbox.vendor("a")
    folder = sandbox.folder("layers")
    sandbox.env["OPENCL_LAYER_PATH"] = str(folder)
    used = []
    for number in (1, 1000):
        for n in range(number):
            (folder / f"{n:03}.lay").write_text("/absent/lib.so\n" if content == "missing library" else "")
        used.append(heap_after_discovery(loader, sandbox))
    if used[1] - used[0] >= 999 * POINTER // 2:  # blocks are larger than what was asked for
        raise Leaked(f"999 files more: {used[0]} bytes of the heap were in use, and then {used[1]}")


@requirement("LAY-DSC-014")
@pytest.mark.parametrize("first", range(1, 41, 5))
def test_layer_discovery_without_memory_keeps_the_others_in_order(loader: Loader, sandbox: Sandbox, first: int) -> None:
    """Where memory lacks while layers are looked for, some of them are not there; the others work, in order."""
    loader.require("OPENCL_LAYERS")
    sandbox.vendor("a")
    folder = sandbox.folder("layers")
    names = ["infile0", "infile1", "listed0", "listed1"]
    layers = [sandbox.layer(name) for name in names]
    for number, layer in enumerate(layers[:2]):
        (folder / f"{number}.lay").write_text(f"{layer}\n")
    sandbox.env |= {"OPENCL_LAYER_PATH": str(folder), "OPENCL_LAYERS": f"{layers[2]}:/missing.so:{layers[3]}"}
    for failing in range(first, first + 5):
        sandbox.forget_log()
        with loader.start(sandbox, failing_allocation=failing) as cl:
            platforms = cl.platform_names()
            assert platforms in ([], ["a"])
            if platforms:
                log = sandbox.log
                started = [e.who for e in log.returns() if e.name.startswith("clInitLayer")]
                last = log.during("clGetPlatformInfo")[-1].calls("clGetPlatformInfo")
                assert [e.who for e in last if e.who in names] == started[::-1]
                assert started == [name for name in names if name in started]
