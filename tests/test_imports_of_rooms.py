# SPDX-License-Identifier: Apache-2.0
"""The rooms of `harness` import each other one way: sandbox, probe, subject, check, from the bottom to the top."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from harness.build import ROOT

FLOORS = ("sandbox", "probe", "subject", "check")


def imports_of(room: str) -> Iterator[tuple[str, str]]:
    """Each import of a module of `harness` below a room: the file that has it, and the room that it names."""
    for path in sorted((ROOT / "harness" / room).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            for name in names:
                if name.startswith("harness."):
                    yield str(path.relative_to(ROOT)), name.split(".")[1]


@pytest.mark.parametrize("room", FLOORS)
def test_room_imports_nothing_from_above(room: str) -> None:
    """Neither for its types nor within a function."""
    above = FLOORS[FLOORS.index(room) + 1 :]
    imported = list(imports_of(room))
    assert imported, f"harness/{room} imports nothing: is it still there?"
    assert [(file, other) for file, other in imported if other in above] == []


def modules_of(room: str) -> dict[str, set[str]]:
    """The modules of a room by name, with the modules of the same room that each imports."""
    paths = {".".join(p.relative_to(ROOT).with_suffix("").parts): p for p in (ROOT / "harness" / room).rglob("*.py")}
    modules: dict[str, set[str]] = {}
    for module, path in paths.items():
        names: set[str] = set()
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module:
                names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        modules[module] = (names & paths.keys()) - {module}
    return modules


@pytest.mark.parametrize("room", [room for room in FLOORS if room != "probe"])  # which has a test of its own
def test_modules_of_a_room_form_no_circle(room: str) -> None:
    left = modules_of(room)
    assert left
    while free := [module for module, others in left.items() if not others & left.keys()]:
        for module in free:
            del left[module]
    assert left == {}
