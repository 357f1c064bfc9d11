# SPDX-License-Identifier: Apache-2.0
"""clharness bench dispatch: instructions are counted exactly, and are those of the loader."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from harness.bench.dispatch import dispatch_lines, measure_dispatch
from harness.build import build
from harness.probe.counting import _shares, counted
from harness.probe.objects import Objects
from harness.sandbox import Sandbox, Unsupported
from harness.subject.loader import Loader
from tests.forked import clharness


@pytest.fixture(autouse=True)
def instructions_can_be_counted() -> None:
    if os.uname().machine != "x86_64" or build().sanitize:
        pytest.skip("instructions cannot be counted here")


def test_numbers_are_the_same_in_two_runs() -> None:
    first, second = (measure_dispatch(build().reference_loader) for _ in range(2))
    assert first == second
    assert first["layers"] == [0, 1, 2, 3]
    assert len(first["functions"]) > 100
    for name, about in first["functions"].items():
        assert all(3 <= count < 20_000 for count in about["loader"]), name
        assert about["loader"][1:] == [about["loader"][1]] * 3, f"{name}: further layers cost the loader something"


def test_command_prints_and_writes_them(tmp_path: Path) -> None:
    path = tmp_path / "bench.json"
    loader = str(build().reference_loader)
    done = clharness("bench", "dispatch", "--json", path, "--loader", loader, "--without", loader, limit=120)
    assert done.returncode == 0, done.stderr
    numbers = json.loads(path.read_text())
    total = sum(about["loader"][0] + about["system"][0] for about in numbers["dispatch"]["functions"].values())
    assert any(line.split()[:2] == ["sum", str(total)] for line in done.stdout.splitlines())
    assert "without a layer a call has 0 instructions more than in" in done.stdout  # compared with itself
    assert "each further one 0 instructions" in done.stdout
    assert numbers["without layers"] == numbers["dispatch"]


def test_a_loader_without_layers_has_one_column() -> None:
    numbers = {
        "loader": "x",
        "name": "x",
        "layers": [0],
        "functions": {"clFlush": {"class": "queue", "loader": [9], "system": [1]}},
    }
    lines = dispatch_lines(numbers)
    assert lines[2].split() == ["queue", "1", "10.0"]
    assert lines[-1].strip() == "this loader has no layers"


def test_every_instruction_is_counted_once() -> None:
    """What a call costs is in the loader alone where it only forwards; a fault that walks a list costs more."""
    seeded = build().seeded_loader
    assert seeded is not None
    counts = []
    for fault in ("", "list_walked_in_each_call"):
        loader, sandbox = Loader(seeded), Sandbox(seeded)
        try:
            sandbox.vendor("a", platforms=10)
            sandbox.env |= {"CLHARNESS_FAULT": fault} if fault else {}
            with loader.start(sandbox) as cl:
                objects = Objects(cl, cl.GetPlatformIDs()[0])
                cl.clRetainContext(objects.context)
                pair = [counted(cl, loader.path, sandbox, "clRetainContext", objects.context) for _ in range(2)]
            assert pair[0] == pair[1]
            assert len(sandbox.log.calls("clRetainContext", by="a")) == 3, "a counted call is a call like any other"
            counts.append(pair[0].loader)
        finally:
            sandbox.close()
    assert counts[1] - counts[0] >= 20  # ten platforms


def test_counting_without_a_heap_of_its_own() -> None:
    loader, sandbox = Loader(build().reference_loader), Sandbox(build().reference_loader)
    try:
        sandbox.vendor("a")
        with loader.start(sandbox, guarded_heap=True) as cl, pytest.raises(Unsupported, match="guarded heap"):
            counted(cl, loader.path, sandbox, "clUnloadCompiler")
    finally:
        sandbox.close()


def test_system_libraries_count_for_who_called_them() -> None:
    loader, system, vendor = "/l/libOpenCL.so", "/lib/libc.so.6", "/s/libraries/liba.so"
    course = [(5, ""), (10, loader), (100, system), (1, loader), (1, vendor), (7, system), (3, "")]
    stretches = "".join(f"{number} {path}\n" for number, path in course)
    assert _shares(stretches, Path("/l/libOpenCL.so"), Path("/s")) == (11, 100)
